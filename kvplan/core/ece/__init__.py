"""Erasure codes of Storage Scale ECE: fault tolerance, capacity, limits, rebuild and endurance."""
