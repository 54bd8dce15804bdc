"""The restart of an instance by a person, as the wait for it sees it: nothing measures what is between two looks."""

from typing import Any

from kstreams_runbooks.act.instance import RestartTimes
from kstreams_runbooks.decide.instances.deployed import old_start_gone
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.restarts import BY_PERSON

# The entry for an old start that was seen for the last time, for the process that goes on.
_GONE = "the old start was gone"


class Watching:
    """The restart of one instance that a wait for a person looks at, each `interval_s` seconds.

    Reads the ledger once, on creation. A restart whose begin no wait has seen is not measured: the instance was down
    when it was requested, or the triggerer was away.
    """

    def __init__(self, run: Run, awaited: Awaited, interval_s: float) -> None:
        self._awaited = awaited
        self._every_ms = round(interval_s * 1000)
        self._about = {
            "instance": awaited.instance,
            "bounce": awaited.bounce.number,
            "previous": encode(awaited.previous),
        }
        self._up_ms: int | None = None
        self._gone_ms: int | None = None
        self._still_gone_ms = 0
        for one in run.ledger.evidence(run.key, kind="note", name=_GONE):
            if {name: one.payload[name] for name in self._about} == self._about:
                self._up_ms, self._gone_ms = one.payload["up_ms"], one.payload["gone_ms"]
                self._still_gone_ms = one.payload["gone_ms"]

    def look(self, run: Run, reading: ApplicationReading) -> None:
        """Take one more look: the last one that the old start answered, and the first without it."""
        instance, at_ms = reading.instance(self._awaited.instance), reading.taken.at_ms
        if isinstance(instance, Missing) or self._awaited.previous is None:
            return
        streams = instance.streams
        if not isinstance(streams, Missing) and streams.start == self._awaited.previous:
            self._up_ms, self._gone_ms = at_ms, None
        elif self._up_ms is not None and old_start_gone(reading, self._awaited):
            if self._gone_ms is None:
                self._gone_ms = self._still_gone_ms = at_ms
                run.keep("note", _GONE, {**self._about, "up_ms": self._up_ms, "gone_ms": at_ms})
            if streams.start is None:
                self._still_gone_ms = at_ms

    def keep(self, run: Run) -> None:
        """Keep the restart once the instance is deployed; what measures restarts waits for RUNNING."""
        if self._up_ms is None or self._gone_ms is None:
            return
        times = RestartTimes(self._up_ms, self._gone_ms, self._still_gone_ms, already_stopped=False)
        about: dict[str, Any] = {"instance": self._awaited.instance, "bounce": self._awaited.bounce.number}
        run.keep("note", BY_PERSON, {**about, "times": encode(times), "seen_every_ms": self._every_ms})
