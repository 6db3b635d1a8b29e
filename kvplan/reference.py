"""The published reference system, sized and looked up: for the examples in docstrings, and for tests.

IBM Redbook MD260021: eight storage nodes, three SN5600, and four client servers with four GPUs each.
"""

from __future__ import annotations

from typing import Final

from kvplan.api import design_inputs, size
from kvplan.schema.request import Request

PLAN: Final = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=16, profile="standard-8"))
"""The Plan of the system as it was tested."""
INPUTS: Final = design_inputs(PLAN)
"""What its physical design is made from."""
