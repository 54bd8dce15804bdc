"""The plan of `adopt_control_topic`: what both topologies, the topics and the copier show, and the stages from that."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from kstreams_runbooks.act.topic_checks import known
from kstreams_runbooks.decide.change.described import side_of
from kstreams_runbooks.decide.comparison.beginning import beginning_of_all
from kstreams_runbooks.decide.comparison.compared import source_tables
from kstreams_runbooks.decide.plans.adopt import (
    COPIER,
    Adoption,
    AdoptMode,
    abandon_plan,
    adopt_plan,
    entry_lines,
)
from kstreams_runbooks.decide.plans.adoptable import may_abandon, may_adopt
from kstreams_runbooks.decide.plans.basis import deployed_instances, facts
from kstreams_runbooks.decide.plans.copier_costs import copier_findings, proof_findings
from kstreams_runbooks.decide.plans.retire import NO_GROUP
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.fleet import load_fleet, require_copier
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.model.readings.adoption import AdoptedInput, AdoptReading
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.readings.touched import TopicState
from kstreams_runbooks.model.runs.object_stages import OffsetReset
from kstreams_runbooks.model.runs.plan import InstanceCost, Plan, PlanFacts, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, ClearState
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.observe.lag.topology_topics import topology_topics
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.inputs.swap import own_changelogs, uncommitted_places
from kstreams_runbooks.steps.plan.fitting import require_topics
from kstreams_runbooks.steps.plan.plan import at_once_plan, check_deployer, judged
from kstreams_runbooks.steps.plan.releases import before_a_roll, known_of
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import no_connection
from kstreams_runbooks.steps.stages.topics import shaped_like
from kstreams_runbooks.watch.copier_loads import read_loads
from kstreams_runbooks.wording import outside

# The field of the form with the reason for a copy that nothing compares.
WITHOUT_PROOF = "without_copy_proof"
_MODES: Mapping[str, AdoptMode] = {word: word for word in get_args(AdoptMode)}
_POLICY, _DELETE_RETENTION, _BYTES = "cleanup.policy", "delete.retention.ms", "retention.bytes"
# Of a copy: its records keep their times, however late they come.
_NOT_COPIED = (
    "message.timestamp.type",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
)
_TIMES = ("message.timestamp.type", "CreateTime")
# Next to the stop itself, seconds: the copier starts, goes on up to the offsets of the application, and starts again.
_COPIES_S = (6, 30)


def mode_of(run: Run) -> AdoptMode:
    """The mode of the form; BadInput for another word."""
    word = str(run.record.params.get("mode") or "")
    if (mode := _MODES.get(word)) is None:
        raise BadInput(f"mode: {outside(word or 'nothing', 30)} (expected {' or '.join(_MODES)}); choose one")
    return mode


def may_be_down(run: Run) -> bool:
    """Whether no instance of a side has to run: the copier starts with this run, or leaves, maybe after a failure."""
    return run.application.copies


def adopt_control_topic(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan of either mode; Refused or Inconclusive if records could be lost, or read twice."""
    mode, side = mode_of(run), run.side(COPIER)
    routes = side.declared.routes
    if not routes:
        raise BadInput(
            f"copier {side.record.application}: has no routes (expected the shipped copier, `program: topic-copier`); "
            "declare it, or name another one"
        )
    if mode == "adopt":
        require_spark(run)
    else:
        require_copier(load_fleet(), run.application, side.record.application)
    of_copier = judged(side, side.observed())
    to = dict(routes) if mode == "adopt" else {control: one for one, control in routes}
    settings = {name: to[topic] for name, topic in run.application.input_settings.items() if topic in to}
    restart = at_once_plan(run, reading, findings, dict(settings))
    before, after = before_a_roll(run, reading, restart.bounces[-1].target)
    [running, *others] = map(parsed, before) if before else [None]
    if others or running is None:
        raise Inconclusive(
            f"instances of {run.declared.name} run {len(before)} versions that are described (expected one); bring all "
            "to one first"
        )
    states = _states(run, routes)
    seen = _read(run, side, reading, running, states, mode)
    judge = may_adopt if mode == "adopt" else may_abandon
    verdict = run.decide(judge, reading=seen, before=running.described, after=after)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    shapes = copy_shapes(run, routes, states) if mode == "adopt" else ()
    created = {one.name: one.partitions for one in shapes}
    fitting = require_topics(run, reading, restart.bounces, created=created)
    # Its stages compare the topics with what is kept here: no JVM starts for that while the application is down.
    fitting += require_topics(side, side.observed(), [_as_it_is(side)], created=created)
    adoption = Adoption(
        routes=routes,
        globals=tuple(one for one, control in routes if {one, control} & {*seen.globals}),
        group=seen.group_id,
        side=SidePart(COPIER, side.declared.name, side.declared.cluster, _facts_of(side, mode)),
        copier_group=seen.copier_group,
        reset=_reset(seen.reset),
        shapes=shapes,
        history=seen.history,
    )
    _require_one_target(adoption)
    if mode == "adopt":
        restart = replace(restart, costs=tuple(map(_with_copy, restart.costs)))
    make = adopt_plan if mode == "adopt" else abandon_plan
    costs = _costs(run, side, adoption, states) if mode == "adopt" else ()
    findings = (*of_copier, *verdict.findings, *fitting, *costs)
    made = run.decide(make, restart=restart, adoption=adoption, findings=findings)
    check_deployer(run, made.of_side(""))
    for stage in (one for one in made.stages if isinstance(one, ClearState)):
        for name in made.facts.instances:
            run.deployer.check_clear_state(name, stage.deletes.names)
    check_deployer(side, made.of_side(COPIER))
    topics = "control topics" if mode == "adopt" else "inputs"
    run.say(
        f"the fleet entry of {run.declared.name} changes once start_application has succeeded, also if a later task "
        f"fails: it then reads its {topics}. The changes:"
    )
    for line in entry_lines(mode, adoption, tuple(run.application.input_settings.items())):
        run.say(line)
    return made


