"""The status of an application, from its last lag readings: one word and one sentence.

Worse before better: certain faults come before unknown facts, and an unknown fact is never healthy.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from kstreams_runbooks.decide.runbooks import acknowledge_command
from kstreams_runbooks.decide.status.buffers import fills
from kstreams_runbooks.decide.status.expected_topics import replaced
from kstreams_runbooks.decide.status.no_progress import NoProgress, no_progress
from kstreams_runbooks.decide.status.recreated import WAYS
from kstreams_runbooks.decide.status.standing import stands_still
from kstreams_runbooks.model.readings.buffers import BufferFill
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.readings.status import Standing, apart
from kstreams_runbooks.model.times import HOUR_MS, MINUTE_MS, utc_minute
from kstreams_runbooks.wording import first_of

# `unfed` is of an application behind copiers (decide/status/unfed.py).
Word = Literal[
    "recreated",
    "rewound",
    "failed",
    "expiring",
    "stalled",
    "stopped",
    "filling",
    "unfed",
    "unknown",
    "misdeclared",
    "behind",
    "healthy",
]
# The broker's state of a streams group whose topology it cannot serve yet (KIP-1071).
_NOT_READY = frozenset({"not_ready", "notready"})
# Statuses in addition: a topic stays recreated until it is acknowledged, and hides none of them until then.
_BESIDES = frozenset({"rewound", "failed", "expiring", "stalled", "stopped", "filling"})
_ALSO = "; it is also "


@dataclass(frozen=True, slots=True)
class LagSample:
    """One reading of an application; `failed` are instances known to be in ERROR or dead, None if they were not polled.

    `expected` are the ids that its topics have to have; empty if the earlier reading has them. `buffers` are its
    suppress buffers that end the application when they are full. `moved` are topics on which a run has moved its
    committed offsets since. `standing` is about a group that has no member, None while it has.
    """

    at_ms: int
    lag: ApplicationLag
    failed: tuple[str, ...] | None = None
    expected: Mapping[str, str] = field(default_factory=dict)
    buffers: tuple[BufferFill, ...] = ()
    moved: tuple[str, ...] = ()
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class StatusLimits:
    """`samples` without progress are stalled, each `apart_ms` after the one before; more than `records` are behind.

    An unread record that may be deleted in less than `expiring_ms`, or half of its topic's retention, is expiring. A
    suppress buffer of which `buffer_percent` is used is filling; 0: buffers are not judged.
    """

    samples: int = 3
    records: int = 10_000
    expiring_ms: int = 6 * HOUR_MS
    apart_ms: int = 15_000
    buffer_percent: int = 80


@dataclass(frozen=True, slots=True)
class Status:
    """The word, and the observation with its limit."""

    word: Word
    sentence: str


@dataclass(frozen=True, slots=True)
class LagAnswer:
    """The answer for one application: its lag at one time, and its status."""

    cluster: str
    at_ms: int
    lag: ApplicationLag
    status: Status


def status(samples: tuple[LagSample, ...], limits: StatusLimits) -> Status:
    """The status by the last samples, oldest first; unknown without one."""
    if not samples:
        return Status("unknown", "never read")
    worst, *others = _statuses(samples, limits)
    besides = next((one.word for one in others if one.word in _BESIDES), None)
    if worst.word == "recreated" and besides:
        return replace(worst, sentence=f"{worst.sentence}{_ALSO}{besides}")
    return worst


def without_besides(sentence: str) -> str:
    """A sentence of `status` without the additional statuses: they come and go with every reading."""
    return sentence.partition(_ALSO)[0]


def _statuses(samples: tuple[LagSample, ...], limits: StatusLimits) -> Iterator[Status]:
    """Every status that holds, from the worst; the last always does."""
    last = samples[-1].lag
    if sentence := _recreated(samples):
        yield Status("recreated", sentence)
    if fallen := _rewound(samples[-limits.samples :]):
        yield Status("rewound", f"committed offsets fell: {first_of(fallen)}; records are processed again")
    if failed := samples[-1].failed:
        yield Status("failed", f"in ERROR or dead, which it does not leave by itself: {first_of(failed)}")
    if expiring := _expiring(samples[-1], limits) or _forgotten_soon(samples[-1], limits):
        yield Status("expiring", expiring)
    still = _still(samples, limits)
    if why := _not_ready(last) or still.sentence:
        yield Status("stalled", why)
    if stands_still(last):
        why = f"group {last.application_id} has offsets and no member; {_waiting(last)}"
        yield Status("stopped", f"{why}{_keeps(samples[-1].standing)}")
    buffers = fills(samples[-1].buffers, limits.buffer_percent)
    if buffers.sentence:
        yield Status("filling", buffers.sentence)
    if unknown := (*_unknown(last), *still.unknown, *buffers.unknown):
        yield Status("unknown", first_of(unknown))
    if (unread_now := last.unread or 0) > limits.records:
        yield Status("behind", f"{unread_now:,} records to read (limit {limits.records:,})")
    yield Status("healthy", f"{last.unread or 0:,} records to read (limit {limits.records:,})")


def _waiting(last: ApplicationLag) -> str:
    """How many records wait for an application that is stopped; the reason if that is not known."""
    if last.unread is not None:
        return f"{last.unread:,} records wait"
    why = first_of(_unknown(last))
    return "an unknown number of records wait" + (f" ({why})" if why else "")


def _not_ready(last: ApplicationLag) -> str:
    """Why a streams group has no tasks to process, empty if it has."""
    if (last.group_state or "").lower() not in _NOT_READY:
        return ""
    return f"group {last.application_id} is {last.group_state}: the broker gives its members no tasks"


def _recreated(samples: tuple[LagSample, ...]) -> str:
    """Topics that were replaced, and how to acknowledge that; empty if none was."""
    last = samples[-1].lag
    expected: Mapping[str, str] = next((one.expected for one in reversed(samples) if one.expected), {})
    found = replaced(expected, last, samples[-2].lag if len(samples) > 1 else None)
    said = []
    if found.read:
        said.append(f"{first_of(found.read)} was deleted and created again: its records and its offsets are others")
    if found.kept:
        said.append(
            f"{first_of(found.kept)} was deleted: an incident, the state that it held is lost once an instance "
            f"restores it, although outputs look right until then: {WAYS}"
        )
    if said:
        said.append(f"once it is looked after, run `{acknowledge_command(last.application)}`")
    return "; ".join(said)


def _rewound(samples: tuple[LagSample, ...]) -> tuple[str, ...]:
    """Partitions whose committed offset is lower than it was before in the window, or is gone."""
    found: dict[str, str] = {}
    was: dict[str, int] = {}
    for sample in samples:
        for one in sample.lag.partitions:
            before = was.get(one.name)
            if before is not None and one.state == "never_committed":
                found[one.name] = f"{one.name} (from {before:,}: its offset is gone)"
            elif before is not None and one.committed is not None and one.committed < before:
                found[one.name] = f"{one.name} (from {before:,} to {one.committed:,})"
            if one.committed is not None and one.topic not in sample.moved:
                was[one.name] = one.committed
    return tuple(found.values())


def _expiring(last: LagSample, limits: StatusLimits) -> str:
    """Unread records that retention deletes soon, or has deleted; empty if there are none."""
    found = []
    for one in last.lag.read:
        if one.lost and one.committed is not None and one.log_start_offset is not None:
            found.append(f"{one.name} ({one.log_start_offset - one.committed:,} offsets are deleted already)")
        elif (gone := one.retention_left_ms) is not None:
            limit = min(limits.expiring_ms, (one.retention_ms or 0) // 2)
            if (left := gone - last.at_ms) < limit:
                found.append(f"{one.name} (in {max(0, left) // MINUTE_MS} min, limit {limit // MINUTE_MS})")
    return f"unread records may be deleted soon: {first_of(tuple(found))}" if found else ""


def _forgotten_soon(last: LagSample, limits: StatusLimits) -> str:
    """Committed offsets that brokers may forget soon; empty if that is far away or not known."""
    until_ms = last.standing.until_ms if last.standing else None
    if last.standing is None or not isinstance(until_ms, int) or not isinstance(last.standing.kept_ms, int):
        return ""
    limit, left = min(limits.expiring_ms, last.standing.kept_ms // 2), until_ms - last.at_ms
    if left >= limit:
        return ""
    return (
        f"group {last.lag.application_id} has no member, and brokers may forget its committed offsets in "
        f"{max(0, left) // MINUTE_MS} min (limit {limit // MINUTE_MS}); start it before: without them "
        "auto.offset.reset decides where it begins"
    )


def _keeps(stands: Standing | None) -> str:
    """Until when brokers keep the offsets of a group without members."""
    if stands is None:
        return ""
    if isinstance(until_ms := stands.until_ms, Missing):
        return f"; until when brokers keep its offsets is not known: {until_ms.missing}"
    return f"; brokers keep its offsets until {utc_minute(until_ms)} at least"


def _still(samples: tuple[LagSample, ...], limits: StatusLimits) -> NoProgress:
    """Partitions that have not moved in as many samples as it takes, nor in between, while the group had members."""
    times = {*apart((one.at_ms for one in reversed(samples)), limits.apart_ms)[: limits.samples]}
    window = [one for one in samples if one.at_ms >= min(times)]
    if len(times) < limits.samples or any(is_empty(one.lag.group_state or "") for one in window):
        return NoProgress("", ())
    return no_progress({one.at_ms: one.lag for one in samples}, len(window))


def _unknown(lag: ApplicationLag) -> tuple[str, ...]:
    rows = tuple(
        f"{one.name}: {one.why or one.age_why}"
        for one in lag.read
        if one.state in {"missing", "unknown"} or one.age_why
    )
    if lag.unread is None and not (lag.problems or rows):
        return (f"nothing is known of what {lag.application_id} reads",)
    return (*lag.problems, *lag.unseen, *rows, *(why for one in lag.read if (why := _perhaps_lost(one))))


def _perhaps_lost(row: PartitionLag) -> str:
    """Offsets that were deleted before they were read for records."""
    if row.lost or not row.perhaps_lost:
        return ""
    deleted = (row.log_start_offset or 0) - (row.committed or 0)
    return (
        f"{row.name}: {deleted:,} offsets were deleted before they were read, and whether a record was among them is "
        "not known (transaction markers have offsets too)"
    )
