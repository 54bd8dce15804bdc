"""After a start that failed on another release: the instance goes back to what it ran before, or the run leads to undo.

1. Read what is left of the start. An instance that is up, or that the run did not change, is none of this.
2. Decide (decide/plans/set_back.py). If anything speaks against it, or cannot be read, the sentence leads to undo.
3. Set release and settings back and start, by the same function as every restart. A task that is killed here finds the
   instance down when it is cleared, and begins with the new release again.
4. Wait until its Streams client runs, and finish its undo cards: nothing of it is left to take back. The plan stays, so
   a cleared task brings the new release again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.decide.plans.set_back import FailedStart, may_be_set_back
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.errors import Refused, RunbookError
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, StreamsReading
from kstreams_runbooks.model.readings.states import is_dead, is_up
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import SavedOffsets
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.instances.bring import members_to_remove, remove
from kstreams_runbooks.steps.instances.untouched import noted_state, still_up
from kstreams_runbooks.steps.instances.watch_trigger import reading_of
from kstreams_runbooks.steps.plan.cards import instance_cards, last_card
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.plan.killed import ends_of_instance, keep_cleared
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.cleaned_up import local_times

_AT_REST = "offsets while every instance was down"
_LOOK_EVERY_S = 0.5
# From the start of a process to a client that runs, on state that is as it was.
_RUNNING_S = 60


def note_at_rest(run: Run, bounce: Bounce) -> None:
    """Keep what the group has committed while every instance is down, unless this run has begun a start since."""
    if not bounce.back:
        return
    last_stop = max((card.entry for card in instance_cards(run)), default=0)
    begun = run.ledger.evidence(run.key, kind="note", name=START_BEGUN)
    if not any(note.id > last_stop for note in begun):
        run.keep("note", _AT_REST, _committed(run))


def after_failed_start(
    run: Run,
    bounce: Bounce,
    names: Sequence[str],
    cause: str,
    *,
    clears: str,
    permit: Callable[[], None] = lambda: None,
    gated: str = "",
    together: bool = False,
) -> None:
    """Refused with what became of instances that did not start on a bounce; returns if none of `names` failed to.

    `cause` is why, `clears` the task that brings the new release again, `permit` raises if the run may not write any
    more. `gated` is the instance whose gate refused; without it a deployer has reported that a start failed. With
    `together` all of `names` were started at once, and go back together or not at all. A start without another release
    has no way back, and a run that cleared state or let inputs flow goes on by its own start alone (`must_clear`).
    """
    if bounce.must_clear or run.plan().runbook == UNDO:
        return
    reading = reading_of(replace(run, patient=False))
    before = tuple(one for name in names if (one := _before(run, bounce, name)) is not None)
    ended = [one.instance for one in before if _has_failed(reading, one.instance, gated=bool(gated))]
    if not ended or (gated and gated not in ended):
        return
    own = [card for card in run.ledger.cards(run.key) if (card.cluster, card.application) == run.about]
    failed = FailedStart(
        before,
        past=any(card.misreads or card.point_of_no_return for card in own),
        noted=tuple(noted_state(run, bounce, one.instance) for one in before),
        now=tuple(local_times(run, one.instance) for one in before),
        at_rest=_noted_offsets(run) if together else None,
        committed=_committed(run) if together else None,
    )
    verdict = run.decide(may_be_set_back, bounce=bounce, failed=failed, reading=reading, rules=upgrade_path_rules())
    who = ", ".join(ended)
    what = f"{who} did not start on {bounce.deployed}: {cause}"
    if verdict.outcome is not Outcome.PROCEED:
        raise Refused(f"{what}; not set back by itself: {verdict.text}; undo this run")
    run.say(f"{what}; {verdict.sentence}")
    try:
        permit()
        for one in before:
            _go_back(run, bounce, reading, one)
        how = [_runs_again(run, bounce, one) for one in before]
    except RunbookError as error:
        raise Refused(f"{what}; it was to be set back, and that failed: {error}; undo this run") from error
    raise Refused(f"{what}; {'; '.join(how)}; correct the cause, then clear {clears}")


def _before(run: Run, bounce: Bounce, name: str) -> DeployedInstance | None:
    """What an instance ran before a bounce, by its card; None if the bounce does not change it."""
    card = last_card(run, name)
    facts = None if card is None else instance_facts(card)
    if facts is None or facts.bounce != bounce.number:
        return None
    return None if facts.before.target == bounce.target else facts.before


def _has_failed(reading: ApplicationReading, name: str, *, gated: bool) -> bool:
    """Whether an instance has ended; one whose start its deployer reported as failed has, unless it is seen up."""
    instance = reading.instance(name)
    if isinstance(instance, Missing):
        return not gated
    if gated:
        return has_ended(instance)
    return isinstance(instance.deployment, Missing) or not is_up(instance.deployment.process)


def _go_back(run: Run, bounce: Bounce, reading: ApplicationReading, before: DeployedInstance) -> None:
    instance = reading.instance(before.instance)
    if isinstance(instance, Missing):
        raise Refused(instance.missing)
    members = members_to_remove(run, reading, instance)
    run.say(f"{before.instance}: set back to {before.deployed}")
    ends = ends_of_instance(run, instance, before.version, run.deployer, ran=(bounce.version,))
    try:
        times = restart(
            run.deployer,
            before.instance,
            before.target,
            remove_members=(lambda: remove(run, members)) if members else None,
            log=run.say,
            had=before.target,
            still_up=lambda: still_up(run, instance),
            left=ends,
        )
    finally:
        keep_cleared(run, ends)
    run.keep("write", "set_back", {"instance": before.instance, "to": before.target, "times": times})


def _runs_again(run: Run, bounce: Bounce, before: DeployedInstance) -> str:
    """How an instance is that was set back; its cards are finished unless it has ended again (Refused)."""
    [url] = [one.metrics for one in run.application.deployer.instances if one.name == before.instance]

    def look() -> tuple[str, Verdict]:
        streams = read_streams(url, application_id=run.application.application_id)
        state = streams.state if isinstance(streams, StreamsReading) else ""
        waits = Verdict(Outcome.WAIT, (f"{before.instance}: {state or 'no Streams client yet'} (expected RUNNING)",))
        over = state == "RUNNING" or is_dead(state)
        return state, Verdict(Outcome.PROCEED, (state,)) if over else waits

    state = poll(run, Pace(_LOOK_EVERY_S, _RUNNING_S), look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    if is_dead(state) or not state:
        raise Refused(f"{before.instance} does not run on {before.deployed} either ({state or 'no Streams client'})")
    for card in instance_cards(run):
        if card.object == before.instance and instance_facts(card).bounce == bounce.number and not card.done:
            run.ledger.finish_card(run.key, card.seq)
    return f"{before.instance} was set back to {before.deployed} and is {state} on it"


def _committed(run: Run) -> SavedOffsets | Missing:
    try:
        with run.reader() as reader:
            return read_saved(reader, run.application.application_id, say=run.say)
    except RunbookError as error:
        return Missing(str(error))


def _noted_offsets(run: Run) -> SavedOffsets | Missing:
    kept = run.ledger.evidence(run.key, kind="note", name=_AT_REST)
    if not kept:
        return Missing("they were not read while every instance was down")
    noted: SavedOffsets | Missing = decode(SavedOffsets | Missing, kept[-1].payload)
    return noted
