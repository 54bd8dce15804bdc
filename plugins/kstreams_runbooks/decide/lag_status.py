"""How an application stands, from its last lag readings: one word and one sentence.

Worse before better: what is certainly wrong is told before what is not known, and what is not known is never healthy.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from kstreams_runbooks.decide.lag import named
from kstreams_runbooks.model.lag import ApplicationLag, PartitionLag

Word = Literal["recreated", "rewound", "failed", "expiring", "stalled", "stopped", "unknown", "behind", "healthy"]
_STABLE = frozenset({"stable"})
# What the broker calls a streams group whose topology it cannot serve yet (KIP-1071).
_NOT_READY = frozenset({"not_ready", "notready"})
_EMPTY = frozenset({"empty", "dead"})


@dataclass(frozen=True, slots=True)
class LagSample:
    """One reading of an application; `failed` are instances known to be in ERROR, None where nobody asked them."""

    at_ms: int
    lag: ApplicationLag
    failed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StatusLimits:
    """`samples` in a row without progress are stalled; more than `records` unread are behind.

    An unread record that may be deleted in less than `expiring_ms` is expiring.
    """

    samples: int = 3
    records: int = 10_000
    expiring_ms: int = 6 * 3_600_000


@dataclass(frozen=True, slots=True)
class Status:
    """The word, and what was observed with its limit."""

    word: Word
    sentence: str


def status(samples: tuple[LagSample, ...], limits: StatusLimits) -> Status:
    """The status by the last samples, oldest first; unknown where there is none."""
    if not samples:
        return Status("unknown", "never read")
    return next(_statuses(samples, limits))


def _statuses(samples: tuple[LagSample, ...], limits: StatusLimits) -> Iterator[Status]:
    """Every status that holds, from the worst; the last always does."""
    last = samples[-1]
    group = f"group {last.lag.application_id}"
    if new := _recreated(_read_ids(samples)):
        yield Status("recreated", f"{named(new)} was deleted and created again: its records and its offsets are others")
    if lost := (*_recreated(_kept_ids(samples)), *_gone(samples)):
        yield Status(
            "recreated",
            f"{named(lost)} was deleted: an incident, the state that it held is lost once an instance restores it, "
            "although outputs look right until then",
        )
    if fallen := _rewound(samples):
        yield Status("rewound", f"committed offsets fell: {named(fallen)}; records are processed again")
    if last.failed:
        yield Status("failed", f"in ERROR, which it does not leave by itself: {named(last.failed)}")
    if expiring := _expiring(last, limits):
        yield Status("expiring", f"unread records may be deleted soon: {named(expiring)}")
    if stalled := _stalled(samples, limits):
        yield Status("stalled", stalled)
    if (last.lag.group_state or "").lower() in _EMPTY and any(one.committed is not None for one in last.lag.read):
        unread = "an unknown number of" if last.lag.unread is None else f"{last.lag.unread:,}"
        yield Status("stopped", f"{group} has offsets and no member; {unread} records wait")
    if unknown := _unknown(last.lag):
        yield Status("unknown", named(unknown))
    if (unread_now := last.lag.unread or 0) > limits.records:
        yield Status("behind", f"{unread_now:,} records to read (limit {limits.records:,})")
    yield Status("healthy", f"{last.lag.unread or 0:,} records to read (limit {limits.records:,})")


Ids = Iterable[tuple[str, str | None]]


def _read_ids(samples: tuple[LagSample, ...]) -> Ids:
    return ((one.topic, one.topic_id) for sample in samples for one in sample.lag.partitions)


def _kept_ids(samples: tuple[LagSample, ...]) -> Ids:
    return (one for sample in samples for one in sample.lag.kept)


def _recreated(ids: Ids) -> tuple[str, ...]:
    """Topics that had more than one id."""
    seen: dict[str, set[str]] = {}
    for topic, topic_id in ids:
        if topic_id is not None:
            seen.setdefault(topic, set()).add(topic_id)
    return tuple(sorted(topic for topic, each in seen.items() if len(each) > 1))


def _gone(samples: tuple[LagSample, ...]) -> tuple[str, ...]:
    """Changelogs that were there, and are looked for and not there any more."""
    before = {topic for topic, topic_id in _kept_ids(samples[:-1]) if topic_id is not None}
    return tuple(topic for topic, topic_id in samples[-1].lag.kept if topic_id is None and topic in before)


def _rewound(samples: tuple[LagSample, ...]) -> tuple[str, ...]:
    """Partitions whose committed offset is lower than in the sample before."""
    found = []
    for before, after in pairwise(samples):
        was = {one.name: one.committed for one in before.lag.partitions}
        for one in after.lag.partitions:
            earlier = was.get(one.name)
            if earlier is not None and one.committed is not None and one.committed < earlier:
                found.append(f"{one.name} (from {earlier:,} to {one.committed:,})")
    return tuple(dict.fromkeys(found))


def _expiring(last: LagSample, limits: StatusLimits) -> tuple[str, ...]:
    lost = tuple(
        f"{one.name} ({one.log_start_offset - one.committed:,} offsets are deleted already)"
        for one in last.lag.read
        if one.committed is not None and one.log_start_offset is not None and one.committed < one.log_start_offset
    )
    return lost + tuple(
        f"{one.name} (in {max(0, gone - last.at_ms) // 60_000} min, limit {limits.expiring_ms // 60_000})"
        for one in last.lag.read
        if (gone := one.retention_left_ms) is not None and gone - last.at_ms < limits.expiring_ms
    )


def _stalled(samples: tuple[LagSample, ...], limits: StatusLimits) -> str:
    """Why it is stalled, empty where it is not: the same offsets with something to read while the group is stable."""
    last = samples[-1].lag
    if (last.group_state or "").lower() in _NOT_READY:
        return f"group {last.application_id} is {last.group_state}: the broker gives its members no tasks"
    window = samples[-limits.samples :]
    if len(window) < limits.samples or any((one.lag.group_state or "").lower() not in _STABLE for one in window):
        return ""
    rows = [{one.name: one for one in sample.lag.read} for sample in window]
    stuck = tuple(f"{name} ({row.records:,} to read)" for name, row in rows[-1].items() if _stuck(name, rows))
    if not stuck:
        return ""
    return f"committed offsets unchanged over {len(window)} readings while the group is stable: {named(stuck)}"


def _stuck(name: str, rows: list[dict[str, PartitionLag]]) -> bool:
    seen = [row[name] for row in rows if name in row]
    return len(seen) == len(rows) and all(one.records for one in seen) and len({one.committed for one in seen}) == 1


def _unknown(lag: ApplicationLag) -> tuple[str, ...]:
    rows = tuple(f"{one.name}: {one.why}" for one in lag.read if one.state in {"missing", "unknown"})
    if lag.unread is None and not (lag.problems or rows):
        return (f"nothing is known of what {lag.application_id} reads",)
    return (*lag.problems, *rows)
