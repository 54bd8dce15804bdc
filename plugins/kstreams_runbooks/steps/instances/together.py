"""Stops every instance together, and starts them again: a changed set of internal or source topics needs this.

The group is EMPTY in between. A static member that came back before that would get its old assignment, run without
progress, and end in ERROR (tests/long/test_changed_topics.py).
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.act.instance import ProcessStart, RestartTimes, clear, process_start, restart
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.decide.instances.rolling import in_place
from kstreams_runbooks.decide.plans.undo import deployed_as
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.deployers.requests import for_one_start
from kstreams_runbooks.errors import Inconclusive, NotStarted, Refused, RunbookError, StillUp
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
)
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.patience import going_on
from kstreams_runbooks.steps.instances.bring import known, let_it_start, require_as_planned, require_restored
from kstreams_runbooks.steps.instances.set_back import after_failed_start, note_at_rest
from kstreams_runbooks.steps.instances.untouched import keep_untouched, note_state, still_up
from kstreams_runbooks.steps.plan.before import require_still_writable, stopped_for_good, stops
from kstreams_runbooks.steps.plan.cards import had_before, last_card, members_in_group, write_card
from kstreams_runbooks.steps.plan.fitting import require_topics_still
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.plan.killed import ProcessEnds, ends_of_instance, keep_cleared, killed_requests
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.cleaned_up import require_not_kept, stage_at_start, stopped_if_kept
from kstreams_runbooks.steps.stages.cleared import require_still_gone
from kstreams_runbooks.steps.stages.order import task_of
from kstreams_runbooks.steps.stages.person import require_cleared
from kstreams_runbooks.wording import first_of

# The note of the processes that this run has started, as each was first seen: a later one has counters of its own.
FIRST_SEEN = "first seen"
# A member that may not be removed (its instance could not be read) is gone after its session timeout, 45 s by default.
_EMPTY_CEILING_S = 120
_LOOK_EVERY_S = 0.5
# Each waits for another process: more threads than processors do no harm.
_THREADS = 32

_T = TypeVar("_T")


def stop_all(run: Run, bounce: Bounce) -> None:
    """Stop every instance that this run has not started yet, then remove remaining members until the group is EMPTY.

    Refused or Inconclusive, and nothing changed, if a guard refuses. Safe to run again in any state.
    """
    reading = run.read(describes=False)
    # A plan may stop a side twice: what was started after the stop before this is stopped again.
    going = [
        one
        for one in reading.instances
        if not (_is_stopped_for(run, one, bounce) and started_by(run, one, bounce, reading.taken.at_ms))
    ]
    if len(going) < len(reading.instances):
        _require_down(going)
        run.say("all instances were stopped and the group was EMPTY; this run has begun to start them: nothing to stop")
        return
    _guard(run, reading, bounce)
    if run.plan().stays_down_as is None:
        # What stays down needs no topic.
        require_topics_still(run, reading, "nothing is stopped")
    stopped_for_good(run, reading, required=stops(run.plan()))
    for instance in going:
        require_restored(run, instance)
    if not any(map(_is_down, going)):
        # Once one is down, a broker that fell back must not keep the run from its start.
        require_still_writable(run)
    members: dict[str, MemberReading] = {}
    for instance in going:
        own = members_in_group(run, reading, instance)
        members |= {member.member_id: member for member in own}
        write_card(run, reading, instance, bounce, own, instance.streams.start)
    names = [one.instance for one in going]
    if not run.deployer.abilities.act:
        _request(run, going, [run.deployer.request("stop", name) for name in names], _is_down)
    run.say(f"{', '.join(names)}: stop, all at once")
    began = now_ms()
    if run.deployer.abilities.act:
        _stop_each(run, going)
    for instance in going:
        note_state(run, bounce, instance)
    starts = {one.instance: process_start(one.deployment) for one in going if isinstance(one.deployment, Deployment)}
    run.keep("write", "stop", {"instances": names, "requested_ms": began, "down_ms": now_ms(), "starts": starts})
    run.say(f"{', '.join(names)}: down after {now_ms() - began} ms")
    _empty(run, tuple(members.values()))


def start_all(run: Run, bounce: Bounce) -> None:
    """Set every instance to `bounce` and start them together; those that this run has started already are left alone.

    If the bounce `must_clear`, none is started before its local state is deleted on each of them. If the application
    deletes it itself as it starts, they start one after another (steps/stages/cleaned_up.py).

    Refused if an instance that this run did not start is up: then the group has not stayed EMPTY.
    """
    reading = run.read(describes=False)
    waiting = [one for one in reading.instances if not started_by(run, one, bounce, reading.taken.at_ms)]
    require_not_kept(run, [one.instance for one in reading.instances if one not in waiting])
    _require_down(waiting)
    if len(waiting) == len(reading.instances):
        _require_empty(run, reading)
    _guard(run, reading, bounce)
    if bounce.must_clear and bounce.clears is not None and not run.deployer.abilities.act:
        # Nothing shows that state is gone, and on kept state an instance could lose data: an answer has to.
        require_cleared(run, bounce)
    if not waiting:
        run.say("every instance has been started by this run already")
        return
    require_topics_still(run, reading, f"{', '.join(one.instance for one in waiting)} not started", down=True)
    names = [one.instance for one in waiting]
    require_still_gone(run, names)
    note_at_rest(run, bounce)
    run.keep("note", START_BEGUN, {"bounce": bounce.number, "instances": names})
    if not run.deployer.abilities.act:
        cleared = [] if bounce.must_clear else _cleared_requests(run, bounce, names)
        cleared += [one for name in names for one in killed_requests(run, name)]
        wanted = [run.deployer.request("deploy", name, bounce.target, once=bounce.once) for name in names]
        _request(run, waiting, [*cleared, *wanted], lambda _: False)
    clears = bounce.clears
    if bounce.must_clear and clears is not None:
        _clear_all(run, names, clears)
        clears = None
    try:
        _start_each(run, bounce, names, clears)
    except NotStarted as error:
        after_failed_start(run, bounce, names, error.cause, clears=task_of("stop_all", bounce.side), together=True)
        raise
    if not (run.application.as_deployed or bounce.side):
        # The next task of this run would take its processor time from the starting instances.
        with ThreadPoolExecutor(max_workers=min(_THREADS, len(names))) as pool:
            seen = dict(zip(names, pool.map(partial(let_it_start, run), names), strict=True))
        _note_first(run, seen)
    _require_one_up(run, bounce, names)


def _note_first(run: Run, seen: dict[str, Start | None]) -> None:
    """Note the first process of each instance; one whose Streams client was not seen yet may answer for itself."""
    if None in seen.values():
        # What is not seen is not known later: it ends no start.
        with suppress(RunbookError):
            now = {one.instance: one.streams.start for one in run.read(describes=False).instances}
            seen = {name: start or now.get(name) for name, start in seen.items()}
    first = {name: start for name, start in seen.items() if start is not None}
    run.keep("note", FIRST_SEEN, {"application": run.record.application, "starts": first})


def _require_one_up(run: Run, bounce: Bounce, names: list[str]) -> None:
    """Refused if every instance has ended within a moment of its start on another release."""
    if not bounce.back:
        return
    down = [one.down for one in run.read(describes=False).instances if one.instance in names and one.down]
    if len(down) == len(names):
        cause = f"{'; '.join(down)} a moment after its start; read its log"
        after_failed_start(run, bounce, names, cause, clears=task_of("stop_all", bounce.side), together=True)


def _start_each(run: Run, bounce: Bounce, names: list[str], clears: TaskDirectories | None) -> None:
    """Start them all at once; one after another if each deletes its state itself, and has to be seen."""
    was, ends = _before_the_stop(run), _ends(run, bounce)

    def start(deployer: Deployer, name: str) -> RestartTimes:
        return restart(
            deployer,
            name,
            bounce.target,
            remove_members=None,
            clears=clears,
            must_clear=bounce.must_clear,
            once=bounce.once,
            log=run.say,
            had=had_before(run, name),
            was=was.get(name),
            left=ends.get(name),
        )

    at_start = stage_at_start(run) is not None
    run.say(f"{', '.join(names)}: start with {bounce.deployed}, {'one after another' if at_start else 'all at once'}")
    for some in [[name] for name in names] if at_start else [names]:
        with stopped_if_kept(run, some[0]):
            started = _in_threads(run, some, start)
            for name, future in started.items():
                if future.exception() is None:
                    times = encode(future.result())
                    run.keep("write", "restart", {"instance": name, "bounce": bounce.number, "times": times})
            for name in some:
                keep_cleared(run, ends.get(name))
            _raise_first(started)


def _ends(run: Run, bounce: Bounce) -> dict[str, ProcessEnds]:
    """The decisions about what each process has left, by instance; none if no defect needs them."""
    if not run.plan().after_kill:
        return {}
    found = (
        ends_of_instance(run, one, bounce.version, run.new_deployer()) for one in run.read(describes=False).instances
    )
    return {one.instance: one for one in found if one is not None}


def _stop_each(run: Run, going: list[InstanceReading]) -> None:
    """Stop each of them; the error of the first one that was not stopped, or whose process still lives."""
    by_name = {one.instance: one for one in going}

    def stop(deployer: Deployer, name: str) -> None:
        with going_on(f"{name}: stops", run.say):
            deployer.stop(name)
        if why := still_up(run, by_name[name]):
            raise StillUp(f"{name}: its deployer reported its end, but {why}; look at it")

    ended = _in_threads(run, list(by_name), stop)
    if failed := [by_name[name] for name, future in ended.items() if future.exception() is not None]:
        keep_untouched(run, failed)
    _raise_first(ended)


def _before_the_stop(run: Run) -> dict[str, ProcessStart]:
    """The processes that this run stopped together, by instance: a start must not report one of them."""
    found: dict[str, ProcessStart] = {}
    for one in run.ledger.evidence(run.key, kind="write", name="stop"):
        # A rerun of the stop finds them down.
        found |= {name: (start[0], start[1]) for name, start in one.payload["starts"].items() if start}
    return found


def _require_empty(run: Run, reading: ApplicationReading) -> None:
    """Refused or Inconclusive if the group is not EMPTY.

    Only a proof is kept: a look that failed must not void the proof of the stop, or no rerun could start again.
    """
    group, name = reading.group, run.application.application_id
    found = group_is_empty(group, name)
    if found.outcome is Outcome.PROCEED:
        run.decide(group_is_empty, group=group, group_id=name)
    run.demand(found)


def _clear_all(run: Run, names: list[str], clears: TaskDirectories) -> None:
    """Delete the local state of every instance; Refused, and none is started, if one of them is not cleared."""
    run.say(f"{', '.join(names)}: {clears.what} is deleted before any of them starts")
    ended = _in_threads(run, names, lambda deployer, name: clear(deployer, name, clears))
    cleared = [name for name, future in ended.items() if future.exception() is None]
    run.keep("write", "clear", {"instances": cleared, "what": clears.what})
    if len(cleared) < len(names):
        run.say("no instance is started")
    _raise_first(ended)


def _request(
    run: Run, instances: list[InstanceReading], requests: list[str], done: Callable[[InstanceReading], bool]
) -> None:
    """If a person deploys: request it. Refused until it is observed and the task is cleared."""
    if all(done(one) for one in instances):
        return
    for one in requests:
        run.say(f"PLEASE {one}")
    notify(run, needs_you, asks=f"{run.task_id}: do it, then clear it", lines=requests)
    # The sentence is read where the lines above it are not: as the outcome, in the note, in the last message.
    raise Refused(
        f"{run.task_id} waits for a person: {first_of(requests, 4, '; ')}; do it, then clear {run.task_id} and what "
        "follows it"
    )


def _cleared_requests(run: Run, bounce: Bounce, names: Iterable[str]) -> list[str]:
    """The requests to delete local state, one for each instance; none if the bounce deletes nothing."""
    if (clears := bounce.clears) is None:
        return []
    return [run.deployer.request("clear_state", name, directories=clears.names) for name in names]


def _is_down(instance: InstanceReading) -> bool:
    return isinstance(instance.deployment, Deployment) and is_down(instance.deployment.process)


def _require_down(instances: Iterable[InstanceReading]) -> None:
    for instance in instances:
        if isinstance(instance.deployment, Missing):
            raise Inconclusive(f"{instance.instance} is not touched: {instance.deployment.missing}")
        if not _is_down(instance):
            raise Refused(
                f"{instance.instance} is up, but not well on what this run starts it with (expected down): stop it "
                "manually, then clear this step and what follows it"
            )


def started_by(run: Run, instance: InstanceReading, bounce: Bounce, at_ms: int) -> bool:
    """Whether an instance runs a start that this run made after the group was EMPTY."""
    card = last_card(run, instance.instance)
    if card is None or not in_place(instance, bounce, at_ms):
        return False
    if isinstance(instance.streams, Missing) and instance.streams.start is None:
        raise Inconclusive(f"which start it runs cannot be read: {instance.silent}")
    proven = [
        piece
        for piece in run.verdicts(group_is_empty.__name__)
        if piece.payload["result"]["outcome"] == Outcome.PROCEED and piece.id > card.entry
    ]
    return bool(proven) and instance.streams.start != instance_facts(card).previous


def _is_stopped_for(run: Run, instance: InstanceReading, bounce: Bounce) -> bool:
    """Whether the last card of an instance is that of its stop before this start."""
    card = last_card(run, instance.instance)
    return card is not None and instance_facts(card).bounce == bounce.number


def has_started(run: Run, bounce: Bounce) -> bool:
    """Whether this run has begun to start the instances on a bounce; all of them may have died since."""
    reading = run.read(describes=False)
    if any(started_by(run, one, bounce, reading.taken.at_ms) for one in reading.instances):
        return True
    begun = run.ledger.evidence(run.key, kind="note", name=START_BEGUN)
    return any(note.payload["bounce"] == bounce.number for note in begun) and any(
        deployed_as(one, bounce) for one in reading.instances
    )


def rehearse_at_once(run: Run, bounce: Bounce) -> None:
    """What a real run would do, through clients that only record it."""
    _record_stop(run)
    _record_start(run, bounce)
    _rehearsed(run)


def rehearse_stop(run: Run) -> None:
    """The same for the stop alone."""
    _record_stop(run)
    _rehearsed(run)


def rehearse_start(run: Run, bounce: Bounce) -> None:
    """The same for the start alone."""
    _record_start(run, bounce)
    _rehearsed(run)


def _record_stop(run: Run) -> None:
    for name in run.plan().facts.instances:
        run.deployer.stop(name)
    run.deployer.would_write.append(f"remove every member of group {run.application.application_id} until it is EMPTY")


def _record_start(run: Run, bounce: Bounce) -> None:
    if (clears := bounce.clears) is not None:
        run.deployer.would_write += [f"delete {clears.what} of {name}" for name in run.plan().facts.instances]
    for name in run.plan().facts.instances:
        run.deployer.apply(name, bounce.target)
        run.deployer.check_start(name, bounce.once)
        run.deployer.would_write.append(f"start {name}{for_one_start(bounce.once)}")


def _rehearsed(run: Run) -> None:
    for line in run.deployer.would_write:
        run.say(f"would {line}")
    run.keep("write", "rehearsed", {"would_write": list(run.deployer.would_write)})


def _guard(run: Run, reading: ApplicationReading, bounce: Bounce) -> None:
    """No instance is changed before every instance may be: what a deployer would refuse later is refused here too."""
    for instance in reading.instances:
        known(instance)
    require_as_planned(run, bounce, reading, reading.instances[0].instance, "nothing more is touched")
    for instance in reading.instances:
        run.deployer.check_apply(instance.instance, bounce.target)
        run.deployer.check_start(instance.instance, bounce.once)
        if bounce.clears is not None:
            run.deployer.check_clear_state(instance.instance, bounce.clears.names)


def _empty(run: Run, members: tuple[MemberReading, ...]) -> None:
    """Remove the members of the stopped instances, and wait until the coordinator reports an empty group."""
    group_id = run.application.application_id
    if members and run.plan().facts.group_type.lower() == "streams":
        # KIP-1071 has no request for that; a stop that is clean makes them leave.
        run.say(f"group {group_id} is a streams group: its members leave, at their session timeout at the latest")
        members = ()
    removed = GroupWriter(run.kafka, dry_run=run.dry_run).remove_members(group_id, members) if members else ()
    if removed:
        run.say(f"group {group_id}: {len(removed)} members of the stopped instances removed")

    def look() -> tuple[GroupReading | Missing, Verdict]:
        with run.reader() as reader:
            found = reader.group(group_id)
        return found, group_is_empty(found, group_id)

    pace = Pace(_LOOK_EVERY_S, _EMPTY_CEILING_S)
    group = poll(run, pace, look, lambda verdict: verdict.outcome is Outcome.PROCEED)
    verdict = run.decide(group_is_empty, group=group, group_id=group_id)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} {_EMPTY_CEILING_S} s after all instances were stopped; end what "
            f"is still in group {group_id}, then clear {run.task_id} and what follows it"
        )
    run.demand(verdict)


def _in_threads(run: Run, names: list[str], do: Callable[[Deployer, str], _T]) -> dict[str, Future[_T]]:
    """Do the same for every instance at the same time, each with its own deployer; returns when all have ended."""
    with ThreadPoolExecutor(max_workers=min(_THREADS, len(names))) as pool:
        return {name: pool.submit(do, run.new_deployer(), name) for name in names}


def _raise_first(ended: dict[str, Future[_T]]) -> None:
    """Raise the error of the first instance that failed; it names each other failed instance."""
    failed = {name: error for name, future in ended.items() if (error := future.exception()) is not None}
    for first in failed.values():
        others = [f"{name}: {error}" for name, error in failed.items() if error is not first]
        if others and isinstance(first, RunbookError):
            raise type(first)(f"{first}; {'; '.join(others)}") from first
        raise first
