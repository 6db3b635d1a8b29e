"""Reading what people write: files with positions, and validation that reports every problem at once."""
