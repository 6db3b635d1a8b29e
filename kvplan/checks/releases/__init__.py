"""Checks of versions, images and packages against each other and against the Plan."""
