"""Simulated Storage Scale commands: one state for all nodes, refusals and delays like those of the real ones.

Python 3.9 and the standard library suffice, because the commands are shipped inside packages of the simulated nodes:
`commands.entry()` is one executable file, to be linked under each name of `commands.COMMANDS`. All nodes share a
directory (KV_TWIN_SCALE, else the default of `store`) with two files:

- `state.json`: machines, clusters, release and speed. `world.world(machines, speed=...)` makes it; `power_off`,
  `power_on` and `reinstall` of `world` say what happened to a machine where no service of a node notices it.
- `faults.json`: a list of faults. Each has `command` (how the line begins) and may have `node`, `times`, `delay`
  (simulated seconds), `rc` with `stderr` (it fails with that), `crash_after` (it dies after so many waits, and what
  it did stays).

A machine is called as its host name says, which may be any of its names, or KV_TWIN_NODE. On the nodes of a rack
the service of `watching` is installed with the commands: it notices what was installed and that power was lost, runs a
real `mmfsd` and mounts a shared directory where a file system is. `planned` describes machines, `shipping` packages.

Simulated: the order of steps, quorum, values stored and
running, progress of long commands, `-Y` output, refusals. Columns of `mmvdisk -Y` that no public text shows are
assumptions, and so are message numbers of a few refusals; nothing here stores data.
"""
