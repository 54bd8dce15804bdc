"""The plan of `blue_green_cutover`: what both sides, their copier and the groups behind them show, and the stages."""

import os
from functools import partial
from typing import Final

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.plans.basis import costs_at_once, facts, other_library
from kstreams_runbooks.decide.plans.cutover import COPIER, CUTOVER, GREEN, Cutover, MovingGroup, cutover_plan
from kstreams_runbooks.decide.plans.cutoverable import may_cut_over, readers_as_planned
from kstreams_runbooks.decide.plans.switches import CopierSwitch
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.fleet import Copier, load_fleet
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.cutover import CutoverReading, DownstreamReading
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.inputs.hold import may_be_held
from kstreams_runbooks.steps.plan.fitting import require_topics
from kstreams_runbooks.steps.plan.plan import at_once_plan, check_deployer, judged
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.cutover import (
    CutoverAsked,
    CutoverSide,
    chain_of,
    further_sides,
    neighbours_of,
    output_pairs,
    read_cutover,
    readers_now,
)
from kstreams_runbooks.watch.internal_topics import running_version
from kstreams_runbooks.watch.sides import OutputPair
from kstreams_runbooks.wording import outside

# Previews whose real runs an environment allows, with commas: its tests need them.
UNPROVEN: Final = "KSTREAMS_RUNBOOKS_UNPROVEN"
_PAIRS = "outputs to compare"
_HOLDS = 2
_STREAMS = "streams"


def require_rehearsal(run: Run) -> None:
    """Refused unless it is a dry run, or this environment allows the runbook: a real one has not run to its end yet."""
    allowed = os.environ.get(UNPROVEN, "").split(",")
    if not run.dry_run and CUTOVER not in allowed:
        raise Refused(
            f"{CUTOVER}: moves no group yet (expected a dry run): that no record is lost or doubled under traffic is "
            "not proven; trigger it as a dry run, which shows every stage"
        )


def unproven(run: Run) -> tuple[Finding, ...]:
    """The finding about a real run that the environment allows, for its approver."""
    if run.dry_run:
        return ()
    return (
        Finding(
            "runbook-not-proven",
            "danger",
            CUTOVER,
            f"is a preview: {UNPROVEN} in the environment of this Airflow allows real runs, and that no record is lost "
            "or doubled under traffic is not proven",
            "docs/blue_green.md",
        ),
    )


def further(run: Run) -> tuple[str, ...]:
    """The applications of a run that its form does not name: chained copiers, neighbours, and groups that move."""
    new, copier = run.side(GREEN).application, _copier(run)
    return run.patiently(partial(further_sides, load_fleet(), run.first.application, new, copier, run.kafka))


