"""A moment at which every side behind a stopped copier is at rest, with the ends of their outputs.

A hold that ends without such a moment is given up as long as nothing but the copier is down: the copier starts again,
and the run has to end. No person is asked while inputs are held.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kstreams_runbooks.decide.drain.seam import sides_at_rest
from kstreams_runbooks.decide.plans.cutover import COPIER, is_downstream
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.cutover import SideDrain
from kstreams_runbooks.model.readings.drain import Pause
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnds
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.input_holds import InputHold
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.cutover.plan import require_rehearsal, seen_at_plan
from kstreams_runbooks.steps.inputs.tasks import pause, require_held, resume
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, let_flow, require_earlier
from kstreams_runbooks.watch.held_inputs import forecast_of
from kstreams_runbooks.watch.seam import SidesAtRest

APPROVAL: Final = "approve_plan"
_POINT, _GIVEN_UP = "ends at the point", "hold given up"
# Between two looks at all sides: each takes two readings of every side, about a second.
_LOOK_EVERY_S = 0.2
# Draining took 2 s when it was tried. A hold may last as long as its forecast, which was approved, but at least this.
_SHORTEST_S = 60.0


@write("holds the inputs for a moment, and notes where both sides are equal if they are")
def note_point(run: Run) -> None:
    """The copier stops, both sides read to the end, the ends of their outputs are noted, and the copier starts."""
    # Asked again before the first write: what allowed the plan may be gone.
    require_rehearsal(run)
    hold = run.whole_plan().input_holds[0]
    if not run.dry_run:
        require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
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
    """Start the copier again if the body fails after its stop has begun; what failed is raised again."""
    try:
        yield
    except (Refused, Inconclusive, Unreachable) as error:
        if run.dry_run or flows(run, hold) or not _has_begun(run, hold):
            raise
        _give_up(run, hold, error)


def require_not_given_up(run: Run, hold: InputHold) -> None:
    """Refused if this run has started the copier again without what the hold was for."""
    if why := run.ledger.recall(run.key, f"{_GIVEN_UP} {hold.number}"):
        raise Refused(f"this run has given up its hold {hold.number} ({why}); trigger a new run")


def _has_begun(run: Run, hold: InputHold) -> bool:
    """Whether a card shows that the stop of the copier has begun."""
    starts = {one.number for one in hold.resuming}
    return any(card.stage in starts for card in run.ledger.cards(run.key))


def _give_up(run: Run, hold: InputHold, error: RunbookError) -> None:
    run.ledger.remember(run.key, f"{_GIVEN_UP} {hold.number}", str(error))
    side = run.side(COPIER)
    side.warn(f"{error}; the copier is started again")
    try:
        start_down(side)
    except RunbookError as failed:
        raise Inconclusive(f"{error}; the copier is not known to run again ({failed}); undo this run") from error
    let_flow(run, hold)
    for stage in hold.resuming:
        # Nothing is held any more: the check of the fleet goes by this note.
        if isinstance(stage, StartAll):
            keep_complete(side, stage)
    kind = Inconclusive if isinstance(error, Inconclusive | Unreachable) else Refused
    raise kind(f"{error}; the copier runs again, and nothing else was changed; trigger a new run") from error


def start_down(side: Run) -> None:
    """Start each instance of a side that is down on what it is set to.

    Refused for a person's deployer; Inconclusive if it is not known whether one is down, once the others are started.
    """
    if not side.deployer.abilities.act:
        raise Refused(f"{side.record.application}: a person deploys it; start every instance of it")
    unknown = []
    for one in side.read(describes=False).instances:
        if isinstance(one.deployment, Missing):
            unknown.append(f"{one.instance}: {one.deployment.missing}")
        elif is_down(one.deployment.process):
            side.new_deployer().start(one.instance)
            side.keep("write", "started as it was", {"instance": one.instance})
            side.say(f"{one.instance}: started as it was set")
    if unknown:
        raise Inconclusive(f"whether it runs again is not known: {'; '.join(unknown)}; start it if it is down")


def moving_roles(run: Run) -> tuple[str, ...]:
    """The roles of the groups that move, in the order of the plan."""
    return tuple(one.role for one in run.whole_plan().sides if is_downstream(one.role))