def require_spark(run: Run) -> None:
    """Inconclusive if no Spark can compare the copy afterwards, when no undo takes the change back."""
    if given_reason(run.record.params, WITHOUT_PROOF) or os.environ.get(REMOTE):
        return
    if why := no_connection():
        raise Inconclusive(
            f"{why}, and no {REMOTE}: whether the copy is complete would not be known (expected: Spark compares it "
            f"after the change); create the connection, or give {WITHOUT_PROOF} a reason"
        )


def _costs(run: Run, side: Run, adoption: Adoption, states: Mapping[str, TopicState]) -> tuple[Finding, ...]:
    """What the copier costs, for the approver: disk, traffic, latency, subjects of a registry, quotas."""
    replicas = {one: states[one].replication for one, _ in adoption.routes}
    with run.reader() as reader:
        loads = read_loads(reader, adoption.routes, replicas)
    login = side.application.principal or ""
    found = copier_findings(adoption.copier_group, login, loads, whole=adoption.history)
    if not given_reason(run.record.params, WITHOUT_PROOF):
        found += proof_findings(adoption.copier_group, loads, whole=adoption.history)
    run.say_findings(found)
    return found


def _read(
    run: Run,
    side: Run,
    reading: ApplicationReading,
    running: ParsedDescription,
    states: Mapping[str, TopicState],
    mode: AdoptMode,
) -> AdoptReading:
    """Everything that decides whether the copier may come, or leave."""
    own, group = side_of(running, known_of(run, reading)), run.application.application_id
    routes, history = side.declared.routes, bool(run.record.params.get("history", True))
    with run.reader() as reader:
        names = reader.names()
        topics = topology_topics(own.topology, group, names)
        globals_ = own.read(is_global=True)
        named = {*run.application.inputs, *(topic for route in routes for topic in route)}
        sources = topics.inputs(topics.external, named) | globals_
        tables = set(own_changelogs(own, group, names)) - globals_
        configs = reader.settings([one for one, _ in routes], [_POLICY, _DELETE_RETENTION, _BYTES])
        committed = read_saved(reader, side.application.application_id, stable=False)
    adopted = tuple(_input(run, one, control, states, configs.get(one, {}), mode) for one, control in routes)
    up = []
    for one in side.observed().instances:
        if isinstance(one.deployment, Missing):
            raise Inconclusive(f"{one.instance}: {one.deployment.missing}")
        up += [] if is_down(one.deployment.process) else [one.instance]
    return AdoptReading(
        application=run.declared.name,
        group_id=group,
        group_type=_type_of(reading),
        copier=side.declared.name,
        copier_group=side.application.application_id,
        copier_type=_group_type(side),
        sources=tuple(sorted(sources)),
        patterns=tuple(sorted(topics.patterns)),
        tables=tuple(sorted(tables)),
        globals=tuple(sorted(globals_)),
        stateful=tuple(sorted(topic for topic, is_table in source_tables(own).items() if is_table is not False)),
        inputs=adopted,
        copier_up=tuple(up),
        copier_offsets=tuple(sorted({one.topic for one in committed.offsets})),
        uncommitted=tuple(uncommitted_places(reading, sources)),
        reset=beginning_of_all(own, sources - globals_),
        chooses=tuple(sorted(topics.extractors)),
        guarantee=run.declared.processing_guarantee,
        history=history,
        unproven=given_reason(run.record.params, WITHOUT_PROOF) if mode == "adopt" else "",
    )


