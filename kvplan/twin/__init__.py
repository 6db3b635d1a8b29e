"""Simulated parts of a rack: what a rehearsal runs instead of hardware and licensed software."""
