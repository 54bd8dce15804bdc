"""A downstream group between its stop and its first members on the new topics, and the proof that it has moved.

Its seeds are committed while it is EMPTY, and brokers forget the offsets of an EMPTY group: they are looked at right
before its start, and the time without a member is kept.
"""

from dataclasses import dataclass
from typing import Any, Final

from kstreams_runbooks.decide.drain.seam import seeds, seeds_stand
from kstreams_runbooks.decide.instances.moved import group_has_moved, seeds_lasted
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.decide.plans.cutover import COPIER, GREEN, back_command
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.observe.lag.waiting import read_offsets_retention_ms
from kstreams_runbooks.steps.plan.flushed import begun_starts
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.steps.stages.seam import seam_of_run

_EMPTY_FROM, _JOINED = "no member from", "has members again"
_LOOK_EVERY_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class MovedGroup:
    """A group that the run with this key moves, by two stages of its plan; `back` is the command of the way back."""

    run_key: str
    seed: SetOffsets
    start: StartAll
    back: str


def moved_group(run_key: str, plan: Plan, role: str) -> MovedGroup:
    """The group in a role of the plan of a cutover."""
    own = [one for one in plan.stages if one.side == role]
    [seed] = [one for one in own if isinstance(one, SetOffsets)]
    [start] = [one for one in own if isinstance(one, StartAll)]
    change = dict(plan.change)
    return MovedGroup(run_key, seed, start, back_command(plan.application, change[GREEN], change[COPIER]))


def note_no_member(side: Run, of: MovedGroup) -> None:
    """Keep that from now on the group may have no member: right before its stop, while it still has some."""
    side.keep("note", _EMPTY_FROM, {"group": of.seed.group, "at_ms": now_ms()})


def require_seeds(side: Run, of: MovedGroup) -> None:
    """Right before the start: the seeds are committed, those that brokers have forgotten after they are written again.

    Refused for other offsets, Inconclusive if they cannot be read. Nothing is looked at once the start has begun: what
    the group has committed since is its own.
    """
    if of.start.number in begun_starts(side, side.ledger.run(side.key)):
        return
    wanted = _seeds(side, of)
    verdict = _seeds_now(side, of, wanted)
    if verdict.outcome is Outcome.WAIT:
        side.warn(f"{verdict.text}; they are written again")
        with side.reader() as reader:
            is_gone = not read_saved(reader, of.seed.group, say=side.say).offsets
        if is_gone:
            # Brokers have forgotten the group too: its time begins with the offsets that are written now.
            note_no_member(side, of)
        perform(side, of.seed, {})
        verdict = _seeds_now(side, of, wanted)
        if verdict.outcome is Outcome.WAIT:
            raise Refused(
                f"{verdict.text} after they were written again; start {side.record.application} within "
                f"offsets.retention.minutes: clear {side.task_id}, or undo this run"
            )
    side.demand(verdict)


def require_kept_seeds(side: Run, of: MovedGroup) -> None:
    """Refused if a group that is to start again is down and has lost a seed: it would begin by auto.offset.reset.

    It has begun to start before, so other offsets are what it has read since. Inconclusive if they cannot be read.
    """
    if not all(map(has_ended, side.read(describes=False).instances)):
        return
    wanted = _seeds(side, of)
    verdict = _seeds_now(side, of, wanted)
    if verdict.outcome is Outcome.WAIT:
        for one in wanted:
            side.say(f"seed of {one.topic}-{one.partition}: {one.offset}")
        raise Refused(
            f"{verdict.text}, and its instances are down: it would begin by auto.offset.reset; commit the seeds that "
            f"the log shows with kafka-consumer-groups --reset-offsets --group {of.seed.group}, then clear "
            f"{side.task_id}"
        )
    if verdict.outcome is Outcome.INCONCLUSIVE:
        side.demand(verdict)


