"""Examples of differences: a few records, read by their offsets, with masked parts left out.

A mask is `key`, `value`, `headers`, `fields` (names of fields that differ) or a path into values that are JSON:
`$.customer.email`, `$.lines[*].card`. A value that is not JSON is hidden if a path is given, and all values are if no
example has one of the paths.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.compare_rows import ComparedSource
from kstreams_runbooks.frames.partitioning import shown
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.json_paths import PARTS, PATH, STEP
from kstreams_runbooks.model.readings.outputs import ShownRecord, UnlikeKind, UnlikeRecord
from kstreams_runbooks.wording import outside

if TYPE_CHECKING:
    from pyspark.sql import Row

MASKED: Final = "***"
# Bytes of a part that an example has.
_SHOWN: Final = 200

# A partition and an offset.
Spot = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExampleSpot:
    """The offsets of an example in each topic; kind, partition, place and fields as in `UnlikeRecord`."""

    kind: UnlikeKind
    partition: int | None
    place: int | None
    first: Spot | None
    second: Spot | None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Masks:
    """What examples leave out: whole parts, and paths into values."""

    parts: frozenset[str]
    paths: tuple[str, ...]

    @classmethod
    def parse(cls, given: Sequence[str]) -> "Masks":
        """BadInput for a mask that is neither a part nor a path."""
        for mask in given:
            if mask not in PARTS and not PATH.fullmatch(mask):
                raise BadInput(
                    f"mask {outside(mask, 80)}: is not key, value, headers or a path such as $.customer.email or "
                    "$.lines[*].card; give one of them"
                )
        return cls(PARTS & set(given), tuple(mask for mask in given if mask not in PARTS))

    def value(self, value: bytes, matched: set[str]) -> str:
        """A value without what the paths name; adds the paths that it has to `matched`."""
        if "value" in self.parts:
            return MASKED
        if not self.paths:
            return _text(value)
        try:
            document = json_document(value.decode())
        except (BadInput, UnicodeDecodeError):
            return MASKED
        for path in self.paths:
            steps = [name or place for name, place in STEP.findall(path)]
            document, found = _masked(document, steps)
            if found:
                matched.add(path)
        return _text(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _masked(document: Any, steps: Sequence[str]) -> tuple[Any, bool]:
    """The document with `***` at the end of the steps, and whether it has that place."""
    if not steps:
        return MASKED, True
    step, rest = steps[0], steps[1:]
    places: Iterable[Any] = ()
    if isinstance(document, dict):
        places = [step] if step in document else []
    elif isinstance(document, list):
        numbers = range(len(document))
        places = numbers if step == "*" else [int(step)] if step.isdecimal() and int(step) in numbers else []
    changed = False
    for place in places:
        document[place], found = _masked(document[place], rest)
        changed = changed or found
    return document, changed


def _text(part: bytes) -> str:
    cut = shown(part[:_SHOWN])
    return f"{cut}…" if len(part) > _SHOWN else cut


def shown_examples(source: ComparedSource, found: Sequence[ExampleSpot]) -> tuple[UnlikeRecord, ...]:
    """The first of these examples as records; a few reads of one record a partition."""
    found = found[: source.question.examples]
    masks = Masks.parse(source.question.masked)
    rows = _fetched(source, found)
    matched: set[str] = set()

    def record(side: int, spot: Spot | None) -> ShownRecord | None:
        return None if spot is None else _shown(rows[side, *spot], masks, matched)

    shown_here = [
        UnlikeRecord(
            one.kind,
            one.partition,
            one.place,
            _parts(
                rows.get((0, *one.first)) if one.first else None, rows.get((1, *one.second)) if one.second else None
            ),
            record(0, one.first),
            record(1, one.second),
            () if "fields" in masks.parts else one.fields,
        )
        for one in found
        # Compaction may remove a record between two reads.
        if all(spot is None or (side, *spot) in rows for side, spot in enumerate((one.first, one.second)))
    ]
    if set(masks.paths) - matched:
        shown_here = [
            replace(one, first=_without_value(one.first), second=_without_value(one.second)) for one in shown_here
        ]
    return tuple(shown_here)


def _fetched(source: ComparedSource, found: Sequence[ExampleSpot]) -> dict[tuple[int, int, int], "Row"]:
    """The records of all examples, by side, partition and offset."""
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    topics = (source.question.first[0].topic, source.question.second[0].topic)
    wanted: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for one in found:
        for side, spot in enumerate((one.first, one.second)):
            if spot is not None:
                wanted[side, spot[0]].add(spot[1])
    rows: dict[tuple[int, int, int], Row] = {}
    # A read has one range of each partition.
    each = ([(side, partition, at) for at in sorted(offsets)] for (side, partition), offsets in wanted.items())
    for round_ in zip_longest(*each):
        ranges = [OffsetRange(topics[one[0]], one[1], one[2], one[2] + 1) for one in round_ if one is not None]
        read = source.rows(ranges).withColumn("timestamp", F.unix_millis("timestamp"))
        for row in read.collect():
            rows[0 if row.is_first else 1, row.partition, row.offset] = row
    return rows


def _shown(row: "Row", masks: Masks, matched: set[str]) -> ShownRecord:
    return ShownRecord(
        partition=row.partition,
        offset=row.offset,
        timestamp_ms=row.timestamp,
        key=None if row.key is None else MASKED if "key" in masks.parts else _text(bytes(row.key)),
        value=None if row.value is None else masks.value(bytes(row.value), matched),
        headers=tuple(
            (name, None if value is None else MASKED if "headers" in masks.parts else _text(value))
            for name, value in _headers(row)
        ),
    )


def _headers(row: "Row") -> list[tuple[str, bytes | None]]:
    given: Mapping[str, Any] = row.asDict()
    return [
        (header.key, None if header.value is None else bytes(header.value)) for header in given.get("headers") or ()
    ]


def _parts(first: "Row | None", second: "Row | None") -> tuple[str, ...]:
    """The parts in which two records differ."""
    if first is None or second is None:
        return ()
    unlike = [part for part in ("key", "value", "timestamp") if first[part] != second[part]]
    return tuple(unlike + (["headers"] if _headers(first) != _headers(second) else []))


def _without_value(record: ShownRecord | None) -> ShownRecord | None:
    return record if record is None or record.value is None else replace(record, value=MASKED)
