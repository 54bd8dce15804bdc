"""The message to an application's owner about a changed status: 15 lines at most, with the things to check."""

import textwrap
from collections.abc import Mapping, Sequence

from kstreams_runbooks.decide.runs.approval import when
from kstreams_runbooks.decide.runs.message import MOST_LINES, one_line
from kstreams_runbooks.decide.status.declared import ABOUT_FILES
from kstreams_runbooks.model.readings.status import KeptStatus
from kstreams_runbooks.model.runs.message import Kind, Notification
from kstreams_runbooks.wording import first_of, pasted

_MOST_NAMED = 10
# No sentence is cut: one that names several topics takes several lines.
_WIDTH = 400


def status_changed(
    changes: Sequence[KeptStatus], at_ms: int, *, owner: str, zone: str, link: str, held_by: Mapping[str, str]
) -> Notification:
    """One message about an application, or about several of one owner that changed for the same reason.

    `held_by` is the run that holds an application, by its name; `link` leads to the check (empty: unknown).
    """
    first, names = changes[0], [one.application for one in changes]
    alone = len(changes) == 1
    who = first.application if alone else f"{len(changes)} applications"
    was = f" (was {first.told})" if first.told else ""
    # Too many names to copy: the whole fleet is shown.
    words = ["lag", *(names if len(names) <= _MOST_NAMED else [])]
    command = pasted(["kstreams-runbooks", *(["fleet"] if first.word in ABOUT_FILES else words)])
    holds = [f"Held by run {held_by[name]}" + ("" if alone else f": {name}") for name in names if name in held_by]
    tail = [
        f"Since: {when(first.since_ms, zone)}",
        f"Command: {command}",
        *([f"Link: {link}"] if link else []),
    ]
    room = MOST_LINES - len(tail)
    lines = [*_sentences(changes, room - len(holds[: room // 2])), *holds[: room // 2]]
    return Notification(
        about=f"application:{first.cluster}:{first.application}" if alone else f"owner:{first.cluster}:{owner}",
        kind=Kind.STATUS,
        occasion=f"{first.word}/{first.since_ms}",
        application=first_of(tuple(names)),
        cluster=first.cluster,
        owner=owner,
        dry_run=False,
        subject=one_line(f"[{who} @ {first.cluster}] {Kind.STATUS.words}: {first.word}{was}"),
        lines=tuple(one_line(line) for line in (*lines, *tail)),
        link=link,
        command=command,
        deadline_ms=None,
        at_ms=at_ms,
    )


def _sentences(changes: Sequence[KeptStatus], room: int) -> list[str]:
    """The observations, in at most `room` lines."""
    sentences = {one.sentence for one in changes}
    if len(changes) == 1:
        return textwrap.wrap(changes[0].sentence, _WIDTH)[:room]
    if len(sentences) == 1:
        return [f"{first_of(tuple(one.application for one in changes), most=10)}: {changes[0].sentence}"]
    lines = [f"{one.application}: {one.sentence}" for one in changes]
    return lines if len(lines) <= room else [*lines[: room - 1], f"… and {len(lines) - room + 1} more"]
