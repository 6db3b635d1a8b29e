"""Entry of all simulated commands: what it is called by says which one it is."""

from __future__ import annotations

import sys

from kvplan.twin.scale.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
