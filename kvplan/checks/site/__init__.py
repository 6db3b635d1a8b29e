"""Checks of the Site's machines against the Plan and its design."""
