"""A topology, or the change from one to another, as a Mermaid flowchart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.decide.comparison.counterparts import counterparts
from kstreams_runbooks.decide.topology.graph import internal_topics, operator_roles, store_roles, topic_roles
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Topology
from kstreams_runbooks.wording import outside

# The kind of a thing (operator, store, topic or extractor), and its name.
DrawnKey = tuple[str, str]

_CLASSES = (
    "classDef store fill:#fff3d6,stroke:#b8860b",
    "classDef internal fill:#e8eefc,stroke:#4662a8",
    "classDef added fill:#dcf5dc,stroke:#2e7d32,stroke-width:2px",
    "classDef removed fill:#fbe0e0,stroke:#c62828,stroke-dasharray:4",
    "classDef renamed stroke:#c77700,stroke-width:3px",
)
_SHAPES = {"operator": ("[", "]"), "store": ("[(", ")]"), "topic": (">", "]"), "extractor": ("{{", "}}")}
# Replaced in this order: the later replacements contain the first characters.
_ENTITIES = {
    "&": "&amp;",
    "#": "&num;",
    '"': "&quot;",
    "<": "&lt;",
    ">": "&gt;",
    "%": "&percnt;",
    "`": "&grave;",
    "\\": "&bsol;",
}
_FLOWS, _KEEPS = "-->", "-.-"
# The arrow of an added or removed edge, by its plain arrow.
_COMES, _GOES = {_FLOWS: "==>", _KEEPS: "==="}, {_FLOWS: "-. gone .->", _KEEPS: "-. gone .-"}


@dataclass(slots=True)
class _Sketch:
    """Things with their group (empty for none), edges, and the internal topics among the things."""

    groups: dict[DrawnKey, str] = field(default_factory=dict)
    edges: dict[tuple[DrawnKey, str, DrawnKey], None] = field(default_factory=dict)
    internal: set[DrawnKey] = field(default_factory=set)


def mermaid(before: Topology, after: Topology | None = None) -> str:
    """Mermaid text; with `after` everything of both topologies, with marks for added, removed and renamed."""
    if after is None:
        sketch = _sketch(before, {})
        lines = _lines(sketch, {key: key[1] for key in sketch.groups}, {})
    else:
        names = _new_names(before, after)
        old, new = _sketch(before, names), _sketch(after, {})
        was = {names.get(key, key): key[1] for key in _sketch(before, {}).groups}
        marks = {
            key: "added" if key not in old.groups else "removed" if key not in new.groups else "renamed"
            for key in (*new.groups, *old.groups)
            if not (key in old.groups and key in new.groups and was[key] == key[1])
        }
        edges = dict.fromkeys(_marked(edge, old, new) for edge in {**new.edges, **old.edges})
        both = _Sketch({**old.groups, **new.groups}, edges, old.internal | new.internal)
        lines = _lines(both, {key: _label(was.get(key, ""), key, new) for key in both.groups}, marks)
    return "\n".join(["flowchart TD", *(f"    {line}" for line in lines)]) + "\n"


def _new_names(before: Topology, after: Topology) -> dict[DrawnKey, DrawnKey]:
    """The new name of each operator, store and internal topic of the old topology."""
    return {
        (kind, old): (kind, new)
        for kind, roles in (("operator", operator_roles), ("store", store_roles), ("topic", topic_roles))
        for old, new in counterparts(roles(before), roles(after)).pairs
    }


def _label(old: str, key: DrawnKey, new: _Sketch) -> str:
    return " → ".join(dict.fromkeys(name for name in (old, key[1] if key in new.groups else "") if name))


def _marked(edge: tuple[DrawnKey, str, DrawnKey], old: _Sketch, new: _Sketch) -> tuple[DrawnKey, str, DrawnKey]:
    """An edge as drawn in a comparison of two topologies."""
    start, arrow, end = edge
    look = _COMES if edge not in old.edges else _GOES if edge not in new.edges else None
    return start, look[arrow] if look else arrow, end


def _sketch(topology: Topology, names: Mapping[DrawnKey, DrawnKey]) -> _Sketch:
    """Everything to draw, each thing under its name in `names` if it has one there."""
    made = _Sketch()
    internal = internal_topics(topology)

    def key(kind: str, name: str) -> DrawnKey:
        return names.get((kind, name), (kind, name))

    def topic(name: str) -> DrawnKey:
        found = key("topic", name)
        made.groups.setdefault(found, "")
        if name in internal:
            made.internal.add(found)
        return found

    for sub, node in topology.nodes():
        own, group = key("operator", node.name), f"{sub.id}{' (global)' if sub.is_global else ''}"
        made.groups[own] = group
        for source in _read(node):
            made.edges[topic(source), _FLOWS, own] = None
        if isinstance(node, Sink):
            target = topic(node.topic) if node.topic is not None else ("extractor", node.extractor or "")
            made.groups.setdefault(target, "")
            made.edges[own, _FLOWS, target] = None
        else:
            made.edges |= {(own, _FLOWS, key("operator", name)): None for name in sorted(node.successors)}
        for store in sorted(node.stores) if isinstance(node, Processor) else ():
            made.groups[key("store", store)] = group
            made.edges[own, _KEEPS, key("store", store)] = None
    return made


def _read(node: Node) -> tuple[str, ...]:
    if not isinstance(node, Source):
        return ()
    return tuple(sorted(node.topics)) if node.pattern is None else (node.pattern,)


def _lines(sketch: _Sketch, labels: Mapping[DrawnKey, str], marks: Mapping[DrawnKey, str]) -> Iterator[str]:
    """Groups with their things, things without a group, edges, and the classes."""
    ids = {key: f"{key[0][0]}{number}" for number, key in enumerate(sketch.groups)}
    for number, group in enumerate(sorted(set(sketch.groups.values()) - {""})):
        yield f'subgraph group{number}["sub-topology {escaped(group)}"]'
        yield from (f"    {_shape(ids[key], key, labels)}" for key, own in sketch.groups.items() if own == group)
        yield "end"
    yield from (_shape(ids[key], key, labels) for key, own in sketch.groups.items() if not own)
    for start, arrow, end in sketch.edges:
        yield f"{ids[start]} {arrow} {ids[end]}"
    yield from _CLASSES
    for name, keys in _classes(sketch, marks).items():
        yield f"class {','.join(ids[key] for key in keys)} {name}"


def _classes(sketch: _Sketch, marks: Mapping[DrawnKey, str]) -> dict[str, list[DrawnKey]]:
    """Things by the class of their style."""
    found: dict[str, list[DrawnKey]] = {}
    for key in sketch.groups:
        if key[0] == "store":
            found.setdefault("store", []).append(key)
        if key in sketch.internal:
            found.setdefault("internal", []).append(key)
        if mark := marks.get(key):
            found.setdefault(mark, []).append(key)
    return found


def _shape(name: str, key: DrawnKey, labels: Mapping[DrawnKey, str]) -> str:
    opening, closing = _SHAPES[key[0]]
    return f'{name}{opening}"{escaped(labels[key])}"{closing}'


def escaped(text: str) -> str:
    """Text for Mermaid's quotes: escapes closing quotes, tags, directives, entities and Markdown."""
    line = outside(text)
    for one, written in _ENTITIES.items():
        line = line.replace(one, written)
    return line
