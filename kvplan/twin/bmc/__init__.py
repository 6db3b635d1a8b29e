"""Controllers of servers over Redfish: the ways in which real ones differ, and a machine behind each that boots."""
