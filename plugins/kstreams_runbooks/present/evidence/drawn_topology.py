"""A topology as an SVG: a frame for each subtopology, its nodes from left to right, with their topics and stores."""

import html
from collections.abc import Iterator
from itertools import pairwise

from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology
from kstreams_runbooks.wording import outside

_WIDTH, _HEIGHT, _COLUMN, _ROW, _TOP = 210, 34, 250, 48, 26
_LONGEST = 34
# A larger drawing cannot be read.
_MOST_NODES = 300


def drawn_topology(topology: Topology) -> str:
    """The SVG; empty for a topology of more than 300 nodes."""
    if sum(len(sub.nodes) for sub in topology.subtopologies) > _MOST_NODES:
        return ""
    lines: list[str] = []
    y = width = 0
    for sub in topology.subtopologies:
        places = _places(sub)
        columns, rows = (max(one[axis] for one in places.values()) + 1 for axis in (0, 1))
        height, width = _TOP + rows * _ROW + 8, max(width, columns * _COLUMN + 8)
        lines.append(f'<text x="4" y="{y + 16}">sub-topology {_text(sub.id)}{" (global)" * sub.is_global}</text>')
        lines.append(f'<line x1="0" y1="{y}" x2="{columns * _COLUMN}" y2="{y}" stroke="#b8bfcc"/>')
        lines += _drawn(sub, places, y + _TOP)
        y += height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" role="img" aria-label="topology">'
    return "\n".join([head, *lines, "</svg>"])


def _places(sub: Subtopology) -> dict[str, tuple[int, int]]:
    """Column and row of each node: one column further than the furthest of the nodes before it."""
    known = {node.name: node for node in sub.nodes}
    column = dict.fromkeys(known, 0)
    # A description has no circle; the bound is for one that has.
    for _ in known:
        moved = False
        for node in sub.nodes:
            for name in _after(node) & column.keys():
                if column[name] <= column[node.name] < len(known):
                    column[name], moved = column[node.name] + 1, True
        if not moved:
            break
    rows: dict[int, int] = {}
    places = {}
    for name in known:
        places[name] = (column[name], rows.get(column[name], 0))
        rows[column[name]] = places[name][1] + 1
    return places


def _drawn(sub: Subtopology, places: dict[str, tuple[int, int]], top: int) -> Iterator[str]:
    at = {name: (place[0] * _COLUMN + 4, top + place[1] * _ROW) for name, place in places.items()}
    for node in sub.nodes:
        x, y = at[node.name]
        for name in sorted(_after(node) & at.keys()):
            points = ((x + _WIDTH, y + _HEIGHT // 2), (at[name][0], at[name][1] + _HEIGHT // 2))
            for (x1, y1), (x2, y2) in pairwise(points):
                yield f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#1d2430"/>'
        yield (
            f"<g><title>{_text(f'{node.name}: {_uses(node)}', None)}</title>"
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" fill="#e8eefc" stroke="#4662a8"/>'
            f'<text x="{x + 5}" y="{y + 14}">{_text(node.name)}</text>'
            f'<text x="{x + 5}" y="{y + 28}" fill="#5a6577">{_text(_uses(node))}</text></g>'
        )


def _after(node: Node) -> frozenset[str]:
    return frozenset() if isinstance(node, Sink) else node.successors


def _uses(node: Node) -> str:
    """The topics that a node reads or writes, or its stores."""
    if isinstance(node, Source):
        return node.pattern or ", ".join(sorted(node.topics))
    return ", ".join(sorted(node.stores)) if isinstance(node, Processor) else node.topic or node.extractor or ""


def _text(text: str, limit: int | None = _LONGEST) -> str:
    return html.escape(outside(text) if limit is None else outside(text, limit))
