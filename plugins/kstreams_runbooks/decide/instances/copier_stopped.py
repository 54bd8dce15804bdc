"""Whether a copier has stopped, its control topics no longer move, and that has remained so."""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.model.readings.copying import CopierReading
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

_SOURCE = "docs/copiers.md, clean stop"


def stopped_cleanly(earlier: CopierReading, now: CopierReading) -> Verdict:
    """Whether a copier has stopped: no process, an EMPTY group, no open transaction, and ends that do not move.

    `earlier` was read before `now`: the ends of its control topics are equal in both. It waits for what passes by
    itself (a member until its session timeout, a transaction until it ends or times out). A copier with at_least_once
    that was killed may repeat records once it starts again: a finding, not a refusal.
    """
    if lacking := (*_missing(now), *_ends_missing(earlier)):
        return Verdict(Outcome.INCONCLUSIVE, tuple(dict.fromkeys(lacking)))
    waiting = tuple(_not_yet(earlier, now))
    if waiting:
        return Verdict(Outcome.WAIT, waiting)
    group, topics = f"group {now.group_id} EMPTY", first_of(now.topics)
    return Verdict(
        Outcome.PROCEED,
        (
            f"copier {now.copier} has stopped: no process, {group}, no open transaction on {topics}, "
            "whose ends do not move",
        ),
        tuple(_findings(now)),
    )


def still_stopped(before: CopierReading, now: CopierReading, grown: tuple[str, ...] = ()) -> Verdict:
    """Whether a copier has stayed stopped since `before`, the reading that proved its stop.

    A new partition is a change, unless it is empty and of a topic that the run itself has `grown`.

    A certain change refuses, even if another reading failed; without one, a failed reading is inconclusive.
    """
    if changed := tuple(_changed(before, now, grown)):
        return Verdict(Outcome.REFUSE, changed)
    if lacking := tuple(dict.fromkeys((*_missing(now), *_ends_missing(before)))):
        return Verdict(Outcome.INCONCLUSIVE, lacking)
    return Verdict(
        Outcome.PROCEED,
        (f"copier {now.copier} is still stopped, and {first_of(now.topics)} ends where it did",),
    )


def _missing(reading: CopierReading) -> Iterator[str]:
    name = reading.copier
    if isinstance(reading.deployments, Missing):
        yield f"processes of copier {name}: {reading.deployments.missing}"
    else:
        unknown = [one.instance for one in reading.deployments if one.process == "unknown"]
        yield from (f"{instance}: its deployer does not know whether its process runs" for instance in unknown)
    if isinstance(reading.open, Missing):
        yield f"transactions on the control topics of {name}: {reading.open.missing}"
    if isinstance(reading.group, Missing):
        yield f"group {reading.group_id} of copier {name}: {reading.group.missing}"
    yield from _ends_missing(reading)


def _ends_missing(reading: CopierReading) -> Iterator[str]:
    if isinstance(reading.ends, Missing):
        yield f"control topics of {reading.copier}: {reading.ends.missing}"
        return
    for one in reading.ends:
        if isinstance(one.end, Missing):
            yield f"{one.name}: its end cannot be read: {one.end.missing}"
    for topic in reading.topics:
        if topic not in {one.topic for one in reading.ends}:
            yield f"control topic {topic} of copier {reading.copier}: not read; does it exist?"


def _not_yet(earlier: CopierReading, now: CopierReading) -> Iterator[str]:
    yield from _up(now)
    empty = group_is_empty(now.group, now.group_id)
    if empty.outcome is not Outcome.PROCEED:
        yield from empty.reasons
    yield from _open(now)
    if moved := tuple(_moved(earlier, now)):
        yield f"{first_of(moved)}: something still writes to the control topics of copier {now.copier}"


def _changed(before: CopierReading, now: CopierReading, grown: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{one}: it was started again while it has to stay stopped; stop it" for one in _up(now))
    if isinstance(now.group, GroupReading):
        for member in now.group.members:
            yield (
                f"group {now.group_id}: member {member.client_id} on {member.host}: copier {now.copier} was started "
                "again while it has to stay stopped; stop it there"
            )
    yield from (f"{one} (expected none while copier {now.copier} is stopped)" for one in _open(now))
    if moved := tuple(_moved(before, now, grown)):
        yield (
            f"{first_of(moved)}: another producer wrote to the control topics of copier {now.copier} after it had "
            "stopped; find and stop it, then clear pause_inputs and what follows it"
        )


def _up(reading: CopierReading) -> Iterator[str]:
    for one in reading.deployments if not isinstance(reading.deployments, Missing) else ():
        if one.process != "unknown" and not is_down(one.process):
            yield f"{one.instance}: its process is {one.process} (expected stopped)"


def _open(reading: CopierReading) -> Iterator[str]:
    for one in reading.open if not isinstance(reading.open, Missing) else ():
        yield f"{one.name}: a transaction of {one.transactional_id or f'producer {one.producer_id}'} is open"


def _moved(before: CopierReading, now: CopierReading, grown: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(before.ends, Missing) or isinstance(now.ends, Missing):
        return
    then = {one.name: one.end for one in before.ends}
    for one in now.ends:
        was = then.get(one.name)
        if was is None and one.topic in grown and one.end == 0:
            continue
        if was is None:
            yield f"{one.name} is a partition more than before"
        elif not isinstance(was, Missing) and not isinstance(one.end, Missing) and was != one.end:
            yield f"{one.name} ends at {one.end:,} (before: {was:,})"


def _findings(now: CopierReading) -> Iterator[Finding]:
    """What an unclean end of a copier with at_least_once brings."""
    if now.delivery == "exactly_once" or isinstance(now.deployments, Missing):
        return
    for one in now.deployments:
        if one.ended_cleanly is True:
            continue
        ended = one.ended_cleanly.missing if isinstance(one.ended_cleanly, Missing) else "it was killed"
        yield Finding(
            "copier-may-repeat",
            "warning",
            one.instance,
            f"{one.instance} of copier {now.copier} copies at_least_once, and its clean stop is not proven ({ended}): "
            "records that it copied and did not commit are copied again at its next start",
            _SOURCE,
        )
