"""The stage that deletes topics for good: decided again right before."""

from collections.abc import Mapping

from kstreams_runbooks.decide.reset.retire import Retirement, may_retire
from kstreams_runbooks.model.readings.retire import RetireFacts, RetireWhat
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.fleet import graph_of_fleet
from kstreams_runbooks.steps.stages.topics import delete_topics
from kstreams_runbooks.watch.retire import read_retire


def judged_retirement(
    run: Run, what: RetireWhat, topics: Mapping[str, str] | None = None
) -> tuple[Retirement, RetireFacts, Verdict]:
    """Read and decide what may be retired now; Refused or Inconclusive as decided.

    `topics` are those of a plan with their ids: each of them has to be allowed still.
    """
    days = run.limit("orphan_quarantine_days")
    asked = Retirement(run.declared, what, days, tuple(sorted((topics or {}).items())))
    facts = read_retire(run.record.application, now_ms())
    verdict = run.decide(may_retire, asked=asked, facts=facts, graph=graph_of_fleet())
    for finding in verdict.findings:
        run.say(f"{finding.severity} {finding.id} on {finding.object}: {finding.message}")
    run.demand(verdict)
    return asked, facts, verdict


def delete_retired_topics(run: Run, stage: DeleteTopics, ids: Mapping[str, str]) -> None:
    """Delete topics for good; safe to run again in any state.

    Refused or Inconclusive before the first write if one of them is in use by now. `verify` watches them afterwards.
    """
    judged_retirement(run, retired_by(run), {name: ids[name] for name in stage.topics if name in ids})
    delete_topics(run, stage, ids)


def retired_by(run: Run) -> RetireWhat:
    """What the plan of this run retires."""
    return "application" if dict(run.whole_plan().change).get("retire") == "application" else "orphans"
