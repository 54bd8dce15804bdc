"""The place in each input at which an application changes to its control topic, or back: proven, kept, and compared."""

from kstreams_runbooks.decide.drain.copied import copied_exactly, ends_of_copy, offsets_unmoved
from kstreams_runbooks.decide.drain.marks import read_up_to, up_to_marks
from kstreams_runbooks.decide.plans.adopt import COPIER
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.copying import UNTIL
from kstreams_runbooks.model.readings.copying import TopicEnd
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_down, is_empty
from kstreams_runbooks.model.runs.cards import OffsetsSet
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.instances.copier import proven_stop, read_copier, require_still_stopped
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.offsets import held_offsets, note_ends
from kstreams_runbooks.watch.drain.unread import count_once
from kstreams_runbooks.watch.topic_ends import known_ends

_MARKS, _END = "offsets to read past", "offsets before which the copier ends"
_LOOK_EVERY_S = 1.0
Marks = tuple[tuple[str, int], ...]


def is_adopting(plan: Plan) -> bool:
    """Whether the plan puts the copier in front."""
    return dict(plan.change)["mode"] == "adopt"


def wait_until_read(run: Run) -> None:
    """Return once the application has read all that the copier has copied; on the way back, all of the control topics.

    Refused after gate_ceiling_s, Inconclusive if an offset cannot be read.
    """
    noted = held_stage(run)
    if noted is not None:
        # There `latest` begins for a partition without a committed offset.
        note_ends(run.first, noted)
    _read(run, run.limit("gate_ceiling_s"))


def require_read(run: Run) -> None:
    """Refused or Inconclusive unless the application, which is down, has read as far as `wait_until_read` waits for."""
    _read(run, 0)


def _read(run: Run, limit_s: float) -> None:
    own, marks = run.first, _marks(run)
    reset = getattr(held_stage(run), "reset", "")

    def look() -> tuple[tuple[tuple[PartitionLag, ...] | Missing, Marks], Verdict]:
        with own.reader() as reader:
            rows = read_dropped(reader, own.application.application_id, {name.rpartition("-")[0] for name, _ in marks})
        left = marks
        if not isinstance(rows, Missing):
            never = {one.name for one in rows if one.committed is None} if reset == "latest" else set()
            # Its place is the end that was noted, which the copier has not passed.
            left = tuple(one for one in marks if one[0] not in never)
            rows = count_once(own.application, own.kafka, up_to_marks(rows, left))
        return (rows, left), read_up_to(rows, left, own.record.application)

    rows, left = poll(run, Pace(_LOOK_EVERY_S, limit_s), look, lambda verdict: verdict.outcome is Outcome.PROCEED)
    verdict = own.decide(read_up_to, partitions=rows, marks=left, application=own.record.application)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} after {limit_s:.0f} s; look at {own.record.application}, then clear {run.task_id} and "
            "what follows it, or undo this run"
        )
    run.demand(verdict)


def _marks(run: Run) -> Marks:
    """What the application has to read past: the copier's offsets, or the ends of the control topics; kept once."""
    if (kept := run.ledger.recall(run.key, _MARKS)) is None:
        kept = run.ledger.remember(run.key, _MARKS, encode(_marks_now(run)))
    marks: Marks = decode(Marks, kept)
    return marks


def _marks_now(run: Run) -> Marks:
    plan, side = run.whole_plan(), run.side(COPIER)
    topics = committed_topics(plan)
    if is_adopting(plan):
        return tuple((f"{one.topic}-{one.partition}", one.offset) for one in _copied(side) if one.topic in topics)
    return tuple((one.name, end) for one, end in copied_ends(side) if one.topic in topics)


def copied_ends(side: Run) -> tuple[tuple[TopicEnd, int], ...]:
    """The ends of all control topics when the copier of this side was proven to have stopped."""
    ends = proven_stop(side).ends
    if isinstance(ends, Missing):
        raise Inconclusive(f"the ends of the control topics: {ends.missing}")
    found = []
    for one in ends:
        if isinstance(one.end, Missing):
            raise Inconclusive(f"{one.name}: {one.end.missing}")
        found.append((one, one.end))
    return tuple(found)


def committed_topics(plan: Plan) -> tuple[str, ...]:
    """The topics that the application of a plan reads through its group until it changes to the others."""
    stages = [one for one in plan.stages if isinstance(one, SetOffsets) and not one.side and one.pairs]
    return tuple(now for one in stages for _, now in one.pairs)


def held_stage(run: Run) -> SetOffsets | None:
    """The stage that commits the application's offsets on its inputs again, None on the way back."""
    return next((one for one in run.whole_plan().stages if isinstance(one, SetOffsets) and one.to == "same"), None)