def blue_green_cutover(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan; Refused or Inconclusive if a record could be lost, or come twice."""
    require_rehearsal(run)
    green, copier = run.side(GREEN), _copier(run)
    versions = {one.record.application: running_version(load_fleet(), one.application) for one in (run, green)}
    asked = CutoverAsked(load_fleet(), _side(run, versions), _side(green, versions), copier, int(run.limit("max_lag")))
    seen = run.patiently(partial(read_cutover, asked, run.kafka))
    verdict = run.decide(may_cut_over, reading=seen)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    if copier is None:
        raise Refused(f"{COPIER}: nothing (expected the copier in front of both sides); name it")
    run.keep("note", _PAIRS, {"pairs": encode(output_pairs(asked.old, asked.new))})
    restart = at_once_plan(run, reading, findings, {})
    fitting = require_topics(run, reading, restart.bounces)
    made = run.decide(
        cutover_plan,
        restart=restart,
        cutover=_cutover(run, green, copier, seen),
        findings=(*unproven(run), *fitting, *_of_sides(run), *verdict.findings),
    )
    switch = CopierSwitch(_held(seen), next(one for one in made.sides if one.role == COPIER), copier.inputs)
    may_be_held(run, reading, parsed(versions[run.record.application]), switch, holds=_HOLDS)
    for part in made.parts:
        own = made.of_side(part.role)
        if own.bounces:
            check_deployer(run.on(part.application), own)
    return made


def seen_at_plan(run: Run) -> CutoverReading:
    """What the plan of this run was made from; Refused before there is one."""
    for kept in reversed(run.first.verdicts(may_cut_over.__name__)):
        if kept.payload["result"]["outcome"] == Outcome.PROCEED:
            seen: CutoverReading = decode(CutoverReading, kept.payload["inputs"]["reading"])
            return seen
    raise Refused("what reads the outputs is not known: `plan` has not run; clear it and what follows it")


def require_readers(run: Run) -> None:
    """Refused or Inconclusive unless the groups on the outputs of the old side are those that the plan moves."""
    seen = seen_at_plan(run)
    fleet, own = load_fleet(), run.first.application
    readers = run.patiently(partial(readers_now, fleet, own, seen.old.outputs, run.kafka))
    run.demand(run.decide(readers_as_planned, reading=seen, readers=readers))


def pairs_at_plan(run: Run) -> tuple[OutputPair, ...]:
    """The outputs that this run compares; Refused before it has a plan."""
    kept = run.ledger.evidence(run.key, kind="note", name=_PAIRS, newest=1)
    if not kept:
        raise Refused("the outputs to compare are not known: `plan` has not run; clear it and what follows it")
    pairs: tuple[OutputPair, ...] = decode(tuple[OutputPair, ...], kept[0].payload["pairs"])
    return pairs


def _side(run: Run, versions: dict[str, Described]) -> CutoverSide:
    version = versions[run.record.application]
    return CutoverSide(run.application, Side(parse_topology(version.text), version.declaration), run.observed())


def _copier(run: Run) -> Copier | None:
    """The copier that the form names, None if it names none; BadInput if that is another kind of application."""
    named = str(run.record.params.get(COPIER) or "").strip()
    if not named:
        return None
    entry = run.side(COPIER).application
    if not isinstance(entry, Copier):
        raise BadInput(f"{COPIER}: {outside(named)} is of kind {entry.kind} (expected copier); name the copier")
    return entry


def _held(seen: CutoverReading) -> tuple[str, ...]:
    """The topics that the copier writes and a side reads."""
    read = {*seen.old.inputs, *seen.new.inputs, *(topic for one in seen.chain for topic in one.inputs)}
    return tuple(topic for topic in (seen.copier.outputs if seen.copier else ()) if topic in read)


def _cutover(run: Run, green: Run, copier: Copier, seen: CutoverReading) -> Cutover:
    """The sides of the plan; each that it stops is compared with its topics now, before anything is down."""
    fleet, side = load_fleet(), run.side(COPIER)
    require_topics(side, side.observed(), [_as_it_is(side)])
    old, new = run.first.application, green.application
    paired = {one.old: one.new for one in seen.outputs}
    return Cutover(
        inputs=_held(seen),
        outputs=tuple(paired.items()),
        green=_part(green),
        copier=_part(side),
        chain=tuple(_part(run.on(one.name)) for one in chain_of(fleet, old, new, copier)),
        neighbours=tuple(_part(run.on(name)) for name in neighbours_of(fleet, old, new, copier)),
        moving=tuple(_moving(run.on(one.entry), one, paired) for one in seen.downstream),
    )


def _part(side: Run) -> SidePart:
    """Another application as the plan binds it; Refused if its instances are not set to the same."""
    bound = facts(side.observed(), side.declared, code_digest(side.record.dag_id))
    first, *others = bound.at_start
    for one in others:
        if one.target != first.target:
            raise Refused(
                f"{one.instance} has {one.deployed}, {first.instance} has {first.deployed} (expected: the same on "
                f"every instance of {side.declared.name}); set all to the same first"
            )
    return SidePart("", side.declared.name, side.declared.cluster, bound, tuple(costs_at_once(side.declared)))


def _moving(side: Run, group: DownstreamReading, paired: dict[str, str]) -> MovingGroup:
    if group.kind == _STREAMS:
        raise Refused(
            f"{group.entry}: a Kafka Streams application reads {', '.join(group.topics)} (expected: consumers): its "
            "move to other topics is not built yet; move it as docs/blue_green.md has it for a person, or declare a "
            "consumer in its place"
        )
    return MovingGroup(
        _part(side), group.group_id, tuple((topic, paired[topic]) for topic in group.topics), group.settings
    )


def _as_it_is(side: Run) -> Bounce:
    """What the instances of a side are set to, as a bounce."""
    first, *_ = facts(side.observed(), side.declared, code_digest(side.record.dag_id)).at_start
    return Bounce(1, first.release, first.settings, other_library(first.release, first.version))


def _of_sides(run: Run) -> tuple[Finding, ...]:
    """The findings of `check` about every other side."""
    sides = [run.side(GREEN), run.side(COPIER), *(run.on(name) for name in further(run))]
    return tuple(finding for side in sides for finding in judged(side, side.observed()))
