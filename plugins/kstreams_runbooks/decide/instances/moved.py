"""Whether a downstream group has moved: it runs as planned, and goes on at the seam of its new topics.

What it commits afterwards does not show where it began: with its seeds gone it would have begun by auto.offset.reset,
and be past them at the next look. So the time in which brokers could forget them is judged as well.
"""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_stable, is_up
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.wording import first_of


def group_has_moved(
    reading: ApplicationReading,
    rows: tuple[PartitionLag, ...] | Missing,
    seeds: tuple[CommittedOffset, ...],
    target: Target,
    back: str,
) -> Verdict:
    """Proceed once every instance runs on `target`, the group is stable, and no partition is committed below its seed.

    `rows` are those of its new topics. Wait while its members join. Refused for an offset below a seed, or without one:
    records would be processed twice, or by auto.offset.reset. `back` is the command of the way back: an undo leaves a
    group that has moved where it is.
    """
    if wrong := tuple(_set_otherwise(reading, target)):
        return Verdict(
            Outcome.REFUSE,
            (f"{reading.application}: {first_of(wrong)}; set it so, then clear this task",),
        )
    if not isinstance(rows, Missing) and (below := tuple(_below(rows, seeds))):
        return Verdict(
            Outcome.REFUSE,
            (
                f"{reading.application}: {first_of(below)}: it may process records twice, or never; stop it, and "
                f"correct what it has processed; to move it back, with a seam of its own: {back}",
            ),
        )
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


def seeds_lasted(group_id: str, empty_ms: int | Missing, kept_ms: int | Missing, back: str) -> Verdict:
    """Proceed if a group had members again before brokers could forget its seeds; else where it began is not known.

    `empty_ms` is the time from the request of its stop, or from the seeds that were written once the group was gone,
    until a look found members; `kept_ms` the smallest offsets.retention.minutes of the brokers. Source: KIP-211.
    """
    if isinstance(empty_ms, Missing):
        why = f"how long it had no member is not known: {empty_ms.missing}"
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group_id}: {why}",))
    if isinstance(kept_ms, Missing):
        why = f"offsets.retention.minutes is not known: {kept_ms.missing}"
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group_id}: {why}",))
    text = f"group {group_id} had no member for up to {empty_ms / SECOND_MS:,.0f} s"
    limit = f"{kept_ms / SECOND_MS:,.0f} s: offsets.retention.minutes"
    if empty_ms < kept_ms:
        return Verdict(Outcome.PROCEED, (f"{text} (limit {limit}): it began at its seeds",))
    return Verdict(
        Outcome.INCONCLUSIVE,
        (
            f"{text} (limit {limit}): whether it began at its seeds is not known; compare what it has processed with "
            f"the records from the seam on; to move it back, with a seam of its own: {back}",
        ),
    )
