"""The plan that deletes internal topics for good: those that runs left behind, or of an application out of use."""

from collections.abc import Iterator

from kstreams_runbooks.decide.plans.basis import NO_INSTANCE, deployed_instances
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, TopicReading
from kstreams_runbooks.model.readings.retire import RetiredTopic, RetireFacts, RetireWhat
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import Stage
from kstreams_runbooks.model.verdicts import Finding

# Facts of a plan about an application out of use: it has no group that could drift, and no broker may know one.
NO_GROUP = ""


def retire_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    what: RetireWhat,
    topics: tuple[RetiredTopic, ...],
    facts: RetireFacts,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
    runbook: str,
) -> Plan:
    """The plan that deletes the topics that go, and of an application out of use its group first.

    The group comes first because its offsets can be set again; records of deleted topics do not come back. `findings`
    are those of `may_retire`. Refused if nothing goes, Inconclusive if a fact of the plan cannot be read.
    """
    goes = tuple(one.topic for one in topics if one.goes)
    group = facts.group if what == "application" and isinstance(facts.group, GroupReading) else None
    stages = tuple(_stages(tuple(one.name for one in goes), "" if group is None else group.group_id))
    if not stages:
        raise Refused(
            f"{declared.name}: nothing to retire (expected a topic or a group); see `kstreams-runbooks orphans`"
        )
    return Plan(
        runbook=runbook,
        application=declared.name,
        cluster=declared.cluster,
        change=(("mode", "retire"), ("retire", what)),
        limits=limits,
        stages=stages,
        facts=PlanFacts(
            group_type=_group_type(reading) if what == "orphans" else NO_GROUP,
            topics=_bound(reading, goes),
            instances=tuple(declared.instances),
            at_start=deployed_instances(reading, declared),
            static_membership=declared.static_membership,
            code=code,
        ),
        costs=(),
        findings=findings,
        undo=tuple(_undo(declared, goes=bool(goes), group=group is not None)),
        title=f"retire {declared.name}"
        if what == "application"
        else f"retire what runs left behind of {declared.name}",
        worst_case=NO_INSTANCE
        if what == "orphans"
        else f"{declared.name} is needed after all: it begins at auto.offset.reset, without state",
    )


def _stages(topics: tuple[str, ...], group: str) -> Iterator[Stage]:
    if group:
        yield DeleteGroups(1, (group,))
    if topics:
        yield DeleteTopics(2 if group else 1, topics, retired=True)


def _bound(reading: ApplicationReading, goes: tuple[TopicReading, ...]) -> tuple[tuple[str, str, int], ...]:
    """The topics of the reading and those that go, which no topology of a running application has."""
    if isinstance(reading.topics, Missing):
        raise Inconclusive(f"topics of {reading.application}: {reading.topics.missing}")
    return tuple(sorted({(one.name, one.topic_id, one.partitions) for one in (*reading.topics, *goes)}))


def _group_type(reading: ApplicationReading) -> str:
    if isinstance(reading.group, Missing):
        raise Inconclusive(f"group of {reading.application}: {reading.group.missing}")
    return reading.group.type


def _undo(declared: DeclaredApplication, *, goes: bool, group: bool) -> Iterator[str]:
    if group:
        yield f"the offsets of group {declared.application_id} are set again, with their metadata"
    if goes:
        yield "the topics are created again, empty: their records do not come back"
