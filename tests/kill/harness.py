"""One row of the table: a run that is struck in the middle of its tasks, cleared, finished, and judged."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Self

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.errors import Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.properties import parse
from lab import application, kafka, processes, started_over
from lab.afresh import afresh
from lab.airflow import APPROVER, OTHER_APPROVER, REQUESTER
from lab.follow import follow
from lab.judge import judged
from lab.report import FAULTS
from lab.second import INSTANCE, is_declared, second_application
from lab.stack import TRAFFIC, Stack
from lab.supervise import until
from world.adopting import copier_deployed, is_deployed
from world.given import declared_as
from world.grown import at_rest, behind_its_copier, compared, is_behind_its_copier, spark_here
from world.two_sides import TOPIC, Found, found

from kill.moments import Kill, Missed, Target
from kill.runbooks import Before, Scenario

_WARM_UP_S = 5
# A task that is over sooner than it can be killed is cleared and tried again.
_TRIES = 4
_CLEARS = 3
_FINISHED_S = 900
_STOPPED_S = 60
_TASK_ENDS_S = 300
_COMPLETED = "completed"
_UNDO = "undo"


@dataclass(frozen=True)
class Strike:
    """What is done to one task of a run: `give` waits for the middle of a try later than the one it is given."""

    task: str
    give: Callable[[Target, int], Kill]


@dataclass(frozen=True)
class Struck:
    """One kill and how the run went on after it."""

    kill: Kill
    went_on: str


@dataclass(frozen=True)
class Row:
    """What a struck run came to; `faults` is everything that should not be, empty for a good row.

    `task` is the task that was killed, or the name of the row.
    """

    task: str
    run_id: str
    kills: tuple[Struck, ...]
    outcome: str
    inputs_seen: int | None
    judge: dict[str, int | None]
    faults: tuple[str, ...]
    seconds: float


def tried(
    stack: Stack, dag_id: str, scenario: Scenario, name: str, strikes: Sequence[Strike], say: Callable[[str], None]
) -> Row:
    """Set the application up, run the runbook under traffic, give it each strike in turn, finish, judge."""
    began = time.monotonic()
    with declared_as(stack, limits=dict(scenario.limits), **scenario.fields(stack.lab)), ExitStack() as second:
        if scenario.grows:
            second.enter_context(spark_here(stack))
            second.enter_context(behind_its_copier(stack))
        else:
            afresh(stack, scenario.deployed)
        if scenario.new_outputs:
            kafka.create_topics(stack.lab.bootstrap, started_over.outputs(scenario.new_outputs).values())
        if scenario.second:
            second.enter_context(second_application(stack))
        if scenario.adopts:
            second.enter_context(copier_deployed(stack))
        before = found(stack) if scenario.second else None
        run_id = _triggered(stack, dag_id, scenario)
        target = Target(stack, dag_id, run_id, strikes[0].task, scenario.touched)
        struck: list[Struck] = []
        broke: list[str] = []
        try:
            for one in _struck(target, strikes, scenario):
                say(f"{one.kill.task}: {one.kill.moment}, {one.kill.after_s} s after its start; {one.went_on}")
                struck.append(one)
        except RunbookError as error:
            broke.append(f"the run did not come to a good end: {error}")
            _end(stack, dag_id, run_id)
        if before:
            broke += _taken_back(target, before)
        return _row(target, scenario, name, struck, broke, began)


def _taken_back(target: Target, before: Found) -> Iterator[str]:
    """What an undo of the run, or the run if it is one, has not brought back."""
    if target.dag_id != _UNDO:
        run_id = _trigger(target.stack, _UNDO, {"run": target.run_id})
        state = _follow(target.stack, _UNDO, run_id)
        if state != "success":
            yield f"its undo {run_id} ended {state}: {Ledger.open().run(f'{_UNDO}/{run_id}').outcome_sentence}"
    now = found(target.stack)
    if now.topic_id != before.topic_id:
        yield f"topic {TOPIC} is still there (id {now.topic_id})"
    if now.offsets != before.offsets:
        yield f"offsets are {now.offsets} (before {before.offsets})"
    if now.pid is None:
        yield f"{INSTANCE} is stopped"


def _follow(stack: Stack, dag_id: str, run_id: str, **how: Any) -> str:
    """The state in which a run ends; an approver of each team that is declared answers."""
    asks_both = is_declared(stack) or is_deployed(stack) or is_behind_its_copier(stack)
    others = (stack.api(OTHER_APPROVER),) if asks_both else ()
    return follow(stack.api(), dag_id, run_id, approver=stack.api(APPROVER), others=others, **how)


def _triggered(stack: Stack, dag_id: str, scenario: Scenario) -> str:
    if not scenario.grows:
        stack.start_traffic()
        time.sleep(_WARM_UP_S)
    earlier = _before(stack, scenario.before) if scenario.before else {}
    return _trigger(stack, dag_id, {**scenario.params, **earlier})


def _before(stack: Stack, before: Before) -> dict[str, str]:
    """Bring an earlier run to where the scenario wants it, and end it there by hand."""
    run_id = _trigger(stack, before.runbook, before.params)

    def reached() -> None:
        if stack.api().tasks(before.runbook, run_id)[before.until]["state"] == "success":
            raise _Reached

    try:
        state = _follow(stack, before.runbook, run_id, each_time=reached)
    except _Reached:
        _end(stack, before.runbook, run_id)
        # A task that is in the middle of a change goes on until Airflow stops it: an undo from before that is refused.
        until(lambda: not _is_at_work(stack, before.runbook, run_id), _STOPPED_S, f"no task of {run_id} is at work")
        return {before.given_as: run_id}
    raise Refused(f"{before.runbook} ended {state} before {before.until} had succeeded; it has to come so far first")


def _is_at_work(stack: Stack, dag_id: str, run_id: str) -> bool:
    """Whether a task of a run has a process."""
    tasks = stack.api().tasks(dag_id, run_id).values()
    return any(processes.task_process(stack, task["id"]) for task in tasks)


class _Reached(Exception):
    """The earlier run is where it has to be."""


def _trigger(stack: Stack, dag_id: str, params: Any) -> str:
    conf = {"application": "orders", "dry_run": False, "reason": "test-kill", **params}
    return stack.api(REQUESTER).trigger(dag_id, conf, f"kill-{time.time_ns()}")


class _Followed:
    """A run that somebody follows and approves in the background, while it is waited for and killed here."""

    def __init__(self, target: Target, quiet_from: str) -> None:
        self._pool, self._target, self._quiet_from = ThreadPoolExecutor(1), target, quiet_from
        self._given_up = threading.Event()
        self._follow()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._given_up.set()
        self._pool.shutdown()

    def _follow(self) -> None:
        target = self._target
        self._state: Future[str] = self._pool.submit(
            _follow,
            target.stack,
            target.dag_id,
            target.run_id,
            each_time=self._go_on,
            limit_s=_FINISHED_S,
        )

    def _go_on(self) -> None:
        if self._given_up.is_set():
            raise Refused("nobody follows this run any more")
        stack = self._target.stack
        if self._quiet_from and stack.supervisor.pid(TRAFFIC) is not None and self._has_begun(self._quiet_from):
            # Its last records are sent; while brokers are away it waits for them.
            stack.stop_traffic()

    def _has_begun(self, task_id: str) -> bool:
        tasks = self._target.stack.api().tasks(self._target.dag_id, self._target.run_id)
        return tasks[task_id]["start_date"] is not None

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, or has lost the thread that follows it."""
        return self._state.done()

    def ended(self) -> str:
        """The state in which it ended."""
        return self._state.result()

    def clear(self, task_id: str) -> None:
        """Clear a task with what follows it, and follow the run again if it had ended."""
        self._target.stack.api().clear(self._target.dag_id, self._target.run_id, task_id)
        if self._state.done():
            self._follow()


