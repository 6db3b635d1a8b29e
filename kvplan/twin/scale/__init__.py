"""Simulated Storage Scale commands: one state for all nodes, refusals and delays like those of the real ones.

Python 3.9 and the standard library suffice, because the commands are shipped inside packages of the simulated nodes.
What is known of the real output is kept to; columns of `mmvdisk -Y` that no public text shows are assumptions.
"""