def wait_joined(side: Run, of: MovedGroup) -> None:
    """Wait until the group has members, and keep when that was seen first; Refused after gate_ceiling_s."""

    def look() -> tuple[GroupReading | Missing, Verdict]:
        with side.reader() as reader:
            group = reader.group(of.seed.group)
        has_members = isinstance(group, GroupReading) and bool(group.members)
        waits = Verdict(Outcome.WAIT, (f"waits until group {of.seed.group} has members",))
        return group, Verdict(Outcome.PROCEED, (f"group {of.seed.group} has members",)) if has_members else waits

    pace = Pace(_LOOK_EVERY_S, side.limit("gate_ceiling_s"))
    group = poll(side, pace, look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    if isinstance(group, Missing):
        raise Inconclusive(f"group {of.seed.group}: {group.missing}; clear {side.task_id} and what follows it")
    if not group.members:
        raise Refused(
            f"group {of.seed.group} is {group.state} without a member {pace.ceiling_s:.0f} s after its start "
            f"(gate_ceiling_s); read the log of its instances, then clear {side.task_id} and what follows it"
        )
    side.ledger.remember(of.run_key, f"{_JOINED}: {of.seed.group}", now_ms())


def prove_moved(side: Run, of: MovedGroup) -> None:
    """The group runs on its planned settings, is nowhere below its seeds, and joined before they could be forgotten.

    Refused or Inconclusive otherwise. `side` may be that of another run, which looks at what the first one has moved.
    """
    target, wanted = of.start.bounce.target, _seeds(side, of)

    def look() -> tuple[dict[str, Any], Verdict]:
        reading, rows = side.read(describes=False), _rows(side, of)
        given = {"reading": reading, "rows": rows, "seeds": wanted, "target": target, "back": of.back}
        return given, group_has_moved(reading, rows, wanted, target, of.back)

    pace = Pace(_LOOK_EVERY_S, side.limit("gate_ceiling_s"))
    given = poll(side, pace, look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    # First: the end of a side is proven by the last decision about it.
    with side.reader() as reader:
        kept_ms = read_offsets_retention_ms(reader)
    times = {"empty_ms": _empty_ms(side, of), "kept_ms": kept_ms, "back": of.back}
    lasted = side.decide(seeds_lasted, group_id=of.seed.group, **times)
    verdict: Verdict = side.decide(group_has_moved, **given)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} after {pace.ceiling_s:.0f} s (gate_ceiling_s); read the log of its instances, then clear "
            f"{side.task_id} and what follows it"
        )
    side.demand(verdict)
    side.demand(lasted)


def _empty_ms(side: Run, of: MovedGroup) -> int | Missing:
    """How long the group had no member at most, by what the run has kept."""
    kept = side.ledger.evidence(of.run_key, kind="note", name=_EMPTY_FROM)
    began = [int(note.payload["at_ms"]) for note in kept if note.payload["group"] == of.seed.group]
    if not began:
        return Missing("the run has not kept when it stopped the group")
    joined = side.ledger.recall(of.run_key, f"{_JOINED}: {of.seed.group}")
    return max(0, int(joined if joined is not None else now_ms()) - began[-1])


def _seeds(side: Run, of: MovedGroup) -> tuple[CommittedOffset, ...]:
    noted = seam_of_run(side, of.run_key)
    if noted is None:
        raise Refused(f"group {of.seed.group}: run {of.run_key} has not noted a seam; nothing shows where it goes on")
    with side.reader() as reader:
        counts = {one.name: one.partitions for one in reader.topics(of.seed.topics)}
    found = seeds(noted, of.seed.topics, counts)
    if isinstance(found, Missing):
        raise Inconclusive(f"group {of.seed.group}: {found.missing}")
    return found


def _rows(side: Run, of: MovedGroup) -> tuple[PartitionLag, ...] | Missing:
    """The partitions of its new topics, with what its group has committed."""
    roles: dict[str, LagRole] = dict.fromkeys(of.seed.topics, "source")
    with side.reader() as reader:
        return read_partitions(reader, of.seed.group, roles, reader.topics(roles))


def _seeds_now(side: Run, of: MovedGroup, wanted: tuple[CommittedOffset, ...]) -> Verdict:
    return side.decide(seeds_stand, rows=_rows(side, of), seeds=wanted, group_id=of.seed.group)
