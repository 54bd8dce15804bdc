"""The restarts of a run and the shares of its time, from its journal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kstreams_runbooks.decide.runs.time_shares import Share, Span, TimeShares, time_shares
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.journal import APPROVAL, CONCLUDED, RUN, Entry
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.restarts import EarlierRestart, Restart

_GATE, _RESTART, _STOP, _PASSED = "gate", "restart", "stop", "proceed"
# Notes of the steps: a step begins, a gate with its bake has passed, a restart is measured, a person is asked.
_BEGUN, _BAKED = "begun", "gate and bake passed"
# The ledger's entry for a measured restart, with the sentence about it.
MEASURED = "restart measured"
# That of a restart by a person, from the wait for it (steps/instances/by_person.py).
BY_PERSON = "restarted by a person"
_ASKED = frozenset({"earlier approval void", "a person was asked", "a person was asked about a stage"})
_FAILURE = "failure"
# The newest restarts of an application from which a plan and `readiness` forecast.
_NEWEST = 20


def measured_restarts(ledger: Ledger, cluster: str, application: str, *, acts: bool) -> list[EarlierRestart]:
    """The newest restarts of an application that runs measured, oldest first.

    Restarts by a person count where a person restarts the instances (`acts` is false), and those by a run where the run
    does. One whose agent did not answer for a while does not count: how long the instance was away is not known.
    """
    kept = ledger.evidence_of(cluster, application, kind="note", name=MEASURED, newest=_NEWEST)
    found = [EarlierRestart(one.run_key, decode(Restart, one.payload["restart"])) for one in kept]
    return [
        one
        for one in found
        if one.restart.application == application and one.restart.by_person is not acts and one.restart.is_measured
    ]


def restarts(ledger: Ledger, record: RunRecord, plan: Plan | None) -> list[dict[str, Any]]:
    """Each restart as measured: bounce, instance, stop, start, RUNNING, the first gate that it passed, its forecast."""
    forecast = {cost.instance: cost.gap_s for part in (plan.parts if plan else ()) for cost in part.costs}
    measured = {one.payload["write"]: one.payload for one in ledger.evidence(record.run_key, "note", MEASURED)}
    stops = ledger.evidence(record.run_key, "write", _STOP)
    made = ledger.evidence(record.run_key, "write", _RESTART)
    by_person = ledger.evidence(record.run_key, "note", BY_PERSON)
    found = [
        _restart(write, measured.get(write.id), stops, forecast)
        for write in sorted((*made, *by_person), key=lambda one: one.id)
        if "times" in write.payload
    ]
    passed = [
        (about_gate(piece), piece.at_ms)
        for piece in ledger.pieces(record.run_key, "verdict")
        if piece.name == _GATE and piece.payload.get("result", {}).get("outcome") == _PASSED
    ]
    for about, at_ms in passed:
        # A gate that a start never passed is not that of the next start.
        before = [one for one in found if (one["instance"], one["bounce"]) == about and one["started_ms"] <= at_ms]
        if before and before[-1]["gate_passed_at_ms"] is None:
            before[-1]["gate_passed_at_ms"] = at_ms
    return found


def _restart(
    write: Evidence,
    measured: Mapping[str, Any] | None,
    stops: Iterable[Evidence],
    forecast: Mapping[str, tuple[int, int]],
) -> dict[str, Any]:
    instance, times = write.payload["instance"], write.payload["times"]
    requested = times["stop_requested_ms"]
    together = [one for one in stops if one.id < write.id and instance in one.payload.get("instances", ())]
    if times.get("already_stopped") and together:
        # Stopped with the others: the restart itself found it down.
        requested = together[-1].payload["requested_ms"]
    return {
        "instance": instance,
        "bounce": write.payload["bounce"],
        "stop_requested_ms": requested,
        "started_ms": times["started_ms"],
        "running_ms": None if measured is None else measured["restart"]["running_ms"],
        "rebalanced": None if measured is None else measured["rebalanced"],
        "sentence": "" if measured is None else measured["sentence"],
        "gate_passed_at_ms": None,
        "forecast_s": forecast.get(instance),
    }


def shares(ledger: Ledger, record: RunRecord, restarted: Sequence[Mapping[str, Any]]) -> TimeShares:
    """The shares of a run's time until its end, or until its newest entry."""
    entries = [one for one in ledger.timeline(record.run_key) if one.at_ms >= 0]
    last_ms = max((one.at_ms for one in entries), default=record.started_at_ms)
    baked = {
        (one.payload["instance"], one.payload["bounce"]): one.at_ms
        for one in ledger.evidence(record.run_key, "note", _BAKED)
    }
    spans = [*_of_restarts(restarted, baked), *_between(entries)]
    return time_shares(record.started_at_ms, record.ended_at_ms or last_ms, spans)


def _of_restarts(restarted: Iterable[Mapping[str, Any]], baked: Mapping[tuple[str, int], int]) -> Iterator[Span]:
    for one in restarted:
        runs_ms = one["running_ms"] or one["started_ms"]
        yield Span(Share.DOWN, one["stop_requested_ms"], runs_ms)
        if (passed_ms := one["gate_passed_at_ms"]) is None:
            continue
        yield Span(Share.GATE, runs_ms, passed_ms)
        if (baked_ms := baked.get((one["instance"], one["bounce"]))) is not None:
            yield Span(Share.BAKE, passed_ms, baked_ms)


def _between(entries: Sequence[Entry]) -> Iterator[Span]:
    """What was waited for between the entries: a person who was asked or had to repair something, or Airflow."""
    before: Entry | None = None
    asked: dict[str, int] = {}
    for one in entries:
        if one.name in _ASKED:
            asked.setdefault(one.task_id, one.at_ms)
        if one.name == _BEGUN and before is not None:
            since = asked.pop(one.task_id, None)
            if since is not None:
                yield Span(Share.PERSON, since, one.at_ms)
            ended = before.kind == _FAILURE or (before.kind, before.name) == (RUN, CONCLUDED)
            yield Span(Share.PERSON if ended else Share.AIRFLOW, before.at_ms, one.at_ms)
        if one.kind == APPROVAL:
            asked.pop(one.task_id, None)
        before = one


def about_gate(piece: Evidence) -> tuple[str, int] | None:
    """Instance and bounce of a gate's verdict; None of another."""
    try:
        expected = piece.payload["inputs"]["expected"]
        return expected["instance"], expected["bounce"]["number"]
    except (KeyError, TypeError):
        return None
