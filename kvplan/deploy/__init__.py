"""Deploying: phases, the journal of what was done, and the runs of Ansible that do it."""

from __future__ import annotations
