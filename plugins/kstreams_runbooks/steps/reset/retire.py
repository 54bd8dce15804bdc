"""The plan of a retirement: which internal topics go for good."""

from typing import cast

from kstreams_runbooks.decide.plans.retire import retire_plan
from kstreams_runbooks.decide.reset.retire import retired_topics, retirement_verified
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.retire import RetireWhat
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.fleet import graph_of_fleet
from kstreams_runbooks.steps.stages.retired import judged_retirement
from kstreams_runbooks.wording import outside

# The field of the form, and what it may choose.
RETIRE = "retire"
_APPLICATION = "application"
_CHOICES = ("orphans", _APPLICATION)


def retire(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan of a run in mode `retire`, from the reading that `check` judged and its findings.

    BadInput for another choice than `orphans` or `application`; Refused or Inconclusive as decided.
    """
    what = _chosen(run)
    asked, facts, verdict = judged_retirement(run, what)
    return run.decide(
        retire_plan,
        reading=reading,
        declared=run.declared,
        what=what,
        topics=retired_topics(asked, facts, graph_of_fleet()),
        facts=facts,
        findings=(*findings, *verdict.findings),
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
        runbook=run.record.dag_id,
    )


def retires_application(run: Run) -> bool:
    """Whether the form asks to retire a whole application."""
    return run.record.params.get("mode") == RETIRE and run.record.params.get(RETIRE) == _APPLICATION


def deleted_topics(run: Run) -> dict[str, str]:
    """The topics that a run deletes for good, with their ids; empty for any other mode."""
    plan = run.whole_plan()
    names = {name for one in plan.stages if isinstance(one, DeleteTopics) and one.retired for name in one.topics}
    return {name: topic_id for name, topic_id, _ in plan.facts.topics if name in names}


def prove_retired(run: Run) -> None:
    """Prove at the end of a run in mode `retire` that what it deleted is still gone."""
    plan, deleted = run.whole_plan(), deleted_topics(run)
    groups = tuple(name for one in plan.stages if isinstance(one, DeleteGroups) for name in one.groups)
    with run.reader() as reader:
        seen = reader.topics(sorted(deleted))
        every = reader.lists_every_group()
        listed = tuple(name for name, *_ in reader.groups())
    hidden = Missing("whether the group still exists is not visible to this login; grant it Describe on Cluster")
    run.demand(
        run.decide(
            retirement_verified,
            deleted=deleted,
            groups=groups,
            seen=seen,
            listed=listed if every is True else hidden,
        )
    )


def _chosen(run: Run) -> RetireWhat:
    chosen = str(run.record.params.get(RETIRE) or _CHOICES[0])
    if chosen not in _CHOICES:
        raise BadInput(f"{RETIRE}: {outside(chosen, 40)} (expected {' or '.join(_CHOICES)}); choose one")
    return cast("RetireWhat", chosen)
