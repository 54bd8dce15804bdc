"""The step `plan`: the same rules for every runbook, each with its own function that makes the plan."""

from collections.abc import Callable
from typing import Any

from kstreams_runbooks.decide.check import of_the_future, ready_for_change
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading
from kstreams_runbooks.model.verdicts import Finding, Verdict
from kstreams_runbooks.steps.run import Run, now_ms
from kstreams_runbooks.steps.task import step

# `check` held the reading to its limit; a scheduler under load may take most of that limit again between two steps.
_SLOW_SCHEDULER = 10

_UNCHECKED = "`check` has not judged the newest reading of `observe`; clear `observe` and what follows it"

PlanMaker = Callable[[Run, ApplicationReading, tuple[Finding, ...]], Plan]


def planned(make: PlanMaker) -> Any:
    """The task `plan`, with the function that makes this runbook's plan from a reading and what `check` found."""

    @step("derives what will be done and what it costs; changes nothing")
    def plan(run: Run) -> None:
        """Make the plan and keep it; a run that has written anything keeps the plan it has.

        It is made only from the newest reading, judged by `check` and still fresh, because an application may have
        changed before `plan` alone is cleared.
        """
        if run.record.wrote_at_ms:
            run.say(f"this run has already changed something: plan {run.plan().digest} stays")
            return
        reading = run.observed()
        judged = _judged(run, reading)
        run.demand(judged)
        store(run, make(run, reading, judged.findings))

    return plan()


def store(run: Run, made: Plan) -> None:
    """Keep a plan and say what stands in it; Drifted where another one was shown for approval."""
    refuse_drift(run, made.digest)
    run.ledger.store_plan(run.key, made.digest, encode(made))
    for bounce in made.bounces:
        run.say(bounce.sentence)
    for later in made.then:
        run.say(f"after this run, triggered again: {later}")
    for cost in made.costs:
        run.say(f"{cost.instance}: expected gap {cost.gap_s[0]}–{cost.gap_s[1]} s ({cost.why})")
    for line in made.undo:
        run.say(f"undo {line}")
    run.say(f"plan {made.digest}")


def refuse_drift(run: Run, digest: str) -> None:
    """Drifted where another plan was shown for approval."""
    shown = run.ledger.recall(run.key, "digest_shown")
    if shown is not None and shown != digest:
        raise Drifted(
            f"the plan changed: {shown} was shown for approval, what runs now gives {digest}; "
            f"trigger a new run of {run.record.dag_id} for {run.record.application}"
        )


def planned_from(run: Run) -> ApplicationReading:
    """The reading that the plan was made from: the last that `check` judged, which it does before the first write."""
    reading, _ = _last_check(run)
    return reading


def _last_check(run: Run) -> tuple[ApplicationReading, Verdict]:
    """The newest reading that `check` judged, and what it said of it."""
    checked = run.ledger.evidence(run.key, kind="verdict", name=ready_for_change.__name__)
    if not checked:
        raise Refused(_UNCHECKED)
    kept = checked[-1].payload
    return decode(ApplicationReading, kept["inputs"]["reading"]), decode(Verdict, kept["result"])


def _judged(run: Run, reading: ApplicationReading) -> Verdict:
    """What `check` said of this very reading; Refused where it has not seen it, or it is too old to plan from."""
    checked, judged = _last_check(run)
    if checked != reading:
        raise Refused(_UNCHECKED)
    require_fresh(run, reading, "observe")
    return judged


def require_fresh(run: Run, reading: ApplicationReading, taken_by: str) -> None:
    """Refused where a reading is too old to plan from, Inconclusive where a clock hides how old it is."""
    age_ms, limit_s = now_ms() - reading.taken.at_ms, _SLOW_SCHEDULER * run.limit("max_reading_age_s")
    if why := of_the_future(reading.application, age_ms, taken_by):
        raise Inconclusive(why)
    if age_ms > limit_s * 1000:
        raise Refused(
            f"reading of {reading.application}: {age_ms / 1000:.0f} s old (limit {limit_s:.0f} s to plan from it); "
            f"clear `{taken_by}` and what follows it"
        )
