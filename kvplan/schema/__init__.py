"""Frozen records that cross a border: requests, catalogue rows, profiles, Plans."""
