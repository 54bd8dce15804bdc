"""Whether a declaration and a topology can be of one version: each contradiction is named."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Side, target_of, topics_of
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.decide.topology.names import is_generated, is_suppression, stem
from kstreams_runbooks.decide.topology.upstream import kinds_before, store_before
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.topology import Node, Processor, Source, Topology

# Kinds of store in a generated name, of those that a declaration can give.
_KINDS: tuple[tuple[str, set[str]], ...] = (
    ("KSTREAM-JOINTHIS-", {"join"}),
    ("KSTREAM-JOINOTHER-", {"join"}),
    ("KSTREAM-OUTERTHIS-", {"join"}),
    ("KSTREAM-OUTEROTHER-", {"join"}),
    ("KSTREAM-AGGREGATE-STATE-STORE-", {"key_value", "window", "session"}),
    ("KSTREAM-REDUCE-STATE-STORE-", {"key_value", "window", "session"}),
    ("KTABLE-AGGREGATE-STATE-STORE-", {"key_value"}),
    ("KTABLE-REDUCE-STATE-STORE-", {"key_value"}),
    ("KTABLE-SUPPRESS-", set()),
)


def check_declaration(side: Side) -> None:
    """BadInput with the first contradiction to the topology: its place, the found value, the existing ones."""
    for problem in _problems(side.topology, side.declared):
        raise BadInput(problem)


def _problems(topology: Topology, declared: Declaration) -> Iterator[str]:
    nodes = {node.name: node for _, node in topology.nodes()}
    topics = {topic for node in nodes.values() if isinstance(node, Source) for topic in topics_of(node)}
    topics |= {target for node in nodes.values() if (target := target_of(node))}
    for section, names, there in (
        ("stores", declared.stores.keys(), topology.stores),
        ("suppressions", declared.suppressions.keys(), nodes.keys()),
        ("topics", declared.topics.keys(), topics),
        ("operators", declared.operators.keys(), nodes.keys()),
    ):
        for name in sorted(set(names) - set(there)):
            advice = "correct the name, or give the declaration of this topology"
            if section == "stores" and declared.was_read:
                advice += "; a store that the program adds has to be connected to the processor that asks for it"
            yield (
                f"{section}.{name}: the topology has no {_what(section)} of that name (it has "
                f"{', '.join(sorted(there)) or 'none'}); {advice}"
            )
    for name, store in declared.stores.items():
        yield from _store_problems(name, store)
        yield from _place_problems(topology, name, store)
        yield from _changelog_problems(topology, name, store)
    for name in sorted(declared.suppressions):
        yield from _suppression_problems(topology, declared, nodes[name])
    for name, topic in declared.topics.items():
        for other in sorted((topic.joined_with or frozenset()) - topics):
            yield f"topics.{name}.joined_with: the topology has no topic {other}; correct the name"


def _suppression_problems(topology: Topology, declared: Declaration, node: Node) -> Iterator[str]:
    where = f"suppressions.{node.name}"
    if not isinstance(node, Processor) or len(node.stores) != 1:
        kept = len(node.stores) if isinstance(node, Processor) else 0
        yield f"{where}: that operator has {kept} stores (a suppression has one, its buffer); correct the name"
        return
    if is_generated(node.name) and not is_suppression(node.name):
        yield f"{where}: by its generated name it is none; correct the name"
    elif not is_generated(node.name) and node.stores != {f"{node.name}-store"}:
        yield (
            f"{where}: its store is {min(node.stores)} (a suppression's would be {node.name}-store); correct the name, "
            "or declare the store under stores"
        )
    if declared.suppressions[node.name].mode == "until_window_closes" and _has_no_windows(topology, declared, node):
        yield (
            f"{where}.mode: until_window_closes, but the store before it is declared as key_value (expected window or "
            "session); correct one of them"
        )


def _has_no_windows(topology: Topology, declared: Declaration, node: Node) -> bool:
    """Whether the table before a suppression is known not to be windowed.

    A filter or mapValues of a windowed table may keep a store of its own, of kind key_value.
    """
    before = store_before(topology, declared, node.name)
    if before is None or before.kind != "key_value":
        return False
    aggregates = before.aggregate not in {None, "none"}
    return aggregates or not kinds_before(topology, declared, node.name) & {"window", "session", None}


def _store_problems(name: str, store: DeclaredStore) -> Iterator[str]:
    own = stem(name)
    for begins, kinds in _KINDS:
        if own.startswith(begins) and store.kind is not None and store.kind not in kinds:
            wanted = " or ".join(sorted(kinds)) or "a suppression, declared under suppressions"
            yield f"stores.{name}.kind: {store.kind}, but by its generated name the store is {wanted}; correct it"


def _place_problems(topology: Topology, name: str, store: DeclaredStore) -> Iterator[str]:
    sub = topology.subtopology_of(name)
    if store.is_global is not None and sub is not None and store.is_global is not sub.is_global:
        place = "of global stores" if sub.is_global else "of tasks"
        yield (
            f"stores.{name}.global: {str(store.is_global).lower()}, and in the topology the store is in a subtopology "
            f"{place}; correct it, or print the facts again"
        )


def _changelog_problems(topology: Topology, name: str, store: DeclaredStore) -> Iterator[str]:
    """A store has one place for its content, and a topic restores it only if its own subtopology reads the topic."""
    if store.changelog is None:
        return
    if store.logging is False:
        yield (
            f"stores.{name}: logging is false, and topic {store.changelog} is its changelog (expected: one of them); "
            "correct it"
        )
        return
    sub = topology.subtopology_of(name)
    sources = () if sub is None else sub.sources
    if not any(_reads(source, store.changelog) for source in sources):
        read = ", ".join(sorted(topic for source in sources for topic in topics_of(source))) or "no topic"
        yield (
            f"stores.{name}.changelog: {store.changelog}, and no source in front of the store reads it (its "
            f"subtopology reads {read}); correct the name"
        )


def _reads(source: Source, topic: str) -> bool:
    """Whether a source reads a topic; a pattern that may not be read here as Java reads it may match."""
    if source.pattern is None:
        return topic in source.topics
    try:
        return matched(source.pattern, topic)
    except (BadInput, PatternTooSlow):
        return True


def _what(section: str) -> str:
    return {"stores": "store", "suppressions": "operator", "topics": "topic", "operators": "operator"}[section]
