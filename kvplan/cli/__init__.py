"""The command line: one thin module a verb, which parses, calls, renders and returns an exit code.

Nothing heavy is imported at module level here, so that `kvplan --help` is instant.
"""
