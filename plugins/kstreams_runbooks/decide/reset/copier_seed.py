"""The first offsets of a copier: one for each partition of each source, chosen by a person and never by a default."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.readings.copying import SeedPlace, SeedReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.wording import first_of

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SeedAt:
    """The chosen place: the beginning or the end of every source, or the offsets of partitions.

    With offsets, a partition without one keeps its committed offset. `replace` are the sources whose committed offsets
    may be replaced, `may_repeat` the targets that have records and may get some of them again.
    """

    everywhere: Literal["beginning", "end", ""]
    offsets: Mapping[tuple[str, int], int]
    replace: Collection[str] = ()
    may_repeat: Collection[str] = ()


def seeded(reading: SeedReading, at: SeedAt) -> tuple[Verdict, tuple[CommittedOffset, ...]]:
    """Whether these offsets may be committed, and the offset of every partition of every source.

    Refused for a partition without an offset, one of no source, a committed offset that differs and is not named, the
    beginning of a source whose target has records (each would be there twice), and an offset behind an open
    transaction. Inconclusive if a part of that cannot be read. A chosen offset names the target; a partition without
    one keeps what was committed with its own.
    """
    wanted = {(one.topic, one.partition): _wanted(one, at) for one in reading.places}
    absent = tuple(f"topic {name} of {reading.copier} does not exist; create it" for name in reading.absent)
    if reasons := (*absent, *_unknown(reading, at)):
        return Verdict(Outcome.REFUSE, reasons), ()
    if lacking := (*reading.hidden, *_missing(reading)):
        return Verdict(Outcome.INCONCLUSIVE, lacking), ()
    if reasons := tuple(_refused(reading, at, wanted)):
        return Verdict(Outcome.REFUSE, reasons), ()
    offsets = tuple(
        CommittedOffset(one.topic, one.partition, offset, _metadata(one, at, offset))
        for one in reading.places
        if (offset := wanted[one.topic, one.partition]) is not None
    )
    return Verdict(
        Outcome.PROCEED, (f"group {reading.group_id}: {len(offsets)} offsets, one of each partition of its sources",)
    ), offsets


def _metadata(place: SeedPlace, at: SeedAt, offset: int) -> str:
    if not _is_chosen(place, at) or _is_renewed(place, at, offset):
        return place.metadata
    return place.into.at(offset) if place.into else ""


def _wanted(place: SeedPlace, at: SeedAt) -> int | None:
    """The offset of one partition, None if none is chosen or it is not known."""
    if at.everywhere:
        end = place.start if at.everywhere == "beginning" else place.end
        return None if isinstance(end, Missing) else end
    return at.offsets.get((place.topic, place.partition), place.committed)


def _is_renewed(place: SeedPlace, at: SeedAt, offset: int) -> bool:
    """The same offset again, with what the copier knows of its copies; with a word about repeats it is a new choice."""
    return offset == place.committed and _is_own(place) and not at.may_repeat


def _is_own(place: SeedPlace) -> bool:
    """Whether the offset shows how far the copy into the present target is: the copier's own, or a person's."""
    is_there = place.committed is not None and not isinstance(place.start, Missing) and place.committed >= place.start
    return is_there and place.into is not None and place.into.has(place.committed or 0, place.metadata)


def _is_chosen(place: SeedPlace, at: SeedAt) -> bool:
    return bool(at.everywhere) or (place.topic, place.partition) in at.offsets


def _missing(reading: SeedReading) -> Iterator[str]:
    for place in reading.places:
        for end in (place.start, place.stable, place.end):
            if isinstance(end, Missing):
                yield f"{place.name}: its ends cannot be read: {end.missing}"
                break
    for end_of in reading.targets:
        if isinstance(end_of.end, Missing):
            yield f"{end_of.name}: its end cannot be read: {end_of.end.missing}"


def _unknown(reading: SeedReading, at: SeedAt) -> Iterator[str]:
    known = {(place.topic, place.partition) for place in reading.places}
    if strange := [f"{topic}:{number}" for topic, number in sorted(at.offsets) if (topic, number) not in known]:
        sources = first_of([source for source, _ in reading.routes])
        yield f"{first_of(strange)}: no partition of a source of {reading.copier} (it has {sources}); leave it out"
    sources_of = {source for source, _ in reading.routes}
    targets = {target for _, target in reading.routes}
    if wrong := sorted({*at.may_repeat} - targets):
        yield f"--may-repeat {first_of(wrong)}: no target of {reading.copier} (it has {first_of(sorted(targets))})"
    if wrong := sorted({*at.replace} - sources_of):
        yield f"--replace {first_of(wrong)}: no source of {reading.copier} (it has {first_of(sorted(sources_of))})"


def _refused(reading: SeedReading, at: SeedAt, wanted: Mapping[tuple[str, int], int | None]) -> Iterator[str]:
    without = [place.name for place in reading.places if wanted[place.topic, place.partition] is None]
    if without:
        yield (
            f"{first_of(without, _SHOWN)}: no offset is given, and none is committed ({len(without)} partitions): the "
            "copier does not start without one; give --at TOPIC:PARTITION:OFFSET for each"
        )
    differing = [
        f"{place.name} has {place.committed:,} (asked for: {offset:,})"
        for place in reading.places
        if (offset := wanted[place.topic, place.partition]) is not None
        and place.committed not in {None, offset}
        and place.topic not in at.replace
    ]
    if differing:
        yield (
            f"group {reading.group_id}: {first_of(differing, _SHOWN)}: a committed offset says what is copied "
            f"({len(differing)} differ); leave it, or name its source with --replace TOPIC"
        )
    yield from _outside(reading, at, wanted)
    yield from _twice(reading, at, wanted)
    yield from _open(reading, at, wanted)


def _outside(reading: SeedReading, at: SeedAt, wanted: Mapping[tuple[str, int], int | None]) -> Iterator[str]:
    for place in reading.places:
        offset = wanted[place.topic, place.partition]
        if offset is None or isinstance(place.start, Missing) or isinstance(place.end, Missing):
            continue
        if _is_chosen(place, at) and not place.start <= offset <= place.end:
            yield (
                f"{place.name}: offset {offset:,} is outside its log (expected {place.start:,} to {place.end:,}); give "
                "one that it has"
            )


def _twice(reading: SeedReading, at: SeedAt, wanted: Mapping[tuple[str, int], int | None]) -> Iterator[str]:
    """Targets that have records already, of sources that would be copied from before their committed offset or none."""
    for source, target in reading.routes:
        places = [one for one in reading.places if one.topic == source]
        ends = [one for one in reading.targets if one.topic == target]
        full = [one for one in ends if one.end != 0]
        # A partition that both topics were given: nothing of it can be anywhere else.
        grown = any(one.committed is not None for one in places) and len(places) == len(ends)
        new = {one.partition for one in ends if grown and one.end == 0}
        again = [
            place.name
            for place in places
            if place.partition not in new and _goes_back(place, at, wanted[source, place.partition])
        ]
        if full and again and target not in at.may_repeat:
            yield (
                f"{target} has had records ({first_of([f'{one.name} ends at {one.end:,}' for one in full])}): those of "
                f"{first_of(again, _SHOWN)} from the chosen offset on may be there twice; copy into an empty topic, "
                f"give the offset after the last copied record, or name {target} with --may-repeat"
            )


def _goes_back(place: SeedPlace, at: SeedAt, offset: int | None) -> bool:
    """Whether records would be copied that were copied before, or may have been."""
    if offset is None or not _is_chosen(place, at) or _is_renewed(place, at, offset):
        return False
    if place.committed is not None and _is_own(place):
        return offset < place.committed
    # Which records of the target are of this source is not known, and another client's offset does not show it.
    return at.everywhere == "beginning" or offset != place.end


def _open(reading: SeedReading, at: SeedAt, wanted: Mapping[tuple[str, int], int | None]) -> Iterator[str]:
    opened = [
        f"{place.name} at {place.stable:,}"
        for place in reading.places
        if _is_chosen(place, at)
        and not isinstance(place.stable, Missing)
        and (offset := wanted[place.topic, place.partition]) is not None
        and place.stable < offset
        and not isinstance(place.end, Missing)
        and offset <= place.end
    ]
    if opened:
        yield (
            f"{first_of(opened, _SHOWN)}: a transaction is open before the chosen offset: its records would never be "
            "copied; wait until it has ended"
        )
