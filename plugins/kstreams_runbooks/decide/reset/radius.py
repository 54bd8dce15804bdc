"""The blast radius of a reset: topics that go, records read again, state not rebuilt, and who sees results again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import own_changelogs
from kstreams_runbooks.decide.fleet_graph import downstream, readers_of, writers_of
from kstreams_runbooks.decide.reset.late import late_stores
from kstreams_runbooks.decide.reset.offsets import may_move
from kstreams_runbooks.decide.reset.pace import catch_up
from kstreams_runbooks.decide.reset.stores import Moves, OnCluster, left_alone, store_fates, table_inputs
from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.fleet_graph import FleetGraph
from kstreams_runbooks.model.local_state import Directories
from kstreams_runbooks.model.readings.input_offsets import InputPartition, MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import (
    DELETES_TOPICS,
    BlastRadius,
    CatchUp,
    CountedMove,
    Fate,
    GoneHistory,
    MissingKeys,
    OutputReader,
    ResetFacts,
    ResetMode,
    ResetTopic,
    RestoringLog,
    RunningUse,
    StoreFate,
    TopicUser,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

_COMPACT = "compact"
# Fates that an acceptance of the loss covers.
_GIVEN_UP: frozenset[Fate] = frozenset({"lost", "unknown"})
# If several releases may have run, the worst fate of a store counts.
_WORST: tuple[Fate, ...] = ("lost", "doubled", "unknown", "partly", "gone", "rebuilt", "restored", "kept")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reset is asked to do: the application, the mode, its outputs, and the offsets that it would set.

    `emptied` are outputs whose records would be deleted. `directories` are the only task directories that go in mode
    `state`, none for all of them. `lost` are stores that a person lets begin empty.
    """

    declared: DeclaredApplication
    mode: ResetMode
    outputs: frozenset[str]
    offsets: tuple[MovedOffset, ...] = ()
    counts: tuple[CountedMove, ...] = ()
    missing_keys: tuple[MissingKeys, ...] = ()
    emptied: tuple[str, ...] = ()
    directories: Directories = ()
    lost: tuple[str, ...] = ()


def blast_radius(asked: Asked, sides: tuple[Side, ...], facts: ResetFacts, graph: FleetGraph) -> BlastRadius:
    """Everything that the plan of a reset and its approval show.

    `sides` are the versions that may have run last: a topic goes only if one of them makes it. `graph` is the fleet.
    """
    application_id, cluster = asked.declared.application_id, asked.declared.cluster
    internal = tuple(_internal(asked, sides, facts, graph))
    names = frozenset(one.name for one in facts.internal)
    history = {one.topic: one for one in gone_history(facts)}
    moves = Moves(
        asked.offsets,
        {(one.topic, one.partition): one for one in asked.counts},
        history,
        frozenset(topic for topic, policy in facts.policies.items() if _COMPACT in policy.split(",")),
    )
    inputs = frozenset(one.topic for one in facts.inputs)
    there = OnCluster(application_id, names, inputs, {one.topic: one for one in _restoring(facts)})
    stores = _worst(
        _accepted(left_alone(store, side, asked.directories), asked.lost)
        for side in sides
        for store in store_fates(side, asked.mode, moves, there)
    )
    moved = {one.topic for one in asked.offsets}
    return BlastRadius(
        application=asked.declared.name,
        application_id=application_id,
        cluster=cluster,
        mode=asked.mode,
        taken=facts.taken,
        internal=internal,
        offsets=asked.offsets,
        counts=asked.counts,
        unmoved=tuple(sorted(inputs - moved)),
        tables=tuple(sorted({topic for side in sides for topic in table_inputs(side) if topic in inputs})),
        missing_keys=asked.missing_keys,
        history=tuple(history.values()),
        stores=stores,
        outputs=tuple(sorted(asked.outputs)),
        emptied=asked.emptied,
        downstream=downstream(graph, asked.declared.name, asked.outputs),
        readers=tuple(_readers(asked, facts, graph)),
        local=facts.local,
        catch_up=_catch_up(asked, facts),
        problems=facts.problems,
        late=late_stores(sides, asked.offsets, asked.counts, facts),
    )


def _accepted(store: StoreFate, lost: tuple[str, ...]) -> StoreFate:
    return replace(store, accepted=True) if store.store in lost else store


