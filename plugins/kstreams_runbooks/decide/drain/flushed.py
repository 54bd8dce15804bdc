"""Whether an application is empty once it is down, and whether its inputs are still held."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.wording import first_of


def flushed(left: tuple[PartitionLag, ...] | Missing) -> Verdict:
    """Whether nothing readable is left in these topics of an application that is down.

    A clean stop may commit once more and leave a transaction marker: records count, offsets do not. Missing counts and
    open transactions are inconclusive.
    """
    if isinstance(left, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (left.missing,))
    lag = total_lag(left)
    if lag.records:
        counts = tuple(f"{one.name} ({one.records:,})" for one in left if one.records)
        return Verdict(
            Outcome.REFUSE,
            (
                f"the certificate is void: {lag.records:,} records left to read since (limit 0): {first_of(counts)}; "
                "no instance is started on them; undo this run, and flush again once nothing writes",
            ),
        )
    if lag.unknown:
        return Verdict(Outcome.INCONCLUSIVE, lag.unknown)
    if opened := tuple(one.name for one in left if one.open_transaction):
        why = f"transactions are open on {first_of(opened)} (expected none); wait until they have ended"
        return Verdict(Outcome.INCONCLUSIVE, (why,))
    return Verdict(Outcome.PROCEED, (f"nothing is left to read on {len(left)} partitions, with every instance down",))


def swap_holds(
    held: tuple[CommittedOffset, ...],
    now: SavedOffsets,
    empty: Mapping[str, int],
    ends: Mapping[str, int | Missing],
) -> Verdict:
    """Whether the inputs wait where they were held, and nothing has been sent to the empty topics.

    `held` are the offsets that the run committed again; `empty` and `ends` have the offset of the end of each partition
    (`topic-number`) of the empty topics, when they were put in place and now. An offset that brokers have forgotten
    since is set back before the inputs are read again, and does not refuse.
    """
    if refused := (*_moved(held, now), *_sent(empty, ends)):
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(f"{name}: {end.missing}" for name, end in ends.items() if isinstance(end, Missing)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    return Verdict(
        Outcome.PROCEED, (f"{len(held)} input offsets are where they were held, the empty topics are empty",)
    )


def _moved(held: tuple[CommittedOffset, ...], now: SavedOffsets) -> Iterator[str]:
    there = now.by_place()
    for one in held:
        if (found := there.get(one.place)) is not None and (found.offset, found.metadata) != (one.offset, one.metadata):
            yield (
                f"{one.topic}-{one.partition}: group {now.group_id} has committed {found.offset:,} (held at "
                f"{one.offset:,}): an instance has read the input while it was held; undo this run"
            )


def _sent(empty: Mapping[str, int], ends: Mapping[str, int | Missing]) -> Iterator[str]:
    for name, end in sorted(empty.items()):
        now = ends.get(name)
        if now is None:
            yield f"{name}: is gone (expected the empty topic of this run); undo this run"
        elif not isinstance(now, Missing) and now != end:
            yield (
                f"{name}: {now - end:,} offsets were written to the empty topic (limit 0); find their producer, and "
                "undo this run: the application may have processed them"
            )
