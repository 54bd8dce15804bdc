"""A plan that no longer matches the cluster: the ledger has it once, and every later write of its run refuses."""

from kstreams_runbooks.decide.runs.commands import trigger_command
from kstreams_runbooks.errors import Drifted
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.steps.run.run import Run

_VOID = "plan void"


def void_plan(run: Run, plan: Plan, reasons: tuple[str, ...]) -> None:
    """Keep that the plan of a run is void, and why."""
    run.keep("note", _VOID, {"digest": plan.digest, "reasons": list(reasons)})


def voided(run: Run, digest: str | None = None) -> Evidence | None:
    """The entry that made a run's plan void (its present plan, or that of a digest); None while the plan is valid."""
    digest = digest or run.ledger.run(run.key).plan_digest
    kept = run.ledger.evidence(run.key, kind="note", name=_VOID)
    return next((note for note in kept if note.payload["digest"] == digest), None)


def refuse_void(run: Run, plan: Plan) -> None:
    """Drifted if the plan of a run is void."""
    if (note := voided(run, plan.digest)) is None:
        return
    raise Drifted(
        f"{run.task_id}: plan {plan.digest} has been void since {utc_second(note.at_ms)}: fleet_check found that the "
        f"cluster is no longer as planned: {'; '.join(note.payload['reasons'])}; look at that, then trigger a new run: "
        f"{trigger_command(run.record)}"
    )
