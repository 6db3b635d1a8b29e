"""Configurations of the switches in the NVUE dialect of each, and the rules that the rendered files are judged by."""
