"""Controllers of servers over Redfish: identity, power, virtual media, and one boot from it."""