def _copied(side: Run) -> tuple[CommittedOffset, ...]:
    with side.reader() as reader:
        saved = read_saved(reader, side.application.application_id, say=side.say)
    return tuple(one for one in saved.offsets if one.topic in side.application.inputs)


def keep_end(run: Run) -> tuple[CommittedOffset, ...]:
    """The offsets before which the copier ends, kept once: from then on the plan has them as `until`.

    Refused or Inconclusive unless the application, which is down, has read all that is copied.
    """
    if (kept := run.ledger.recall(run.key, _END)) is None:
        require_read(run)
        plan, side = run.whole_plan(), run.side(COPIER)
        read = held_offsets(run.first, run.first.application.application_id) if held_stage(run) else ()
        others = set(side.application.inputs) - set(committed_topics(plan))
        with run.reader() as reader:
            ends = {
                (topic.name, number): known.stable
                for topic in reader.topics(others)
                for number, known in enumerate(known_ends(reader, topic))
            }
        end = ends_of_copy(read, ends, _copied(side))
        kept = run.ledger.remember(run.key, _END, encode(end))
    found: tuple[CommittedOffset, ...] = decode(tuple[CommittedOffset, ...], kept)
    text = ",".join(f"{one.topic}:{one.partition}:{one.offset}" for one in found)
    run.ledger.remember(run.key, UNTIL, text)
    return found


def has_ended(run: Run) -> bool:
    """Whether the copier is down, and has copied exactly up to its end."""
    side = run.side(COPIER)
    return _is_down(side) and copied_exactly(keep_end(run), _saved(side)).outcome is Outcome.PROCEED


def wait_until_ended(run: Run) -> None:
    """Return once the copier has ended by itself at its end; Refused if it ends before that, or not in time."""
    side, until = run.side(COPIER), keep_end(run)

    def look() -> tuple[tuple[bool, SavedOffsets], Verdict]:
        down = _is_down(side)
        saved = _saved(side)
        verdict = copied_exactly(until, saved)
        if verdict.outcome is Outcome.PROCEED and not down:
            verdict = Verdict(Outcome.WAIT, (f"{verdict.text}; it ends",))
        elif verdict.outcome is Outcome.WAIT and down:
            raise Refused(
                f"{verdict.text}, and no process of it runs{_log_ends(side)}; correct that, then clear copy_rest"
            )
        return (down, saved), verdict

    pace = Pace(_LOOK_EVERY_S, side.limit("gate_ceiling_s"))
    poll(run, pace, look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    require_ended(run)


def require_ended(run: Run) -> None:
    """Refused or Inconclusive unless the copier has copied exactly up to its end, by what it has committed."""
    side = run.side(COPIER)
    verdict = side.decide(copied_exactly, until=keep_end(run), now=_saved(side))
    if verdict.outcome is Outcome.WAIT:
        raise Refused(f"{verdict.text}; clear copy_rest and what follows it, or undo this run")
    run.demand(verdict)


def require_still(run: Run) -> None:
    """Refused, Drifted or Inconclusive unless the copier is down, and nothing has written to the control topics."""
    side = run.side(COPIER)
    require_still_stopped(side, proven_stop(side))


def require_unmoved(run: Run) -> None:
    """Refused unless the application, which is down, has the offsets that this run has set, and those it held."""
    own = run.first
    group = own.application.application_id
    expected: list[CommittedOffset] = []
    for stage in own.plan().stages:
        if isinstance(stage, SetOffsets) and (facts := Announced(own, stage).facts(OffsetsSet).get(group)):
            expected += facts.after
    with own.reader() as reader:
        now = read_saved(reader, group, say=own.say)
    own.demand(own.decide(offsets_unmoved, expected=tuple(expected), now=now))


def _saved(side: Run) -> SavedOffsets:
    with side.reader() as reader:
        return read_saved(reader, side.application.application_id, stable=False)


def _is_down(side: Run) -> bool:
    """Whether no process of the copier runs, and its group is empty."""
    reading = read_copier(side)
    deployments, group = reading.deployments, reading.group
    if isinstance(deployments, Missing):
        raise Inconclusive(f"copier {side.record.application}: {deployments.missing}")
    if isinstance(group, Missing):
        raise Inconclusive(f"copier {side.record.application}: {group.missing}")
    down = all(is_down(one.process) for one in deployments)
    return down and not group.members and is_empty(group.state)


def _log_ends(side: Run) -> str:
    ends = [side.deployer.log_end(one) for one in side.plan().facts.instances]
    return "".join(f"; {one}" for one in ends if one)
