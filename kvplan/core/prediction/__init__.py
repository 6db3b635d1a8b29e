"""What a tier will do for those who use it, computed from bytes and planned rates: lower bounds, not measurements."""
