"""Reads a drain repeatedly and judges each time: the loop of the waiting command and of the triggerer."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tenacity import RetryCallState, retry_if_result

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.decide.drain.pace import is_final, pause_s
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.drain import DrainReader
from kstreams_runbooks.watch.drain.unread import count_and_first


def drain_reader(entry: Application, deployer: Deployer, kafka: Mapping[str, Any]) -> DrainReader:
    """A reader for repeated readings, for one thread at a time; `kafka` is a librdkafka configuration."""
    known = entry.declared()

    def declared(release: str) -> Declaration | None:
        if release not in known.releases:
            return None
        return release_declaration(entry.name, release, known.library(release))

    return DrainReader(entry, deployer, *count_and_first(entry, kafka), declared)


# More readings than the pace needs: a wait of an hour has hundreds.
_MOST = 60


class DrainWatch:
    """The last readings of one wait (`taken` counts all of them) and their verdict; for one thread at a time.

    A reading that fails as a whole has no values; `unreachable` if no broker answered the last one. The question binds
    each topic's id when it is first seen: a wait outlives its readings. `kafka` is a librdkafka configuration.
    """

    def __init__(
        self, reader: DrainReader, kafka: Mapping[str, Any], question: DrainQuestion, interval_s: float
    ) -> None:
        self.question, self.verdict = question, drained((), question)
        self.readings: tuple[DrainReading, ...] = ()
        self.taken, self.unreachable = 0, False
        self._reader, self._kafka, self._interval_s = reader, kafka, interval_s
        self._began = 0.0

    def look(self) -> Verdict:
        """Take one more reading and judge all of them; blocks."""
        self._began = time.monotonic()
        self.readings = (*self.readings, self.read())[-max(_MOST, self.question.readings) :]
        self.taken += 1
        bound = {**self.readings[-1].topic_ids, **self.question.topic_ids}
        self.question = replace(self.question, topic_ids=bound)
        self.verdict = drained(self.readings, self.question)
        return self.verdict

    def until(self, is_over: Callable[[RetryCallState], bool]) -> dict[str, Any]:
        """Arguments for tenacity: repeat `look` until it is final or `is_over`; intervals run from start to start."""
        return {
            "retry": retry_if_result(lambda verdict: not is_final(verdict)),
            "wait": lambda _: max(0.0, pause_s(self.readings, self._interval_s) - (time.monotonic() - self._began)),
            "stop": is_over,
        }

    def read(self) -> DrainReading:
        """Take one reading; a failure becomes its problem."""
        self.unreachable = False
        cluster = ClusterReader(self._kafka)
        try:
            with cluster:
                return self._reader.read(cluster)
        except (Inconclusive, Unreachable) as error:
            self.unreachable = isinstance(error, Unreachable)
            return DrainReading(cluster.taken(), (), {}, {}, {}, problems=(str(error),))
