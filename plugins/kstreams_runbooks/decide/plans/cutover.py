"""The plan of a cutover: one side of an application takes over from the other at an exact seam.

The inputs are held twice. In the first hold a point is noted, at which the outputs of both sides are compared while
traffic goes on. In the second the seam is noted and the old side is stopped; then the inputs flow again, and only the
new side writes. Each downstream group has read the old outputs to the seam, and goes on at the seam of the new ones.
The old side starts again at the end: for the way back, which is a cutover with the sides exchanged and has a seam of
its own.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.model.runs.stages import Certify, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import pasted

CUTOVER = "blue_green_cutover"
# The roles of the other sides; a field of the form has the name of each of the first two.
GREEN, COPIER = "green", "copier"
_CHAIN, _NEIGHBOUR, _DOWNSTREAM = "chain", "neighbour", "downstream"
# The switch that holds the inputs (model/readings/hold.py).
_HOW = "copier"


# The old side reads what came while it was down as fast as it can.
NOT_EXACT = (
    "going back is not exact for windows whose grace is smaller than the time for which {old} was down: they may drop "
    "records when it starts again"
)
_OUTPUTS = "outputs"


@dataclass(frozen=True, slots=True)
class MovingGroup:
    """A downstream group that moves: `topics` are pairs of an old output that it reads and the new one.

    `settings` are pairs of a setting of its own and the old output that it names.
    """

    side: SidePart
    group: str
    topics: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def runs(self) -> DeployedInstance:
        """What every instance of it is set to: the plan has checked that it is the same."""
        return self.side.facts.at_start[0]

    @property
    def settings_after(self) -> tuple[tuple[str, str], ...]:
        """What they are set to afterwards."""
        to = dict(self.topics)
        changed = {setting: to[topic] for setting, topic in self.settings}
        return tuple(sorted({**dict(self.runs.settings), **changed}.items()))


@dataclass(frozen=True, slots=True)
class Cutover:
    """What the plan is made of, next to the stop and restart of the old side.

    `inputs` are the topics that the copier writes, `outputs` pairs of an old output and the new one. `chain` are
    copiers between the copier and the new side; `neighbours` are other applications behind the same copier.
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    green: SidePart
    copier: SidePart
    chain: tuple[SidePart, ...] = ()
    neighbours: tuple[SidePart, ...] = ()
    moving: tuple[MovingGroup, ...] = ()


def cutover_plan(restart: Plan, cutover: Cutover, findings: tuple[Finding, ...] = ()) -> Plan:
    """The plan; `restart` is the stop and restart of the old side as it is, with one bounce."""
    sides = _sides(cutover)
    stages = _stages(restart, cutover, sides)
    old, new, copier = restart.application, cutover.green.application, cutover.copier.application
    return replace(
        restart,
        runbook=CUTOVER,
        change=(
            (GREEN, new),
            (COPIER, copier),
            (_OUTPUTS, ", ".join(f"{one} → {other}" for one, other in cutover.outputs)),
            ("downstream", ", ".join(one.side.application for one in cutover.moving)),
        ),
        stages=tuple(replace(one, number=number) for number, one in enumerate(stages, 1)),
        findings=(*restart.findings, *findings),
        undo=(
            f"until the inputs flow again: {copier} and {old} as they were",
            f"afterwards: {old} starts, and the groups that have moved stay ({NOT_EXACT.format(old=old)}); to take "
            f"them back: {back_command(old, new, copier)}",
        ),
        title=f"cutover from {old} to {new}",
        worst_case=(
            f"{', '.join(cutover.inputs)} are held, or {old} is down, until the run goes on or `undo` brings them back"
        ),
        at_once=True,
        sides=sides,
    )


