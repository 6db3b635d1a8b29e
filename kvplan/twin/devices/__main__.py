"""Runs the devices of a rack, inside its namespaces: `python -m kvplan.twin.devices DIRECTORY`."""

from __future__ import annotations

import sys
from pathlib import Path

from kvplan.twin.devices.process import main

sys.exit(main(Path(sys.argv[1])))
