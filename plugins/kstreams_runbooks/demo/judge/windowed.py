"""`orders-windowed` judged: exactly one record per closed window and none per open one.

The boundaries are Kafka's own (StreamWindowAggregate and KTableSuppressProcessor; KIP-328 for suppress): stream time
is the largest event time so far of all records in the repartition partition, the current one included; a record is
dropped as late if the end of its window <= stream time - grace; suppress emits a window as soon as its end + grace <=
stream time. So only stream time decides what is late and what is closed, never the wall clock.

A window is closed at the end if its end + grace <= the largest event time of its repartition partition, with any
interleaving. Which record was late does depend on the interleaving, see the docstring of `judge`; and after a
restart the application's stream time starts again, so a late record may be counted and its window emitted again.
A window with a record that could be late is therefore left out of all figures and makes the output inconclusive.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.judge.figures import OutputVerdict, Tally, conclude
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.demo.traffic.records import MalformedRecord, Windowed, windowed_key
from kstreams_runbooks.demo.traffic.topics import TopicRole


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """Tumbling windows aligned to the epoch: size and grace in ms, as the application has them."""

    size_ms: int = 10_000
    grace_ms: int = 120_000

    def start(self, ts: int) -> int:
        """Return the start of the window that an event time falls into."""
        return ts - ts % self.size_ms

    def closes(self, ts: int) -> int:
        """Return the stream time at which the window of an event time is closed: its end + grace."""
        return self.start(ts) + self.size_ms + self.grace_ms


def judge_windowed(
    collected: Collected,
    window: JudgedWindow,
    perfect: frozenset[int],
    doubts: Iterable[str] = (),
    definite: bool = False,
) -> OutputVerdict:
    """Judge the output; `perfect` are the partitions whose interleaving `orders-running` shows."""
    partitions = collected.partitions[TopicRole.RUNNING]
    stream_time: dict[int, int] = {}
    counts: Counter[tuple[int, int]] = Counter()
    home_of = [collected.customers.home(number, partitions) for number in range(len(collected.customers))]
    for customer, ts in zip(collected.customer, collected.ts, strict=True):
        home = home_of[customer]
        if ts > stream_time.get(home, -1):
            stream_time[home] = ts
        counts[customer, window.start(ts)] += 1
    late = _late_in_known_order(collected, window, perfect) | _late_in_some_order(
        collected, window, frozenset(range(partitions)) - perfect, home_of
    )
    undecided: dict[str, str] = {}
    closed: dict[str, Windowed] = {}
    for (customer, start), count in counts.items():
        text = collected.customers.texts[customer]
        key = windowed_key(text, start)
        if (customer, start) in late:
            undecided[key] = late[customer, start]
        elif window.closes(start) <= stream_time[home_of[customer]]:
            closed[key] = Windowed(text, start, start + window.size_ms, count)
    tally, seen = _compare(collected, closed, undecided)
    return conclude(
        TopicRole.WINDOWED,
        tally,
        inputs_seen=len(collected.event),
        expected=len(closed),
        seen=seen,
        undecided=undecided.values(),
        doubts=doubts,
        definite=("extra", "duplicate") if definite else (),
    )


def _compare(collected: Collected, closed: dict[str, Windowed], undecided: dict[str, str]) -> tuple[Tally, int]:
    """Match records with closed windows; return what is wrong, and the number of records read."""
    tally = Tally()
    seen = 0
    found: set[str] = set()
    for key, partition, offset, value in collected.windowed:
        if key in undecided:
            continue
        seen += 1
        home = partition_of(key.encode(), collected.partitions[TopicRole.WINDOWED])
        expected = closed.get(key)
        try:
            record = Windowed.decode(value) if value is not None else None
        except MalformedRecord:
            record = None
        if home != partition:
            tally.add("extra", key, partition, offset, f"the key belongs to partition {home}")
        elif expected is None:
            tally.add("extra", key, partition, offset, "no closed window has this key")
        elif record != expected:
            tally.add("extra", key, partition, offset, f"is {_text(value)}, not {_text(expected.encode())}")
        elif key in found:
            tally.add("duplicate", key, partition, offset, "the window was emitted before")
        else:
            found.add(key)
    for key, expected in closed.items():
        if key not in found:
            home = partition_of(key.encode(), collected.partitions[TopicRole.WINDOWED])
            tally.add("missing", key, home, None, f"closed window not emitted: {_text(expected.encode())}")
    return tally, seen


def _text(value: bytes | None) -> str:
    return "a tombstone" if value is None else value.decode(errors="backslashreplace")


def _late_in_known_order(
    collected: Collected, window: JudgedWindow, perfect: frozenset[int]
) -> dict[tuple[int, int], str]:
    """Find the windows with a record that was late, if the order of processing is known."""
    late: dict[tuple[int, int], str] = {}
    stream_time: dict[int, int] = {}
    for partition, event in zip(collected.running_partition, collected.running_event, strict=True):
        if partition not in perfect:
            continue
        row = collected.row_of_event[event]
        ts = collected.ts[row]
        before = stream_time.get(partition, -1)
        if window.closes(ts) <= before:
            _note(late, collected, window, row, f"came when stream time was {before}")
        stream_time[partition] = max(before, ts)
    return late


def _late_in_some_order(
    collected: Collected, window: JudgedWindow, imperfect: frozenset[int], home_of: list[int]
) -> dict[tuple[int, int], str]:
    """Find the windows with a record that could be late in some merge that keeps each input partition's order."""
    late: dict[tuple[int, int], str] = {}
    if not imperfect:
        return late
    # (repartition partition, input partition) -> largest event time
    largest: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for _, home, source, ts in _rows(collected, imperfect, home_of):
        largest[home][source] = max(ts, largest[home].get(source, -1))
    others = {
        (home, source): max((ts for other, ts in by_source.items() if other != source), default=-1)
        for home, by_source in largest.items()
        for source in by_source
    }
    own: dict[tuple[int, int], int] = {}
    for row, home, source, ts in _rows(collected, imperfect, home_of):
        own[home, source] = max(ts, own.get((home, source), -1))
        possible = max(own[home, source], others[home, source])
        if window.closes(ts) <= possible:
            _note(late, collected, window, row, f"may have come when stream time was {possible}")
    return late


def _rows(collected: Collected, homes: frozenset[int], home_of: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield row, repartition partition, input partition and event time of the events in some partitions."""
    columns = zip(collected.customer, collected.partition, collected.ts, strict=True)
    for row, (customer, source, ts) in enumerate(columns):
        if home_of[customer] in homes:
            yield row, home_of[customer], source, ts


def _note(
    late: dict[tuple[int, int], str], collected: Collected, window: JudgedWindow, row: int, observed: str
) -> None:
    """Note the first record of a window that could be late."""
    ts = collected.ts[row]
    where = (collected.customer[row], window.start(ts))
    if where not in late:
        place = collected.place(TopicRole.ORDERS, collected.partition[row], collected.offset[row])
        key = windowed_key(collected.customers.texts[where[0]], where[1])
        late[where] = f"window {key}: {place} with event time {ts} {observed}, window end + grace {window.closes(ts)}"
