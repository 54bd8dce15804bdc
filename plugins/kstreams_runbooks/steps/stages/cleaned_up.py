"""Local state that the application deletes itself as it starts (`KafkaStreams#cleanUp`), if the plan has that.

1. While every instance is down, and before the first topic is deleted, the age of its local state is noted.
2. Instances start one after another, each with the setting for that start alone.
3. Right after a start, before any gate: all local state of the instance has to be newer than what was noted. It may be
   older only until its Streams client has begun. Usually it has no task by then: brokers delay the first rebalance of
   an EMPTY group (group.initial.rebalance.delay.ms, 3 s by default). Nothing proves that.
4. If it kept state, or that cannot be read, it is stopped at once, then every other instance, and no start of this run
   follows: the new internal topics may have records of that state. Another run deletes them again.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from kstreams_runbooks.decide.reset.cleaned_up import has_begun, is_untouched, may_clean_up, state_is_new
from kstreams_runbooks.errors import Refused, RunbookError
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.runs.cards import StateCleared
from kstreams_runbooks.model.runs.stages import ClearState
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.patience import going_on
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.cleared import lost_stores

_NOTED, _KEPT = "local state before its start", "local state that was kept"
_TOPIC_DELETED = "topic_deleted"
# From the start of a process to its Streams client: a JVM on a busy machine.
_CLIENT_S = 60
_LOOK_EVERY_S = 0.1
_AGAIN = (
    "correct `clean_up` of the fleet entry, or choose the deployer (cleared_by), then trigger reset_and_cleanup again, "
    "which does all of it once more"
)


def stage_at_start(run: Run) -> ClearState | None:
    """The stage of the plan that leaves the deletion to the start of each instance, None without one."""
    return next((one for one in run.plan().stages if isinstance(one, ClearState) and one.at_start), None)


def require_may_clean_up(run: Run) -> tuple[LocalTimes, ...]:
    """The age of all local state; Refused or Inconclusive if nothing would show that it is gone after a start."""
    local = tuple(local_times(run, one.name) for one in run.application.deployer.instances)
    run.demand(run.decide(may_clean_up, local=local))
    return local


def note_state(run: Run) -> None:
    """Note the local state of every instance while all are down; a rerun keeps the first note."""
    run.ledger.remember(run.key, _NOTED, encode(require_may_clean_up(run)))


def require_not_kept(run: Run, begun: Iterable[str]) -> None:
    """Refused if an instance of this run has kept state; those that it has `begun` to start are seen once more."""
    if kept := run.ledger.recall(run.key, _KEPT):
        raise Refused(f"{kept}: this run starts no instance again; {_AGAIN}")
    for name in begun if stage_at_start(run) else ():
        with stopped_if_kept(run, name):
            run.say(f"{name}: an earlier try has started it, and may have ended before its state was seen")


@contextmanager
def stopped_if_kept(run: Run, name: str) -> Iterator[None]:
    """Let the body start an instance, and look at its state; Refused, and all instances stopped, if it kept any."""
    stage = stage_at_start(run)
    if stage is None:
        yield
        return
    facts = StateCleared(name, stage.deletes, lost_stores(run))
    Announced(run, stage).write(name, facts, f"{name}: {stage.deletes.what} deleted by itself at its start")
    try:
        yield
        verdict = _seen(run, name)
    except BaseException as error:
        # Without the setting it may have begun on kept state; if it used none of it, a rerun may start it.
        if not (_is_stopped(run, name) and is_untouched(local_times(run, name), _noted(run, run.key))):
            _stop_all(run, name, f"{name}: its state was not seen ({error or type(error).__name__})")
        raise
    if verdict.outcome is not Outcome.PROCEED:
        _stop_all(run, name, verdict.text)
    run.say(verdict.sentence)


def require_new_state(run: Run) -> None:
    """Refused or Inconclusive if an instance has state from before, though the plan has it deleted at the start."""
    if stage_at_start(run) is None:
        return
    now = tuple(local_times(run, one.name) for one in run.application.deployer.instances)
    run.demand(run.decide(state_is_new, now=now, noted=_noted(run, run.key)))


def require_newer_than_topics(run: Run, undone: str) -> None:
    """Refused if an undo would start on the local state of before a run deleted its changelogs.

    `undone` is the key of the run that is taken back.
    """
    noted = run.ledger.recall(undone, _NOTED)
    if noted is None or not any(card.kind == _TOPIC_DELETED for card in run.ledger.cards(undone)):
        return
    if kept := run.ledger.recall(undone, _KEPT):
        raise Refused(f"{kept}; {_AGAIN}")
    now = tuple(local_times(run, one.name) for one in run.application.deployer.instances)
    verdict = run.decide(state_is_new, now=now, noted=_noted(run, undone))
    if verdict.outcome is not Outcome.PROCEED:
        raise Refused(
            f"{verdict.text}; with new internal topics it would go on from that state: let run {undone} go on, delete "
            "the state, or trigger reset_and_cleanup again"
        )


def _seen(run: Run, name: str) -> Verdict:
    """Whether all local state of an instance that was just started is new: the first look that shows it."""
    [url] = [one.metrics for one in run.application.deployer.instances if one.name == name]
    noted = _noted(run, run.key)

    def look() -> tuple[tuple[LocalTimes, bool], Verdict]:
        # In this order: a client that begins in between has deleted its state before.
        began = has_begun(read_streams(url, application_id=run.application.application_id))
        times = local_times(run, name)
        return (times, began), state_is_new((times,), noted, began=began)

    pace = Pace(_LOOK_EVERY_S, _CLIENT_S)
    times, began = poll(run, pace, look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    return run.decide(state_is_new, now=(times,), noted=noted, began=began)


def _stop_all(run: Run, first: str, why: str) -> NoReturn:
    """Stop an instance that kept state, then all others, and remember it; Refused with what to do."""
    run.say(f"{first} is stopped, then every other instance: {why}")
    kept = f"{why}; it may have written results of kept state, and every instance is stopped"
    run.ledger.remember(run.key, _KEPT, kept)
    up = []
    for name in sorted(run.plan().facts.instances, key=lambda one: one != first):
        try:
            with going_on(f"{name}: stops", run.say):
                run.deployer.stop(name)
        except RunbookError as error:
            up.append(f"{name} is still up ({error}): stop it manually at once")
    raise Refused("; ".join((kept, *up, _AGAIN)))


def _is_stopped(run: Run, name: str) -> bool:
    """Stop an instance that was not seen with new state; False if that fails."""
    try:
        with going_on(f"{name}: stops", run.say):
            run.deployer.stop(name)
    except RunbookError as error:
        run.say(f"{name}: {error}")
        return False
    return True


def _noted(run: Run, key: str) -> tuple[LocalTimes, ...]:
    found: tuple[LocalTimes, ...] = decode(tuple[LocalTimes, ...], run.ledger.recall(key, _NOTED) or [])
    return found


def local_times(run: Run, name: str) -> LocalTimes:
    """When the local state of an instance last changed, as its deployer reports it now."""
    try:
        return LocalTimes(name, run.deployer.state_times(name))
    except RunbookError as error:
        return LocalTimes(name, Missing(str(error)))
