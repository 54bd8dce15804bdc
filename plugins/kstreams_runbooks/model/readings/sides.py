"""The outputs of two sides of an application: their ends as a run noted them, and what catching up has dropped."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.model.readings.outputs import OutputsReading
from kstreams_runbooks.model.readings.readings import ApplicationReading, Start


@dataclass(frozen=True, slots=True)
class NotedEnd:
    """One partition at the time of a note: the start of its log, and the end up to which it could be read (exclusive).

    The end is the last stable offset: nothing behind an open transaction is noted.
    """

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NotedEnds:
    """Every partition of some topics, noted together while both sides were at rest; `at_ms` is when the note began."""

    at_ms: int
    ends: tuple[NotedEnd, ...]

    def of(self, topic: str) -> tuple[NotedEnd, ...]:
        """Those of one topic, by partition; empty if it was not noted."""
        return tuple(sorted((one for one in self.ends if one.topic == topic), key=lambda one: one.partition))


@dataclass(frozen=True, slots=True)
class SideStart:
    """How a run started the second side: the reading with which it has verified it, and what came before that.

    `first` are the processes that the run has started, by instance. `early` is why a record that was read before
    `verified` may have been late; empty if none can have been.
    """

    verified: ApplicationReading
    first: Mapping[str, Start]
    early: str


@dataclass(frozen=True, slots=True)
class SideHistory:
    """How the second side came to its outputs.

    `is_paced`: its history was merged by time and paced, or it processed it live. `dropped` are the records that its
    tasks with windows dropped as late, None if that is not known, and `unknown` is why.
    """

    is_paced: bool
    dropped: int | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """One output of both sides: its class, and the comparison below the noted ends.

    `noted_at_ms` is that of the note, `read_at_ms` when the comparison had ended.
    """

    output: OutputClass
    noted_at_ms: int
    read_at_ms: int
    reading: OutputsReading
