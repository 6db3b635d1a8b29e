"""Talks to a rack that stands: `python -m kvplan.twin.rack DIRECTORY VERB [WHAT]`."""

from __future__ import annotations

import sys

from kvplan.twin.rack.talk import main

sys.exit(main(sys.argv[1:]))
