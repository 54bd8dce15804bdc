"""Cutovers there and back under traffic, at random moments, some of them disturbed: no record lost, none twice."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kill.moments import Moment
from lab.stack import Stack
from world.cutting_over import (
    BACK,
    BLUE,
    DEPLOYED,
    FORTH,
    INSTANCES,
    NEW,
    OLD,
    approved,
    begun,
    held_s,
    killed,
    read_once,
)
from world.downstream import NAME, declare
from world.endings import completed
from world.runs import evidence, log_of, reached

Kind = Literal["plain", "killed", "restarted"]

# Tasks that are killed in their middle, each with what it touches.
_KILLS: tuple[tuple[str, Moment, tuple[str, ...]], ...] = (
    ("note_point", Moment.STOPPING, INSTANCES),
    ("pause_inputs", Moment.STOPPING, INSTANCES),
    ("certify", Moment.WORKING, INSTANCES),
    ("resume_inputs", Moment.WORKING, INSTANCES),
    ("move_downstream", Moment.STOPPING, (NAME,)),
)
# The group is restarted by its supervisor once this task has ended.
_RESTARTS = ("note_point", "compare_outputs", "pause_inputs", "stop_application", "resume_inputs")
_WAITS_S = 30.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is left to chance in one cutover: how long it waits, and what disturbs it at which task."""

    kind: Kind
    wait_s: float
    task: str


@dataclass(frozen=True, slots=True)
class CutOver:
    """One cutover: `now_reads` is what the group reads afterwards; `records` are all that it has read, each once.

    `held_s` has the seconds of both holds, `said` what `verify` reports about the old side and the group.
    """

    drawn: Drawn
    now_reads: str
    records: int
    held_s: tuple[float, ...]
    said: str
    fault: str = ""


def planned(seed: int, count: int) -> Iterator[Drawn]:
    """Half of them are not disturbed."""
    chance = random.Random(seed)
    kinds: tuple[Kind, ...] = ("plain", "plain", "killed", "restarted")
    for _ in range(count):
        kind = chance.choice(kinds)
        tasks = {"plain": ("",), "killed": tuple(task for task, *_ in _KILLS), "restarted": _RESTARTS}
        yield Drawn(kind, chance.uniform(0, _WAITS_S), chance.choice(tasks[kind]))


def cut_over_again(stack: Stack, plan: Sequence[Drawn], say: Callable[[CutOver], None]) -> list[CutOver]:
    """Every cutover of a plan, there and back in turns; the first fault ends it."""
    ended: list[CutOver] = []
    for number, drawn in enumerate(plan):
        ended.append(_one(stack, drawn, forth=number % 2 == 0))
        say(ended[-1])
        if ended[-1].fault:
            break
    return ended


def _one(stack: Stack, drawn: Drawn, *, forth: bool) -> CutOver:
    now_reads, said, records = (NEW if forth else OLD), "", 0
    held: tuple[float, ...] = ()
    time.sleep(drawn.wait_s)
    try:
        run_id = begun(stack, **(FORTH if forth else BACK))
        _disturbed(stack, run_id, drawn, before_approval=True)
        approved(stack, run_id)
        _disturbed(stack, run_id, drawn, before_approval=False)
        completed(stack, run_id)
        declare(stack, now_reads)
        held = tuple(held_s(evidence(stack, run_id)))
        said = "; ".join(_figures(stack, run_id))
        records = read_once(stack)
    except Exception as error:  # noqa: BLE001 - the table has every fault, of whatever kind
        return CutOver(drawn, now_reads, records, held, said, f"{type(error).__name__}: {error}"[:400])
    return CutOver(drawn, now_reads, records, held, said)


def _disturbed(stack: Stack, run_id: str, drawn: Drawn, *, before_approval: bool) -> None:
    early = drawn.task in {"note_point", "compare_outputs"}
    if drawn.kind == "plain" or early is not before_approval:
        return
    if drawn.kind == "killed":
        [(moment, touched)] = [(moment, touched) for task, moment, touched in _KILLS if task == drawn.task]
        killed(stack, run_id, drawn.task, moment, touched)
        return
    reached(stack, run_id, drawn.task, "success", 300)
    stack.supervisor.stop(NAME)
    stack.supervisor.start(NAME)


def _figures(stack: Stack, run_id: str) -> Iterator[str]:
    for line in log_of(stack, run_id, "verify").splitlines():
        for word in ("had no member for up to", "was down for"):
            if word in line:
                yield word + line.partition(word)[2].partition(":")[0]


def markdown(seed: int, ended: Sequence[CutOver]) -> str:
    """A summary, and a row for each cutover."""
    return "\n".join(_lines(seed, ended)) + "\n"


def _lines(seed: int, ended: Sequence[CutOver]) -> Iterator[str]:
    holds = sorted(seconds for one in ended for seconds in one.held_s)
    faults = sum(bool(one.fault) for one in ended)
    yield "# Cutover soak\n"
    yield f"Written by `make soak OF=cutover SEED={seed} COUNT={len(ended)}`."
    yield f"The group `{NAME}` writes down each record that it reads while {BLUE} and its second side take over"
    yield "from each other under traffic, at random moments. At rest after each cutover, every running count of every"
    yield "customer has been read exactly once, in one of both outputs. In a cutover of kind *killed* the process of a"
    yield "task is killed in its middle, and the task is cleared. In one of kind *restarted* the group's supervisor"
    yield "restarts it after a task."
    yield f"{BLUE} has {len(DEPLOYED.names)} instances.\n"
    yield "| cutovers | with a record lost or doubled, or a run that failed | records read, each once | inputs held |"
    yield "|---|---|---|---|"
    held = f"median {holds[len(holds) // 2]:.1f} s, longest {holds[-1]:.1f} s" if holds else ""
    yield f"| {len(ended)} | {faults} | {max((one.records for one in ended), default=0):,} | {held} |\n"
    yield "| cutover | kind | task | to | records so far | holds | old side and group | fault |"
    yield "|---|---|---|---|---|---|---|---|"
    for number, one in enumerate(ended, start=1):
        seconds = ", ".join(f"{seconds:.1f} s" for seconds in one.held_s)
        yield (
            f"| {number} | {one.drawn.kind} | {one.drawn.task} | {one.now_reads} | {one.records:,} | {seconds} | "
            f"{one.said} | {one.fault} |"
        )