def may_reset(radius: BlastRadius) -> Verdict:
    """Refuse what would hit another application, or destroy or falsify state without a word; inconclusive if unknown.

    What is shown and accepted by an approval (history that retention deleted, results that readers see again) does not
    refuse.
    """
    refused = tuple(_refused(radius))
    offsets = may_move(radius.offsets)
    if offsets.outcome is Outcome.REFUSE:
        refused = (*refused, *offsets.reasons)
    if refused:
        return Verdict(Outcome.REFUSE, refused)
    unknown = tuple(_unknown(radius))
    if offsets.outcome is Outcome.INCONCLUSIVE:
        unknown = (*unknown, *offsets.reasons)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    return Verdict(Outcome.PROCEED, tuple(_summary(radius)))


def gone_history(facts: ResetFacts) -> tuple[GoneHistory, ...]:
    """Inputs whose logs begin after offset 0: what came before was deleted, by retention or manually."""
    found: dict[str, list[InputPartition]] = {}
    for one in facts.inputs:
        if isinstance(one.start, int) and one.start > 0:
            found.setdefault(one.topic, []).append(one)
    unread = Missing("its first record was not read")
    return tuple(
        GoneHistory(
            topic,
            sum(one.start for one in rows if isinstance(one.start, int)),
            len(rows),
            facts.policies.get(topic, ""),
            facts.oldest_ms.get(topic, unread),
        )
        for topic, rows in sorted(found.items())
    )


def _restoring(facts: ResetFacts) -> Iterator[RestoringLog]:
    """Every log that may restore a store; an input restores a table that has no other changelog."""
    yield from facts.restoring
    starts: dict[str, list[int | Missing]] = {}
    for one in facts.inputs:
        starts.setdefault(one.topic, []).append(one.start)
    unread = Missing("its settings were not read")
    for topic in sorted(starts.keys() - {one.topic for one in facts.restoring}):
        yield RestoringLog(topic, facts.policies.get(topic, ""), all_gone(starts[topic]), unread, unread)


def all_gone(starts: Iterable[int | Missing]) -> int | Missing:
    """The offsets that a log no longer has, from the start of each partition; Missing if one is."""
    total = 0
    for start in starts:
        if isinstance(start, Missing):
            return start
        total += start
    return total


def made_topics(side: Side, application_id: str) -> frozenset[str]:
    """Full names of the internal topics that a version may make: repartition topics, and changelogs of its stores."""
    names = internal_topics(side.topology) | own_changelogs(side)
    return frozenset(f"{application_id}-{name}" for name in names)


def _internal(asked: Asked, sides: tuple[Side, ...], facts: ResetFacts, graph: FleetGraph) -> Iterator[ResetTopic]:
    made = frozenset[str]().union(*(made_topics(side, asked.declared.application_id) for side in sides))
    for topic in facts.internal:
        others = tuple(used_by(asked.declared, topic.name, facts.users, facts.others, graph))
        agreed, deletes = topic.name in made, asked.mode in DELETES_TOPICS
        why = "" if agreed else "no topology that may have run last has it; see `kstreams-runbooks orphans`"
        size = facts.sizes if isinstance(facts.sizes, Missing) else facts.sizes.get(topic.name)
        yield ResetTopic(
            topic.name,
            topic.topic_id,
            "changelog" if is_changelog(topic.name) else "repartition",
            topic.partitions,
            Missing("no broker reports its size") if size is None else size,
            goes=agreed and deletes and not others,
            used_by=others,
            why=why or (f"mode {asked.mode} deletes no topic" if not deletes else ""),
        )


def used_by(
    declared: DeclaredApplication,
    topic: str,
    users: Iterable[TopicUser],
    uses: Iterable[RunningUse],
    graph: FleetGraph,
) -> Iterator[str]:
    """Who else uses a topic of an application: other entries as declared, as they run, and groups."""
    cluster, name = declared.cluster, declared.name
    for entry in dict.fromkeys((*readers_of(graph, cluster, topic), *writers_of(graph, cluster, topic))):
        if entry != name:
            yield f"{entry} declares it"
    for use in uses:
        if use.topic == topic and use.entry != name:
            yield f"{use.entry} {'writes' if use.writes else 'reads'} it"
    for user in users:
        if user.topic == topic and user.group_id != declared.application_id:
            yield f"group {user.group_id} {'reads it' if user.assigned else 'has offsets on it'}"


