"""`orders-running` and `customers-counted` judged: per key the counts 1..n, each event once, in offset order.

The order in which the application counted the events of a key is its own choice (any merge of the input partitions
that keeps each one's own order), so it is taken from the output; the input only lists the events. A flawless
key is recognised in one pass, any other is judged record by record (`running_key`).
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kstreams_runbooks.demo.judge.compact import NONE
from kstreams_runbooks.demo.judge.counts import Counts
from kstreams_runbooks.demo.judge.figures import OutputVerdict, Tally, conclude
from kstreams_runbooks.demo.judge.running_key import FlawedKey


@dataclass(frozen=True, slots=True)
class RunningJudgement:
    """The verdict, and the partitions whose records are complete and right (and so show the interleaving)."""

    verdict: OutputVerdict
    perfect: frozenset[int]


def judge_running(collected: Counts, doubts: Iterable[str] = (), definite: bool = False) -> RunningJudgement:
    """Judge the output; if `definite`, the inputs are fully known: only missing records are in doubt."""
    doubts = tuple(doubts)
    partitions = collected.partitions[collected.output]
    tally = Tally()
    tally.merge(collected.running_strays)
    spoilt = set(collected.stray_partitions)
    rows_of: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
    for row, key in enumerate(collected.running_key):
        rows_of[key].append(row)
    sources_of: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
    for source, key in enumerate(collected.customer):
        sources_of[key].append(source)
    counted = bytearray(len(collected.events))
    for key in sorted(sources_of.keys() | rows_of.keys()):
        rows, sources = rows_of[key], sources_of[key]
        if _flawless(collected, rows, len(sources), counted):
            continue
        found = FlawedKey(collected, key, rows, sources).judge()
        if found.counts.total():
            tally.merge(found)
            spoilt.add(collected.customers.home(key, partitions))
    verdict = conclude(
        collected.output,
        tally,
        inputs_seen=len(collected.event),
        expected=len(collected.event),
        seen=len(collected.running_key) + collected.running_strays.counts["extra"],
        doubts=doubts,
        definite=("extra", "duplicate", "out_of_order") if definite else (),
    )
    perfect = frozenset() if doubts else frozenset(range(partitions)) - spoilt
    return RunningJudgement(verdict, perfect)


def _flawless(collected: Counts, rows: Sequence[int], expected: int, counted: bytearray) -> bool:
    """Whether a key's records are counts 1..expected over distinct events of its own, in both orders."""
    if len(rows) != expected:
        return False
    total = 0
    last: dict[int, int] = {}
    for place, row in enumerate(rows, start=1):
        event = collected.running_event[row]
        source = collected.row_of_event[event] if event < len(collected.row_of_event) else NONE
        amount = collected.running_amount[row]
        total += amount
        if (
            source == NONE
            or counted[event]
            or collected.running_count[row] != place
            or collected.running_sum[row] != total
            or collected.customer[source] != collected.running_key[row]
            or collected.amount[source] != amount
        ):
            return False
        counted[event] = 1
        offset = collected.offset[source]
        if offset < last.get(collected.partition[source], 0):
            return False
        last[collected.partition[source]] = offset
    return True
