"""Counts the readable records of exact ranges in a session, for the job and for Connect."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from kstreams_runbooks.errors import Unreachable
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
    """A row for each partition with a readable record; `kafka` are settings of a Java client; skips empty ranges."""
    rows = lag_by_partition(read_ranges(session, kafka, ranges)).collect()
    return {(row.topic, row.partition): Readable(row.records, row.bytes, row.oldest_ms) for row in rows}


class NotInTime(Unreachable):
    """Spark did not count within its limit."""


class ConnectCounter:
    """The same on a Spark Connect server, in one session that stays open until `close`; for one thread at a time.

    It opens a new session if the server lost the first in a restart.
    """

    def __init__(self, remote: str) -> None:
        self._remote = remote
        self._session: SparkSession | None = None
        self._is_over = False

    def count(
        self, kafka: Mapping[str, str], ranges: Sequence[OffsetRange], limit_s: float
    ) -> dict[tuple[str, int], Readable]:
        """Unreachable if no server listens; every error of Spark becomes one sentence (`failures`).

        `NotInTime` after `limit_s`: the job is interrupted, and the counter is closed for good.
        """
        found: Future[dict[tuple[str, int], Readable]] = Future()

        def work() -> None:
            try:
                found.set_result(self._count(kafka, ranges))
            except Exception as error:  # noqa: BLE001 - it is raised where the result is awaited
                found.set_exception(error)
            if self._is_over:
                self.close()

        # A job of a server that is busy answers no call: only a thread can be left behind.
        Thread(target=work, daemon=True).start()
        try:
            return found.result(limit_s)
        except TimeoutError:
            if found.done():
                raise
            self._is_over = True
            Thread(target=self._interrupt, daemon=True).start()
            raise NotInTime(f"Spark has not counted them within {limit_s:,.0f} s") from None

    def _count(self, kafka: Mapping[str, str], ranges: Sequence[OffsetRange]) -> dict[tuple[str, int], Readable]:
        if self._session is not None:
            with suppress(Exception), connect_mode():
                return counted(self._session, kafka, ranges)
            # After any error, try a new session: the error happens again, or the session was its cause.
            self.close()
        try:
            with spoken(kafka["bootstrap.servers"]), connect_mode():
                self._session = connected(self._remote)
                return counted(self._session, kafka, ranges)
        except BaseException:
            self.close()
            raise

    def _interrupt(self) -> None:
        session = self._session
        if session is not None:
            with suppress(Exception):
                session.interruptAll()

    def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(Exception):
                disconnect(session, self._remote)
