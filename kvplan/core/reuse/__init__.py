"""Reuse of context in a request trace: exact hit ratios of every cache size, and what other policies would change.

`stack_distances` reads a trace once; everything that follows from the order of reuse (curve, tiers, rates, purges, time
to live, Belady's bound) is computed from what it returns. First-in first-out, write-on-second-touch and private caches
look at the prompts again.
"""
