"""Counts what moved offsets read again or skip, and dates them: by a consumer, by Spark above 10,000 offsets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.input_offsets import InputPartition, MovedOffset
from kstreams_runbooks.model.readings.lag import Counted, Isolation, Readable
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import CountedMove
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import NO_RECORD, Place, read_newest
from kstreams_runbooks.observe.lag.first_unread import first_or_missing
from kstreams_runbooks.watch.drain.counter import Counter

# The first record of each partition comes with the first fetch.
FIRST_S: Final = 10.0

_Ranges = Mapping[Place, tuple[int, int]]


def counted_moves(
    config: Mapping[str, Any],
    rows: Sequence[MovedOffset],
    isolation: Isolation,
    say: Callable[[str], None],
    *,
    exact: bool = True,
) -> tuple[CountedMove, ...]:
    """The records of each partition whose new offset is known; a count that fails is Missing, for its reason.

    Unless it is `exact`, offsets are counted in place of records: at least as many, and nothing is read for it.
    """
    known = [one for one in rows if one.left is not None]
    moved = {(one.topic, one.partition): span for one in known if (span := _span(one)) is not None}
    left = {(one.topic, one.partition): one.left for one in known if one.left is not None}
    rest = {place: _without(span, moved.get(place)) for place, span in left.items()}
    if exact:
        with Counter(config, isolation=isolation, say=say) as counter:
            # No record is read twice: what is read again is a part of what is left to read.
            by_move, by_rest = _counted(counter, moved), _counted(counter, rest)
    else:
        by_move, by_rest = _offsets(moved), _offsets(rest)
    befores = {
        (one.topic, one.partition): (max(one.before, one.start or 0), one.stable)
        for one in known
        if one.before is not None and one.stable is not None
    }
    before, after = first_times(config, befores, isolation), first_times(config, left, isolation)
    newest = newest_times(config, [place for place, span in left.items() if span[0] < span[1]])
    return tuple(
        CountedMove(
            *place,
            moved=_records(by_move, place) if place in moved else 0,
            left=_sum(_records(by_rest, place), _records(by_move, place) if rest[place] != left[place] else 0),
            at_least=_at_least(by_move, place) or _at_least(by_rest, place),
            before_ms=before.get(place),
            after_ms=after.get(place),
            newest_ms=newest.get(place),
        )
        for place in sorted(left)
    )


def oldest_left(
    config: Mapping[str, Any], read: Sequence[InputPartition], isolation: Isolation
) -> dict[str, int | Missing]:
    """The time of the first record left of each input whose log no longer begins at 0 (Unix ms)."""
    ranges = {
        (one.topic, one.partition): (one.start, one.stable)
        for one in read
        if isinstance(one.start, int) and isinstance(one.stable, int) and one.start > 0
    }
    found: dict[str, int | Missing] = {}
    times = first_times(config, ranges, isolation)
    for topic in sorted({topic for topic, _ in ranges}):
        its = [at_ms for place, at_ms in times.items() if place[0] == topic]
        dated = [at_ms for at_ms in its if isinstance(at_ms, int)]
        lacking = [at_ms for at_ms in its if isinstance(at_ms, Missing)]
        found[topic] = lacking[0] if lacking else min(dated) if dated else Missing("it has no record left")
    return found


def first_times(config: Mapping[str, Any], ranges: _Ranges, isolation: Isolation) -> dict[Place, int | Missing | None]:
    """The time of the first record of each range (Unix ms), None without one."""
    filled = {place: span for place, span in ranges.items() if span[0] < span[1]}
    try:
        answers = first_or_missing(config, filled, FIRST_S, isolation)
    except RunbookError as error:
        return dict.fromkeys(filled, Missing(str(error)))
    late = Missing(f"its first record was not read within {FIRST_S:g} s")
    found: dict[Place, int | Missing | None] = {}
    for place in filled:
        answer = answers.get(place, late)
        found[place] = answer.written_ms if isinstance(answer, tuple) else answer
    return found


def newest_times(config: Mapping[str, Any], places: Sequence[Place]) -> dict[Place, int | Missing | None]:
    """The newest time among the records of each partition (Unix ms), None without one."""
    if not places:
        return {}
    try:
        with ClusterReader(config) as reader:
            found = read_newest(reader.librdkafka, places)
    except RunbookError as error:
        return dict.fromkeys(places, Missing(str(error)))
    return {place: None if at_ms == NO_RECORD else at_ms for place, at_ms in found.items()}


def _span(row: MovedOffset) -> tuple[int, int] | None:
    """The offsets that are read again or skipped, as far as the log has them."""
    span = row.again or row.skipped
    return None if span is None else (max(span[0], row.start or 0), max(span[1], row.start or 0))


def _without(span: tuple[int, int], moved: tuple[int, int] | None) -> tuple[int, int]:
    """The offsets left to read behind those that are read again."""
    if moved is None or not span[0] <= moved[0] <= moved[1] <= span[1]:
        return span
    return moved[1], span[1]


def _sum(one: int | Missing, other: int | Missing) -> int | Missing:
    if isinstance(one, Missing):
        return one
    return other if isinstance(other, Missing) else one + other


def _offsets(ranges: _Ranges) -> Counted:
    return Counted({place: Readable(max(0, end - start)) for place, (start, end) in ranges.items()}, "nothing")


def _counted(counter: Counter, ranges: _Ranges) -> Counted | Missing:
    try:
        return counter(ranges)
    except RunbookError as error:
        return Missing(str(error))


def _records(counted: Counted | Missing, place: Place) -> int | Missing:
    return counted if isinstance(counted, Missing) else counted.readable[place].records


def _at_least(counted: Counted | Missing, place: Place) -> bool:
    return isinstance(counted, Counted) and place in counted.readable and counted.readable[place].at_least