def _struck(target: Target, strikes: Sequence[Strike], scenario: Scenario) -> Iterator[Struck]:
    """Each kill and how the run went on after it; once the last is given, the run has ended well."""
    tries: dict[str, int] = {}
    with _Followed(target, scenario.quiet_from) as run:
        for one, following in zip(strikes, (*strikes[1:], None), strict=True):
            aimed = replace(target, task=one.task)
            kill = _strike(run, aimed, one, tries.get(one.task, 0))
            tries[one.task] = kill.try_number
            if following is not None and following.task != one.task and _passed(run, aimed):
                yield Struck(kill, _by_itself(aimed, kill))
            else:
                yield Struck(kill, _went_on(run, aimed, kill, last=following is None))


def _passed(run: _Followed, target: Target) -> bool:
    """Whether the struck task succeeds while its run goes on: the next strike is on a later task."""

    def over() -> bool:
        return run.is_over or target.now()["state"] in {"success", "failed"}

    until(over, _TASK_ENDS_S, f"{target.task} of {target.run_id} ends", poll_s=0.5)
    return not run.is_over and target.now()["state"] == "success"


def _strike(run: _Followed, target: Target, strike: Strike, after_try: int) -> Kill:
    for _ in range(_TRIES - 1):
        try:
            return strike.give(target, after_try)
        except Missed:
            after_try = target.now()["try_number"]
            # Another task may have failed before this one could begin.
            failed = run.is_over and run.ended() != "success"
            run.clear(_to_clear(target) if failed else target.task)
    return strike.give(target, after_try)


def _went_on(run: _Followed, target: Target, kill: Kill, *, last: bool) -> str:
    """Clear what failed and, after the last kill, follow the run to its good end; Refused where it comes to none."""
    cleared: list[str] = []
    while run.ended() != "success":
        if len(cleared) == _CLEARS:
            raise Refused(f"{target.run_id} fails again after {', '.join(cleared)} were cleared")
        outcome = Ledger.open().run(target.run_key).outcome
        failed = _to_clear(target)
        cleared.append(f"{failed} ({outcome or 'no outcome yet'})")
        run.clear(failed)
        if not last:
            break
    return f"failed, cleared {', '.join(cleared)}" if cleared else _by_itself(target, kill)


