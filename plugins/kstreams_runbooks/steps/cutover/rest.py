"""A moment at which every side behind a stopped copier is at rest, with the ends of their outputs.

A hold that ends without such a moment is given up: what the run has stopped in it starts again, the copier last, and
the run has to end. No person is asked while inputs are held. A run that is killed while it gives up has kept that it
does: a rerun of any task of the hold ends it first.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from kstreams_runbooks.decide.drain.seam import sides_at_rest, still_at_seam
from kstreams_runbooks.decide.plans.cutover import COPIER, is_downstream
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.cutover import SideDrain
from kstreams_runbooks.model.readings.drain import Pause
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing
from kstreams_runbooks.model.readings.sides import NotedEnds
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.input_holds import InputHold
from kstreams_runbooks.model.runs.stages import StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.cutover.plan import require_rehearsal, seen_at_plan
from kstreams_runbooks.steps.inputs.tasks import pause, require_held, resume
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, let_flow, require_earlier
from kstreams_runbooks.steps.stages.seam import seam_of
from kstreams_runbooks.watch.held_inputs import forecast_of
from kstreams_runbooks.watch.seam import SidesAtRest
from kstreams_runbooks.watch.sides import note_ends

APPROVAL: Final = "approve_plan"
_POINT, _GIVEN_UP = "ends at the point", "hold given up"
# Between two looks at all sides: each takes two readings of every side, about a second.
_LOOK_EVERY_S = 0.2
# Draining took 2 s when it was tried. A hold may last as long as its forecast, which was approved, but at least this.
_SHORTEST_S = 60.0
# A supervisor kills what does not stop: its own limit may be longer than that of the request.
_END_S, _LOOK_AT_END_S = 60.0, 0.5


@write("holds the inputs for a moment, and notes where both sides are equal if they are")
def note_point(run: Run) -> None:
    """The copier stops, both sides read to the end, the ends of their outputs are noted, and the copier starts."""
    hold = run.whole_plan().input_holds[0]
    require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
        # Asked again before the first write: what allowed the plan may be gone.
        require_rehearsal(run)
        pause(run, hold)
        if run.dry_run:
            run.say(f"would {hold.certify.sentence}, and note the ends of the outputs of both sides")
        elif not is_complete(run, hold.certify):
            noted, _ = at_rest(run, hold)
            run.ledger.remember(run.key, _POINT, encode(noted))
            keep_complete(run, hold.certify)
        resume(run, hold)


def point_of(run: Run) -> NotedEnds:
    """The ends that this run has noted at its point; Refused before that."""
    kept = run.ledger.recall(run.key, _POINT)
    if kept is None:
        raise Refused("this run has not noted a point: clear note_point and what follows it")
    noted: NotedEnds = decode(NotedEnds, kept)
    return noted


def require_at_seam(run: Run, topics: tuple[str, ...] = ()) -> None:
    """Refused if an output has got a record since the seam; of all, or of these topics."""
    seam = noted_seam(run)
    noted = replace(seam, ends=tuple(one for one in seam.ends if not topics or one.topic in topics))
    with run.reader() as reader:
        now = note_ends(reader, tuple(dict.fromkeys(one.topic for one in noted.ends)))
    run.demand(run.decide(still_at_seam, noted=noted, now=now))


def noted_seam(run: Run) -> NotedEnds:
    """The ends that this run has noted at its seam; Refused before that."""
    if (seam := seam_of(run)) is None:
        raise Refused("this run has not noted a seam: clear certify and what follows it")
    return seam


def at_rest(run: Run, hold: InputHold) -> tuple[NotedEnds, tuple[SideDrain, ...]]:
    """The ends of the outputs of all sides at a moment at which all of them were at rest, with the readings around it.

    Refused or Inconclusive if there is no such moment within the forecast of the hold, or within drain_ceiling_s.
    """
    require_earlier(run, hold.certify)
    authorize(run, APPROVAL, (), going_on=True)
    require_held(run, hold)
    held = Pause(hold.certify.how, f"run {run.key}", f"{', '.join(hold.certify.inputs)} are held")
    looks = SidesAtRest([(side.application, side.deployer) for side in _drained(run)], run.kafka, _outputs(run))

    def look() -> tuple[tuple[tuple[SideDrain, ...], NotedEnds], Verdict]:
        sides, noted = looks.look()
        return (sides, noted), sides_at_rest(sides, noted, held)

    pace = Pace(_LOOK_EVERY_S, _ceiling_s(run, hold))
    over = {Outcome.PROCEED, Outcome.REFUSE}
    sides, noted = poll(run, pace, look, lambda verdict: verdict.outcome in over)
    verdict = run.decide(sides_at_rest, sides=sides, noted=noted, pause=held)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(f"{verdict.text} after {pace.ceiling_s:.0f} s")
    run.demand(verdict)
    require_held(run, hold)
    return noted, sides


def _ceiling_s(run: Run, hold: InputHold) -> float:
    """How long the inputs wait for the sides at most, in this hold."""
    forecast = forecast_of(run.ledger, run.key, hold.number)
    longest = _SHORTEST_S if forecast is None or forecast.unknown else max(_SHORTEST_S, forecast.seconds[1])
    return min(run.limit("drain_ceiling_s"), longest)


def _drained(run: Run) -> list[Run]:
    """The sides whose ends count: both, and the copiers in a chain. A neighbour waits, and its ends do not matter."""
    chained = {one.name for one in seen_at_plan(run).chain}
    both = {run.first.record.application, seen_at_plan(run).new.application}
    found = [side for side in run.sides if side.record.application in both | chained]
    for side in found:
        if side.application.as_deployed:
            raise Refused(
                f"copier {side.record.application}: a team's own program, in a chain (expected the shipped copier): "
                "what it has left to copy is not read; put the shipped copier in its place"
            )
    return found


def _outputs(run: Run) -> tuple[str, ...]:
    seen = seen_at_plan(run)
    chained = (topic for one in seen.chain for topic in one.outputs)
    return tuple(dict.fromkeys((*seen.old.outputs, *seen.new.outputs, *chained)))


@contextmanager
def given_up_otherwise(run: Run, hold: InputHold) -> Iterator[None]:
    """Start again what the run has stopped in a hold if the body fails in it; what failed is raised again.

    Once the inputs have begun to flow again the hold has what it was for: only the copier is started, and the same task
    goes on from there.
    """
    try:
        yield
    except Exception as error:
        if run.dry_run or not _holds(run, hold):
            raise
        if flows(run, hold):
            _start_copier(run, error)
            raise
        run.ledger.remember(run.key, f"{_GIVEN_UP} {hold.number}", str(error) or type(error).__name__)
        _give_up(run, hold, error)
        if not isinstance(error, RunbookError):
            raise
        kind = Inconclusive if isinstance(error, Inconclusive | Unreachable) else Refused
        raise kind(f"{error}; {_again(run, hold)}; trigger a new run") from error


def require_not_given_up(run: Run, hold: InputHold) -> None:
    """Refused if this run has given up the hold; first what it has stopped in it is started, if that is left to do."""
    if run.dry_run or (why := run.ledger.recall(run.key, f"{_GIVEN_UP} {hold.number}")) is None:
        return
    error = Refused(f"this run has given up its hold {hold.number} ({why})")
    if _holds(run, hold):
        _give_up(run, hold, error)
    raise Refused(f"{error}; {_again(run, hold)}; trigger a new run")


def _holds(run: Run, hold: InputHold) -> bool:
    """Whether the stop of the copier has begun, and its start is not complete: as the check of the fleet has it."""
    starts = {one.number for one in hold.resuming}
    begun = any(card.stage in starts for card in run.ledger.cards(run.key))
    return begun and not all(is_complete(run, one) for one in hold.resuming)


def _give_up(run: Run, hold: InputHold, error: Exception) -> None:
    """Start the old side, if the hold stops it, and the copier; Inconclusive if one is not known to run again.

    The old side first: it reads on as it would have, with no backlog. The copier starts also if the old side does not.
    """
    run.warn(f"{error}; {' and '.join(_stopped(run, hold))} start again")
    failed = []
    for role, side in (*([("", run.first)] if hold.stops else []), (COPIER, run.side(COPIER))):
        try:
            start_down(side, asked=_is_stopping(run, hold, role))
        except RunbookError as why:
            failed.append(f"{side.record.application} is not known to run again ({why})")
    if failed:
        raise Inconclusive(f"{error}; {'; '.join(failed)}; undo this run") from error
    let_flow(run, hold)
    for stage in hold.resuming:
        # Nothing is held any more: the check of the fleet goes by this note.
        if isinstance(stage, StartAll):
            keep_complete(run.side(COPIER), stage)


def _is_stopping(run: Run, hold: InputHold, role: str) -> bool:
    """Whether a side was asked to stop in a hold, and is not known to be down: its process may end at any moment."""
    plan, cards = run.whole_plan(), run.ledger.cards(run.key)
    stops = [one for one in (*hold.pausing, *hold.stops) if isinstance(one, StopAll) and one.side == role]
    return any(
        not is_complete(run, stop) and any(card.stage == plan.start_after(stop).number for card in cards)
        for stop in stops
    )


def _start_copier(run: Run, error: Exception) -> None:
    side = run.side(COPIER)
    side.warn(f"{error}; each instance of the copier that is down starts again")
    try:
        start_down(side)
    except RunbookError as why:
        kept = (
            f"the copier is not known to run again ({why}); clear {run.task_id} and what follows it, or undo this run"
        )
        raise Inconclusive(f"{error}; {kept}") from error


def _stopped(run: Run, hold: InputHold) -> tuple[str, ...]:
    return (*((run.first.record.application,) if hold.stops else ()), run.side(COPIER).record.application)


def _again(run: Run, hold: InputHold) -> str:
    names = _stopped(run, hold)
    return f"{' and '.join(names)} {'run' if len(names) > 1 else 'runs'} again, and nothing else was changed"


def start_down(side: Run, *, asked: bool = False) -> None:
    """Start each instance of a side that is down on what it is set to.

    With `asked` each has been asked to stop and may still be on its way: its end is awaited, for a minute.

    Refused for a person's deployer; Inconclusive if it is not known whether one is down or stays up, once the others
    are started.
    """
    if not side.deployer.abilities.act:
        raise Refused(f"{side.record.application}: a person deploys it; start every instance of it")
    unknown, until = list[str](), time.monotonic() + (_END_S if asked else 0.0)
    while any(map(_lives, (reading := side.read(describes=False)).instances)) and time.monotonic() < until:
        time.sleep(_LOOK_AT_END_S)
    for one in reading.instances:
        if isinstance(one.deployment, Missing):
            unknown.append(f"{one.instance}: {one.deployment.missing}")
        elif is_down(one.deployment.process):
            side.new_deployer().start(one.instance)
            side.keep("write", "started as it was", {"instance": one.instance})
            side.say(f"{one.instance}: started as it was set")
        elif asked:
            unknown.append(f"{one.instance}: was asked to stop, and its process lives on after {_END_S:.0f} s")
    if unknown:
        raise Inconclusive(f"whether it runs again is not known: {'; '.join(unknown)}; start it if it is down")


def _lives(one: InstanceReading) -> bool:
    return not isinstance(one.deployment, Missing) and not is_down(one.deployment.process)


def moving_roles(run: Run) -> tuple[str, ...]:
    """The roles of the groups that move, in the order of the plan."""
    return tuple(one.role for one in run.whole_plan().sides if is_downstream(one.role))


def moves_begun(run: Run) -> tuple[str, ...]:
    """The groups whose move has begun, by a card of one of their stages."""
    plan, roles = run.whole_plan(), set(moving_roles(run))
    own = {stage.number: stage.side for stage in plan.stages if stage.side in roles}
    begun = {own[card.stage] for card in run.ledger.cards(run.key) if card.stage in own}
    return tuple(part.application for part in plan.sides if part.role in begun)
