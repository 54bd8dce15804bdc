"""The cleaning of outputs: judged at the plan, and once more right before their records are deleted."""

from collections.abc import Collection

from kstreams_runbooks.decide.reset.outputs import CleanedOutputs, clean_stage, cuts, may_clean
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.reset_outputs import OutputFacts
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.fleet import graph_of_fleet
from kstreams_runbooks.steps.stages.topics import delete_up_to
from kstreams_runbooks.watch.reset_outputs import read_outputs

# A reader that keeps up commits every 5 s by default; the application is down meanwhile.
_READS_ON = Pace(5.0, 120.0)


def judged_outputs(
    run: Run, topics: Collection[str], known: Collection[str], read: Collection[str]
) -> tuple[DeleteRecords, tuple[Finding, ...]]:
    """The stage that cleans outputs, without its number, and its findings; Refused or Inconclusive as decided.

    `known` are all outputs of the application, `read` the topics that it reads itself. The cuts of the first plan that
    was possible stay: a person may have seen them.
    """
    shown = _shown(run)
    asked = CleanedOutputs(run.declared, frozenset(known), tuple(dict.fromkeys(topics)), frozenset(read))
    facts = read_outputs(run.application, asked.topics, run.say, shown=None if shown is None else cuts(shown[1]))
    graph = graph_of_fleet()
    verdict = run.decide(may_clean, asked=asked, facts=facts, graph=graph, planned=True)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    return clean_stage(asked, graph), verdict.findings


def clean_outputs(run: Run, stage: DeleteRecords) -> None:
    """Delete the records of outputs below the cuts that the plan has shown, once every reader has read them.

    Refused or Inconclusive before the first write, as decided again now, also if a group that reads on does not get
    there in time. Safe to run again.
    """
    first = _cleanable(run, stage)
    wanted = {place: offset for place, offset in cuts(first).items() if place[0] in stage.topics}
    delete_up_to(run, stage, wanted, {one.topic: one.topic_id for one in first.partitions})


def require_cleanable(run: Run) -> None:
    """The same demands of every stage of the plan that cleans outputs, before topics are deleted for good.

    The application is down by then, and writes nothing more.
    """
    for stage in run.plan().stages:
        if isinstance(stage, DeleteRecords) and stage.shown:
            _cleanable(run, stage)


def _cleanable(run: Run, stage: DeleteRecords) -> OutputFacts:
    """What the plan has shown of the outputs, once they may be cleaned; waits for groups that read on."""
    shown = _shown(run)
    if shown is None:
        raise Refused(
            f"{', '.join(stage.topics)}: the plan of this run has shown no ends of them (expected some), so nothing is "
            "deleted; trigger a new run"
        )
    asked, first = shown
    before = cuts(first)
    graph = graph_of_fleet()

    def look() -> tuple[OutputFacts, Verdict]:
        facts = read_outputs(run.application, stage.topics, run.say, shown=before)
        return facts, may_clean(asked, facts, graph, planned=run.dry_run)

    facts = poll(run, _READS_ON, look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    run.demand(run.decide(may_clean, asked=asked, facts=facts, graph=graph, planned=run.dry_run))
    return first


def _shown(run: Run) -> tuple[CleanedOutputs, OutputFacts] | None:
    """What the plan of this run was made from; None if it cleans nothing."""
    for kept in run.verdicts(may_clean.__name__):
        inputs = kept.payload["inputs"]
        if inputs["planned"] and kept.payload["result"]["outcome"] == Outcome.PROCEED:
            return decode(CleanedOutputs, inputs["asked"]), decode(OutputFacts, inputs["facts"])
    return None