def _readers(asked: Asked, facts: ResetFacts, graph: FleetGraph) -> Iterator[OutputReader]:
    entries = {one.application_id: one.name for one in graph.entries if one.cluster == asked.declared.cluster}
    groups: dict[str, list[str]] = {}
    for user in facts.users:
        if user.topic in asked.outputs and user.group_id != asked.declared.application_id:
            groups.setdefault(user.group_id, []).append(user.topic)
    of = {one.group_id: one for one in facts.users}
    for group, topics in sorted(groups.items()):
        known = of[group]
        yield OutputReader(group, known.type, known.state, tuple(sorted(set(topics))), entries.get(group, ""))


def _worst(stores: Iterable[StoreFate]) -> tuple[StoreFate, ...]:
    found: dict[str, StoreFate] = {}
    for store in stores:
        other = found.get(store.store)
        if other is None or _WORST.index(store.fate) < _WORST.index(other.fate):
            found[store.store] = store
    return tuple(found[name] for name in sorted(found))


def _catch_up(asked: Asked, facts: ResetFacts) -> CatchUp:
    if asked.mode == "retire":
        return CatchUp(0, at_least=False, seconds=Missing("the application does not start again"))
    left: int | Missing = 0
    at_least = False
    for one in asked.counts:
        if isinstance(one.left, Missing) or isinstance(left, Missing):
            left = one.left if isinstance(one.left, Missing) else left
        else:
            left, at_least = left + one.left, at_least or one.at_least
    if not asked.counts:
        left = Missing("no input gets another offset") if asked.offsets == () else Missing("no record was counted")
    return catch_up(left, facts.pace, at_least=at_least)


def _refused(radius: BlastRadius) -> Iterator[str]:
    if radius.mode in DELETES_TOPICS:
        for topic in radius.internal:
            if topic.used_by and not topic.why:
                yield (
                    f"topic {topic.name}: {first_of(topic.used_by)} (expected: {radius.application} alone uses its "
                    "internal topics): it is not deleted; stop that use first"
                )
    for store in radius.stores:
        if store.fate == "doubled":
            yield f"store {store.store}: {store.why} with kept state (limit 0); use mode reset, or another target"
        if store.fate == "lost" and not store.accepted:
            yield (
                f"store {store.store}: {store.why}: mode state destroys it; use mode reset, or accept it with "
                f"lose_state={store.store} or loss_acceptable"
            )


def _unknown(radius: BlastRadius) -> Iterator[str]:
    yield from radius.problems
    for one in radius.counts:
        if isinstance(one.moved, Missing):
            yield (
                f"{one.topic}-{one.partition}: how many records are read again or skipped is not known: "
                f"{one.moved.missing}"
            )
    for store in radius.stores:
        # Without its content a store may begin, but not with a record counted twice.
        if store.fate == "unknown" and not (store.accepted and radius.mode == "state"):
            yield f"store {store.store}: {store.why}"
    for keys in radius.missing_keys:
        if isinstance(keys.count, Missing):
            yield f"table {keys.topic}: which keys will be missing is not known: {keys.count.missing}"


def _summary(radius: BlastRadius) -> Iterator[str]:
    deleted = len(radius.deleted)
    topics = "topic goes" if deleted == 1 else "topics go"
    moved = sum(1 for one in radius.offsets if one.after != one.before)
    yield f"mode {radius.mode}: {deleted:,} internal {topics}, {moved:,} partitions get another offset"
    if partly := [one.store for one in radius.stores if one.fate == "partly"]:
        yield f"not rebuilt in full: {first_of(partly)}"
    if lost := [one.store for one in radius.stores if one.fate in _GIVEN_UP and one.accepted]:
        yield f"lost, or perhaps lost, and accepted: {first_of(lost)}"
    groups = [one.entry or one.group_id for one in radius.readers]
    names = dict.fromkeys((*(one.entry for one in radius.downstream), *groups))
    if names and radius.mode in {"reset", "offsets"}:
        yield f"results are seen again by {first_of(tuple(names))}"
