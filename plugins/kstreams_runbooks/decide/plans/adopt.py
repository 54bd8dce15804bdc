"""The plans of `adopt_control_topic`: a copier comes in front of an application that runs, or leaves again.

The copy begins at the beginning of the inputs while the application runs. Near its end the copier is stopped, and the
application reads past it. Once the application is down, the copier goes on up to the application's offsets and ends by
itself: what each control topic has is then exactly what the application has read of its input.

Source: S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), control topics.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from kstreams_runbooks.decide.runbooks import ADOPT
from kstreams_runbooks.model.copying import MODE, NOT_YET_KNOWN, SAME_PARTITION, UNTIL
from kstreams_runbooks.model.local_state import GLOBAL, TaskDirectories
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteOffsets, OffsetReset, SetOffsets
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.model.runs.stages import ClearState, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import pasted

AdoptMode = Literal["adopt", "abandon"]
# The role of the copier in a plan, and the field of the form.
COPIER = "copier"


@dataclass(frozen=True, slots=True)
class Adoption:
    """What a plan needs to know next to the stop and restart that changes the settings.

    `routes` are pairs of an input and its control topic, `globals` inputs of global stores, for which no group commits
    offsets. `shapes` are the control topics to create. `group` is that of the application, `side` the copier as the run
    found it. `reset` is where the group begins a partition without a committed offset.
    """

    routes: tuple[tuple[str, str], ...]
    globals: tuple[str, ...]
    group: str
    side: SidePart
    copier_group: str
    reset: OffsetReset = ""
    shapes: tuple[TopicShape, ...] = ()
    history: bool = True

    @property
    def committed(self) -> tuple[tuple[str, str], ...]:
        """The routes on whose topics the group of the application commits."""
        return tuple(one for one in self.routes if one[0] not in self.globals)

    @property
    def runs(self) -> DeployedInstance:
        """What every instance of the copier is set to: the plan has checked that it is the same."""
        return self.side.facts.at_start[0]


def adopt_plan(restart: Plan, adoption: Adoption, findings: tuple[Finding, ...] = ()) -> Plan:
    """The plan that puts the copier in front; `restart` is the stop and restart with the input settings changed."""
    inputs = ", ".join(one for one, _ in adoption.routes)
    return _plan(
        restart,
        adoption,
        "adopt",
        tuple(_adopting(restart, adoption)),
        undo=(
            "until the start on the control topics: the application back on its inputs, the copier down, the control "
            "topics deleted",
            "afterwards: the way back, `adopt_control_topic` with mode abandon",
        ),
        title=f"control topics for {inputs}",
        findings=findings,
    )


def abandon_plan(restart: Plan, adoption: Adoption, findings: tuple[Finding, ...] = ()) -> Plan:
    """The plan that takes the copier out again; `restart` sets the settings back to the inputs."""
    inputs = ", ".join(one for one, _ in adoption.routes)
    return _plan(
        restart,
        adoption,
        "abandon",
        tuple(_abandoning(restart, adoption)),
        undo=(
            "until the start on the inputs: the application back on its control topics, the copier running",
            "afterwards: adopt again, with new control topics",
        ),
        title=f"back to {inputs} without control topics",
        findings=findings,
    )


def _plan(
    restart: Plan,
    adoption: Adoption,
    mode: AdoptMode,
    stages: tuple[Stage, ...],
    *,
    undo: tuple[str, ...],
    title: str,
    findings: tuple[Finding, ...],
) -> Plan:
    routes = ", ".join(f"{one} → {control}" for one, control in adoption.routes)
    return replace(
        restart,
        runbook=ADOPT,
        change=(("mode", mode), (COPIER, adoption.side.application), ("routes", routes), *restart.change),
        stages=tuple(replace(one, number=number) for number, one in enumerate(stages, 1)),
        findings=(*restart.findings, *findings),
        undo=undo,
        title=title,
        sides=(adoption.side,),
    )


def _adopting(restart: Plan, adoption: Adoption) -> Iterator[Stage]:
    runs, [bounce] = adoption.runs, restart.bounces
    inputs, library = tuple(one for one, _ in adoption.routes), _library(runs)
    committed, controls = tuple(zip(*adoption.committed, strict=True)) or ((), ())
    # Not by key: that would place records otherwise than a partitioner of a producer does.
    copies = tuple(sorted({**dict(runs.settings), MODE: SAME_PARTITION}.items()))
    until = tuple(sorted({**dict(copies), UNTIL: NOT_YET_KNOWN}.items()))
    yield CreateTopics(0, adoption.shapes)
    if adoption.history:
        yield SetOffsets(0, adoption.copier_group, inputs, "start", side=COPIER)
    else:
        like, reset = adoption.group, adoption.reset
        yield SetOffsets(0, adoption.copier_group, inputs, "group", like=like, reset=reset, side=COPIER)
    # It is down already: that no process of it lives is proven, and kept for the way back.
    yield StopAll(0, side=COPIER)
    yield StartAll(0, runs.release, copies, library, must_clear=True, side=COPIER)
    yield StopAll(0, side=COPIER)
    yield StopAll(0)
    if committed:
        yield SetOffsets(0, adoption.group, committed, "same", reset=adoption.reset)
    yield StartAll(0, runs.release, until, library, must_clear=True, side=COPIER)
    if controls:
        pairs = tuple((control, one) for one, control in adoption.committed)
        yield SetOffsets(0, adoption.group, controls, "end", pairs=pairs)
    yield from _cleared(adoption)
    # Before the application: if the copier does not start, everything can still be taken back.
    yield StartAll(0, runs.release, copies, library, must_clear=True, side=COPIER)
    yield StartAll(0, bounce.release, bounce.settings, bounce.library, must_clear=True)
    if committed:
        yield DeleteOffsets(0, adoption.group, committed, running=True)


def _abandoning(restart: Plan, adoption: Adoption) -> Iterator[Stage]:
    [bounce] = restart.bounces
    inputs, controls = tuple(zip(*adoption.committed, strict=True)) or ((), ())
    yield StopAll(0, side=COPIER, stays=adoption.runs.target)
    yield StopAll(0)
    if inputs:
        yield SetOffsets(0, adoption.group, inputs, "group", like=adoption.copier_group, pairs=adoption.committed)
    yield from _cleared(adoption)
    yield StartAll(0, bounce.release, bounce.settings, bounce.library, must_clear=True)
    if controls:
        yield DeleteOffsets(0, adoption.group, controls, running=True)


def _cleared(adoption: Adoption) -> Iterator[Stage]:
    """A global store restores from its topic: what it has of another topic has to go."""
    if adoption.globals:
        yield ClearState(0, deletes=TaskDirectories((GLOBAL,)))


def _library(runs: DeployedInstance) -> str:
    return "" if runs.version == runs.release else runs.version


def task_of_stage(plan: Plan, stage: Stage) -> str:
    """The id of the task that takes a stage of such a plan; empty for one that a task of its kind takes."""
    if stage.side != COPIER:
        return "copy_rest" if isinstance(stage, SetOffsets) and stage.to == "same" else ""
    starts = [one.number for one in plan.stages if isinstance(one, StartAll) and one.side == COPIER]
    if starts and stage.number <= starts[0]:
        return "copy_inputs"
    if isinstance(stage, StopAll):
        return "stop_copier"
    return "copy_rest" if stage.number == starts[1] else "start_copier"


def way_back_command(application: str, copier: str, mode: AdoptMode) -> str:
    """The command that takes a run of `mode` back once its application has started on the other topics."""
    other = "abandon" if mode == "adopt" else "adopt"
    words = ("kstreams-runbooks", "trigger", ADOPT, "--application", application)
    return pasted((*words, "--param", f"mode={other}", "--param", f"{COPIER}={copier}"))


def entry_lines(mode: AdoptMode, adoption: Adoption, settings: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The changes of the fleet entry that go with a run: `-` what it has, `+` what it needs.

    `settings` are its `input_settings`: a setting and the topic that it names now.
    """
    to = dict(adoption.routes) if mode == "adopt" else {control: one for one, control in adoption.routes}
    had, has = list(to), list(to.values())
    control = ((), has) if mode == "adopt" else (had, ())
    return (
        f"- inputs: [{', '.join(had)}]",
        f"+ inputs: [{', '.join(has)}]",
        f"- control: [{', '.join(control[0])}]",
        f"+ control: [{', '.join(control[1])}]",
        "- input_settings: {" + ", ".join(f"{name}: {topic}" for name, topic in settings) + "}",
        "+ input_settings: {" + ", ".join(f"{name}: {to.get(topic, topic)}" for name, topic in settings) + "}",
        *(f"- topics.{one} of each declared release" for one in had),
        *(f"+ topics.{one} of each declared release, with the same facts" for one in has),
    )
