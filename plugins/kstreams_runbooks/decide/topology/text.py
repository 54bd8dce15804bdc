"""Reads the text of `Topology#describe`, as every Kafka Streams release since 2.4 prints it.

The text omits windows, serdes, partition counts and classes: they are declared elsewhere. Spaces before a line never
matter: the guide and most pages that quote a description have lost them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from kstreams_runbooks.decide.topology.names import is_repartition
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology

_HEADER = re.compile(r"Topologies:")
_NAMED = re.compile(r"Topology: (?P<name>.+):")
_SUBTOPOLOGY = re.compile(r"Sub-topology: (?P<number>\d{1,9})(?P<globe> for global store \(will not generate tasks\))?")
_SOURCE = re.compile(r"Source:\s+(?P<name>.+?) \(topics: (?P<topics>.*)\)")
_PROCESSOR = re.compile(r"Processor: (?P<name>.+?) \(stores: \[(?P<stores>.*)\]\)")
_SINK = re.compile(r"Sink: (?P<name>.+?) \(topic: (?P<topic>.*)\)")
_DYNAMIC_SINK = re.compile(r"Sink: (?P<name>.+?) \(extractor class: (?P<extractor>.*)\)")
# An object's address and the number of a lambda's class differ in each run of the same program.
_UNSTEADY = re.compile(r"(?<=\$\$Lambda)[^\s]*|@[0-9a-f]+$")
_TO = re.compile(r"--> (?P<names>.*)")
_FROM = re.compile(r"<-- (?P<names>.*)")
# Java prints a set as `[a, b]`; a pattern is printed bare, and a text that is not a valid topic name is one.
_TOPICS = re.compile(r"\[(?P<topics>[a-zA-Z0-9._-]+(, [a-zA-Z0-9._-]+)*)?\]")
_NOBODY = "none"
_COMMA = ", "
# A text with more than one is refused for any number of them; a text made to have many must not cost more.
_MOST_READINGS = 64
_MOST_COMMAS = 30
# A topology of a thousand nodes has some 150,000 characters; a text made to be slow costs two seconds at most.
_MOST_TEXT = 2**20
# Comparing two versions takes the square of it: a maintained program is never this large.
_MOST_NAMES = 5_000
_SHOWN = 60


@dataclass(slots=True)
class _Draft:
    """One node while its lines are read: its own fields, and its arrows to and from other nodes."""

    line: int
    node: Node
    after: str | None = None
    before: str | None = None


@dataclass(slots=True)
class _Group:
    """One subtopology while its nodes are read."""

    line: int
    number: int
    is_global: bool
    topology: str
    drafts: dict[str, _Draft] = field(default_factory=dict)
    # Whether a name contains a comma: then the names in a list are ambiguous.
    commas: bool = False


def parse_topology(text: str) -> Topology:
    """The topology of a description; BadInput with the line and the expected content.

    A text that was cut off is detected: every node has its arrows, and every arrow leads to a node that has one back.
    Source: `InternalTopologyBuilder.TopologyDescription` (Apache Kafka, 2.4 to 4.3).
    """
    groups = list(_groups(_lines(text)))
    if not groups:
        raise BadInput("topology description: no sub-topology in it (expected `Sub-topology: 0`); give the whole text")
    found: dict[str, int] = {}
    subtopologies: list[Subtopology] = []
    for group in groups:
        finished = _finished(group)
        if (first := found.get(finished.id)) is not None:
            raise BadInput(
                f"line {group.line}: sub-topology {finished.id} stands in line {first} already (expected each once); "
                "give one description"
            )
        found[finished.id] = group.line
        subtopologies.append(finished)
    topology = Topology(tuple(sorted(subtopologies, key=lambda sub: (sub.topology, sub.number))))
    _check_size(topology)
    _check_whole(topology)
    return topology


def _check_size(topology: Topology) -> None:
    """BadInput if comparing it with another would take minutes, and gigabytes."""
    nodes = [node for _, node in topology.nodes()]
    topics = sum(len(node.topics) for node in nodes if isinstance(node, Source))
    stores = sum(len(node.stores) for node in nodes if isinstance(node, Processor))
    if (names := len(nodes) + topics + stores) > _MOST_NAMES:
        raise BadInput(
            f"topology description: names {names:,} operators, stores and topics (limit {_MOST_NAMES:,}); give the "
            "description of one application"
        )


def _check_whole(topology: Topology) -> None:
    """BadInput if a repartition topic is written and not read: its reader is in the part that was cut off."""
    read = {topic for sub in topology.subtopologies for source in sub.sources for topic in source.topics}
    for sub in topology.subtopologies:
        for sink in sub.sinks:
            if sink.topic is not None and is_repartition(sink.topic) and sink.topic not in read:
                raise BadInput(
                    f"topology description: sink {sink.name} writes {sink.topic}, which no source reads; the text is "
                    "cut off: give it whole"
                )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers from 1, without the decoration around the words."""
    if "\x00" in text:
        raise BadInput("topology description: has NUL bytes (expected the text of Topology#describe); give that text")
    if len(text) > _MOST_TEXT:
        raise BadInput(f"topology description: has {len(text):,} characters (limit {_MOST_TEXT:,}); give that text")
    # Windows editors put a mark before the first line.
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if stripped := line.strip():
            yield number, stripped


