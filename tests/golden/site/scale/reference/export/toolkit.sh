#!/bin/bash
# The plan as commands of IBM's installation toolkit, for a site that needs IBM's own path.
# It covers less than the native steps in scale/steps.yaml; what is left out is said where it belongs.
set -euo pipefail
cd /usr/lpp/mmfs/6.0.0.1/ansible-toolkit

# Setup. Not covered: ssh keys, names in /etc/hosts, time, firewall; all of them must be there before.
./spectrumscale setup -s 172.24.64.9 -st ece
./spectrumscale config gpfs -c kvstore.kv.example
./spectrumscale callhome disable

# Nodes. Not covered: a daemon name beside the admin name; the toolkit uses the name that it is given for both.
./spectrumscale node add storage-001-kv.kv.example -so -q -m
./spectrumscale node add storage-002-kv.kv.example -so -q -m
./spectrumscale node add storage-003-kv.kv.example -so -q -m
./spectrumscale node add storage-004-kv.kv.example -so -q -m
./spectrumscale node add storage-005-kv.kv.example -so -q -m
./spectrumscale node add storage-006-kv.kv.example -so -q -m
./spectrumscale node add storage-007-kv.kv.example -so -q -m
./spectrumscale node add storage-008-kv.kv.example -so
./spectrumscale node list

# Software and cluster. Not covered: the parameters of scale/mmchconfig.yaml (RDMA, fabric numbers, caches).
./spectrumscale install --precheck
./spectrumscale install

# Recovery groups. Not covered: the slot map of each node, which must be made before, with the daemons down
# (scale/slots.yaml); pagepool and maxblocksize; spare space. The toolkit names groups rg_1, rg_2 and so on.
./spectrumscale recoverygroup define -N storage-001-kv.kv.example,storage-002-kv.kv.example,storage-003-kv.kv.example,storage-004-kv.kv.example,storage-005-kv.kv.example,storage-006-kv.kv.example,storage-007-kv.kv.example,storage-008-kv.kv.example
./spectrumscale install
./spectrumscale recoverygroup list

# Vdisk sets, one for each recovery group. Not covered: the granularity of checksums.
./spectrumscale vdiskset define -vs vs1 -rg rg_1 -code 8+2P -bs 4M -ss 95%
./spectrumscale vdiskset list

# File system. Not covered: the cache fileset, its inode limit and quota, eviction, and clients.
./spectrumscale filesystem define -fs kvfs -vs vs1 --mmcrfs '-T /kvfs -A yes -Q yes -S relatime -n 32 --filesetdf --auto-inode-limit'
./spectrumscale install --precheck
./spectrumscale install
