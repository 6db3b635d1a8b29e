"""What helps against what the commands of Storage Scale say."""
# ruff: noqa: INP001

from __future__ import annotations

REMEDIES = (
    (
        r"did not end within",
        (
            "Root must reach every node by ssh without a question, by IP, FQDN and short name, itself included: run "
            "the base phase, then see that no mm command is left running."
        ),
    ),
    (
        r"6027-1382",
        "Run it on a node of the cluster; if there should be one, let the storage phase create it first.",
    ),
    (
        r"6027-1598|already belong to a",
        (
            "A reinstalled node: remove it on a healthy node with `mmdelnode -N NODE`. Traces of another cluster: "
            "stop mmsdrserv and remove /var/mmfs on that node once you are sure that it is unused."
        ),
    ),
    (
        r"6027-1227|configuration file is locked",
        "Another mm command runs; wait for it, then run the phase again.",
    ),
    (
        r"6027-1628|Incorrect node name",
        (
            "Take the names from `mmlscluster -Y`: the cluster keeps what reverse look-up gave. Make /etc/hosts "
            "the same on all nodes, line order `IP FQDN short`."
        ),
    ),
    (
        r"6027-1615|ssh: connect|Host key verification",
        (
            "Root must reach every node by ssh without a question, by IP, FQDN and short name, itself included: "
            "run the base phase for that node."
        ),
    ),
    (
        r"6027-665|no quorum",
        "Start the daemons of more than half of the quorum nodes, then run the phase again.",
    ),
    (
        r"6027-1209|GPFS is down",
        "Start the daemon with `mmstartup -N NODE`.",
    ),
    (
        r"mmfs26|mmbuildgpl",
        "Install headers of the running kernel and run `mmbuildgpl` on that node.",
    ),
    (
        r"6027-1840|not properly licensed",
        "Accept and designate licences first (mmchlicense).",
    ),
    (
        r"cannot be changed while GPFS is running",
        (
            "It changes only with all daemons down; for maxblocksize use `mmvdisk server configure "
            "--maxblocksize` before the recovery group is made."
        ),
    ),
    (
        r"Invalid argument '[^']*' for --pagepool",
        "Give the page pool in bytes, or as a percentage.",
    ),
    (
        r"--recycle all",
        "Use `--recycle one`: all would stop the quorum.",
    ),
    (
        r"[Ss]lot location is missing",
        "Map the slots with `ecedrivemapping` on that node while its daemon is down.",
    ),
    (
        r"already in use: pdisk of",
        (
            "The drives belonged to a recovery group: delete what is left of it with `mmvdisk recoverygroup "
            "delete --confirm -p`, then wipe its pdisks as a step of its own, drive by drive."
        ),
    ),
    (
        r"already in use",
        (
            "Something is on that drive. Check its serial; if it may go, wipe it with `wipefs -a`. Never pass `-v "
            "no` to hide it."
        ),
    ),
    (
        r"drives are found, \d+ are planned",
        (
            "Compare `lsblk --output PATH,SERIAL,SIZE` with data_drives of the Site: seat or replace the drive that is "
            "missing, or correct its serial."
        ),
    ),
    (
        r"[Vv]olatile write cache",
        "Switch it off: `nvme set-feature DEVICE -f 6 -v 0 --save`.",
    ),
    (
        r"disk topologies .* differ|needs attention",
        (
            "All servers of a recovery group have the same number and size of drives: compare `mmvdisk server "
            "list --disk-topology` and replace or seat the drive that is missing."
        ),
    ),
    (
        r"same amount of memory",
        "Servers of a recovery group have equal memory: compare the DIMMs.",
    ),
    (
        r"lacks the package gpfs\.gnr",
        "The edition is not Erasure Code Edition there: install gpfs.gnr*.",
    ),
    (
        r"GPFS must be restarted",
        "Restart the daemons one by one; stored values run only after that.",
    ),
    (
        r"ROOTLOGHOME not found",
        (
            "The group is half made. Run the phase again with storage_confirmed_cluster: it is deleted with `--confirm "
            "-p` and created anew."
        ),
    ),
    (
        r"log vdisks .* not formatted|log format stopped",
        (
            "Let every server be active, then run the phase again: it goes on with `mmvdisk recoverygroup create "
            "--complete-log-format`."
        ),
    ),
    (
        r"6027-1886",
        "Raise maxblocksize, or plan a smaller block.",
    ),
    (
        r"6027-1887",
        "Plan a block size that the code takes.",
    ),
    (
        r"6027-3815",
        "Raise the group: `mmvdisk recoverygroup change --version LATEST`.",
    ),
    (
        r"checksum granularity",
        "Blocks that large need `--checksum-granularity 32k` on flash.",
    ),
    (
        r"not enough space",
        (
            "A set size in bytes is usable space, without redundancy; compare `mmvdisk vdiskset list --recovery- "
            "group RG`."
        ),
    ),
    (
        r"is in use by",
        "Delete in this order: file system, vdisk set, definition, recovery group, configuration, class.",
    ),
    (
        r"6027-1388",
        "Create the file system first, or correct its name.",
    ),
    (
        r"6027-510|authentication with cluster",
        "Exchange the committed keys of both clusters again, and grant access.",
    ),
    (
        r"PCSQLERR|loading policy rules",
        "Correct the rules and try them with `mmchpolicy FS FILE -I test`.",
    ),
    (
        r"fault tolerance of|has no vdisk of",
        (
            "Compare `mmvdisk recoverygroup list --fault-tolerance` with the Plan: a server or pdisk is missing, a "
            "rebuild is not over, or the vdisk set was defined otherwise."
        ),
    ),
    (
        r"already exists",
        "It was made meanwhile: run the phase again.",
    ),
)
"""What helps, by what the message says; the first that fits."""
