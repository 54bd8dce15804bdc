"""What kind of operator keeps a store, and what no description shows of it: the aggregate, the join, the changelog.

A store is found by its name. If another kind of operator takes it over, nothing fails: the new one goes on from the
values that the old one left.
"""

from typing import Literal

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, changed, sides
from kstreams_runbooks.decide.topology.names import is_generated, is_repartition, is_subscription_store, stem
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Unchanged
from kstreams_runbooks.model.topology.topology import Processor, Source

Shown = Literal["aggregate", "reduce", "other", "unknown"]

# What a generated name shows of the operator. A count is an aggregate; a sum may be either.
_KINDS: tuple[tuple[str, Shown], ...] = (
    ("KSTREAM-AGGREGATE-", "aggregate"),
    ("KTABLE-AGGREGATE-", "aggregate"),
    ("COGROUPKSTREAM-AGGREGATE-", "aggregate"),
    ("KSTREAM-REDUCE-", "reduce"),
    ("KTABLE-REDUCE-", "reduce"),
)
# The end of one that a named cogroup has for each of its inputs, without its place.
_OF_COGROUP = "-cogroup-agg-N"
_JOINED = ("KTABLE-MERGE-", "KTABLE-FK-JOIN-OUTPUT-")
# The operators of a join of tables: that of the left one, that of the right one.
_LOOKING = (("KTABLE-JOINTHIS-", "-join-this"), ("KTABLE-JOINOTHER-", "-join-other"))
_EXCHANGED = ", with the two tables exchanged"
# The filter that the library puts before a repartition topic of a stream, with a name and without.
_FILTER = ("-repartition-filter", "KSTREAM-FILTER-")
# What `aggregate` is where an operator keeps records as they come.
_NONE = "none"
_AGGREGATES = {"count", "reduce", "aggregate"}
# What fills a store, in words.
_MADE_BY = {
    "table": "a table of a topic",
    "to_table": "a stream that becomes a table",
    "filter": "a filter of a table",
    "filter_not": "a filterNot of a table",
    "map_values": "a mapValues of a table",
    "transform_values": "a transformValues of a table",
    "join": "a join",
    "processor": "a processor of the program",
    "count": "a count",
    "reduce": "a reduce",
    "aggregate": "an aggregate",
    None: "not read",
}
# Stores that a join fills with records as they come.
_KEEP_RECORDS = {"join", "buffer"}
OF_STREAM = "records of a stream"


def hidden_facts(
    compared: Compared, name: str, was: str, before: DeclaredStore | None, after: DeclaredStore | None
) -> DeclaredFacts:
    """Facts of a store that stays, called `was` before and `name` now; what to declare if one is unknown."""
    old, new = before or DeclaredStore(), after or DeclaredStore()
    where = f"stores.{name}"
    facts: dict[str, Fact] = {
        "aggregate_changed": _aggregate_changed(compared, name, was, old, new),
        "join_changed": _join_changed(compared, name, was, old, new),
        "logging_changed": _declared(compared, "logging", old.logging, new.logging),
        "logged": new.logging,
        "fed_changed": fed_by(compared.before, was) != fed_by(compared.after, name),
    }
    facts["written_otherwise"] = facts["aggregate_changed"] is not True and _is_written_otherwise(old, new)
    if facts["written_otherwise"]:
        # Code shows that they differ: there is nothing left to declare.
        facts["aggregate_changed"] = False
    builder = _builder_changed(compared, name, old, new)
    if builder and new.logging is None:
        # Whether another class writes to the changelog is nothing that a change can leave as it was.
        facts["logging_changed"] = None
    if len(compared.after.keepers.get(name, ())) == 1:
        # An operator fills a join's store, and another looks things up in it.
        facts["is_join"] = False
    facts["kinds_known"] = all(facts[fact] is not None for fact in ("aggregate_changed", "join_changed"))
    asked = {
        f"{field}_changed": (Undeclared(where, field, sides(getattr(old, field), getattr(new, field))),)
        for field in ("aggregate", "join", "logging")
    }
    if builder:
        asked["logging_changed"] = (Undeclared(where, "logging", sides(old.logging, new.logging), value=True),)
    return facts, {**asked, "logged": asked["logging_changed"]}