def _sides(cutover: Cutover) -> tuple[SidePart, ...]:
    return (
        replace(cutover.green, role=GREEN),
        replace(cutover.copier, role=COPIER),
        *(replace(one, role=f"{_CHAIN}_{number}") for number, one in enumerate(cutover.chain, 1)),
        *(replace(one, role=f"{_NEIGHBOUR}_{number}") for number, one in enumerate(cutover.neighbours, 1)),
        *(replace(one.side, role=f"{_DOWNSTREAM}_{number}") for number, one in enumerate(cutover.moving, 1)),
    )


def _stages(restart: Plan, cutover: Cutover, sides: tuple[SidePart, ...]) -> Iterator[Stage]:
    [bounce] = restart.bounces
    copies = cutover.copier.facts.at_start[0]
    stops = StopAll(0, side=COPIER)
    # Not on what is set to it by then: it goes on as the run found it.
    resumes = StartAll(0, copies.release, copies.settings, _library(copies), must_clear=True, side=COPIER)
    behind = ("", *(one.role for one in sides if not is_downstream(one.role) and one.role != COPIER))
    certify = Certify(0, cutover.inputs, _HOW, 1, 1, behind)
    yield from (stops, certify, resumes)
    yield from (stops, certify, StopAll(0), resumes)
    for number, one in enumerate(cutover.moving, 1):
        runs, role = one.runs, f"{_DOWNSTREAM}_{number}"
        old, new = zip(*one.topics, strict=True)
        yield StopAll(0, side=role)
        yield SetOffsets(0, one.group, tuple(new), "seam", side=role, pairs=tuple(zip(new, old, strict=True)))
        yield StartAll(0, runs.release, one.settings_after, _library(runs), must_clear=True, side=role)
    yield StartAll(0, bounce.release, bounce.settings, bounce.library)


def _library(runs: DeployedInstance) -> str:
    return "" if runs.version == runs.release else runs.version


def is_downstream(role: str) -> bool:
    """Whether a role is that of a group that moves."""
    return role.rpartition("_")[0] == _DOWNSTREAM


def task_of_stage(stage: Stage) -> str:
    """The id of the task that takes a stage of such a plan; empty for one that a task of its kind takes."""
    return "move_downstream" if is_downstream(stage.side) else ""


def left_alone(plan: Plan, begun: Collection[int]) -> tuple[str, ...]:
    """The roles that an undo does not take back: groups whose start on the new outputs has begun (stage numbers).

    The offsets of before would be those of another seam: records would come twice, or never. A group that has not begun
    to start goes back, and reads on at the seam of the old outputs, which the old side goes on to write.
    """
    return tuple(
        one.side
        for one in plan.stages
        if plan.runbook == CUTOVER and isinstance(one, StartAll) and is_downstream(one.side) and one.number in begun
    )


def after_unequal(plan: Plan) -> StartAll:
    """The stage that starts the old side again if the ends of both sides differ at the seam: nothing is moved."""
    return next(one for one in reversed(plan.stages) if isinstance(one, StartAll) and not one.side)


def stands_s(plan: Plan, compare_s: float) -> float:
    """For how long the old side is down at most once the inputs flow again, in seconds.

    The comparison of each output takes up to `compare_s`; then the groups move one after another, each within
    gate_ceiling_s.
    """
    outputs = [one for one in dict(plan.change)[_OUTPUTS].split(", ") if one]
    groups = [one for one in plan.sides if is_downstream(one.role)]
    return len(outputs) * compare_s + len(groups) * plan.limit("gate_ceiling_s")


def stood_text(old: str, seconds: float | None) -> str:
    """What it means for a way back that the old side was down for so long; None if that is not known."""
    how_long = "for a time that is not known" if seconds is None else f"for {seconds:,.0f} s"
    return f"{old} was down {how_long}: {NOT_EXACT.format(old=old)}"


def back_command(old: str, new: str, copier: str) -> str:
    """The command of the way back, as a dry run: the same runbook with the sides exchanged."""
    words = ("kstreams-runbooks", "trigger", CUTOVER, "--application", new)
    return pasted((*words, "--param", f"{GREEN}={old}", "--param", f"{COPIER}={copier}"))
