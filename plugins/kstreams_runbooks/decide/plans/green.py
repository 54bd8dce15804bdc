"""The plans of `blue_green_start`: an application starts next to the one that it is to take over from, or goes again.

Green reads the control topics of blue from their beginning, on empty local state, with every topic of its own created
before and an offset committed on every partition that it reads: nothing begins by `auto.offset.reset`. Nothing of blue
is a stage.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.plans.basis import NO_INSTANCE, other_library
from kstreams_runbooks.decide.plans.copier_costs import CopierLoad
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.copying import BY_KEY, MODE, PARTITIONS
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.object_stages import (
    CreateTopics,
    DeleteGroups,
    DeleteTopics,
    SaveOffsets,
    SetOffsets,
)
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, PlanFacts, SidePart
from kstreams_runbooks.model.runs.stages import ClearState, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of, pasted

# The role of the copier between the control topics and green.
CHAIN = "chain"
# The mode that takes the side away which has served before.
RETIRE = "retire"
_SOURCE = "docs/blue_green_start.md, costs"
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class ChainPart:
    """The copier between the control topics and green: `topics` are those that it writes, one of each control topic."""

    side: SidePart
    group: str
    controls: tuple[str, ...]
    topics: tuple[TopicShape, ...]

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """What its instances are set to: the record of a key goes to the partition that Java producers choose."""
        grown = ",".join(f"{one.name}:{one.partitions}" for one in self.topics)
        return tuple(sorted({**dict(_one_target(self.side.facts).settings), MODE: BY_KEY, PARTITIONS: grown}.items()))


@dataclass(frozen=True, slots=True)
class GoingChain:
    """The copier of a chain that goes with green. `up`: an instance of it runs. `has_group`: brokers know its group."""

    side: SidePart
    group: str
    up: bool
    has_group: bool


@dataclass(frozen=True, slots=True)
class GreenParts:
    """What the plan of a start is made of: the topics that green reads, and those that are created before it starts.

    `outputs` are like those of blue, `internal` as Kafka Streams would create them. `chain` writes topics with more
    partitions than the control topics, if green reads such.
    """

    blue: str
    inputs: tuple[str, ...]
    outputs: tuple[TopicShape, ...]
    internal: tuple[TopicShape, ...]
    chain: ChainPart | None = None


def green_plan(
    declared: DeclaredApplication,
    facts: PlanFacts,
    parts: GreenParts,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
) -> Plan:
    """The plan that starts green as it is deployed; Refused if its instances are not all set to the same."""
    runs = _one_target(facts)
    group, library = declared.application_id, other_library(runs.release, runs.version)
    begun = tuple(one.name for one in parts.internal if not is_changelog(one.name))

    chain = parts.chain

    def stages() -> Iterator[Stage]:
        yield CreateTopics(0, (*(chain.topics if chain else ()), *parts.outputs, *parts.internal))
        if chain:
            yield SetOffsets(0, chain.group, chain.controls, "start", side=CHAIN)
        yield SetOffsets(0, group, parts.inputs, "start")
        if begun:
            yield SetOffsets(0, group, begun, "start")
        # They are down already: that no process of them lives is proven, and kept for the way back.
        if chain:
            yield StopAll(0, side=CHAIN)
        yield StopAll(0)
        yield ClearState(0)
        if chain:
            copies = _one_target(chain.side.facts)
            of_copier = other_library(copies.release, copies.version)
            yield StartAll(0, copies.release, chain.settings, of_copier, must_clear=True, side=CHAIN)
        yield StartAll(0, runs.release, runs.settings, library, must_clear=True)

    return _plan(
        declared,
        facts,
        ("start", parts.blue),
        stages(),
        sides=(chain.side,) if chain else (),
        findings=findings,
        limits=limits,
        undo=(
            "until its start: nothing of it runs, its topics and offsets are deleted",
            f"afterwards: {cancel_command(declared.name)}",
        ),
        title=f"{declared.name} next to {parts.blue}, from the beginning of {first_of(parts.inputs)}",
        worst_case=(
            f"{declared.name} does not start or falls behind retention: the run stops, and it goes again with mode "
            f"cancel; {parts.blue} is not touched"
        ),
    )


def cancel_plan(
    declared: DeclaredApplication,
    facts: PlanFacts,
    blue: str,
    topics: tuple[str, ...],
    *,
    up: bool,
    group: bool,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    chain: GoingChain | None = None,
    mode: str = "cancel",
) -> Plan:
    """The plan that takes green away: it stops, its state, its group and these topics are deleted.

    With the mode `retire` it is the side that has served before, and `blue` the one that serves now. `up`: an instance
    of it runs. `group`: brokers know its group. `chain` goes with it: its topics are among these.
    """
    runs = _one_target(facts)

    def stages() -> Iterator[Stage]:
        if chain and chain.up:
            yield StopAll(0, side=CHAIN, stays=_one_target(chain.side.facts).target)
        if up:
            yield StopAll(0, stays=runs.target)
        yield ClearState(0)
        if topics:
            # Once the group is EMPTY: their ends are noted, and nothing may write to them any more.
            yield SaveOffsets(0, declared.application_id, topics)
        if group:
            yield DeleteGroups(0, (declared.application_id,))
        if chain and chain.has_group:
            yield DeleteGroups(0, (chain.group,), side=CHAIN)
        if topics:
            yield DeleteTopics(0, topics, at_rest=True)

    return _plan(
        declared,
        facts,
        (mode, blue),
        stages(),
        sides=(chain.side,) if chain else (),
        findings=findings,
        limits=limits,
        undo=(
            "until the deletion of its topics: it starts again, and restores its state",
            "afterwards: none; a way back is a new second side"
            if mode == RETIRE
            else f"afterwards: {start_command(declared.name)}",
        ),
        title=f"retire {declared.name}, {blue} serves" if mode == RETIRE else f"take {declared.name} away again",
        worst_case=f"{NO_INSTANCE.partition(':')[0]} of {blue}; {declared.name} is gone with its results",
    )


def _plan(
    declared: DeclaredApplication,
    facts: PlanFacts,
    change: tuple[str, str],
    stages: Iterator[Stage],
    *,
    sides: tuple[SidePart, ...],
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    undo: tuple[str, ...],
    title: str,
    worst_case: str,
) -> Plan:
    mode, blue = change
    return Plan(
        runbook=GREEN,
        application=declared.name,
        cluster=declared.cluster,
        change=(("mode", mode), ("green_of", blue)),
        limits=limits,
        stages=tuple(replace(one, number=number) for number, one in enumerate(stages, 1)),
        facts=facts,
        costs=(),
        findings=findings,
        undo=undo,
        title=title,
        worst_case=worst_case,
        at_once=True,
        sides=sides,
    )


def _one_target(facts: PlanFacts) -> DeployedInstance:
    first, *others = facts.at_start
    for one in others:
        if one.target != first.target:
            raise Refused(
                f"{one.instance} has {one.deployed}, {first.instance} has {first.deployed} (expected: the same on "
                "every instance); set all to the same, then trigger this again"
            )
    return first


def cancel_command(application: str) -> str:
    """The command that takes green away again."""
    return pasted(("kstreams-runbooks", "trigger", GREEN, "--application", application, "--param", "mode=cancel"))


def start_command(application: str) -> str:
    """The command that starts green."""
    return pasted(("kstreams-runbooks", "trigger", GREEN, "--application", application))


def green_costs(
    green: str, instances: int, loads: tuple[CopierLoad, ...], state_bytes: int | Missing
) -> tuple[Finding, ...]:
    """What a second application next to the first costs, for the approver.

    `loads` are those of its inputs, `state_bytes` those of the changelogs and outputs of the first one, on one replica.
    """
    unknown = [
        f"{what} of {one.source}: {value.missing}"
        for one in loads
        for what, value in (("traffic", one.bytes_per_s), ("history", one.held_bytes))
        if isinstance(value, Missing)
    ]
    unknown += [f"disk: {state_bytes.missing}"] if isinstance(state_bytes, Missing) else []
    rate = sum(one.bytes_per_s for one in loads if not isinstance(one.bytes_per_s, Missing))
    held = sum(one.held_bytes for one in loads if not isinstance(one.held_bytes, Missing))
    disk = 0 if isinstance(state_bytes, Missing) else state_bytes
    yet = f"; not known, and on top of it: {first_of(unknown)}" if unknown else ""
    return (
        Finding(
            "green-costs",
            "warning" if unknown else "info",
            green,
            f"instances: {instances:,} more run; disk: about {_size(disk)} more on each replica of its topics, what "
            "the other one has there, and as much on its own disks for what it keeps in stores; traffic: "
            f"{_size(held)} of history are read at full speed, then {_size(rate)} a second are read once more{yet}",
            _SOURCE,
        ),
    )


def going_back(green: str, *, by_person: bool) -> tuple[Finding, ...]:
    """That a person would be asked while inputs are held, if the other one took over again from green later."""
    if not by_person:
        return ()
    return (
        Finding(
            "green-deployed-by-person",
            "warning",
            green,
            "a person deploys it: a cutover to it is possible, and the way back from it is refused, because inputs"
            " would be held while that person is asked",
            "docs/blue_green_start.md",
        ),
    )


def _size(number: float) -> str:
    return f"{number / _MB:,.1f} MB"
