"""The stage that deletes topics for good: decided again right before."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.reset.rest import unmoved
from kstreams_runbooks.decide.reset.retire import Retirement, may_retire
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.retire import RetireFacts, RetireWhat
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.patience import repeated
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.fleet import graph_of_fleet
from kstreams_runbooks.steps.stages.topics import delete_topics
from kstreams_runbooks.watch.reset_rest import read_topic_ends
from kstreams_runbooks.watch.retire import read_retire


def judged_retirement(
    run: Run, what: RetireWhat, topics: Mapping[str, str] | None = None
) -> tuple[Retirement, RetireFacts, Verdict]:
    """Read and decide what may be retired now; Refused or Inconclusive as decided.

    `topics` are those of a plan with their ids: each of them has to be allowed still.
    """
    days = run.limit("orphan_quarantine_days")
    asked = Retirement(run.declared, what, days, tuple(sorted((topics or {}).items())))
    facts = run.patiently(lambda: read_retire(run.record.application, now_ms()))
    verdict = run.decide(may_retire, asked=asked, facts=facts, graph=graph_of_fleet())
    run.say_findings(verdict.findings)
    run.demand(verdict)
    return asked, facts, verdict


def delete_retired_topics(run: Run, stage: DeleteTopics, ids: Mapping[str, str]) -> None:
    """Delete topics for good; safe to run again in any state.

    Refused or Inconclusive before the first write if one of them is in use by now. `verify` watches them afterwards.
    """
    judged_retirement(run, retired_by(run), {name: ids[name] for name in stage.topics if name in ids})
    _require_unmoved(run, stage.topics)
    delete_topics(run, stage, ids)


def _require_unmoved(run: Run, topics: Collection[str]) -> None:
    """Refused or Inconclusive if one of these topics, as far as it is still there, was written since the plan."""
    noted = _planned_ends(run)
    with run.reader() as reader:
        there = [one.name for one in reader.topics(topics)]
        number = max(2, int(run.limit("gate_good_readings"))) if there else 0
        looks = repeated(
            lambda: read_topic_ends(reader, there, run.application.application_id),
            number,
            run.limit("gate_interval_s"),
            run.say,
        )
    if there:
        run.demand(run.decide(unmoved, noted=noted, looks=tuple(replace(one, ongoing=()) for one in looks)))


def _planned_ends(run: Run) -> dict[str, int]:
    """The ends of internal topics when this run was planned; empty if its plan has read none."""
    for kept in reversed(run.verdicts(may_retire.__name__)):
        if not kept.payload["inputs"]["asked"]["topics"]:
            facts = decode(RetireFacts, kept.payload["inputs"]["facts"])
            return dict(facts.ends.ends)
    return {}


def retired_by(run: Run) -> RetireWhat:
    """What the plan of this run retires."""
    return "application" if dict(run.whole_plan().change).get("retire") == "application" else "orphans"
