"""Checks of keys, secrets, accounts and hashes."""
