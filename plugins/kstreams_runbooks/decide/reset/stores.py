"""What becomes of each store when an application is reset, by mode: rebuilt, restored, counted twice, lost."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kstreams_runbooks.decide.comparison.compared import Side, fillers, source_tables
from kstreams_runbooks.decide.comparison.content import Content, contents
from kstreams_runbooks.decide.reset.restoring import from_its_input, global_fates, restored_fate
from kstreams_runbooks.decide.topology.graph import store_roles
from kstreams_runbooks.decide.topology.names import (
    is_join_window,
    is_subscription_store,
    is_suppress_buffer,
    suppression_of,
)
from kstreams_runbooks.decide.topology.upstream import matching
from kstreams_runbooks.model.local_state import GLOBAL, Directories
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import (
    CountedMove,
    Fate,
    GoneHistory,
    ResetMode,
    RestoringLog,
    StoreFate,
)
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.topology import Subtopology
from kstreams_runbooks.wording import first_of

_NONE = "none"


@dataclass(frozen=True, slots=True)
class Moves:
    """What the offsets of a reset do to inputs: how each partition moves, and the records that were counted.

    `history` are inputs whose logs lost their beginning, `compacted` those that keep the last value of a key alone.
    """

    rows: tuple[MovedOffset, ...]
    counts: Mapping[tuple[str, int], CountedMove]
    history: Mapping[str, GoneHistory]
    compacted: frozenset[str] = frozenset()

    def again(self, topics: Collection[str]) -> tuple[int, bool]:
        """Records (offsets if they are not counted) of these inputs that are read again, and whether that is exact."""
        return self._sum([one for one in self.rows if one.topic in topics and one.again], back=True)

    def skipped(self, topics: Collection[str]) -> tuple[int, bool]:
        """The same of those that are never read."""
        return self._sum([one for one in self.rows if one.topic in topics and one.skipped], back=False)

    def _sum(self, rows: list[MovedOffset], *, back: bool) -> tuple[int, bool]:
        total, exact = 0, True
        for row in rows:
            span = row.again if back else row.skipped
            found = self.counts.get((row.topic, row.partition))
            if found is not None and isinstance(found.moved, int):
                total, exact = total + found.moved, exact and not found.at_least
            else:
                total, exact = total + (0 if span is None else span[1] - span[0]), False
        return total, exact


def table_inputs(side: Side) -> dict[str, bool | None]:
    """Inputs that fill a store directly, and whether they are tables; None if neither name nor declaration shows it."""
    return {topic: known for topic, known in source_tables(side).items() if known is not False}


def restored_topics(side: Side) -> frozenset[str]:
    """Topics that fill global stores: no group has offsets on them."""
    return frozenset(
        topic
        for sub in side.topology.subtopologies
        if sub.is_global
        for source in sub.sources
        for topic in source.topics
    )


def repeats_count(name: str, declared: Declaration) -> bool | None:
    """Whether a store counts a record twice that it gets twice; None if that is not declared.

    A store that keeps the last value of a key has the same value in the end. An aggregation adds it again, and the
    window store of a join of streams keeps it twice, with its results.
    """
    if is_suppress_buffer(name) or is_subscription_store(name) or suppression_of(name) in declared.suppressions:
        return False
    store = declared.stores.get(name, DeclaredStore())
    if is_join_window(name) or store.kind == "join":
        return True
    if store.aggregation is not None:
        return store.aggregation != _NONE
    if store.aggregate is not None:
        return store.aggregate != _NONE
    return False if store.source_table or store.join is not None else None


@dataclass(frozen=True, slots=True)
class OnCluster:
    """The application on its cluster: its id, its internal topics there, and the inputs that its group reads.

    `logs` are the logs that restore its stores, by topic.
    """

    application_id: str
    changelogs: frozenset[str]
    inputs: frozenset[str]
    logs: Mapping[str, RestoringLog] = field(default_factory=dict)

    def restoring(self, content: Content) -> tuple[Content, str]:
        """The content of a store, and the topic here that restores it by its full name; empty without one."""
        content = content.at(self.application_id)
        return content, content.topic if content.topic in self.changelogs or content.place == "input" else ""


def store_fates(side: Side, mode: ResetMode, moves: Moves, there: OnCluster) -> tuple[StoreFate, ...]:
    """The fate of every store of a topology, by name, then of every global store."""
    return (*_fates(side, mode, moves, there), *global_fates(side, mode, there.logs))


def left_alone(store: StoreFate, side: Side, directories: Directories) -> StoreFate:
    """The fate of a store if only these task directories go, none for all: one that is in no other is kept."""
    subs = [sub for sub in side.topology.subtopologies if store.store in sub.stores]
    if not directories or not subs or any(_goes(sub, directories) for sub in subs):
        return store
    return replace(store, fate="kept", why="its task directories stay", local_only="")


def _goes(sub: Subtopology, directories: Directories) -> bool:
    if sub.is_global:
        return GLOBAL in directories
    return any(name.rpartition("_")[0] == sub.id for name in directories)


def _fates(side: Side, mode: ResetMode, moves: Moves, there: OnCluster) -> Iterator[StoreFate]:
    roles, held = store_roles(side.topology), contents(side)
    filled = _filled_by(side)
    for name in sorted(roles):
        leading = roles[name].inputs
        if filled.get(name) and _repeats(name, side) is False:
            # A table that a topic fills directly: a join that looks it up has other inputs.
            leading = frozenset(filled[name])
        inputs = matching(side.topology, leading, there.inputs)
        content, changelog = there.restoring(held[name])
        log = there.logs.get(changelog)
        read = log if log is not None else Missing("it was not read") if changelog else None
        back, lacking = restored_fate(content, side, read)
        if mode == "state":
            fate, why = back, lacking
        else:
            fate, why = _fate(name, side, mode, moves, inputs, changelog, log if content.place == "input" else None)
        accepted = side.declared.stores.get(name, DeclaredStore()).loss_acceptable
        local_only = lacking if mode in {"reset", "state"} and back in {"lost", "unknown", "partly"} else ""
        in_part = fate == "lost" and content.restores is True and log is not None
        yield StoreFate(name, inputs, changelog, fate, why, accepted, local_only, in_part)


def _fate(
    name: str,
    side: Side,
    mode: ResetMode,
    moves: Moves,
    inputs: tuple[str, ...],
    changelog: str,
    own: RestoringLog | None,
) -> tuple[Fate, str]:
    """Of a mode other than `state`; `own` is the input that restores a table without another changelog."""
    if mode == "retire":
        return ("kept", f"{changelog} is its own changelog and an input: it stays") if own else ("gone", "")
    if mode == "reset":
        return from_its_input(own) if own else _rebuilt(side, moves, inputs)
    return _kept(name, side, moves, inputs)


def _rebuilt(side: Side, moves: Moves, inputs: tuple[str, ...]) -> tuple[Fate, str]:
    tables = table_inputs(side)
    reasons = []
    for topic in inputs:
        gone = moves.history.get(topic)
        if gone is not None:
            reasons.append(f"{gone.offsets:,} offsets of {topic} are gone")
        elif topic in moves.compacted and topic not in tables:
            reasons.append(f"{topic} is compacted: older values of its keys are gone")
        if unread := sum(_unread(one) for one in moves.rows if one.topic == topic):
            reasons.append(f"{unread:,} offsets of {topic} are before its target")
    return ("partly", "; ".join(reasons)) if reasons else ("rebuilt", "")


def _kept(name: str, side: Side, moves: Moves, inputs: tuple[str, ...]) -> tuple[Fate, str]:
    again, exact = moves.again(inputs)
    if again:
        count = f"{'' if exact else 'up to '}{again:,} records"
        repeats = _repeats(name, side)
        if repeats:
            return "doubled", f"{count} of {first_of(inputs)} are counted twice"
        if repeats is None:
            return "unknown", (
                f"{count} of {first_of(inputs)} are read again, and whether it counts them twice is not declared; "
                f"declare stores.{name}.aggregate"
            )
        return "kept", f"{count} are read again; it keeps the last value of each key"
    skipped, exact = moves.skipped(inputs)
    if skipped:
        return "partly", f"{'' if exact else 'up to '}{skipped:,} records of {first_of(inputs)} never reach it"
    return "kept", ""


def _repeats(name: str, side: Side) -> bool | None:
    """As `repeats_count`; a table that only its name shows keeps the last value of each key too."""
    known, tables = repeats_count(name, side.declared), table_inputs(side)
    if known is None and (topics := _filled_by(side).get(name)) and all(tables.get(topic) for topic in topics):
        return False
    return known


def _unread(row: MovedOffset) -> int:
    return 0 if row.after is None or row.start is None else row.after - row.start


def _filled_by(side: Side) -> dict[str, set[str]]:
    """The stores that may be tables, each with the topics that fill it straight from a source."""
    return {
        store: topics
        for store, filled in fillers(side).items()
        if (topics := {topic for topic, is_table in filled.items() if is_table is not False})
    }
