"""Switches that are configured over REST as Cumulus Linux is: revisions, a timer to confirm, and what shows after."""
