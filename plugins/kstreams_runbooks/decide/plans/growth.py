"""The plan of a growth in place: the topics get partitions while nothing writes them, then the copier goes on by key.

Everything that the application has not read yet was hashed by the old number. So it is read first, behind a copier
that is down, and the topics grow once the group is EMPTY: from then on each producer starts with the new number.

Source: S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), increasing topic partitions;
KAFKA-20030 (new partitions and auto.offset.reset=latest).
"""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.growth.closure import Closure
from kstreams_runbooks.decide.growth.verdict import moved_sentence
from kstreams_runbooks.decide.plans.switches import COPIER, CopierSwitch
from kstreams_runbooks.decide.runbooks import INCREASE
from kstreams_runbooks.model.copying import BY_KEY, MODE, PARTITIONS
from kstreams_runbooks.model.readings.growth import TopicForecast
from kstreams_runbooks.model.runs.object_stages import GrowTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, Certify, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding

_RESUMES = 3


def growth_plan(
    restart: Plan,
    switch: CopierSwitch,
    closed: Closure,
    forecast: tuple[TopicForecast, ...],
    findings: tuple[Finding, ...],
    group: str,
) -> Plan:
    """The plan of a stop and restart as deployed, with the growth between stop and start.

    `closed` are the topics that grow, `findings` what the approver accepts of their keys, next to the `forecast`.
    """
    [bounce] = restart.bounces
    stages = [replace(one, number=number) for number, one in enumerate(_stages(bounce, switch, closed, group), 1)]
    inputs = ", ".join(switch.inputs)
    return replace(
        restart,
        runbook=INCREASE,
        change=(*restart.change, ("partitions", str(closed.wanted)), (COPIER, switch.side.application)),
        stages=tuple(stages),
        findings=(*restart.findings, *_forecast(forecast), *findings),
        undo=tuple(_undo(restart, inputs)),
        title=f"{len(closed.grown):,} topics in place to {closed.wanted:,} partitions",
        worst_case=(
            f"{inputs} are held and {restart.application} is down, until the run goes on; once the topics have grown, "
            "there is no way back: no partition can be removed, and the copier only goes on by key"
        ),
        sides=switch.sides,
    )


def _stages(bounce: Bounce, switch: CopierSwitch, closed: Closure, group: str) -> Iterator[Stage]:
    [runs, *_] = switch.side.facts.at_start
    grown = ",".join(f"{one.name}:{one.after}" for one in closed.grown if one.name in switch.inputs)
    by_key = tuple(sorted({**dict(runs.settings), MODE: BY_KEY, PARTITIONS: grown}.items()))
    library = runs.version if runs.version != runs.release else ""
    yield StopAll(0, side=switch.side.role)
    yield Certify(0, switch.inputs, switch.name, pauses=1, resumes=_RESUMES)
    yield StopAll(0)
    yield GrowTopics(0, tuple((one.name, one.after) for one in closed.grown))
    # By auto.offset.reset a reader could begin behind the first records of a new partition.
    yield SetOffsets(0, group, tuple(one.name for one in closed.grown if one.role != "changelog"), "unset")
    yield StartAll(0, runs.release, by_key, library, side=switch.side.role, must_clear=True)
    yield StartAll(0, bounce.release, bounce.settings, bounce.library, must_clear=True)


def _forecast(forecast: tuple[TopicForecast, ...]) -> Iterator[Finding]:
    for one in forecast:
        yield Finding("growth-forecast", "warning", one.topic, moved_sentence(one), "docs/partition_increase.md")


def _undo(restart: Plan, inputs: str) -> Iterator[str]:
    before = " or ".join(sorted({one.deployed for one in restart.facts.at_start}))
    yield f"until the topics grow: {inputs} flow again as before, every instance back to {before}"
    yield "afterwards: none, Kafka cannot remove partitions; the run can only be finished"
