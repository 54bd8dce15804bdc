"""The answer of `drain` as JSON and as text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.drain.pace import eta_ms
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.drain import DrainAnswer, RunningInstance
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.wording import first_of, fitted, sentence

SCHEMA_VERSION: Final = 1
# Digits with separators, and the numbers inside names.
_NUMBER = re.compile(r"\d(?:[\d,.]*\d)?")
# An option, as only a command in a sentence has one.
_OPTION = re.compile(r" --[a-z]")
_WORDS = {Outcome.PROCEED: "drained", Outcome.WAIT: "not yet"}


def word(answer: DrainAnswer) -> str:
    """The verdict in a word or two: drained, not yet, or inconclusive."""
    return _WORDS.get(answer.verdict.outcome, "inconclusive")


def exit_code(answer: DrainAnswer) -> int:
    """0 drained, 1 not yet, 3 inconclusive, 4 if the last reading found no broker."""
    if answer.verdict.outcome is Outcome.PROCEED:
        return 0
    if answer.unreachable:
        return Unreachable.exit_code
    return 1 if answer.verdict.outcome is Outcome.WAIT else Inconclusive.exit_code


def document(entry: DeclaredApplication, answer: DrainAnswer) -> dict[str, Any]:
    """The verdict and the last reading; a value that is not known is null."""
    last = answer.readings[-1] if answer.readings else None
    return {
        "schema_version": SCHEMA_VERSION,
        "application": entry.name,
        "application_id": entry.application_id,
        "cluster": entry.cluster,
        "verdict": word(answer),
        "reasons": list(answer.verdict.reasons),
        "findings": [asdict(finding) for finding in answer.verdict.findings],
        "pause": None if answer.question.pause is None else asdict(answer.question.pause),
        "readings": answer.taken,
        "readings_needed": answer.question.readings,
        "taken_at_ms": None if last is None else last.taken.at_ms,
        "unread_records": None if last is None or not last.counted else last.unread,
        "unread_at_most": None if last is None else last.unread,
        "eta_ms": eta_ms(answer.readings),
        "partitions": [] if last is None else [_partition(one) for one in last.partitions],
        "open_transactions": [] if last is None else [asdict(one) for one in last.open_transactions],
        "held_back": [] if last is None else [asdict(one) for one in last.held_back],
        "instances": [] if last is None else [_instance(one) for one in last.instances],
    }


def as_text(entry: DeclaredApplication, answer: DrainAnswer, columns: int | None = None) -> str:
    """The verdict, then each reason on its own line, of at most `columns` characters (None: whole)."""
    return "\n".join(fitted(sentence(line), columns) for line in _lines(entry, answer))


def _lines(entry: DeclaredApplication, answer: DrainAnswer) -> Iterator[str]:
    yield f"[{entry.name} @ {entry.cluster}] {word(answer).upper()}"
    for reason in grouped(answer.verdict.reasons):
        yield f"  {reason}"
    for held in (
        answer.readings[-1].held_back if answer.readings and answer.verdict.outcome is not Outcome.PROCEED else ()
    ):
        yield f"  also, in no topic: {held.what}"


def grouped(reasons: Sequence[str]) -> list[str]:
    """The reasons with those that differ in their object and numbers alone in one line, in the order of the first.

    Under traffic each partition has an open transaction, and a line of its own for it. A number that differs is shown
    as its range. A reason with a command of its own keeps its line: the command is for its object alone.
    """
    same: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        rest = _about_an_object(reason)
        is_own = rest is not None and _OPTION.search(rest)
        key = (reason, "") if rest is None else ("", rest if is_own else _NUMBER.sub("0", rest))
        same.setdefault(key, []).append(reason)
    return [_together(of) for of in same.values()]


def shape(reasons: Sequence[str]) -> tuple[str, ...]:
    """What stays the same of reasons while their objects and numbers move: two readings of one shape are one line."""
    parts = (_about_an_object(one) or one.partition(": ")[0] for one in reasons)
    return tuple(dict.fromkeys(_NUMBER.sub("0", part) for part in parts))


def _about_an_object(reason: str) -> str | None:
    """What a reason states about its one object; None if it does not begin with a name."""
    name, colon, rest = reason.partition(": ")
    return rest if colon and " " not in name else None


def _together(reasons: Sequence[str]) -> str:
    """One line for reasons that differ in their object and numbers alone."""
    first, *others = reasons
    if not others:
        return first
    names = [one.partition(": ")[0] for one in reasons]
    rests = [one.partition(": ")[2] for one in reasons]
    numbers = iter([_range(each) for each in zip(*map(_NUMBER.findall, rests), strict=True)])
    return f"{first_of(names)}: {_NUMBER.sub(lambda _: next(numbers), rests[0])}"


def _range(numbers: Sequence[str]) -> str:
    """`3`, or `2 to 55`, each as it is written."""
    least, most = (end(numbers, key=_value) for end in (min, max))
    return least if _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> tuple[int, ...]:
    """What a number, or the parts of a version, is ordered by."""
    return tuple(map(int, re.findall(r"\d+", number.replace(",", ""))))


def _partition(one: PartitionLag) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "role": one.role,
        "state": one.state,
        "committed": one.committed,
        "last_stable_offset": one.last_stable_offset,
        "log_end_offset": one.log_end_offset,
        "readable_records": one.records if one.exact or one.records == 0 else None,
        "oldest_unread_ms": one.oldest_unread_ms,
    }


def _instance(one: RunningInstance) -> dict[str, Any]:
    return {**asdict(one), "tasks": None if one.tasks is None else sorted(one.tasks)}
