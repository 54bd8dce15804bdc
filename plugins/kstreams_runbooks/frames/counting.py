"""Readable records of exact ranges, counted in a session: what the job and whoever asks over Connect share."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kstreams_runbooks.frames.connect import connect_mode, connected, disconnect
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.lag import lag_by_partition
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.lag import Readable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def counted(
    session: "SparkSession", kafka: Mapping[str, str], ranges: Sequence[OffsetRange]
) -> dict[tuple[str, int], Readable]:
    """A row per partition that has a readable record; `kafka` are settings of a Java client, empty ranges left out."""
    rows = lag_by_partition(read_ranges(session, kafka, ranges)).collect()
    return {(row.topic, row.partition): Readable(row.records, row.bytes, row.oldest_ms) for row in rows}


class ConnectCounter:
    """The same on a Spark Connect server, in one session that stays open until `close`; of one thread at a time.

    A session that the server has lost, because it was started again, is opened anew.
    """

    def __init__(self, remote: str) -> None:
        self._remote = remote
        self._session: SparkSession | None = None

    def count(self, kafka: Mapping[str, str], ranges: Sequence[OffsetRange]) -> dict[tuple[str, int], Readable]:
        """Unreachable where nothing listens; every error of Spark's is one sentence (`failures`)."""
        if self._session is not None:
            with suppress(Exception), connect_mode():
                return counted(self._session, kafka, ranges)
            # Whatever it was: with a new session it happens again, or it was the session.
            self.close()
        try:
            with spoken(kafka["bootstrap.servers"]), connect_mode():
                self._session = connected(self._remote)
                return counted(self._session, kafka, ranges)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(Exception):
                disconnect(session, self._remote)
