"""The engineering: bytes, rates, failures and choices as functions of their arguments alone; no I/O, no clock."""
