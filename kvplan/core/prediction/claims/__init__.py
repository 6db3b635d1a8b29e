"""Published claims about the reference system, each computed anew from the figures published beside it."""
