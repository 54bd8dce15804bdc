"""A lag reading as JSON, as text and as an exit code."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from kstreams_runbooks.decide.status.status import LagAnswer
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utc_second
from kstreams_runbooks.wording import fitted, sentence

SCHEMA_VERSION: Final = 1


def document(answers: Sequence[LagAnswer]) -> dict[str, Any]:
    """Every application of every cluster; a value that is not known is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "applications": [
            {
                "application_id": one.lag.application_id,
                "application": one.lag.application,
                "cluster": one.cluster,
                "taken_at_ms": one.at_ms,
                "group_type": one.lag.group_type,
                "group_state": one.lag.group_state,
                "status": one.status.word,
                "problems": list(one.lag.problems),
                "unseen_changelogs": list(one.lag.unseen),
                "partitions": [_partition(row) for row in one.lag.partitions],
            }
            for one in answers
        ],
    }


def exit_code(answers: Sequence[LagAnswer]) -> int:
    """0 everything is read, 1 unread records, 3 something is unknown.

    Four facts count as unknown if everything else is read: the records of an open transaction; whether records may
    expire unread (without the right to read the retention, expiry stays possible); whether deleted offsets had an
    unread record; and whether a changelog that is not visible still exists.
    """
    every = [one.lag for one in answers]
    if any(lag.unread is None for lag in every):
        return 3
    if any(lag.unread for lag in every):
        return 1
    doubts = (one.open_transaction or one.age_why or one.perhaps_lost for lag in every for one in lag.read)
    return 3 if any(doubts) or any(lag.unseen for lag in every) else 0


def _partition(one: PartitionLag) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "role": one.role,
        "committed": one.committed,
        "last_stable_offset": one.last_stable_offset,
        "log_end_offset": one.log_end_offset,
        "unread_offsets": one.offsets,
        # A range without offsets has no records, counted or not.
        "readable_records": one.records if one.exact or one.records == 0 else None,
        "at_least": one.at_least,
        "oldest_unread_ms": one.oldest_unread_ms,
        "stream_time_ms": one.stream_time_ms,
        "open_transaction": one.open_transaction,
        "state": one.state,
        "why": one.why or None,
    }


_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))
# The statuses whose sentence adds to the lines below.
_TOLD = frozenset({"expiring", "failed", "filling", "recreated", "rewound", "stalled", "stopped"})
_HEADS = ("topic", "role", "unread", "", "partitions", "oldest unread", "not committed for")

_NARROW = {"oldest unread": "oldest", "not committed for": "no commit for"}


def as_text(answers: Sequence[LagAnswer], columns: int | None = None) -> str:
    """The whole answer as text; no line is longer than `columns` unless one name is, None for lines of any length."""
    return "\n\n".join(
        "\n".join(fitted(sentence(line), columns) for line in _application(one, columns)) for one in answers
    )


def _application(answer: LagAnswer, columns: int | None) -> Iterator[str]:
    lag, at_ms, found = answer.lag, answer.at_ms, answer.status
    yield f"{lag.application_id} @ {answer.cluster}: {_total(lag)}; {found.word.upper()}"
    group = f"{lag.group_type} group, {lag.group_state}" if lag.group_type else "its group was not seen"
    yield f"  {group}; {utc_second(at_ms)}"
    topics = [list(rows) for _, rows in groupby(lag.partitions, lambda one: one.topic)]
    topics.sort(key=lambda rows: (rows[0].role == "orphaned", -(_unread(rows) or 0), rows[0].topic))
    if topics:
        yield ""
        yield from _table([_HEADS, *(_topic(rows, at_ms) for rows in topics)], columns)
    told = (found.sentence,) if found.word in _TOLD else ()
    remarks = [*told, *lag.problems, *lag.unseen, *(line for rows in topics for line in _remarks(rows, lag.problems))]
    if remarks:
        yield ""
        yield from (f"  ! {line}" for line in dict.fromkeys(remarks))


