"""The blast radius of a reset, as JSON, as text and as an exit code."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.catch_up.disorder import late_text
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import BlastRadius, CountedMove, LocalSize, StoreFate
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of, sentence

SCHEMA_VERSION: Final = 1
_CODES = {Outcome.PROCEED: 0, Outcome.REFUSE: 1}
_MB = 1_000_000


def exit_code(verdict: Verdict) -> int:
    """0 proceed, 1 refuse, 3 something is unknown."""
    return _CODES.get(verdict.outcome, Inconclusive.exit_code)


def document(radius: BlastRadius, verdict: Verdict) -> dict[str, Any]:
    """The verdict and all of the blast radius; an unknown value is `{"missing": reason}`, times are Unix ms."""
    found = asdict(radius)
    taken = found.pop("taken")
    counts = {(one.topic, one.partition): one for one in radius.counts}
    found.pop("counts")
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": verdict.outcome.value,
        "reasons": list(verdict.reasons),
        "taken_at_ms": taken["at_ms"],
        **found,
        "late": [{**asdict(one), "comparable": one.comparable} for one in radius.late],
        "offsets": [_offset(one, counts.get((one.topic, one.partition))) for one in radius.offsets],
    }


def _offset(row: MovedOffset, counted: CountedMove | None) -> dict[str, Any]:
    moved = {} if counted is None else asdict(counted)
    return {
        **asdict(row),
        "outside": row.outside,
        "direction": "back" if row.again else "on" if row.skipped else "none",
        "records_moved": moved.get("moved"),
        "records_left": moved.get("left"),
        "at_least": moved.get("at_least", False),
        "before_ms": moved.get("before_ms"),
        "after_ms": moved.get("after_ms"),
        "newest_ms": moved.get("newest_ms"),
    }


def as_text(radius: BlastRadius, verdict: Verdict) -> str:
    """The verdict with its reasons, then each part under its heading."""
    return "\n".join(map(sentence, _lines(radius, verdict)))


def _lines(radius: BlastRadius, verdict: Verdict) -> Iterator[str]:
    yield (
        f"[{radius.application} @ {radius.cluster}] {verdict.outcome.upper()}: mode {radius.mode}, as read at "
        f"{utc_second(radius.taken.at_ms)}; nothing was changed"
    )
    yield from (f"  {reason}" for reason in verdict.reasons)
    yield from _part("internal topics", tuple(_internal(radius)))
    yield from _part("offsets", tuple(_offsets(radius)))
    yield from _part("history that retention no longer holds", tuple(_history(radius)))
    yield from _part("state", tuple(map(_store, radius.stores)))
    if radius.late:
        late = [f"{one.store}: {'' if one.comparable else 'NOT COMPARABLE: '}{late_text(one)}" for one in radius.late]
        yield from _part("late records", late)
    yield from _part("downstream", tuple(_downstream(radius)))
    yield from _part("local state", tuple(map(_local, radius.local)))
    yield from _part("caught up", (_caught_up(radius),))


def _part(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"{title}:{'' if lines else ' none'}"
    yield from (f"  {line}" for line in lines)


def _internal(radius: BlastRadius) -> Iterator[str]:
    reasons = {one.why for one in radius.internal}
    if len(radius.internal) > 1 and len(reasons) == 1 and "" not in reasons:
        yield f"{len(radius.internal):,} stay: {reasons.pop()}"
        return
    for topic in radius.internal:
        size = "size not known" if isinstance(topic.bytes, Missing) else f"{topic.bytes:,} bytes"
        fate = "goes" if topic.goes else f"stays: {topic.why or first_of(topic.used_by)}"
        yield f"{topic.name} (id {topic.topic_id}, {topic.partitions:,} partitions, {size}): {fate}"


def _offsets(radius: BlastRadius) -> Iterator[str]:
    counts = {(one.topic, one.partition): one for one in radius.counts}
    for row in radius.offsets:
        table = " (table)" if row.topic in radius.tables else ""
        if row.after is None:
            yield f"{row.name}{table}: {row.given}: {'a decision is needed' if row.undecided else 'not known'}"
            continue
        before = "none" if row.before is None else f"{row.before:,}"
        yield f"{row.name}{table}: {row.given}: {before} → {row.after:,}{_counted(row, counts)}"
        if row.remark:
            yield f"  {row.remark}"
    for keys in radius.missing_keys:
        yield f"table {keys.topic}: {_keys(keys.count)} before its target will be missing{_examples(keys.examples)}"
    if radius.unmoved and radius.mode == "offsets":
        yield f"not moved: {first_of(radius.unmoved)}"


def _counted(row: MovedOffset, counts: dict[tuple[str, int], CountedMove]) -> str:
    found = counts.get((row.topic, row.partition))
    if found is None:
        return ""
    least = "at least " if found.at_least else ""
    moved = "records not known" if isinstance(found.moved, Missing) else f"{least}{found.moved:,} records"
    if row.again:
        return f" ({moved} again, from {_time(found.after_ms)} to {_time(found.before_ms)})"
    if row.skipped:
        return f" ({moved} never read, from {_time(found.before_ms)} to {_time(found.after_ms)})"
    return ""


def _time(at_ms: int | Missing | None) -> str:
    if at_ms is None:
        return "the end"
    return "a time not known" if isinstance(at_ms, Missing) else utc_second(at_ms)


def _keys(count: int | Missing) -> str:
    if isinstance(count, Missing):
        return "keys, how many is not known,"
    return f"{count:,} {'key' if count == 1 else 'keys'} with their newest record"


def _examples(examples: Sequence[str]) -> str:
    return f": {', '.join(examples)}" if examples else ""


def _history(radius: BlastRadius) -> Iterator[str]:
    for one in radius.history:
        oldest = f"not known ({one.oldest_ms.missing})" if isinstance(one.oldest_ms, Missing) else _time(one.oldest_ms)
        policy = f", cleanup.policy {one.policy}" if one.policy else ""
        yield (
            f"{one.topic}: {one.offsets:,} offsets on {one.partitions:,} partitions are gone{policy}; "
            f"first record left: {oldest}"
        )


def _store(store: StoreFate) -> str:
    why = f" ({store.why})" if store.why else ""
    fed = first_of(store.inputs) or "no input"
    back = (
        "" if not store.local_only or store.local_only == store.why else f"; no undo brings it back: {store.local_only}"
    )
    return f"{store.store} from {fed}: {store.fate}{why}{', loss declared acceptable' if store.accepted else ''}{back}"


def _downstream(radius: BlastRadius) -> Iterator[str]:
    for topic in radius.emptied:
        yield f"output {topic}: its records would be deleted, read or not"
    for one in radius.downstream:
        steps = "directly" if one.steps == 1 else f"behind {one.behind}"
        yield f"{one.entry} (fleet) reads {first_of(one.topics)}, {steps}"
    for group in radius.readers:
        entry = f"{group.entry} of the fleet" if group.entry else "not in the fleet"
        yield f"group {group.group_id} ({group.type}, {group.state}; {entry}) reads {first_of(group.topics)}"


def _local(one: LocalSize) -> str:
    if isinstance(one.directories, Missing):
        return f"{one.instance}: size not known: {one.directories.missing}"
    total, tasks = sum(one.directories.values()), len(one.directories)
    return f"{one.instance}: {total / _MB:,.1f} MB in {tasks:,} {'directory' if tasks == 1 else 'directories'}"


def _caught_up(radius: BlastRadius) -> str:
    if radius.mode == "state":
        sizes = [one.bytes for one in radius.internal if one.kind == "changelog"]
        if any(isinstance(size, Missing) for size in sizes):
            return "the size of the changelogs to restore is not known"
        total = sum(size for size in sizes if isinstance(size, int))
        return f"{total / _MB:,.1f} MB of changelogs are restored; the time is not known: no reading has a restore rate"
    if radius.mode == "retire":
        return "it does not start again"
    catch_up = radius.catch_up
    if catch_up.records == 0:
        return "nothing to read"
    if isinstance(catch_up.seconds, Missing):
        records = "" if isinstance(catch_up.records, Missing) else f"{catch_up.records:,} records to read; "
        return f"{records}not known when: {catch_up.seconds.missing}"
    least = "at least " if catch_up.at_least else ""
    return f"{least}{catch_up.records:,} records to read, about {seconds_text(catch_up.seconds)} at its highest pace"
