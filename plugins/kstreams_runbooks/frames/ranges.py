"""The offsets of each partition that a job reads, and a part of them if they are too many."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside

# About 20 s of reading on two cores, far more than an operator waits for.
MAX_SCAN_RECORDS = 20_000_000

# A hundred thousand partitions, each with the longest name that a topic may have.
LARGEST_RANGES = 32 * 1024 * 1024
_MOST_VALUES = 1_000_000

_FIELDS = {"topic": str, "partition": int, "start": int, "end": int}


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """[start, end) of one partition; `end` is at most its last stable offset at the time of the reading."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def offsets(self) -> int:
        """Number of offsets; markers and aborted records are offsets too."""
        return self.end - self.start


def parse_ranges(text: str) -> tuple[OffsetRange, ...]:
    """Ranges of a JSON array of {topic, partition, start, end}; BadInput names the first invalid one."""
    try:
        rows = json_document(text, largest=LARGEST_RANGES, nodes=_MOST_VALUES)
    except BadInput as error:
        raise BadInput(f"ranges: {error} (expected [{{topic, partition, start, end}}, …])") from None
    if not isinstance(rows, list):
        raise BadInput(f"ranges: {type(rows).__name__} instead of an array of {{topic, partition, start, end}}")
    ranges = tuple(_range(number, row) for number, row in enumerate(rows))
    seen: set[tuple[str, int]] = set()
    for one in ranges:
        if (one.topic, one.partition) in seen:
            raise BadInput(f"ranges: {one.topic}-{one.partition} is there twice; give one range per partition")
        seen.add((one.topic, one.partition))
    return ranges


def _range(number: int, row: Any) -> OffsetRange:
    if not isinstance(row, dict) or set(row) != set(_FIELDS):
        raise BadInput(f"ranges[{number}]: {outside(row, 200)} instead of an object of topic, partition, start and end")
    for field, kind in _FIELDS.items():
        if type(row[field]) is not kind or row[field] == "" or (kind is int and row[field] < 0):
            wanted = "a name" if kind is str else "a number from 0"
            raise BadInput(f"ranges[{number}]: {field} is {outside(repr(row[field]), 100)}, not {wanted}")
    found = OffsetRange(**row)
    if found.end < found.start:
        raise BadInput(f"ranges[{number}]: end {found.end} is before start {found.start}")
    return found


def cut(ranges: Sequence[OffsetRange], most: int) -> tuple[OffsetRange, ...]:
    """The same ranges if they have at most `most` offsets together, else the first part of each.

    Every range that has an offset keeps at least one, the rest is shared by size, and the sum is never above `most`.
    BadInput if `most` is below one offset for each.
    """
    filled = [one for one in ranges if one.offsets]
    total = sum(one.offsets for one in filled)
    if total <= most:
        return tuple(ranges)
    if most < len(filled):
        raise BadInput(f"at most {most:,} offsets of {len(filled):,} partitions: too few to read one of each; raise it")
    shared, left = most - len(filled), total - len(filled)

    def part(one: OffsetRange) -> int:
        return 1 + (one.offsets - 1) * shared // left if one.offsets else 0

    return tuple(OffsetRange(one.topic, one.partition, one.start, one.start + part(one)) for one in ranges)


def places_json(ranges: Iterable[OffsetRange]) -> str:
    """Partitions in the format of the Kafka source's option `assign`."""
    topics: dict[str, list[int]] = {}
    for one in ranges:
        topics.setdefault(one.topic, []).append(one.partition)
    return json.dumps(topics)


def offsets_json(ranges: Iterable[OffsetRange], *, ends: bool) -> str:
    """Their ends or starts in the format of `endingOffsets` and `startingOffsets`."""
    topics: dict[str, dict[str, int]] = {}
    for one in ranges:
        topics.setdefault(one.topic, {})[str(one.partition)] = one.end if ends else one.start
    return json.dumps(topics)