def _input(
    run: Run,
    one: str,
    control: str,
    states: Mapping[str, TopicState],
    configs: Mapping[str, str],
    mode: AdoptMode,
) -> AdoptedInput:
    read = one if mode == "adopt" else control
    policy, retention = configs.get(_POLICY), configs.get(_DELETE_RETENTION, "")
    return AdoptedInput(
        one,
        control,
        tuple(sorted(name for name, topic in run.application.input_settings.items() if topic == read)),
        states[one].partitions,
        states[control].partitions if states[control].exists else None,
        None if policy is None else "compact" in policy,
        int(retention) if retention.isdigit() else None,
        int(configs[_BYTES]) if _BYTES in configs else None,
    )


def _states(run: Run, routes: tuple[tuple[str, str], ...]) -> dict[str, TopicState]:
    """Each topic of the routes, also one that does not exist; Inconclusive if one is hidden."""
    with run.reader() as reader:
        return known(read_topic_states(reader, {name for route in routes for name in route}))


def copy_shapes(
    run: Run, routes: Sequence[tuple[str, str]], states: Mapping[str, TopicState]
) -> tuple[TopicShape, ...]:
    """The topics that a copier fills (the second of each route), each like the first, with the times of its records."""
    with run.reader() as reader:
        return shaped_like(reader, routes, states, without=_NOT_COPIED, also=(_TIMES,))


def _facts_of(side: Run, mode: AdoptMode) -> PlanFacts:
    """The facts about the copier: one that has never run has no group that brokers know."""
    there = side.observed()
    if mode == "abandon":
        return facts(there, side.declared, code_digest(side.record.dag_id))
    return fresh_facts(side, there)


def fresh_facts(side: Run, there: ApplicationReading) -> PlanFacts:
    """The facts about an application that may never have run: brokers may know no group of it."""
    code = code_digest(side.record.dag_id)
    if isinstance(there.group, GroupReading):
        # Brokers forget a group without members and offsets within minutes, for example after an undo.
        return replace(facts(there, side.declared, code), group_type=NO_GROUP)
    with side.reader() as reader:
        _require_unknown(reader, side.application.application_id)
    if isinstance(there.topics, Missing):
        raise Inconclusive(f"topics of {side.declared.name}: {there.topics.missing}")
    return PlanFacts(
        group_type=NO_GROUP,
        topics=tuple(sorted((topic.name, topic.topic_id, topic.partitions) for topic in there.topics)),
        instances=tuple(side.declared.instances),
        at_start=deployed_instances(there, side.declared),
        static_membership=side.declared.static_membership,
        code=code,
    )


def _type_of(reading: ApplicationReading) -> str:
    if isinstance(reading.group, Missing):
        raise Inconclusive(f"group of {reading.application}: {reading.group.missing}")
    return reading.group.type


def _group_type(side: Run) -> str:
    """The type of the copier's group, classic if no broker knows it yet; Inconclusive if that cannot be read."""
    group = side.observed().group
    if isinstance(group, GroupReading):
        return group.type
    with side.reader() as reader:
        _require_unknown(reader, side.application.application_id)
    return "classic"


def _require_unknown(reader: ClusterReader, group: str) -> None:
    if (why := reader.unlisted([group])[group]) != unknown_group(group):
        raise Inconclusive(why)


def _as_it_is(side: Run) -> Bounce:
    """What the copier is set to, as a bounce."""
    [first, *_] = deployed_instances(side.observed(), side.declared)
    return Bounce(1, first.release, first.settings, "" if first.version == first.release else first.version)


def _require_one_target(adoption: Adoption) -> None:
    first, *others = adoption.side.facts.at_start
    for one in others:
        if one.target != first.target:
            raise Refused(
                f"{one.instance} has {one.deployed}, {first.instance} has {first.deployed} (expected: the same on "
                "every instance of the copier); set all to the same first"
            )


def _with_copy(cost: InstanceCost) -> InstanceCost:
    low, high = cost.gap_s
    why = f"{cost.why}; meanwhile the copier goes on up to the offsets of the application"
    return replace(cost, gap_s=(low + _COPIES_S[0], high + _COPIES_S[1]), why=why)


def _reset(word: str) -> OffsetReset:
    return next((one for one in get_args(OffsetReset) if one == word), "")
