"""The target of each input, from a form's object or a command's options.

earliest, latest            the start of the log; its last stable offset
2026-11-01T00:00:00Z        the first record that is not older; with a zone
-2h, -1d12h                 the same, so long ago
... or latest               after a time: the offset of a partition without such a record (or earliest)
+100, -100                  so many offsets on, or back, from the committed offset of each partition
1234                        this offset in every partition
0:1234,1:1300               an offset for each partition; in a form {"0": 1234, "1": 1300}
run:RUN, file:PATH          the offsets that an earlier run saved, on its undo card or as a file
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.offset_targets import (
    AFTER_ITS_OWN,
    EARLIEST,
    EVERY_STREAM,
    UNDECIDED,
    OffsetTarget,
    WithoutRecord,
)
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utc_second
from kstreams_runbooks.wording import first_of, outside

EXPECTED = (
    "earliest, latest, a time such as 2026-11-01T00:00:00Z, a duration back such as -2h, a shift such as -100, an "
    'offset, 0:1234,1:1300 or {"0": 1234}, run:RUN, file:PATH'
)
# The largest offset of a log, a Java long.
_MOST = 2**63 - 1
_DIGITS = 19
_SHIFT = re.compile(r"[+-][0-9]{1,19}")
_OFFSET = re.compile(r"[0-9]{1,19}")
_BACK = re.compile(r"-(?=[0-9])(?:([0-9]{1,6})d)?(?:([0-9]{1,8})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10})s)?")
_PAIR = re.compile(r"([0-9]{1,9}):([0-9]{1,19})")
_UNITS = (DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS)
_WITHOUT = re.compile(r"(.*\S)\s+or\s+(\S+)")


def parse_targets(
    given: Mapping[str, Any], inputs: Collection[str], now_ms: int, *, restored: Collection[str] = ()
) -> dict[str, OffsetTarget]:
    """The target of each topic, `*` for every input that is not a table and not named.

    `inputs` are the topics that the group reads, internal ones apart; `restored` those that fill global stores: no
    group has offsets on them. BadInput for a topic that is neither, or a value that has no meaning.
    """
    found = {}
    for topic, value in given.items():
        if topic in restored:
            raise BadInput(
                f"target of {outside(topic)}: fills a global store, which every instance reads in full at each start "
                "(expected an input of the group); leave it out"
            )
        if topic != EVERY_STREAM and topic not in inputs:
            raise BadInput(
                f"target of {outside(topic)}: is not an input (inputs: {first_of(sorted(inputs)) or 'none'}); name one "
                f"of them, or {EVERY_STREAM} for every input that is not a table"
            )
        found[topic] = parse_target(topic, value, now_ms)
    return found


def parse_target(topic: str, value: Any, now_ms: int) -> OffsetTarget:
    """The target of one topic; `now_ms` (Unix ms) is the time from which durations count."""
    if isinstance(value, Mapping):
        pairs = [(str(number), offset) for number, offset in value.items()]
        return _offsets(topic, pairs, "{" + ", ".join(f"{number}: {offset}" for number, offset in pairs) + "}")
    if isinstance(value, int) and not isinstance(value, bool):
        return _offset(topic, str(value), value)
    if not isinstance(value, str) or not value.strip():
        raise _unknown(topic, value)
    text = value.strip()
    target, without = (found[1], found[2]) if (found := _WITHOUT.fullmatch(text)) else (text, "")
    one = _one(topic, target, now_ms)
    if not without:
        return one
    if one.kind != "time" or without not in {"earliest", "latest"}:
        raise BadInput(
            f"target of {outside(topic)}: {outside(text, 80)}: `or` goes with a time and earliest or latest (expected "
            "such as -2h or latest); correct it"
        )
    return OffsetTarget("time", text, at_ms=one.at_ms, without=cast("WithoutRecord", without))


def target_text(target: OffsetTarget) -> str:
    """The target as a text that means the same at any later time: a duration back is the time that it meant."""
    if target.kind == "time" and target.at_ms is not None:
        seconds, ms = divmod(target.at_ms, SECOND_MS)
        at = datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=ms * 1_000).isoformat(timespec="milliseconds")
        return f"{at} or {target.without}" if target.without else at
    if target.kind == "offsets":
        return ",".join(f"{partition}:{offset}" for partition, offset in target.offsets)
    if target.kind == "shift":
        return f"{target.offset or 0:+d}"
    return {"offset": str(target.offset), "saved": target.saved}.get(target.kind, target.kind)


def with_defaults(
    given: Mapping[str, OffsetTarget],
    inputs: Collection[str],
    tables: Collection[str],
    *,
    rebuilds: bool,
    written: Collection[str] = (),
    shared: Collection[str] = (),
) -> dict[str, OffsetTarget]:
    """The target of each input: as given, else by `*`, and of a table earliest.

    Without `rebuilds` the state is kept: an input without a target stays as it is, a table too. `written` are inputs
    that the application writes itself: they begin at their end, or their records would be processed twice. One that
    others write too (`shared`) has no default: each place would double records, or skip some. Source: Kafka Streams
    developer guide, Application Reset Tool, intermediate topics.
    """
    every = given.get(EVERY_STREAM)
    found: dict[str, OffsetTarget] = {}
    for topic in sorted(inputs):
        own = given.get(topic) or (None if topic in tables or topic in written else every)
        if own is not None or rebuilds:
            found[topic] = own or (UNDECIDED if topic in shared else AFTER_ITS_OWN if topic in written else EARLIEST)
    return found


def _one(topic: str, text: str, now_ms: int) -> OffsetTarget:
    if text in {"earliest", "latest"}:
        return OffsetTarget("earliest" if text == "earliest" else "latest", text)
    scheme, _, rest = text.partition(":")
    if scheme in {"run", "file"} and rest.strip():
        return OffsetTarget("saved", text, saved=f"{scheme}:{rest.strip()}")
    if _SHIFT.fullmatch(text):
        if not int(text) or abs(int(text)) > _MOST:
            raise BadInput(f"target of {outside(topic)}: {text} moves nothing, or past every log; give another shift")
        return OffsetTarget("shift", text, offset=int(text))
    if _OFFSET.fullmatch(text):
        return _offset(topic, text, int(text))
    if found := _BACK.fullmatch(text):
        back_ms = sum(int(number or 0) * unit for number, unit in zip(found.groups(), _UNITS, strict=True))
        if not 0 < back_ms <= now_ms:
            raise BadInput(
                f"target of {outside(topic)}: {text} goes back by {back_ms:,} ms (expected more than 0, and a time "
                "after 1970); correct it"
            )
        return OffsetTarget("time", text, at_ms=now_ms - back_ms)
    if _PAIR.match(text):
        pairs = [_PAIR.fullmatch(part.strip()) for part in text.split(",")]
        if all(pairs):
            return _offsets(topic, [(pair[1], int(pair[2])) for pair in pairs if pair], text)
        raise _unknown(topic, text)
    return _time(topic, text, now_ms)


def _time(topic: str, text: str, now_ms: int) -> OffsetTarget:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise _unknown(topic, text) from None
    if found.tzinfo is None:
        raise BadInput(
            f"target of {outside(topic)}: {outside(text, 80)} is a time without a zone (expected such as "
            "2026-11-01T00:00:00Z); add it"
        )
    at_ms = round(found.timestamp() * SECOND_MS)
    if at_ms > now_ms:
        raise BadInput(
            f"target of {outside(topic)}: {outside(text, 80)} is in the future (now {utc_second(now_ms)}); give a time "
            "that is over, or latest"
        )
    if at_ms < 0:
        raise BadInput(f"target of {outside(topic)}: {outside(text, 80)} is before 1970; give earliest")
    return OffsetTarget("time", text, at_ms=at_ms)


def _offset(topic: str, text: str, offset: int) -> OffsetTarget:
    if not 0 <= offset <= _MOST:
        raise BadInput(f"target of {outside(topic)}: {text} is not an offset (expected 0 to {_MOST:,}); correct it")
    return OffsetTarget("offset", text, offset=offset)


def _offsets(topic: str, pairs: list[tuple[str, Any]], text: str) -> OffsetTarget:
    found: dict[int, int] = {}
    for number, offset in pairs:
        whole = isinstance(offset, int) and not isinstance(offset, bool) and 0 <= offset <= _MOST
        if not (number.isascii() and number.isdecimal() and len(number) <= _DIGITS and whole):
            raise BadInput(
                f"target of {outside(topic)}: {outside(number, 40)}: {outside(offset, 40)} is not a partition with an "
                "offset (expected whole numbers from 0); correct it"
            )
        if int(number) in found:
            raise BadInput(f"target of {outside(topic)}: partition {int(number)} has two offsets; keep one of them")
        found[int(number)] = offset
    if not found:
        raise _unknown(topic, text)
    return OffsetTarget("offsets", text, offsets=tuple(sorted(found.items())))


def _unknown(topic: str, value: object) -> BadInput:
    return BadInput(f"target of {outside(topic)}: {outside(repr(value), 80)} is not a target (expected {EXPECTED})")
