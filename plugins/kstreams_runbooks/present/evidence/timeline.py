"""What happened in a run, in the order of its journal: each try of each task, with repeated entries folded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kstreams_runbooks.model.runs.question import UNCOUNTED, WITH_REASON
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.wording import one_cause_each

# The note with which each step begins, and the one with which a wait keeps what it saw last.
_BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class Event:
    """One entry, or several equal ones in a row: from `at_ms` to `until_ms` (Unix milliseconds), `times` in number.

    `attempt` is the try of its task, 0 if it has none; `bad` marks a failure.
    """

    order: int
    at_ms: int
    task: str
    attempt: int
    text: str
    key: tuple[str, ...]
    until_ms: int = 0
    times: int = 1
    bad: bool = False

    @property
    def sentence(self) -> str:
        """The event, with the number of its repetitions and their time in seconds."""
        if self.times == 1:
            return self.text
        return f"{self.text} ({self.times} times in {(self.until_ms - self.at_ms) / SECOND_MS:,.0f} s)"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try of a task that a later one replaced."""

    task: str
    number: int
    events: tuple[Event, ...]


def timeline_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Every event in order, with the seconds since the first and since the one before it; then where the time went.

    A wait's folded events end at their last one: the seconds after it are those until the next event.
    """
    every = events(document)
    began_ms, before_ms = (every[0].at_ms, every[0].at_ms) if every else (0, 0)
    for one in every:
        since, step = (one.at_ms - began_ms) / SECOND_MS, (one.at_ms - before_ms) / SECOND_MS
        task = f"{one.task} (try {one.attempt})" if one.attempt > 1 else one.task
        yield (
            f"{since:8,.1f} s  {step:+7,.1f}  {task}: {one.sentence}"
            if task
            else f"{since:8,.1f} s  {step:+7,.1f}  {one.sentence}"
        )
        before_ms = one.until_ms or one.at_ms
    if spent := document.get("time_shares"):
        yield spent["sentence"]


def events(document: Mapping[str, Any]) -> tuple[Event, ...]:
    """Every event of a run's document that a person reads, those that repeat the one before them folded.

    The raw readings are events too if the document has them.
    """
    folded: list[Event] = []
    for one in sorted(_every(document), key=lambda event: event.order):
        last = folded[-1] if folded else None
        if last and one.key and last.key == one.key:
            folded[-1] = replace(one, at_ms=last.at_ms, until_ms=one.at_ms, times=last.times + 1, order=last.order)
        else:
            folded.append(one)
    return tuple(folded)


def divided(every: Sequence[Event]) -> tuple[tuple[Event, ...], tuple[Attempt, ...]]:
    """The events that count, and the tries that were superseded by a later one of the same task."""
    newest: dict[str, int] = {}
    for one in every:
        newest[one.task] = max(one.attempt, newest.get(one.task, 0))
    old: dict[tuple[str, int], list[Event]] = {}
    for one in every:
        if 0 < one.attempt < newest[one.task]:
            old.setdefault((one.task, one.attempt), []).append(one)
    counts = tuple(one for one in every if not 0 < one.attempt < newest[one.task])
    return counts, tuple(Attempt(task, number, tuple(of)) for (task, number), of in old.items())


def _every(document: Mapping[str, Any]) -> Iterator[Event]:
    for piece in document.get("notes", ()):
        if piece["name"] == _BEGUN:
            yield _event(piece, f"began: {piece['payload'].get('what', '')}")
        elif piece["name"] == UNCOUNTED:
            yield _event(piece, f"asked again: {piece['payload']['why']}")
        elif piece["name"] == WITH_REASON:
            given = piece["payload"]
            chosen = given["chosen"] if isinstance(given["chosen"], str) else ", ".join(given["chosen"] or ())
            yield _event(piece, f"{given['by']} answered {chosen}: {given['reason']}")
        elif isinstance(piece["payload"], dict) and "sentence" in piece["payload"]:
            yield _event(piece, f"saw: {piece['payload']['sentence']}", piece["name"])
    yield from (_event(piece, f"read {piece['name']}") for piece in document.get("readings", ()))
    yield from _verdicts(document)
    for piece in document.get("writes", ()):
        name = str(piece["payload"].get("instance", "")) if isinstance(piece["payload"], dict) else ""
        yield _event(piece, f"wrote {piece['name']} {name}".strip())
    for piece in document["failures"]:
        yield replace(_event(piece, f"FAILED: {piece['payload']['sentence']}"), bad=True)
    for given in document["approvals"]:
        why = f", in an emergency: {given['emergency_reason']}" if given["emergency_reason"] else ""
        text = f"approved by {given['by']} for plan {given['digest']}{why}"
        yield Event(given.get("entry", 0), given.get("at_ms", 0), given["task_id"], 0, text, ())
    for card in document["cards"]:
        text = f"changes: {card['what']}"
        yield Event(card.get("entry", 0), card.get("at_ms", 0), card.get("task_id", ""), 0, text, ())


def _verdicts(document: Mapping[str, Any]) -> Iterator[Event]:
    for piece in document["verdicts"]:
        result = _result(piece)
        if outcome := result.get("outcome"):
            why = "; ".join(one_cause_each(result.get("reasons", ()))) or result.get("sentence", "")
            # Decisions of several instances and bounces alternate in one task.
            about = str(piece.get("about") or "")
            yield _event(piece, f"{piece['name']}{about and f' of {about}'}: {outcome}: {why}", outcome, about)


def _event(piece: Mapping[str, Any], text: str, *repeats: str) -> Event:
    """An event of a piece of evidence; pieces of one task with equal `repeats` in a row are one."""
    task, attempt = piece.get("task", ""), piece.get("try", 0)
    key = (task, str(attempt), str(piece.get("name", "")), *repeats) if repeats else ()
    return Event(piece.get("id", 0), piece.get("at_ms", 0), task, attempt, text, key)


def _result(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    found = piece["payload"].get("result") if isinstance(piece["payload"], dict) else None
    return found if isinstance(found, dict) else {}