def _by_itself(target: Target, kill: Kill) -> str:
    again = target.now()["try_number"] > kill.try_number
    return "tried again by itself" if again else "went on by itself"


def _to_clear(target: Target) -> str:
    """What a person clears: what the outcome names, else the killed task if it failed, else the first that did."""
    named = re.search(r"clear `(\w+)`", Ledger.open().run(target.run_key).outcome_sentence or "")
    if named:
        return named[1]
    tasks = target.stack.api().tasks(target.dag_id, target.run_id)
    failed = [name for name, task in tasks.items() if task["state"] == "failed"]
    if target.task in failed:
        return target.task
    if not failed:
        raise Unreachable(f"{target.run_id} failed without a failed task")
    return min(failed, key=lambda name: str(tasks[name]["end_date"]))


def _end(stack: Stack, dag_id: str, run_id: str) -> None:
    """Mark the run failed, as a person does who gives it up: what it holds is then free."""
    stack.api().call("PATCH", f"/dags/{dag_id}/dagRuns/{run_id}", {"state": "failed"})


def _row(target: Target, scenario: Scenario, name: str, struck: list[Struck], broke: list[str], began: float) -> Row:
    record = Ledger.open().run(target.run_key)
    faults = [*broke]
    if record.outcome != _COMPLETED:
        faults.append(f"outcome {record.outcome} (expected {_COMPLETED}): {record.outcome_sentence}")
    faults += [f"{hold.resource} is still held by {hold.run_key}" for hold in Ledger.open().holds()]
    faults += [fault for one in struck for fault in one.kill.faults]
    faults += _unwell(target.stack, scenario)
    inputs, judge, more = _of_growth(target) if scenario.grows else _of_outputs(target, scenario)
    faults += more
    return Row(
        name,
        target.run_id,
        tuple(struck),
        str(record.outcome),
        inputs,
        judge,
        tuple(faults),
        round(time.monotonic() - began, 1),
    )


def _of_outputs(target: Target, scenario: Scenario) -> tuple[int | None, dict[str, int | None], list[str]]:
    """What the judge has seen and counted, and what is wrong."""
    new, unjudged = scenario.new_outputs, dict.fromkeys(FAULTS)
    try:
        found = judged(target.stack, topics=started_over.judged_outputs(new) if new else ())
    except RunbookError as error:
        return None, unjudged, [f"not judged: {error}"]
    document, faults = found.document, list[str]()
    if found.code and not (new and found.only_late_windows):
        faults.append(f"judge: {document['verdict']} ({found.faults() or 'no faults'})")
    if scenario.quiet_from:
        faults += written_later(target)
    return document["inputs_seen"], {fault: document[fault] for fault in FAULTS}, faults


def _of_growth(target: Target) -> tuple[int | None, dict[str, int | None], list[str]]:
    """The counts next to the forecast: the judge takes each key that begins anew for a fault."""
    try:
        at_rest(target.stack)
        events, wrong = compared(target.stack, target.run_id)
    except RunbookError as error:
        return None, dict.fromkeys(FAULTS), [f"not compared: {error}"]
    return events, dict.fromkeys(FAULTS, None if wrong else 0), wrong


def written_later(target: Target) -> Iterator[str]:
    """Outputs with a record that brokers appended after the certificate: it was false."""
    found = Ledger.open().evidence(target.run_key, kind="verdict", name=certified.__name__)
    given = [one for one in found if one.payload["result"]["outcome"] == Outcome.PROCEED]
    if not given:
        yield "no certificate was given"
        return
    for topic in kafka.OUTPUTS:
        later = sum(one.at_ms > given[-1].at_ms for one in kafka.appended(target.stack.lab.bootstrap, topic))
        if later:
            yield f"false certificate: {later:,} records were appended to {topic} after it"


def _unwell(stack: Stack, scenario: Scenario) -> Iterator[str]:
    """Every instance that does not run what it should after the run."""
    for number, name in enumerate(scenario.deployed.names, start=1):
        streams = application.streams(stack.lab, number)
        if stack.supervisor.pid(name) is None:
            yield f"{name} is stopped"
        elif isinstance(streams, Missing):
            yield f"{name}: {streams.missing}"
        elif (streams.state, streams.version) != ("RUNNING", scenario.library or scenario.release):
            yield f"{name}: {streams.state} on {streams.version} (expected RUNNING on {scenario.release})"
        declared = parse((stack.lab.instances / name / "deployment.properties").read_text(encoding="latin-1"))
        expected = {"release": scenario.release, **scenario.settings}
        if declared != expected:
            yield f"{name}: declared {declared} (expected {expected})"
