"""The plan of `blue_green_start`: what both applications, their topics and the control topics show, and the stages."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from kstreams_runbooks.act.topic_checks import known
from kstreams_runbooks.decide.change.described import side_of
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, topics_needed
from kstreams_runbooks.decide.fitting.uncommitted import SKIPPED_AT_FIRST, resets_of
from kstreams_runbooks.decide.internal_topics.before_start import created_before_start
from kstreams_runbooks.decide.plans.basis import deployed_instances, other_library
from kstreams_runbooks.decide.plans.copier_costs import copier_findings
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.cutover import GREEN as NEW_SIDE
from kstreams_runbooks.decide.plans.green import (
    CHAIN,
    RETIRE,
    ChainPart,
    GoingChain,
    GreenParts,
    cancel_plan,
    going_back,
    green_costs,
    green_plan,
)
from kstreams_runbooks.decide.plans.greenable import may_cancel_green, may_start_green, not_moved, without_member
from kstreams_runbooks.decide.plans.longest_stop import ACCEPT
from kstreams_runbooks.decide.plans.reset_findings import reset_findings
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.fleet import Application, Fleet, load_fleet
from kstreams_runbooks.model.readings.green import GreenChain, GreenReading, GreenRemains
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.reset import BlastRadius
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, ClearState
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.steps.adoption.plan import copy_shapes, fresh_facts
from kstreams_runbooks.steps.plan.before import may_begin
from kstreams_runbooks.steps.plan.fitting import require_topics, wanted_versions
from kstreams_runbooks.steps.plan.plan import check_deployer, judged, store
from kstreams_runbooks.steps.plan.releases import known_of, running_or_missing
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step
from kstreams_runbooks.steps.stages.topics import shaped_like
from kstreams_runbooks.watch.blast_radius import ResetQuestion, read_reset
from kstreams_runbooks.watch.copier_loads import read_loads
from kstreams_runbooks.watch.green import GreenSides, chain_to, read_green, read_remains, up_instances
from kstreams_runbooks.watch.rights import connection_principals
from kstreams_runbooks.wording import outside

GreenMode = Literal["start", "cancel", "retire"]
_MODES: Mapping[str, GreenMode] = {word: word for word in get_args(GreenMode)}
_LATEST = "latest"
# What of the findings about a reset is true of a second application too: state without its history, and the wait.
_SHARED = frozenset({"reset-loses-state", "reset-catches-up"})


def mode_of(run: Run) -> GreenMode:
    """The mode of the form; BadInput for another word."""
    word = str(run.record.params.get("mode") or "")
    if (mode := _MODES.get(word)) is None:
        raise BadInput(f"mode: {outside(word or 'nothing', 30)} (expected {' or '.join(_MODES)}); choose one")
    return mode


def further(run: Run) -> tuple[str, ...]:
    """The copier between the control topics and green, by name; BadInput if green or blue is not declared."""
    fleet, own = load_fleet(), run.first.application
    return tuple(one.name for one in chain_to(fleet, own, _blue(fleet, own))) if own.green_of else ()


def may_be_down(_: Run) -> bool:
    """An application that has not started yet, or that goes: whether it runs is decided at the plan."""
    return True


def plan_green() -> Any:
    """The task `plan`."""

    @step("derives what will be done and what it costs; changes nothing")
    def plan(run: Run) -> None:
        """Make the plan and keep it; a run that has written anything keeps its present plan."""
        if run.record.wrote_at_ms:
            run.say(f"this run has already changed something: plan {run.plan().digest} stays")
            return
        reading = run.observed()
        findings = judged(run, reading)
        findings += tuple(one for name in further(run) for one in judged(run.on(name), run.on(name).observed()))
        made = (_started if mode_of(run) == "start" else _cancelled)(run, reading, findings)
        check_deployer(run, made.of_side(""))
        for part in made.sides:
            check_deployer(run.on(part.application), made.of_side(part.role))
        for stage in (one for one in made.stages if isinstance(one, ClearState)):
            for name in made.facts.instances:
                run.deployer.check_clear_state(name, stage.deletes.names)
        store(run, replace(made, findings=(*made.findings, *may_begin(run, made, reading))))

    return plan()


def _started(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan of a start; Refused or Inconclusive if blue could be touched, or records be lacking."""
    bounce = _as_deployed(run, reading)
    sides, described = _sides(run, reading, bounce)
    radius = read_reset(run.record.application, _question(sides), run.say).radius
    seen, judged_findings = _judged(run, reading, sides, radius)
    chained = [run.on(one.copier) for one in seen.chain]
    wide = _wide(run, seen)
    internal, unmade = _internal(run, described, bounce, wide)
    with run.reader() as reader:
        outputs = _shapes(reader, {one.topic: one.stands_for for one in seen.outputs})
        costs = _costs(reader, sides, seen)
    created = {one.name: one.partitions for one in (*wide, *outputs, *internal)}
    fitting = require_topics(run, reading, [bounce], created=created)
    for side in chained:
        fitting += require_topics(side, side.observed(), [_as_deployed(side, side.observed())], created=created)
    if internal:
        # The run creates them, and commits their beginning.
        fitting = tuple(one for one in fitting if one.id != SKIPPED_AT_FIRST)
    shown = [one for one in reset_findings(radius, internal, run.limit("gate_ceiling_s")) if one.id in _SHARED]
    by_person = going_back(run.declared.name, by_person=run.application.deployer.kind == "manual")
    run.say_findings((*unmade, *shown, *costs, *by_person))
    return run.decide(
        green_plan,
        declared=run.declared,
        facts=fresh_facts(run, reading),
        parts=GreenParts(
            sides.blue.name,
            tuple(one.topic for one in seen.inputs),
            outputs,
            internal,
            next((_chain(run, one, wide) for one in seen.chain), None),
        ),
        findings=(*findings, *judged_findings, *fitting, *unmade, *shown, *costs, *by_person),
        limits=run.declared.limits,
    )


