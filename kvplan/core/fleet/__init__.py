"""A fleet of engines over a shared tier, simulated event by event: who waits for what, and how long."""