def _groups(lines: Iterable[tuple[int, str]]) -> Iterator[_Group]:
    topology: str | None = None
    group: _Group | None = None
    for number, line in lines:
        if (header := _header(line)) is not None:
            topology = header
        elif found := _SUBTOPOLOGY.fullmatch(line):
            if group:
                yield group
            if topology is None:
                raise BadInput(f"line {number}: {_cut(line)} (expected `Topologies:` before it); give the whole text")
            group = _Group(number, int(found["number"]), found["globe"] is not None, topology)
        elif group is None:
            expected = "`Topologies:`" if topology is None else "`Sub-topology: 0`"
            raise BadInput(f"line {number}: {_cut(line)} (expected {expected}); give the text of Topology#describe")
        else:
            _add(group, number, line)
    if group:
        yield group


def _header(line: str) -> str | None:
    """The name of the topology that begins here, empty for the usual one, None for any other line."""
    if _HEADER.fullmatch(line):
        return ""
    named = _NAMED.fullmatch(line)
    return named["name"] if named else None


def _add(group: _Group, number: int, line: str) -> None:
    """Take a node, or an arrow of the node before it."""
    if node := _node(line):
        group.drafts[node.name] = _draft(group, number, node)
        group.commas = group.commas or _COMMA.strip() in node.name
        return
    draft = next(reversed(group.drafts.values()), None)
    if draft is None or not _arrow(draft, line):
        expected = _expected(draft)
        raise BadInput(f"line {number}: {_cut(line)} (expected {expected}); give the text as it is printed")


def _node(line: str) -> Node | None:
    nobody: frozenset[str] = frozenset()
    # Each pattern ends so. The search for an absent end would run from every bracket on, to the end of the line.
    if not line.endswith(")"):
        return None
    if found := _SOURCE.fullmatch(line):
        topics = _TOPICS.fullmatch(found["topics"])
        if topics:
            return Source(found["name"], _names(topics["topics"] or ""), None, nobody)
        return Source(found["name"], nobody, found["topics"], nobody)
    if line.endswith("])") and (found := _PROCESSOR.fullmatch(line)):
        return Processor(found["name"], _names(found["stores"]), nobody)
    if found := _SINK.fullmatch(line):
        return Sink(found["name"], found["topic"], None)
    if found := _DYNAMIC_SINK.fullmatch(line):
        return Sink(found["name"], None, _UNSTEADY.sub("", found["extractor"]))
    return None


def _draft(group: _Group, number: int, node: Node) -> _Draft:
    if first := group.drafts.get(node.name):
        raise BadInput(
            f"line {number}: node {node.name} stands in line {first.line} already (expected each name once); give one "
            "description"
        )
    draft = _Draft(number, node, after=_NOBODY if isinstance(node, Sink) else None)
    if isinstance(node, Source):
        draft.before = _NOBODY
    return draft


def _arrow(draft: _Draft, line: str) -> bool:
    """Whether the line is an arrow that the node above it still lacks."""
    if (found := _TO.fullmatch(line)) and draft.after is None:
        draft.after = found["names"]
        return True
    if (found := _FROM.fullmatch(line)) and draft.before is None:
        draft.before = found["names"]
        return True
    return False


def _expected(draft: _Draft | None) -> str:
    if draft is None:
        return "`Source:`, `Processor:` or `Sink:`"
    if draft.after is None:
        return f"`-->` of {draft.node.name}"
    if draft.before is None:
        return f"`<--` of {draft.node.name}"
    return "`Source:`, `Processor:`, `Sink:` or `Sub-topology:`"


