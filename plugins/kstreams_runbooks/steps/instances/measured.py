"""Measures each restart of a run, from the request to stop until the instance is RUNNING, and keeps it once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.instances.rebalance import restart_effect
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start, StreamsReading
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.runs.restarts import Restart
from kstreams_runbooks.steps.plan.cards import last_card
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.restarts import BY_PERSON, MEASURED

# The entry for an instance that was seen back, and not RUNNING yet.
_BACK = "an instance was back"
_CREATED, _RUNNING = "CREATED", "RUNNING"


@dataclass(frozen=True, slots=True)
class _Open:
    """A restart that is not measured yet, and the start from before it."""

    write: Evidence
    previous: Start | None


class Measuring:
    """The restarts of one application in a run that are still to be measured; a look costs nothing once none is left.

    Reads the ledger once, on creation.
    """

    def __init__(self, run: Run) -> None:
        self._open = [] if run.application.as_deployed else list(_open(run))
        kept = [one.payload for one in run.ledger.evidence(run.key, kind="note", name=_BACK)] if self._open else []
        self._back: dict[int, int] = {one["write"]: one["back_ms"] for one in reversed(kept)}
        # The last look at which the agent of a new start answered, without a client that runs.
        self._heard: dict[int, int] = {}

    def look(self, run: Run, instance: str, streams: StreamsReading | Missing, at_ms: int) -> None:
        """Keep the restart of an instance that is seen RUNNING in a new start; log what it did to its group.

        `at_ms` is when the look was taken.
        """
        one = next((one for one in self._open if one.write.payload["instance"] == instance), None)
        if one is None or streams.start is None or streams.start == one.previous:
            return
        if isinstance(streams, Missing) or streams.state == _CREATED:
            self._heard[one.write.id] = at_ms
            return
        back_ms = self._back.setdefault(one.write.id, streams.taken.at_ms)
        if streams.state == _RUNNING:
            self._open.remove(one)
            heard_ms = self._heard.get(one.write.id, one.write.payload["times"]["started_ms"])
            unheard_ms = max(0, streams.taken.at_ms - heard_ms) if back_ms == streams.taken.at_ms else 0
            _keep(run, one.write, back_ms, streams.taken.at_ms, unheard_ms)

    def look_at(self, run: Run, reading: ApplicationReading) -> None:
        """The same for every instance of a reading."""
        for one in reading.instances if self._open else ():
            self.look(run, one.instance, one.streams, reading.taken.at_ms)

    def leave(self, run: Run) -> None:
        """Keep what was seen of those that are not RUNNING yet, for the process that goes on."""
        for one in self._open:
            if (back_ms := self._back.get(one.write.id)) is not None:
                run.keep("note", _BACK, {"write": one.write.id, "back_ms": back_ms})


def _open(run: Run) -> Iterator[_Open]:
    known = {one.payload["write"] for one in run.ledger.evidence(run.key, kind="note", name=MEASURED)}
    names = set(run.plan().facts.instances)
    newest: dict[str, Evidence] = {}
    made = run.ledger.evidence(run.key, kind="write", name="restart")
    by_person = run.ledger.evidence(run.key, kind="note", name=BY_PERSON)
    for write in sorted((*made, *by_person), key=lambda one: one.id):
        if "times" in write.payload and write.payload["instance"] in names:
            newest[write.payload["instance"]] = write
    for name, write in newest.items():
        card = last_card(run, name)
        if write.id not in known:
            yield _Open(write, None if card is None else instance_facts(card).previous)


def _keep(run: Run, write: Evidence, back_ms: int, running_ms: int, unheard_ms: int) -> None:
    name, number, times = write.payload["instance"], write.payload["bounce"], write.payload["times"]
    plan = run.plan()
    cost = next((one for one in plan.costs if one.instance == name), None)
    bounce = next((one for one in plan.bounces if one.number == number and one.takes(name)), None)
    requested_ms, stopped_ms = _stop_of(run, write, name, times)
    restart = Restart(
        application=run.record.application,
        instance=name,
        bounce=number,
        at_once=plan.start is not None and bounce not in plan.rolled,
        cleared=bounce is not None and bounce.clears is not None,
        static=plan.facts.static_membership,
        stop_requested_ms=requested_ms,
        stopped_ms=stopped_ms,
        started_ms=times["started_ms"],
        back_ms=back_ms,
        running_ms=running_ms,
        session_ms=None if cost is None else cost.session_ms,
        session_source="" if cost is None else cost.session_source,
        seen_every_ms=write.payload.get("seen_every_ms", 0),
        unheard_ms=unheard_ms,
    )
    effect = restart_effect(restart, None if cost is None else cost.gap_s)
    about = {"write": write.id, "restart": encode(restart), "rebalanced": effect.rebalanced}
    run.keep("note", MEASURED, {**about, "expected": effect.expected, "sentence": effect.sentence})
    (run.say if effect.expected else run.warn)(effect.sentence)


def _stop_of(run: Run, write: Evidence, name: str, times: Any) -> tuple[int, int]:
    """When the stop was requested and when the process was gone; before the restart if all were stopped together."""
    if times["already_stopped"]:
        for stop in reversed(run.ledger.evidence(run.key, kind="write", name="stop")):
            if stop.id < write.id and name in stop.payload["instances"]:
                return stop.payload["requested_ms"], stop.payload["down_ms"]
    return times["stop_requested_ms"], times["stopped_ms"]
