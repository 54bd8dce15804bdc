"""What becomes of every store, internal topic, operator, source, sink and subtopology between two topologies."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.counterparts import Counterparts, counterparts
from kstreams_runbooks.decide.declared_facts import (
    MERGE,
    REUSE,
    SELF_JOIN,
    optimizations,
    settings,
    store_facts,
    suppressions,
    topic_facts,
)
from kstreams_runbooks.decide.generated_names import is_generated, stem
from kstreams_runbooks.decide.topology_graph import (
    Role,
    internal_topics,
    operator_roles,
    store_roles,
    topic_roles,
)
from kstreams_runbooks.model.declaration import Declaration
from kstreams_runbooks.model.topology import Node, Processor, Sink, Source, Topology
from kstreams_runbooks.model.topology_change import Fact, Subject, SubjectKind

_NOWHERE = ""
_SUPPRESS = "KTABLE-SUPPRESS-"
_OTHER_SIDE = re.compile(r"-other-join-store$|^KSTREAM-(JOIN|OUTER)OTHER-")
_NOTHING = Declaration()


def subjects(
    before: Topology, after: Topology, declared: tuple[Declaration, Declaration] = (_NOTHING, _NOTHING)
) -> tuple[Subject, ...]:
    """Every part of either topology, with the facts that rules ask for; parts that stay as they are included.

    `declared` is what the old and the new version say of themselves beside the text.
    """
    stores = counterparts(store_roles(before), store_roles(after))
    topics = counterparts(topic_roles(before), topic_roles(after))
    operators = counterparts(operator_roles(before), operator_roles(after))
    return (
        *_with_declared(_persistent("store", stores, _stores_in(before), _stores_in(after)), declared),
        *_persistent("internal_topic", topics, _topics_in(before), _topics_in(after)),
        *_operators(operators, before, after, {new for found in (stores, topics) for old, new in found.renamed}),
        *_sources(before, after, declared),
        *_sinks(operators, before, after, declared),
        *_subtopologies(before, after),
        _application(before, after, stores, topics, declared),
        *_suppressions(operators, declared),
        *settings(declared[0].config, declared[1].config),
        *optimizations(
            declared[0].config,
            declared[1].config,
            {
                REUSE: _reads_tables(after),
                MERGE: bool(topics.removed or topics.added),
                SELF_JOIN: _joins_itself(stores),
            },
            all_named=not any(is_generated(node.name) for _, node in after.nodes()),
        ),
    )


def _reads_tables(topology: Topology) -> bool | None:
    """Whether a topic is read into a table that keeps its own changelog; a name hides it: None for perhaps."""
    first = {name for _, node in topology.nodes() if isinstance(node, Source) for name in node.successors}
    keeps = [node.name for _, node in topology.nodes() if isinstance(node, Processor) and node.stores]
    found = [name for name in keeps if name in first]
    if any(name.startswith("KTABLE-SOURCE-") for name in found):
        return True
    return None if any(not is_generated(name) for name in found) else False


def _joins_itself(stores: Counterparts) -> bool:
    """Whether the second store of a join comes or goes while the first stays: a self-join with one store or two."""
    return any(_OTHER_SIDE.search(name) for name in (*stores.removed, *stores.added)) and bool(stores.pairs)


def _with_declared(stores: Iterator[Subject], declared: tuple[Declaration, Declaration]) -> Iterator[Subject]:
    """Stores that stay, with what changes in them; what comes or goes has nothing to compare with."""
    before, after = declared
    for store in stores:
        facts = store_facts(before.stores.get(store.said["before"]), after.stores.get(store.name))
        if not store.facts["stays"]:
            facts = dict.fromkeys(facts, False)
        yield replace(store, facts={**store.facts, **facts})


def _suppressions(operators: Counterparts, declared: tuple[Declaration, Declaration]) -> Iterator[Subject]:
    """Suppress operators, by the name that they have now: those declared, and those whose generated name tells it."""
    now = dict(operators.pairs)
    before = {now.get(name, name): one for name, one in declared[0].suppressions.items()}
    there = {
        **dict.fromkeys(operators.added, (False, True)),
        **dict.fromkeys(operators.removed, (True, False)),
        **dict.fromkeys(now.values(), (True, True)),
    }
    generated = {name: at for name, at in there.items() if stem(name).startswith(_SUPPRESS)}
    known = {name: at for name, at in there.items() if name in before or name in declared[1].suppressions}
    yield from suppressions(before, declared[1].suppressions, {**generated, **known})


def _persistent(
    kind: SubjectKind, found: Counterparts, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Subject]:
    """Stores or internal topics: `before` and `after` say which subtopology each is in."""
    for old, new in found.pairs:
        facts: dict[str, Fact] = {
            "stays": True,
            "removed": False,
            "added": False,
            "renamed": old != new,
            "moved": old == new and before[old] != after[new],
            "generated_before": is_generated(old),
            "generated": is_generated(new),
            "shifted": old != new and is_generated(old) and is_generated(new),
            "swapped": old != new and (new, old) in found.pairs,
            "name_was_anothers": old != new and new in before,
        }
        yield Subject(kind, new, facts, {"name": new, "before": old, "from_sub": before[old], "to_sub": after[new]})
    for name in found.removed:
        yield _one_side(kind, name, removed=True, taken=False, where=before[name])
    for name in found.added:
        yield _one_side(kind, name, removed=False, taken=name in before, where=after[name])
    for tie in found.ties:
        for name in tie.after or tie.before:
            subject = _one_side(kind, name, removed=False, taken=False, where=_NOWHERE)
            candidates = " or ".join(tie.before)
            unknown = dict.fromkeys(("renamed", "shifted", "swapped", "name_was_anothers"))
            facts = {**subject.facts, **unknown, "added": False}
            yield Subject(kind, name, facts, {**subject.said, "before": candidates, "candidates": candidates})


def _one_side(kind: SubjectKind, name: str, *, removed: bool, taken: bool, where: str) -> Subject:
    generated = is_generated(name)
    facts: dict[str, Fact] = {
        "stays": False,
        "removed": removed,
        "added": not removed,
        "renamed": False,
        "moved": False,
        "generated_before": generated and removed,
        "generated": generated and not removed,
        "shifted": False,
        "swapped": False,
        "name_was_anothers": taken,
    }
    return Subject(kind, name, facts, {"name": name, "before": name, "from_sub": where, "to_sub": where})


def _operators(found: Counterparts, before: Topology, after: Topology, renamed: set[str]) -> Iterator[Subject]:
    """Operators, without those that come and go with an internal topic; `renamed` are stores and topics that are."""
    old, new = _of_the_program(before), _of_the_program(after)
    for name in (*found.removed, *(name for tie in found.ties for name in tie.before[len(tie.after) :])):
        if name in old:
            yield _operator(name, name, removed=True)
    for name in (*found.added, *(name for tie in found.ties for name in tie.after[len(tie.before) :])):
        if name in new:
            yield _operator(name, name, added=True)
    for was, name in found.pairs:
        if name in new:
            held = _held(new[name]) & renamed
            later = was != name and not (is_generated(was) and is_generated(name)) and not held
            yield _operator(was, name, named_later=later)


def _operator(was: str, name: str, **true: bool) -> Subject:
    facts: dict[str, Fact] = {"added": False, "removed": False, "named_later": False, **true}
    return Subject("operator", name, facts, {"name": name, "before": was})


def _held(node: Node) -> set[str]:
    """What is called after an operator: its stores, or the topic that it reads or writes."""
    if isinstance(node, Processor):
        return set(node.stores)
    return set(_topics_of(node)) if isinstance(node, Source) else {_target(node)}


def _of_the_program(topology: Topology) -> dict[str, Node]:
    """Operators that somebody wrote: not the source, the sink, and the filter and key that belong to an internal topic.

    A `groupBy` that has a name is the processor of that name; one that has none is a key-select right before the topic.
    """
    internal = internal_topics(topology)
    nodes = {node.name: node for _, node in topology.nodes()}
    plumbing: set[str] = set()
    for node in nodes.values():
        if isinstance(node, Source) and node.topics & internal:
            plumbing.add(node.name)
        elif isinstance(node, Sink) and node.topic in internal:
            plumbing |= {node.name, *_leading_to(node, nodes, node.topic or "")}
    return {name: node for name, node in nodes.items() if name not in plumbing}


def _leading_to(sink: Sink, nodes: Mapping[str, Node], topic: str) -> Iterator[str]:
    """The filter right before a sink of an internal topic, and the key-select before that."""
    name, base = sink.name, topic.removesuffix("-repartition")
    for kinds in (("KSTREAM-FILTER-", f"{base}-repartition-filter"), ("KSTREAM-KEY-SELECT-", base)):
        found = [
            node.name
            for node in nodes.values()
            if isinstance(node, Processor)
            and node.successors == {name}
            and not node.stores
            and (node.name.startswith(kinds[0]) or node.name == kinds[1])
        ]
        if len(found) != 1:
            return
        [name] = found
        yield name


def _sources(before: Topology, after: Topology, declared: tuple[Declaration, Declaration]) -> Iterator[Subject]:
    """Topics of others that are read, a pattern as one; global stores apart."""
    for is_global in (False, True):
        old, new = _read(before, is_global=is_global), _read(after, is_global=is_global)
        for topic in sorted(old | new):
            facts: dict[str, Fact] = {
                "added": topic not in old,
                "removed": topic not in new,
                "stays": topic in old and topic in new,
                "global": is_global,
                "stateful": bool(before.stores | after.stores),
                **_of_topic(topic, topic, declared, stays=topic in old and topic in new),
            }
            yield Subject("source_topic", topic, facts, {"name": topic})


def _of_topic(old: str, new: str, declared: tuple[Declaration, Declaration], *, stays: bool = True) -> dict[str, Fact]:
    facts = topic_facts(declared[0].topics.get(old), declared[1].topics.get(new))
    return facts if stays else dict.fromkeys(facts, False)


def _sinks(
    found: Counterparts, before: Topology, after: Topology, declared: tuple[Declaration, Declaration]
) -> Iterator[Subject]:
    """Sinks that stay, and what they write to."""
    old, new = ({node.name: node for _, node in topology.nodes()} for topology in (before, after))
    internal = internal_topics(before) | internal_topics(after)
    for was, name in found.pairs:
        one, other = _target(old[was]), _target(new[name])
        if one and other and not {one, other} & internal:
            facts: dict[str, Fact] = {
                "topic_changed": one != other,
                "stateful": bool(before.stores | after.stores),
                **_of_topic(one, other, declared),
            }
            yield Subject("sink", other, facts, {"name": other, "before": one})


def _subtopologies(before: Topology, after: Topology) -> Iterator[Subject]:
    """Subtopologies of the old topology by what they read; one whose number is gone leaves task directories behind."""
    now = _places(after)
    numbers = {sub.id for sub in after.subtopologies if not sub.is_global}
    tasks = {sub.id for sub in before.subtopologies if not sub.is_global}
    for read, number in sorted(_places(before).items(), key=lambda place: place[1]):
        found = now.get(read, _NOWHERE)
        facts: dict[str, Fact] = {
            "renumbered": found not in {_NOWHERE, number},
            "number_gone": number in tasks and number not in numbers,
        }
        yield Subject("subtopology", number, facts, {"name": number, "now": found})


def _application(
    before: Topology,
    after: Topology,
    stores: Counterparts,
    topics: Counterparts,
    declared: tuple[Declaration, Declaration],
) -> Subject:
    """The whole: whether anything is as it was, and whether anything at all has changed."""
    shared = (_read(before) & _read(after)) | (_written(before) & _written(after))
    facts: dict[str, Fact] = {
        "same": before == after,
        "declared_same": declared[0] == declared[1] if after.stores <= declared[1].stores.keys() else None,
        "static": None if (config := declared[1].config) is None else "group.instance.id" in config,
        "topics_changed": {name for _, read in _shape(before) for name in read}
        != {name for _, read in _shape(after) for name in read},
        "nothing_in_common": not shared and not stores.pairs and not topics.pairs,
        "shape_changed": _shape(before) != _shape(after),
    }
    return Subject("application", "application", facts, {"name": "application"})


def _stores_in(topology: Topology) -> dict[str, str]:
    return {store: sub.id for sub in topology.subtopologies for store in sub.stores}


def _topics_in(topology: Topology) -> dict[str, str]:
    """The subtopology that reads each internal topic."""
    internal = internal_topics(topology)
    return {
        topic: sub.id
        for sub in topology.subtopologies
        for source in sub.sources
        for topic in source.topics
        if topic in internal
    }


def _places(topology: Topology) -> dict[frozenset[str], str]:
    """Numbers of subtopologies by the roles of what they read."""
    roles: dict[str, Role] = topic_roles(topology)
    return {
        frozenset(str(roles.get(topic, topic)) for source in sub.sources for topic in _topics_of(source)): sub.id
        for sub in topology.subtopologies
    }


def _shape(topology: Topology) -> tuple[tuple[str, frozenset[str]], ...]:
    """What the members of a group have to agree on: the sources of every numbered subtopology."""
    return tuple(
        (sub.id, frozenset(topic for source in sub.sources for topic in _topics_of(source)))
        for sub in topology.subtopologies
    )


def _read(topology: Topology, *, is_global: bool | None = None) -> set[str]:
    internal = internal_topics(topology)
    return {
        topic
        for sub in topology.subtopologies
        if is_global is None or sub.is_global is is_global
        for source in sub.sources
        for topic in _topics_of(source)
        if topic not in internal
    }


def _written(topology: Topology) -> set[str]:
    internal = internal_topics(topology)
    return {target for _, node in topology.nodes() if (target := _target(node)) and target not in internal}


def _target(node: Node) -> str:
    return (node.topic or node.extractor or "") if isinstance(node, Sink) else ""


def _topics_of(source: Source) -> tuple[str, ...]:
    return tuple(sorted(source.topics)) if source.pattern is None else (source.pattern,)
