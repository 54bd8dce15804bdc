"""One counter for every size: a consumer up to MOST_AT_ONCE offsets, Spark over Connect above that.

If Spark cannot count (not configured, no answer, any failure), or takes longer than the consumer would by far, the
consumer counts all offsets and the answer shows it: the same figures.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.frames.counting import ConnectCounter, NotInTime
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS, OffsetRange, cut
from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, Counted, Isolation, Readable
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.watch.drain.java_client import java_settings

# Offsets per second of a consumer on a busy core, records of 100 bytes: for the estimate in a message, not a limit.
CONSUMER_PER_S: Final = 100_000
_TIMEOUT_S: Final = 30.0
# The first job of a server that has just started takes about ten seconds on two cores.
_SPARK_S: Final = 20.0
# For a large count Spark gets as long as the consumer is estimated to take, several times over.
_SPARK_TIMES: Final = 3
# A count is given up on a machine or network more than ten times slower than that.
_PATIENCE: Final = 10


class Counter:
    """Counts the readable records in ranges of one cluster; use it as a context manager for several counts.

    `remote` is a Spark Connect server (default: SPARK_REMOTE of the environment; empty: none), `most` the maximum of
    offsets that one count scans; `say` receives the reason for a slow count before it begins. Records of aborted
    transactions count only with the isolation `read_uncommitted`, by the consumer. The session with Spark stays open
    until the end. For one thread at a time.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        remote: str | None = None,
        *,
        isolation: Isolation = "read_committed",
        most: int = MAX_SCAN_RECORDS,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._config = dict(config)
        self._isolation = isolation
        self._say = say
        address = os.environ.get(REMOTE, "") if remote is None else remote
        self._spark = ConnectCounter(address) if address and isolation == "read_committed" else None
        committed = isolation == "read_committed"
        self._without = f"no {REMOTE} is set" if committed else "it reads committed records only"
        self._most = most

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the session with Spark."""
        if self._spark is not None:
            self._spark.close()

    def __call__(self, ranges: Mapping[Place, tuple[int, int]]) -> Counted:
        """Count the readable records in [start, end) of each partition, at most to its last stable offset.

        Inconclusive if an offset is gone or past an open transaction, Unreachable if Kafka does not answer.
        """
        whole = [OffsetRange(*place, start, max(start, end)) for place, (start, end) in ranges.items()]
        filled = [part for part in cut(whole, self._most) if part.offsets]
        if not filled:
            return Counted({place: Readable() for place in ranges}, "nothing")
        offsets = sum(part.offsets for part in filled)
        part = self._remarks(_part(offsets, sum(one.offsets for one in whole)))
        counted = self._by_consumer(filled) if offsets <= MOST_AT_ONCE else self._many(filled, offsets)
        ends = {(one.topic, one.partition): one.end for one in filled}
        return Counted(
            {place: _of(counted.readable, place, ends, end) for place, (_, end) in ranges.items()},
            counted.by,
            (*part, *counted.remarks),
        )

    def _many(self, ranges: list[OffsetRange], offsets: int) -> Counted:
        why = self._without
        if self._spark is not None:
            try:
                limit_s = _SPARK_S + _SPARK_TIMES * offsets / CONSUMER_PER_S
                return Counted(self._spark.count(java_settings(self._config), ranges, limit_s), "spark")
            except NotInTime as error:
                # The next count of this process would wait as long.
                self._spark, self._without = None, str(error)
                why = self._without
            except RunbookError as error:
                # Inconclusive too: the consumer does not need what Spark lacks, and it also detects an offset that is
                # gone.
                why = str(error)
        slower = f"{offsets:,} offsets are counted without Spark, which takes about {_takes(offsets)} ({why})"
        return self._by_consumer(ranges, self._remarks(slower))

    def _remarks(self, sentence: str) -> tuple[str, ...]:
        if not sentence:
            return ()
        self._say(sentence)
        return (sentence,)

    def _by_consumer(self, ranges: list[OffsetRange], remarks: tuple[str, ...] = ()) -> Counted:
        offsets = sum(one.offsets for one in ranges)
        limit_s = _TIMEOUT_S + _PATIENCE * offsets / CONSUMER_PER_S
        places = {(one.topic, one.partition): (one.start, one.end) for one in ranges}
        found = count_readable(self._config, places, limit_s, self._isolation)
        return Counted(found, "consumer", remarks)


def _of(found: Mapping[Place, Readable], place: Place, ends: Mapping[Place, int], end: int) -> Readable:
    one = found.get(place, Readable())
    return Readable(one.records, one.bytes, one.oldest_ms, at_least=ends.get(place, end) < end)


def _part(scanned: int, offsets: int) -> str:
    if scanned == offsets:
        return ""
    return f"{scanned:,} of {offsets:,} offsets are scanned: there is at least as much as is counted"


def _takes(offsets: int) -> str:
    seconds = max(1, round(offsets / CONSUMER_PER_S))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"  # noqa: PLR2004 - two minutes