def _finished(group: _Group) -> Subtopology:
    """The subtopology of a group whose arrows fit together."""
    for draft in group.drafts.values():
        if draft.after is None or draft.before is None:
            raise BadInput(f"line {draft.line}: no {_expected(draft)} follows; the text is cut off: give it whole")
    after = {name: _meant(group, draft, draft.after or _NOBODY, "-->") for name, draft in group.drafts.items()}
    before = {name: _meant(group, draft, draft.before or _NOBODY, "<--") for name, draft in group.drafts.items()}
    for draft in group.drafts.values():
        _fits(group, draft, after, before, "-->")
        _fits(group, draft, before, after, "<--")
    if not group.drafts:
        raise BadInput(
            f"line {group.line}: sub-topology {group.number} has no node; the text is cut off: give it whole"
        )
    nodes = tuple(_with_successors(draft.node, after[name]) for name, draft in sorted(group.drafts.items()))
    return Subtopology(group.number, nodes, group.is_global, group.topology)


def _meant(group: _Group, draft: _Draft, text: str, arrow: str) -> frozenset[str]:
    """The nodes that an arrow leads to; a node's name may contain a comma: the existing names decide.

    A name without a node is returned unchanged, for `_fits` to report.
    """
    plain = tuple(_names(text))
    if not group.commas:
        return frozenset(plain)
    if text.count(_COMMA) > _MOST_COMMAS:
        raise BadInput(
            f"line {draft.line}: {arrow} of {_cut(draft.node.name)} has more than {_MOST_COMMAS} names, and a name of "
            "a node here holds a comma, so they cannot be told apart; give that node another name"
        )
    name, readings = draft.node.name, list(islice(_readings(text.strip(), group.drafts), _MOST_READINGS)) or [plain]
    # `a, b` may be two nodes or one: the one that leads back is meant.
    fitting = {frozenset(one) for one in readings if all(_leads_back(group, other, name, arrow) for other in one)}
    if len(fitting) > 1:
        raise BadInput(
            f"line {draft.line}: {arrow} {_cut(text)} of {name} can be read in {len(fitting)} ways, because a name of "
            "a node holds a comma; give that node another name"
        )
    return next(iter(fitting)) if fitting else frozenset(readings[0])


def _readings(text: str, names: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Every way to read a list of names as names of nodes.

    Searched from the end: a beginning that leads nowhere is checked once, not once for each way to it.
    """
    if text in {_NOBODY, ""}:
        yield ()
        return
    parts = text.split(_COMMA)
    nexts: dict[int, list[tuple[str, int]]] = {}
    for begin in reversed(range(len(parts))):
        spans = ((_COMMA.join(parts[begin:end]), end) for end in range(begin + 1, len(parts) + 1))
        nexts[begin] = [(name, end) for name, end in spans if name in names and (end == len(parts) or nexts[end])]
    ways: list[tuple[tuple[str, ...], int]] = [((), 0)]
    while ways:
        read, at = ways.pop()
        if at == len(parts):
            yield read
        else:
            ways += [((*read, name), end) for name, end in nexts[at]]


def _leads_back(group: _Group, other: str, name: str, arrow: str) -> bool:
    there = group.drafts.get(other)
    if there is None:
        return False
    back = (there.before if arrow == "-->" else there.after) or ""
    return f"{_COMMA}{name}{_COMMA}" in f"{_COMMA}{back}{_COMMA}"


def _fits(
    group: _Group,
    draft: _Draft,
    ours: Mapping[str, frozenset[str]],
    theirs: Mapping[str, frozenset[str]],
    arrow: str,
) -> None:
    """Every arrow leads to a node of the subtopology, and that node has one back."""
    name, back = draft.node.name, "<--" if arrow == "-->" else "-->"
    for other in sorted(ours[name]):
        if other not in group.drafts:
            raise BadInput(
                f"line {draft.line}: {name} {arrow} {other}, which is no node of sub-topology {group.number}; the text "
                "is cut off or mixed with another: give one description, all of it"
            )
        if name not in theirs[other]:
            raise BadInput(
                f"line {group.drafts[other].line}: {other} lacks {back} {name} (line {draft.line} has {arrow} {other});"
                " give the text as it is printed"
            )


def _with_successors(node: Node, successors: frozenset[str]) -> Node:
    return node if isinstance(node, Sink) else replace(node, successors=successors)


def _names(text: str) -> frozenset[str]:
    names = (name.strip() for name in text.split(","))
    return frozenset(name for name in names if name and name != _NOBODY)


def _cut(line: str) -> str:
    """The beginning of a line, printable."""
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"
    return repr(shown)
