"""Whether the journal of a run is as written: every entry there, unchanged, in its place."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kstreams_runbooks.decide.runs.chain_record import Break, Kept, payload_of, record_breaks
from kstreams_runbooks.model.runs.journal import APPROVAL, GAP, GENESIS, READING, Entry, entry_hash
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.verdicts import Outcome


@dataclass(frozen=True, slots=True)
class Gap:
    """Raw readings that were pruned: from which place to which, by which entry, and the hashes that tie them in."""

    first: int
    last: int
    said_at: int
    before: str
    last_hash: str


@dataclass(frozen=True, slots=True)
class ClockStep:
    """An entry with an earlier time than the entry before it."""

    place: int
    kind: str
    task_id: str
    at_ms: int
    back_ms: int


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """The result for the chain: proceed if it is whole, refuse if it breaks.

    `head` is that of the newest entry. `after_head` counts the entries after the given head (None: none was given, and
    a chain that was rewritten completely would not be detected).
    """

    outcome: Outcome
    rows: int
    head: str
    breaks: tuple[Break, ...]
    gaps: tuple[Gap, ...]
    after_head: int | None
    sentence: str


def chain_holds(entries: Sequence[Entry], kept: Kept, head: str | None) -> ChainVerdict:
    """The verdict on a run's journal; `head` is one that was kept elsewhere, None without one to compare."""
    gaps = tuple(_gaps(entries))
    breaks = (*_breaks(entries, gaps, kept.record), *record_breaks(entries, kept), *_head_breaks(entries, head))
    own = [entry.hash for entry in entries]
    after = len(own) - 1 - own.index(head) if head is not None and head in own else None
    if breaks:
        outcome, said = Outcome.REFUSE, f"BROKEN in {_times(len(breaks), 'place')}: {breaks[0].sentence}"
    else:
        outcome, said = Outcome.PROCEED, f"whole: {len(entries)} entries, each follows the one before it"
    if not breaks and head is None:
        said += "; no head was given (--head), so a chain that was rewritten from end to end would not be noticed"
    elif not breaks and after:
        said += f"; {_times(after, 'entry', 'entries')} came after the head that was given"
    return ChainVerdict(outcome, len(entries), own[-1] if own else GENESIS, breaks, gaps, after, said)


def clock_steps(entries: Sequence[Entry]) -> tuple[ClockStep, ...]:
    """Every entry with an earlier time than the one before it: a clock was set back, or another worker's is."""
    return tuple(
        ClockStep(now.place, now.kind, now.task_id, now.at_ms, before.at_ms - now.at_ms)
        for before, now in pairwise(entries)
        if now.at_ms < before.at_ms
    )


def _breaks(entries: Sequence[Entry], gaps: Sequence[Gap], record: RunRecord) -> Iterator[Break]:
    """Entries that do not match their hash, or do not follow the one before."""
    due, previous, seq = 1, GENESIS, 0
    known = {gap.first: gap for gap in gaps}
    for entry in entries:
        while due < entry.place and due in known and known[due].before == previous:
            due, previous = known[due].last + 1, known[due].last_hash
        if entry_hash(entry) != entry.hash:
            yield Break("changed", entry.place, f"{_named(entry)} was changed: it is not what its hash says")
        if entry.place > due:
            yield Break("deleted", due, f"{_missing(due, entry.place - 1)} without having been pruned")
        elif entry.place < due:
            yield Break("inserted", entry.place, f"{_named(entry)} was inserted: its place is taken")
        elif entry.previous != previous:
            yield Break(
                "unlinked",
                entry.place,
                f"{_named(entry)} does not follow the entry before it: one of them was exchanged or rewritten",
            )
        if entry.seq <= seq:
            yield Break("moved", entry.place, f"{_named(entry)} was moved: its number {entry.seq} comes after {seq}")
        if (entry.run_key, entry.cluster, entry.application) != (record.run_key, record.cluster, record.application):
            yield Break("moved", entry.place, f"{_named(entry)} is of another run or application")
        due, previous, seq = entry.place + 1, entry.hash, entry.seq
    if (due - 1, previous) != (record.rows, record.head):
        yield Break(
            "newest missing",
            due,
            f"the journal ends at entry {due - 1}, the run's record says {record.rows}: the newest entries are "
            "missing, or were rewritten",
        )


def _head_breaks(entries: Sequence[Entry], head: str | None) -> Iterator[Break]:
    if head is not None and head not in {entry.hash for entry in entries}:
        yield Break(
            "head unknown",
            len(entries) or None,
            f"no entry has the hash {head}: it is missing, the chain was rewritten, or it is another run's head",
        )


def _gaps(entries: Sequence[Entry]) -> Iterator[Gap]:
    """Stretches that a gap entry names, that no longer exist, and that held nothing but readings."""
    present = sorted(entry.place for entry in entries)
    for entry in entries:
        stretches = payload_of(entry).get("stretches") if entry.kind == GAP else None
        for stretch in stretches if isinstance(stretches, list) else ():
            try:
                gap = _gap(entry, stretch)
            except (KeyError, TypeError, ValueError):
                continue
            gone = bisect_left(present, gap.first) == bisect_right(present, gap.last)
            if gone and 0 < gap.first <= gap.last < entry.place:
                yield gap


def _gap(said: Entry, stretch: dict[str, Any]) -> Gap:
    """One stretch; ValueError if its hashes do not follow from readings: then it hides something else."""
    first, before = int(stretch["from"]), str(stretch["before"])
    place, previous = first - 1, before
    for place, (seq, task_id, try_number, name, at_ms, digest) in enumerate(stretch["readings"], first):
        of = (said.cluster, said.application, seq, said.run_key, place, task_id, try_number, READING, name, at_ms)
        previous = entry_hash(Entry(*of, payload=b"", previous=previous), str(digest))
    if previous != stretch["last"]:
        raise ValueError(f"entries {first} to {place} were not readings")
    return Gap(first, place, said.place, before, previous)


def _missing(first: int, last: int) -> str:
    return f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"


def _times(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _named(entry: Entry) -> str:
    """An entry for a person, by its kind, author and task."""
    by = f" by {payload_of(entry).get('by')}" if entry.kind == APPROVAL else ""
    task = f", {entry.task_id}" if entry.task_id else ""
    return f"entry {entry.place} ({entry.kind} {entry.name}{by}{task})"
