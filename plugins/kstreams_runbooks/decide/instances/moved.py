"""Whether a downstream group has moved: it runs as planned, and goes on at the seam of its new topics."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_stable, is_up
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.wording import first_of


def group_has_moved(
    reading: ApplicationReading,
    rows: tuple[PartitionLag, ...] | Missing,
    seeds: tuple[CommittedOffset, ...],
    target: Target,
) -> Verdict:
    """Proceed once every instance runs on `target`, the group is stable, and no partition is committed below its seed.

    `rows` are those of its new topics. Wait while its members join. Refused for an offset below a seed, or without one:
    records would be processed twice, or by auto.offset.reset.
    """
    wrong = tuple(_set_otherwise(reading, target))
    wrong += () if isinstance(rows, Missing) else tuple(_below(rows, seeds))
    if wrong:
        return Verdict(Outcome.REFUSE, (f"{reading.application}: {first_of(wrong)}; undo this run",))
    if unknown := tuple(_unknown(reading, rows, seeds)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    if waits := tuple(_not_yet(reading)):
        return Verdict(Outcome.WAIT, waits)
    return Verdict(
        Outcome.PROCEED, (f"{reading.application} reads on at the seam of its new topics: {len(seeds)} partitions",)
    )


def _set_otherwise(reading: ApplicationReading, target: Target) -> Iterator[str]:
    for one in reading.instances:
        deployment = one.deployment
        if not isinstance(deployment, Missing) and (deployment.target != target or deployment.applied is False):
            yield f"{one.instance} is not set to {target.text} (expected: as planned)"


def _unknown(
    reading: ApplicationReading, rows: tuple[PartitionLag, ...] | Missing, seeds: tuple[CommittedOffset, ...]
) -> Iterator[str]:
    if not reading.instances:
        yield f"{reading.application}: no instance was read (expected each)"
    if not seeds:
        yield f"{reading.application}: no seed is known (expected one for each partition of its new topics)"
    for one in reading.instances:
        if isinstance(one.deployment, Missing):
            yield f"{one.instance}: {one.deployment.missing}"
    if isinstance(rows, Missing):
        yield f"offsets of {reading.application}: {rows.missing}"
    if isinstance(reading.group, Missing):
        yield f"group of {reading.application}: {reading.group.missing}"


def _not_yet(reading: ApplicationReading) -> Iterator[str]:
    for one in reading.instances:
        if not isinstance(one.deployment, Missing) and not is_up(one.deployment.process):
            yield f"{one.instance} is {one.deployment.process} (expected: it runs)"
    group = reading.group
    if isinstance(group, GroupReading) and not (is_stable(group.state) and group.members):
        yield f"group {group.group_id} is {group.state} with {len(group.members)} members (expected Stable with some)"


def _below(rows: tuple[PartitionLag, ...], seeds: tuple[CommittedOffset, ...]) -> Iterator[str]:
    committed = {(one.topic, one.partition): one.committed for one in rows}
    for seed in seeds:
        now = committed.get(seed.place)
        if now is None:
            yield f"{seed.topic}-{seed.partition} has no committed offset (seed: {seed.offset:,})"
        elif now < seed.offset:
            yield f"{seed.topic}-{seed.partition} is committed at {now:,} (seed: {seed.offset:,})"
