# Boot drives are found by serial number and by nothing else, for drives get their names in any order.
# A serial that no drive or more than one has, a size outside the window, or one drive twice ends the installation
# before anything is written.
fail() {
    echo "kvplan: $*" >&2
    exit 1
}

# Prints the names of whole drives: no partitions, and no paths of multipath such as nvme0c1n1.
whole_drives() {
    local path
    for path in /sys/block/*; do
        if [[ ${path##*/} =~ ^(nvme[0-9]+n[0-9]+|sd[a-z]+)$ ]]; then
            printf '%s\n' "${path##*/}"
        fi
    done
}

# Prints the serial number of drive $1 without blanks around it.
serial_of() {
    local serial=""
    if [ -r "/sys/block/$1/device/serial" ]; then
        read -r serial < "/sys/block/$1/device/serial" || true
    fi
    if [ -z "$serial" ] && command -v lsblk > /dev/null; then
        read -r serial < <(lsblk --nodeps --noheadings --output SERIAL "/dev/$1") || true
    fi
    printf '%s' "$serial"
}

# Prints the name of the one drive with serial number $1, which must have from $2 to $3 GB.
boot_drive() {
    local name found="" count=0 sectors=0
    for name in $(whole_drives); do
        if [ "$(serial_of "$name")" = "$1" ]; then
            found=$name
            count=$((count + 1))
        fi
    done
    [ "$count" -eq 1 ] || fail "serial $1 matched $count drives, must match one"
    read -r sectors < "/sys/block/$found/size"
    if [ $((sectors * 512)) -lt $(($2 * 1000000000)) ] || [ $((sectors * 512)) -gt $(($3 * 1000000000)) ]; then
        fail "$found with serial $1 has $((sectors * 512 / 1000000000)) GB, outside $2 to $3 GB"
    fi
    printf '%s\n' "$found"
}

# Refuses the same drive twice.
two_drives() {
    [ "$1" != "$2" ] || fail "both serials belong to $1"
}

# The kernel may still be naming drives.
if command -v udevadm > /dev/null; then
    udevadm settle --timeout=60 || true
fi
