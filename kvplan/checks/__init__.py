"""Checks of a deployment before it touches a machine: one module a check, found by its `CHECK`."""