def _cancelled(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan that takes green away; Refused if something else uses its topics: it may serve by now."""
    remains = remains_now(run)
    verdict = run.decide(may_cancel_green, remains=remains)
    other = _other(run, load_fleet()).name
    run.say_findings(verdict.findings)
    run.demand(verdict)
    shown = fresh_facts(run, reading)
    with run.reader() as reader:
        ids = {(one.name, one.topic_id, one.partitions) for one in reader.topics(remains.topics)}
    # What is down shows no topics; they are deleted by id.
    facts = replace(shown, topics=tuple(sorted({*shown.topics, *ids})))
    up = bool([*up_instances(reading)])
    group = isinstance(reading.group, GroupReading)
    if up and not group:
        raise Inconclusive(
            f"group {run.application.application_id}: an instance runs, and no broker knows its group yet; wait, then "
            "trigger this again"
        )
    return run.decide(
        cancel_plan,
        declared=run.declared,
        facts=facts,
        blue=other,
        topics=remains.topics,
        up=up,
        group=group,
        findings=(*findings, *verdict.findings),
        limits=run.declared.limits,
        chain=next(map(_going, map(run.on, further(run))), None),
        mode=mode_of(run),
    )


def _chain(run: Run, chain: GreenChain, wide: tuple[TopicShape, ...]) -> ChainPart:
    """The copier between the control topics and green, with the topics that it fills, in one order."""
    by_name = {one.name: one for one in wide}
    controls, shapes = zip(*((one.control, by_name[one.topic]) for one in chain.topics), strict=True)
    return ChainPart(_part(run.on(chain.copier)), chain.group_id, controls, shapes)


def _going(side: Run) -> GoingChain:
    """The same copier when it goes with green."""
    there = side.observed()
    up = bool([*up_instances(there)])
    return GoingChain(_part(side), side.application.application_id, up, isinstance(there.group, GroupReading))


def _part(side: Run) -> SidePart:
    return SidePart(CHAIN, side.declared.name, side.declared.cluster, fresh_facts(side, side.observed()))


def _wide(run: Run, seen: GreenReading) -> tuple[TopicShape, ...]:
    """The topics that a chained copier fills: each like its control topic, but for the partitions."""
    routes = [(one.control, one.topic) for chain in seen.chain for one in chain.topics]
    with run.reader() as reader:
        states = known(read_topic_states(reader, {control for control, _ in routes}))
    return tuple(replace(one, partitions=seen.wanted) for one in copy_shapes(run, routes, states))


def remains_now(run: Run) -> GreenRemains:
    """What is left of green now, and who uses it."""
    reading = run.observed()
    sides, _ = _sides(run, reading, _as_deployed(run, reading))
    remains = run.patiently(partial(read_remains, sides, run.kafka))
    return _retired(run, remains, sides.blue) if mode_of(run) == RETIRE else remains


def _retired(run: Run, remains: GreenRemains, serving: Application) -> GreenRemains:
    """The same of a side that has served before, with why it may be the one that serves now."""
    with run.reader() as reader:
        group = reader.group(serving.application_id)
    last = last_cutover(run, {remains.application, serving.name})
    serves = tuple(not_moved(remains.application, serving.name, last))
    if isinstance(group, Missing):
        unknown = f"group of {serving.name}: {group.missing}"
        return replace(remains, not_listed=(*remains.not_listed, unknown), serves=serves)
    return replace(remains, serves=(*serves, *without_member(serving.name, group)))


def last_cutover(run: Run, pair: set[str]) -> tuple[str, str] | None:
    """The old and the new side of the newest completed cutover between two applications; None without one."""
    for record in reversed(run.ledger.runs()):
        sides = record.application, str(record.params.get(NEW_SIDE) or "")
        if record.dag_id == CUTOVER and record.outcome == RunOutcome.COMPLETED.value and {*sides} == pair:
            return sides if record.cluster == run.record.cluster else None
    return None


def _as_deployed(run: Run, reading: ApplicationReading) -> Bounce:
    """What green is set to, as a bounce."""
    first, *_ = deployed_instances(reading, run.declared)
    return Bounce(1, first.release, first.settings, other_library(first.release, first.version))


def _sides(run: Run, reading: ApplicationReading, bounce: Bounce) -> tuple[GreenSides, Described]:
    """Both applications as they are declared and described; Inconclusive if one is not described."""
    fleet = load_fleet()
    green = run.application
    blue = _other(run, fleet)
    [described] = wanted_versions(run, reading, [bounce])
    if isinstance(described, Missing):
        raise Inconclusive(f"topology of {green.name}: {described.missing}")
    return GreenSides(fleet, green, blue, _side(run, reading, described), tuple(_versions(run, blue))), described


def _other(run: Run, fleet: Fleet) -> Application:
    """The other side: that of `green_of`, or the one that has it; BadInput if there is none, or several have it."""
    own = run.application
    if mode_of(run) != RETIRE or own.green_of is not None:
        return _blue(fleet, own)
    seconds = [one for one in fleet.applications.values() if (one.green_of, one.cluster) == (own.name, own.cluster)]
    if len(seconds) != 1:
        names = ", ".join(sorted(one.name for one in seconds)) or "none"
        raise BadInput(
            f"application {own.name}: {names} has it in green_of (expected: one application, which serves in its "
            "place); correct the entries"
        )
    return seconds[0]


def _blue(fleet: Fleet, green: Application) -> Application:
    """The application next to which it starts; BadInput if its entry names none, or no other one of its cluster."""
    if green.green_of is None:
        raise BadInput(
            f"application {green.name}: has no green_of (expected the application next to which it starts); write its "
            "entry with `kstreams-runbooks declare-green BLUE`"
        )
    blue = fleet.application(green.green_of)
    if blue.cluster != green.cluster or blue.name == green.name:
        raise BadInput(
            f"green_of of {green.name}: {blue.name} in cluster {blue.cluster} (expected another application in "
            f"{green.cluster}); correct it"
        )
    return blue


def _side(run: Run, reading: ApplicationReading, described: Described) -> Side:
    return side_of(parsed(described), known_of(run, reading))


def _versions(run: Run, blue: Application) -> Iterator[Any]:
    """The topology of every version that blue runs; Inconclusive if one is not described."""
    other = run.on(blue.name)

    def read() -> ApplicationReading:
        with run.reader() as reader:
            return read_application(blue, reader, make_deployer(blue, dry_run=True))

    for one in parsed_or_missing(running_or_missing(other, run.patiently(read))):
        if isinstance(one, Missing):
            raise Inconclusive(f"topology of {blue.name}: {one.missing}")
        yield one.topology


def _question(sides: GreenSides) -> ResetQuestion:
    """What a reset of it would rebuild: a first start reads the same, an input that it writes too from its start."""
    side, controls = sides.side, sides.controls
    written = side.written() & side.read(is_global=False) & {*sides.green.inputs}
    targets = {controls.get(topic, topic): "earliest" for topic in written}
    return ResetQuestion("reset", targets, brings=(side,), counts=False, instead=controls)


def _judged(
    run: Run, reading: ApplicationReading, sides: GreenSides, radius: BlastRadius
) -> tuple[GreenReading, tuple[Finding, ...]]:
    """The reading behind the start, and the findings about it; Refused or Inconclusive as decided."""
    accepted = given_reason(run.record.params, ACCEPT)
    principal = connection_principals(run.kafka, run.cluster.principal)["observer"]
    wanted, uneven = int(run.record.params.get("partitions") or 0), bool(run.record.params.get("uneven"))
    seen = run.patiently(
        partial(read_green, sides, run.kafka, reading, radius, accepted, principal, wanted, uneven=uneven)
    )
    rebuilt = may_reset(radius)
    if rebuilt.outcome is Outcome.REFUSE:
        seen = replace(seen, lacks=(*seen.lacks, *rebuilt.reasons))
    elif rebuilt.outcome is not Outcome.PROCEED:
        seen = replace(seen, problems=tuple(dict.fromkeys((*seen.problems, *rebuilt.reasons))))
    verdict = run.decide(may_start_green, reading=seen)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    return seen, verdict.findings


def _internal(
    run: Run, described: Described, bounce: Bounce, wide: tuple[TopicShape, ...]
) -> tuple[tuple[TopicShape, ...], tuple[Finding, ...]]:
    """The internal topics that the run creates; none, with a finding, if a fact about them is not known.

    `wide` are topics that it creates too, and that their partitions follow. Refused or Inconclusive if the application
    would then skip what it writes to its repartition topics first.
    """
    needed = topics_needed(parsed_or_missing((described,)), run.declared)
    seen = run.topics_seen(needed)
    seen = replace(seen, partitions={**seen.partitions, **{one.name: one.partitions for one in wide}})
    made = created_before_start(described, seen, run.declared)
    if isinstance(made, tuple):
        return made, ()
    why = made.missing if made else "internal topics are not created before the start: nothing is known of them"
    if any(not is_changelog(name) for name in needed.internal):
        resets = resets_of((described,), [dict(bounce.settings)])
        if resets is None:
            raise Inconclusive(
                f"application {run.declared.name}: {why}; where its group begins on repartition topics is not known; "
                "declare auto.offset.reset of the release (docs/declaration.md)"
            )
        if _LATEST in resets:
            raise Refused(
                f"application {run.declared.name}: {why}; under auto.offset.reset=latest it skips what it writes to "
                "repartition topics before its first commit; let its topology command print facts (docs/facts.md), or "
                "set earliest"
            )
    finding = Finding(
        "internal-topics-not-created",
        "warning",
        run.declared.name,
        f"{why}; the application creates them in its first rebalance",
        "KIP-698; docs/internal_topics.md",
    )
    return (), (finding,)


def _shapes(reader: ClusterReader, stand: Mapping[str, str]) -> tuple[TopicShape, ...]:
    """The outputs of green, each with the partitions, the replicas and the settings of that of blue."""
    states = known(read_topic_states(reader, set(stand.values())))
    return shaped_like(reader, [(of, topic) for topic, of in sorted(stand.items())], states)


def _costs(reader: ClusterReader, sides: GreenSides, seen: GreenReading) -> tuple[Finding, ...]:
    """What a second application costs: disk, traffic, instances, and the copier in front of it alone."""
    inputs = [one.control for one in seen.inputs]
    loads = read_loads(reader, [(one, one) for one in inputs], dict.fromkeys(inputs, 1))
    names = reader.names()
    kept = {*seen.blue_internal, *(one.stands_for for one in seen.outputs)} & names.visible
    size = reader.log_bytes(sorted(kept)) if kept else 0
    costs = green_costs(sides.green.name, len(sides.green.deployer.instances), loads, size)
    for copier, chain in zip(sides.chain, seen.chain, strict=True):
        routes = [(one.control, one.topic) for one in chain.topics]
        states = known(read_topic_states(reader, {control for control, _ in routes}))
        replicas = {control: states[control].replication for control, _ in routes}
        of_copier = read_loads(reader, routes, replicas)
        costs += copier_findings(chain.group_id, copier.principal or "", of_copier, whole=True)
    return costs