def _total(lag: ApplicationLag) -> str:
    """The unread total over all partitions that the application reads."""
    if lag.unread is None:
        known = sum(one.records or 0 for one in lag.read)
        return f"unread is not known ({known:,} that are)" if known else "unread is not known"
    at_least = "at least " if any(one.at_least for one in lag.read) else ""
    return f"{at_least}{lag.unread:,} unread {_unit(lag.read)}"


def _unit(rows: Iterable[PartitionLag]) -> str:
    return "records" if all(one.exact for one in rows) else "offsets"


def _unread(rows: Sequence[PartitionLag]) -> int | None:
    """The sum, None if one partition is unknown: a partial sum would mislead."""
    return None if any(one.records is None for one in rows) else sum(one.records or 0 for one in rows)


def _topic(rows: Sequence[PartitionLag], at_ms: int) -> tuple[str, ...]:
    unread = _unread(rows)
    some = sum(1 for one in rows if one.records)
    oldest = min((one.oldest_unread_ms for one in rows if one.oldest_unread_ms is not None), default=None)
    at_least = "≥ " if any(one.at_least for one in rows) else ""
    # Partitions with unread records whose offset is the same as in an earlier reading.
    stands = max((at_ms - (one.committed_since_ms or at_ms) for one in rows if one.records), default=0)
    return (
        rows[0].topic,
        rows[0].role,
        "?" if unread is None else f"{at_least}{unread:,}",
        _unit(rows),
        f"{some} of {len(rows)}" if some else f"{len(rows)}",
        "" if oldest is None else _ago(at_ms - oldest),
        "" if not stands else f"≥ {_span(stands)}",
    )


def _table(lines: Sequence[tuple[str, ...]], most: int | None) -> Iterator[str]:
    """Columns as wide as their widest cell; numbers aligned right, empty columns left out.

    A table that is wider than `most` has each topic in a line of its own, above its numbers.
    """
    columns = [column for column in zip(*lines, strict=True) if any(column[1:])]
    if most is None or sum(max(map(len, column)) + 2 for column in columns) <= most:
        yield from _aligned(columns)
        return
    names, *numbers = ((_NARROW.get(column[0], column[0]), *column[1:]) for column in columns)
    heads, *rows = _aligned(numbers)
    yield f"  {names[0]}"
    yield f"  {heads}"
    for name, row in zip(names[1:], rows, strict=True):
        yield f"  {name}"
        yield f"  {row}"


def _aligned(columns: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        cells = [
            cell.rjust(width) if column[0] == "unread" else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _remarks(rows: Sequence[PartitionLag], problems: Sequence[str]) -> Iterator[str]:
    """Remarks, the partitions of one topic together; a remark about all partitions appears once."""
    topic = rows[0].topic
    if rows[0].role == "orphaned":
        yield f"{topic}: the application no longer reads it; no total counts its records"
    if numbers := [one.partition for one in rows if one.open_transaction]:
        yield f"{topic} {_numbers(numbers)}: a transaction is open; the records behind it are unknown"
    every = [(one, why) for one in rows for why in (one.why, one.age_why) if why and why not in problems]
    for why in dict.fromkeys(why for _, why in every):
        numbers = [one.partition for one, said in every if said == why]
        place = topic if rows[0].state == "missing" else f"{topic} {_numbers(numbers)}"
        yield f"{place}: {why}"


def _numbers(numbers: Sequence[int]) -> str:
    """`partitions 0–3, 7`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    told = ", ".join("–".join(str(end) for end in dict.fromkeys((span[0], span[-1]))) for span in spans)
    return f"partition{'s' if len(numbers) > 1 else ''} {told}"


def _ago(ms: int) -> str:
    """`14 min ago`."""
    return f"{_span(ms)} ago"


def _span(ms: int) -> str:
    """`14 min`: in the largest unit that is at least 1."""
    size, unit = next((row for row in _UNITS if ms >= row[0]), _UNITS[-1])
    return f"{max(0, ms) // size} {unit}"
