"""What a step requires of a gate, and what it does with the answer."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.instances.rolling import in_place
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Expectation, Patience
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.instances.gate_trigger import has_passed
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.wording import one_cause_each


def expected(plan: Plan, bounce: Bounce, name: str, previous: Start | None, seen: Start | None = None) -> Expectation:
    """Instance `name` well on `bounce`, in another start than `previous`, within the plan's limits."""
    return Expectation(
        instance=name,
        bounce=bounce,
        previous=previous,
        max_lag=int(plan.limit("max_lag")),
        good_readings=int(plan.limit("gate_good_readings")),
        max_age_ms=int(plan.limit("max_reading_age_s") * 1000),
        commit_interval_ms=int(plan.limit("commit_interval_s") * 1000),
        seen=seen,
        goes_back=plan.runbook == UNDO,
    )


def patience(plan: Plan, *, bakes: bool = False) -> Patience:
    """How long a gate waits, with or without the bake time of a canary."""
    return Patience(
        interval_s=plan.limit("gate_interval_s"),
        ceiling_s=plan.limit("gate_ceiling_s"),
        bake_s=plan.limit("bake_s") if bakes else 0.0,
    )


def answered(run: Run, event: Mapping[str, Any]) -> None:
    """Continue only if the gate proceeds; log its answer in every case."""
    sentence = "; ".join(one_cause_each(event["reasons"]))
    if event["outcome"] == Outcome.PROCEED:
        run.say(f"{event['outcome']}: {sentence}")
    if event["outcome"] == Outcome.INCONCLUSIVE:
        raise Inconclusive(sentence)
    if event["outcome"] != Outcome.PROCEED:
        raise Drifted(sentence) if event.get("drifted") else Refused(sentence)


def start_refused(event: Mapping[str, Any]) -> str:
    """Why a gate refused the start of its instance; empty if it did not, or if the application has drifted."""
    refused = event["outcome"] == Outcome.REFUSE and not event.get("drifted")
    return "; ".join(one_cause_each(event["reasons"])) if refused else ""


def gate_passed(run: Run, bounce: Bounce, instance: InstanceReading, at_ms: int) -> bool:
    """Whether a gate of this run has passed for the start that runs now, and the instance is still well."""
    streams = instance.streams
    if isinstance(streams, Missing) or streams.state != "RUNNING" or not in_place(instance, bounce, at_ms):
        return False
    return has_passed(run, instance, bounce.number)
