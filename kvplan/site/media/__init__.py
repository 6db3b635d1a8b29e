"""Boot media: the recipe of each machine's installer image, the image itself, and the server that hands it out.

`recipe` and `faults` are pure. `build` and `server` read and write files, and are for the command line to call.
"""
