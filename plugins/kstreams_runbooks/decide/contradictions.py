"""Whether a declaration and a topology can be of one version: what contradicts the description is named."""

from collections.abc import Iterator

from kstreams_runbooks.decide.compared import Version, target_of, topics_of
from kstreams_runbooks.decide.generated_names import stem
from kstreams_runbooks.decide.store_before import store_before
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology import Processor, Source, Topology

# What a generated name says of a store: its kinds, of those that a declaration can give.
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


def check_declaration(version: Version) -> None:
    """BadInput with the first thing that contradicts the topology: where it stands, what was found, what is there."""
    for problem in _problems(version.topology, version.declared):
        raise BadInput(problem)


def _problems(topology: Topology, declared: Declaration) -> Iterator[str]:
    nodes = {node.name: node for _, node in topology.nodes()}
    topics = {topic for node in nodes.values() if isinstance(node, Source) for topic in topics_of(node)}
    topics |= {target for node in nodes.values() if (target := target_of(node))}
    for section, names, there in (
        ("stores", declared.stores.keys(), topology.stores),
        ("suppressions", declared.suppressions.keys(), nodes.keys()),
        ("topics", declared.topics.keys(), topics),
    ):
        for name in sorted(set(names) - set(there)):
            yield (
                f"{section}.{name}: the topology has no {_what(section)} of that name (it has "
                f"{', '.join(sorted(there)) or 'none'}); correct the name, or give the declaration of this topology"
            )
    for name, store in declared.stores.items():
        yield from _store_problems(name, store)
    for name in declared.suppressions:
        node = nodes[name]
        if not isinstance(node, Processor) or len(node.stores) != 1:
            kept = len(node.stores) if isinstance(node, Processor) else 0
            yield (
                f"suppressions.{name}: that operator has {kept} stores (a suppression has one, its buffer); correct "
                "the name"
            )
        elif (
            declared.suppressions[name].mode == "until_window_closes"
            and (before := store_before(topology, declared, name)) is not None
            and before.kind == "key_value"
        ):
            yield (
                f"suppressions.{name}.mode: until_window_closes, but the store before it is declared as key_value "
                "(expected window or session); correct one of them"
            )
        elif stem(name).startswith("K") and stem(name) != name and "SUPPRESS" not in name:
            yield f"suppressions.{name}: by its generated name it is none; correct the name"
    for name, topic in declared.topics.items():
        for other in sorted((topic.joined_with or frozenset()) - topics):
            yield f"topics.{name}.joined_with: the topology has no topic {other}; correct the name"


def _store_problems(name: str, store: DeclaredStore) -> Iterator[str]:
    for begins, kinds in _KINDS:
        if stem(name).startswith(begins) and store.kind is not None and store.kind not in kinds:
            wanted = " or ".join(sorted(kinds)) or "a suppression, declared under suppressions"
            yield f"stores.{name}.kind: {store.kind}, but by its generated name the store is {wanted}; correct it"


def _what(section: str) -> str:
    return {"stores": "store", "suppressions": "operator", "topics": "topic"}[section]
