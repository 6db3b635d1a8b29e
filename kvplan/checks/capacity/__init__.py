"""Checks of what the design found, and of what the cache and the engines take."""
