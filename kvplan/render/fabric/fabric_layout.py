"""Where the boxes of the fabric diagram stand: tiers in rows, machines below their leaf pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvplan.render.fabric.labels import pairs_title, pods_title
from kvplan.units import counted

if TYPE_CHECKING:
    from kvplan.render.fabric.topology import Block, Box, Pod, Topology

BOX_WIDTH, BOX_HEIGHT = 250.0, 58.0
GAP, PAD, MARGIN = 20.0, 14.0, 24.0
TOP, DROP, HEADER, LABEL = 56.0, 112.0, 22.0, 40.0
LEAST_WIDTH, LEGEND = 640.0, 48.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A box at its place; `groups` is how many pairs or pods it stands for."""

    box: Box
    x: float
    y: float
    groups: int

    @property
    def bottom(self) -> float:
        """Where its lower edge is."""
        return self.y + BOX_HEIGHT


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame round what is drawn once for several, or beside others."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(slots=True)
class Layout:
    """The rows from above and what stands in them."""

    spine_y: float
    leaf_y: float
    machine_y: float
    spots: dict[str, Spot] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    width: float = 0.0
    bottom: float = 0.0
    height: float = 0.0

    def row(self, boxes: tuple[Box, ...], x: float, width: float, y: float, groups: int) -> None:
        """Place boxes in a row, in the middle of a width."""
        start = x + (width - _row_width(len(boxes))) / 2
        for index, box in enumerate(boxes):
            self.spots[box.id] = Spot(box, start + index * (BOX_WIDTH + GAP), y, groups)


def lay_out(topology: Topology) -> Layout:
    """Give every box its place."""
    rows = _rows(topology)
    framed = sum(len(pod.numbers) for pod in topology.pods) > 1
    widths = [_pod_width(pod) for pod in topology.pods]
    needed = max(sum(widths) + GAP * (len(widths) - 1), _row_width(len(topology.super_spines)), LEAST_WIDTH)
    rows.width = needed + 2 * MARGIN
    x = (rows.width - sum(widths) - GAP * (len(widths) - 1)) / 2
    for pod, width in zip(topology.pods, widths, strict=True):
        _place_pod(rows, pod, x, width, framed=framed)
        x += width + GAP
    rows.row(topology.super_spines, MARGIN, needed, TOP, 1)
    rows.bottom = max((frame.y + frame.height for frame in rows.frames), default=rows.machine_y + BOX_HEIGHT)
    rows.height = rows.bottom + LEGEND
    if topology.apart:
        _place_apart(rows, topology.apart, topology.management_links)
    return rows


def _place_apart(rows: Layout, boxes: tuple[Box, ...], links: int) -> None:
    """Place what has no link to the fabric below everything else."""
    width = _row_width(len(boxes)) + 2 * PAD
    x, y = (rows.width - width) / 2, rows.bottom + GAP
    rows.row(boxes, x, width, y + PAD, 1)
    height = BOX_HEIGHT + 2 * PAD + HEADER
    rows.frames.append(Frame(x, y, width, height, f"Management network: {counted(links, 'link')}, not drawn"))
    rows.height = y + height + LEGEND


def _rows(topology: Topology) -> Layout:
    """Give each tier its height; a tier that is not there takes no room."""
    spine_y = TOP + (BOX_HEIGHT + DROP if topology.super_spines else 0)
    leaf_y = spine_y + (BOX_HEIGHT + DROP if any(pod.spines for pod in topology.pods) else 0)
    return Layout(spine_y, leaf_y, leaf_y + BOX_HEIGHT + DROP)


def _place_pod(rows: Layout, pod: Pod, x: float, width: float, *, framed: bool) -> None:
    """Place the spines and leaf pairs of a pod."""
    rows.row(pod.spines, x, width, rows.spine_y, len(pod.numbers))
    several = sum(len(block.pairs) for block in pod.blocks) > 1
    widths = [_block_width(block) for block in pod.blocks]
    left = x + (width - sum(widths) - GAP * (len(widths) - 1)) / 2
    bottom = rows.machine_y + BOX_HEIGHT + PAD
    for block, block_width in zip(pod.blocks, widths, strict=True):
        rows.row(block.leaves, left, block_width, rows.leaf_y, len(block.pairs))
        rows.row(block.machines, left, block_width, rows.machine_y, len(block.pairs))
        if several:
            top = rows.leaf_y - LABEL
            title = pairs_title(block.pairs, len(pod.numbers))
            rows.frames.append(Frame(left, top, block_width, bottom + HEADER - top, title))
        left += block_width + GAP
    if framed:
        top = rows.spine_y - LABEL
        height = bottom + 2 * HEADER + PAD - top
        rows.frames.append(Frame(x, top, width, height, pods_title(pod.numbers)))


def _row_width(boxes: int) -> float:
    """Return the width of so many boxes in a row."""
    return boxes * BOX_WIDTH + max(boxes - 1, 0) * GAP


def _block_width(block: Block) -> float:
    """Return the width of a block with its padding."""
    return _row_width(max(len(block.leaves), len(block.machines))) + 2 * PAD


def _pod_width(pod: Pod) -> float:
    """Return the width of a pod with its padding."""
    blocks = sum(_block_width(block) for block in pod.blocks) + GAP * (len(pod.blocks) - 1)
    return max(blocks, _row_width(len(pod.spines))) + 2 * PAD
