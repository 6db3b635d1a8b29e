"""The version of kvplan, in one place."""

VERSION = "0.1.0"
