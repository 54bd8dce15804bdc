"""The stage that deletes topics for good: decided again right before, and watched afterwards."""

from collections.abc import Mapping
from typing import Final

from kstreams_runbooks.decide.reset.retire import Retirement, may_retire, stayed_gone
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.readings.retire import RetireFacts, RetireWhat
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.steps.stages.fleet import graph_of_fleet
from kstreams_runbooks.steps.stages.topics import delete_topics
from kstreams_runbooks.watch.retire import read_retire

# The default of metadata.max.age.ms (and of librdkafka's topic.metadata.refresh.interval.ms): a client that knew a
# deleted topic asks again within it.
METADATA_MAX_AGE_S: Final = 300.0
LOOK_EVERY_S: Final = 10.0
_WATCH = "watch deleted topics"


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
    """Delete topics for good, and watch that no client creates one again; safe to run again in any state.

    Refused or Inconclusive before the first write if one of them is in use by now.
    """
    wanted = {name: ids[name] for name in stage.topics if name in ids}
    judged_retirement(run, retired_by(run), wanted)
    delete_topics(run, stage, ids)
    if not run.dry_run:
        watch_deleted(run, wanted, METADATA_MAX_AGE_S)


def watch_deleted(run: Run, deleted: Mapping[str, str], length_s: float) -> None:
    """Watch that deleted topics (ids by name) stay gone for `length_s` seconds; Refused if one comes back."""

    def look() -> tuple[tuple[TopicReading, ...], Verdict]:
        with run.reader() as reader:
            seen = reader.topics(sorted(deleted))
        if seen:
            return seen, stayed_gone(deleted, seen, 0)
        names = f"{len(deleted):,} deleted {'topic' if len(deleted) == 1 else 'topics'}"
        return seen, Verdict(Outcome.WAIT, (f"watches {names} for {length_s:,.0f} s: a client may create one again",))

    # The ledger keeps its end: a task that is cleared goes on with the same watch.
    until = Until(run, _WATCH, length_s)
    seen = poll(run, Pace(LOOK_EVERY_S, length_s), look, lambda one: one.outcome is not Outcome.WAIT, until)
    run.demand(run.decide(stayed_gone, deleted=dict(deleted), seen=seen, watched_s=length_s))


def retired_by(run: Run) -> RetireWhat:
    """What the plan of this run retires."""
    return "application" if dict(run.whole_plan().change).get("retire") == "application" else "orphans"