def _is_written_otherwise(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether the code of both versions shows operators of two kinds that fill the store.

    What a person declares of two aggregations, in the same words, counts: a count may be written as an aggregate.
    """
    kinds = {old.made_by, new.made_by}
    declared = kinds <= {*_AGGREGATES, "processor"} and old.aggregate is not None and old.aggregate == new.aggregate
    return None not in kinds and len(kinds) > 1 and not declared


def _builder_changed(compared: Compared, name: str, old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether a builder of the program makes the store now: that logging is on in it does not write a changelog."""
    unread = f"stores.{name}.logging" in compared.after.declared.not_read
    return unread and new.supplier is not None and not new.is_of_library and new.supplier != old.supplier


def hidden_words(
    compared: Compared, name: str, was: str, before: DeclaredStore | None, after: DeclaredStore | None
) -> dict[str, str]:
    """What a sentence calls the two operators: as declared, else as their names show."""
    old, new = before or DeclaredStore(), after or DeclaredStore()
    return {
        "aggregate_before": old.aggregate or _shown(compared.before, was),
        "aggregate_after": new.aggregate or _shown(compared.after, name),
        "join_before": old.join or "not declared",
        "join_after": (new.join or "not declared") + _EXCHANGED * _exchanged(compared, name, was),
        "made_before": _MADE_BY[old.made_by],
        "made_after": _MADE_BY[new.made_by],
        "fed_before": fed_by(compared.before, was),
        "fed_after": fed_by(compared.after, name),
    }


def carries(side: Side, topic: str) -> str:
    """What is in a repartition topic: a grouped stream is filtered before it is written, a grouped table is not.

    Source: tests/apps/topologies, stream-count-becomes-table-count.
    """
    before = [one for sink in side.writers.get(topic, ()) for one in side.predecessors.get(sink, ())]
    filtered = any(name.endswith(_FILTER[0]) or name.startswith(_FILTER[1]) for name in before) or not before
    return OF_STREAM if filtered or not is_repartition(topic) else "changes of a table"


def fed_by(side: Side, store: str) -> str:
    """What the operator of a store aggregates."""
    if not side.internal:
        return OF_STREAM
    first = {name for keeper in side.keepers.get(store, []) for name in side.predecessors.get(keeper.name, ())}
    read = {topic for name in first if isinstance(node := side.nodes[name], Source) for topic in node.topics}
    return min((carries(side, topic) for topic in read & side.internal), default=OF_STREAM)


def _aggregate_changed(compared: Compared, name: str, was: str, old: DeclaredStore, new: DeclaredStore) -> bool | None:
    """By the code if it was read, then by what is declared, then by names that the library generated.

    Two counts are the same, and so are two operators that keep records as they come. An aggregate may do what a count
    or a reduce did before: its function is not read.
    """
    kinds = {old.aggregation, new.aggregation}
    if kinds in ({"count"}, {_NONE}):
        return False
    if None not in kinds and len(kinds) > 1 and (_NONE in kinds or "aggregate" not in kinds):
        return True
    if (told := changed(old.aggregate, new.aggregate)) is not None:
        return told
    shown = {_shown(compared.before, was), _shown(compared.after, name)}
    if len(shown - {"unknown"}) > 1:
        return True
    # One side alone proves nothing: an aggregate may have had the store, or may have it from now on.
    if shown == {"other"} or all(one.source_table or one.kind in _KEEP_RECORDS for one in (old, new)):
        return False
    return _declared(compared, "aggregate", None, None)


def _join_changed(compared: Compared, name: str, was: str, old: DeclaredStore, new: DeclaredStore) -> bool | None:
    """Only of a store that a join of tables fills; a join of streams shows what it is in the names of its stores."""
    if not (_is_joined(compared.before, was, old) or _is_joined(compared.after, name, new)):
        return False
    told = _declared(compared, "join", old.join, new.join)
    if told is False and {one.join for one in (old, new)} <= {"left", None} and _exchanged(compared, name, was):
        # The other table is the one whose every record has a result now. An inner or outer join has no such side.
        return True if "left" in {old.join, new.join} else None
    return told


def _exchanged(compared: Compared, name: str, was: str) -> bool:
    """Whether the two tables of a join have changed sides: by the stores that each side looks things up in."""
    before, after = _looked_up(compared.before, was), _looked_up(compared.after, name)
    if not all(before):
        return False
    renamed = dict(compared.stores.pairs)
    before = [frozenset(renamed.get(one, one) for one in found) for found in before]
    return before == after[::-1] and before != after


def _looked_up(side: Side, store: str) -> list[frozenset[str]]:
    """Stores that the operator of the left table, and that of the right one, looks things up in."""
    first = {name for keeper in side.keepers.get(store, []) for name in side.predecessors.get(keeper.name, ())}
    found = []
    for called in _LOOKING:
        nodes = [side.nodes[name] for name in first if stem(name).startswith(called[0]) or name.endswith(called[1])]
        found.append(frozenset(one for node in nodes if isinstance(node, Processor) for one in node.stores))
    return found


def _declared(compared: Compared, field: Unchanged, old: object, new: object) -> bool | None:
    found = changed(old, new)
    return False if found is None and field in compared.after.declared.unchanged else found


def _shown(side: Side, store: str) -> Shown:
    """What the names of the operators of a store show."""
    keepers = side.keepers.get(store, [])
    for name in (stem(keeper.name) for keeper in keepers):
        for begins, kind in _KINDS:
            if name.startswith(begins):
                return kind
        if name.endswith(_OF_COGROUP):
            return "aggregate"
    generated = bool(keepers) and all(is_generated(one.name) for one in keepers)
    return "other" if generated or is_subscription_store(store) else "unknown"


def _is_joined(side: Side, store: str, declared: DeclaredStore) -> bool:
    """Whether a join of tables fills a store: by its name or its operator's, or because two operators lead there."""
    if declared.join is not None or is_subscription_store(store):
        return True
    if declared.source_table or declared.kind == "join" or declared.aggregate not in {None, _NONE}:
        return False
    return any(
        stem(keeper.name).startswith(_JOINED)
        or (not is_generated(keeper.name) and len(side.predecessors.get(keeper.name, ())) > 1)
        for keeper in side.keepers.get(store, [])
    )


def is_join_buffer(side: Side, store: str) -> bool:
    """Whether a join of a stream with a table keeps records in a store for its grace; the library names it.

    Source: KStreamImpl#doStreamTableJoin (Apache Kafka), which puts `-Buffer` behind the name of the operator.
    """
    declared = side.declared.stores.get(store)
    if declared is not None and declared.kind is not None:
        return declared.kind == "buffer"
    return any(store == f"{keeper.name}-Buffer" for keeper in side.keepers.get(store, []))
