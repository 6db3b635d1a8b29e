"""Checks of addresses, ranges and services of the site's networks."""
