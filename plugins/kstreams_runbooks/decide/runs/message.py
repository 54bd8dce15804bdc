"""Messages to a person about a run, and their wording: 15 lines at most, with action and deadline."""

from collections.abc import Sequence
from dataclasses import dataclass

from kstreams_runbooks.decide.runs.approval import Label, when
from kstreams_runbooks.decide.runs.commands import UNDO, evidence_command, trigger_command, undo_command
from kstreams_runbooks.decide.runs.conclusion import Conclusion
from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.model.runs.held_inputs import HeldInputs
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.message import Kind, Notification
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS
from kstreams_runbooks.wording import first_of, outside, sentence

MOST_LINES = 15
_LONGEST_LINE = 500
# The time of a question, and the place of its present text, matter if Airflow keeps showing it
# (decide/runs/approval.py). A reason that quotes these words is in another line.
_LAST_LINE, _ONLY_ON_THE_PAGE = Label.DIGEST.plain, f"; {Label.WRITTEN.plain}"
_COMMAND = "Command: "
_LINK = "Link: "


@dataclass(frozen=True, slots=True)
class About:
    """Context of a message: the run, its application's owner, and its link in Airflow (empty: unknown).

    `occasion` is the task and the try that send it: a step that is cleared may send the same again, a retry may not.
    """

    record: RunRecord
    owner: str
    zone: str
    link: str
    occasion: str


def needs_you(
    about: About,
    at_ms: int,
    *,
    asks: str,
    lines: Sequence[str],
    deadline_ms: int | None = None,
    link: str = "",
    of: str = "",
) -> Notification:
    """A run waits for a person: an approval, or an action that only a person can take.

    `lines` is the question, `link` leads to its answer form (empty: the run), `of` distinguishes several questions of
    one step, such as the instance it is about.
    """
    said = [_as_message(line) for line in lines]
    kept_from = next((at for at, line in enumerate(said) if f"{Label.MAY_APPROVE}: " in line), len(said))
    return _made(
        about,
        Kind.NEEDS_YOU,
        f"{about.occasion}/{of}" if of else about.occasion,
        asks,
        said[:kept_from],
        said[kept_from:],
        command=evidence_command(about.record),
        at_ms=at_ms,
        deadline_ms=deadline_ms,
        link=link,
    )


def _as_message(line: str) -> str:
    return line.partition(_ONLY_ON_THE_PAGE)[0] if line.startswith(_LAST_LINE) else line


def approved_alone(about: About, at_ms: int, *, by: str, reason: str) -> Notification:
    """An emergency approval without a second person: another has to review it."""
    return _made(
        about,
        Kind.NEEDS_YOU,
        f"{about.occasion}/emergency",
        f"to look: {by} approved in an emergency",
        (
            f"{by} approved {about.record.dag_id} of {about.record.application} in an emergency: {reason}",
            "It goes on at once. To stop it at the next step boundary, mark the run as failed in Airflow.",
        ),
        command=evidence_command(about.record),
        at_ms=at_ms,
    )


def held_too_long(
    about: About, at_ms: int, *, since_ms: int, limit_h: float, held: Sequence[str], step: str
) -> Notification:
    """A run keeps others out for longer than `limit_h` hours; `held` is what it holds, `step` is its present one."""
    hours = (at_ms - since_ms) / HOUR_MS
    return _made(
        about,
        Kind.HELD,
        "",
        f"{about.record.dag_id} since {hours:.1f} h",
        (
            f"Held: {first_of(held, most=6)} since {when(since_ms, about.zone)}, {hours:.1f} h (limit held_too_long_h "
            f"{limit_h:g}); no other run can change {'it' if len(held) == 1 else 'them'} meanwhile",
            f"Step: {step}" if step else "",
            "To free it, answer its question, or mark the run as failed in Airflow.",
        ),
        command="kstreams-runbooks runs --open",
        at_ms=at_ms,
    )


def drifted(about: About, at_ms: int, *, digest: str, reasons: Sequence[str]) -> Notification:
    """The facts of a run's plan no longer hold: found while it waited, its plan is void."""
    return _made(
        about,
        Kind.DRIFTED,
        f"{about.occasion}/{digest}",
        f"{about.record.dag_id}: its plan is void",
        reasons,
        (f"Plan {digest} of this run is void: its next step that would change anything refuses.",),
        command=trigger_command(about.record),
        at_ms=at_ms,
    )


def inputs_held(
    about: About,
    at_ms: int,
    *,
    held: HeldInputs,
    sentence: str,
    ended: bool,
    action: NextAction | None = None,
) -> Notification:
    """Inputs that nothing brings back by itself, or that are held longer than forecast: once each day that it lasts.

    `action` is the next one of a run that has ended, None if it was not kept.
    """
    record, days = about.record, max(0, at_ms - held.since_ms) // DAY_MS
    command = undo_command(record) if ended and record.dag_id != UNDO else evidence_command(record)
    if not ended:
        ways: tuple[str, ...] = ("Look at its present step; the inputs come back with its end, or with an undo.",)
    elif action is None:
        ways = ("To bring them back, clear its failed task and what follows it, and it goes on; or undo the run.",)
    else:
        ways, command = action.lines, action.command or command
    return _made(
        about,
        Kind.INPUTS_HELD,
        f"{about.occasion}/{held.application}/{held.since_ms}/{days}",
        f"{record.dag_id} holds {first_of(held.inputs)}",
        _lines(sentence),
        ways,
        command=command,
        at_ms=at_ms,
    )


def ended(
    about: About,
    at_ms: int,
    *,
    conclusion: Conclusion,
    drifted: bool,
    action: NextAction,
    emergencies: Sequence[str],
    head: str,
) -> Notification:
    """The end of a run: stopped after it changed something, drifted before that, or concluded in any other way.

    `action` is the next one; `emergencies` are approvals without a second person. `head` is the hash of the newest
    entry of its journal: a recipient of this message can prove that nothing of the run was changed.
    """
    stopped = bool(action.manually) and not conclusion.outcome.succeeded
    kind = Kind.STOPPED if stopped else Kind.DRIFTED if drifted else Kind.CONCLUDED
    return _made(
        about,
        kind,
        about.occasion,
        f"{about.record.dag_id} {conclusion.outcome}",
        _lines(conclusion.sentence),
        (*action.lines, *emergencies, f"Evidence head: {head}"),
        action.manually if stopped else (),
        command=action.command or evidence_command(about.record),
        at_ms=at_ms,
    )


def _lines(sentence: str) -> list[str]:
    """A sentence that is too long for a line, broken between its parts: none of its reasons is cut off."""
    lines: list[str] = []
    for part in sentence.split("; "):
        if lines and len(lines[-1]) + len(part) + 2 < _LONGEST_LINE:
            lines[-1] += f"; {part}"
        else:
            lines.append(part)
    return lines


def _made(
    about: About,
    kind: Kind,
    occasion: str,
    headline: str,
    said: Sequence[str],
    kept: Sequence[str] = (),
    last: Sequence[str] = (),
    *,
    command: str,
    at_ms: int,
    deadline_ms: int | None = None,
    link: str = "",
) -> Notification:
    """A message: `said` comes first and gives way to `kept`, the next action; `last` has the room that is left."""
    record, link = about.record, link or about.link
    dry = "DRY RUN " if record.dry_run else ""
    tail = [
        f"Run: {record.run_id}, asked by {record.requested_by}" + (f" ({record.reason})" if record.reason else ""),
        f"At: {when(at_ms, about.zone)}" + (f"; until {when(deadline_ms, about.zone)}" if deadline_ms else ""),
        f"{_COMMAND}{command}",
        *([f"{_LINK}{link}"] if link else []),
    ]
    rest = evidence_command(about.record)
    begin, middle, end = ([one_line(line) for line in part if line.strip()] for part in (said, kept, last))
    room = MOST_LINES - len(tail)
    # Of a part that is cut its first line is left, and how many more there are.
    middle = _first(middle, room - min(len(begin), 2) - min(len(end), 2), rest)
    begin = _first(begin, room - len(middle) - min(len(end), 2), rest)
    text = [*begin, *middle, *_first(end, room - len(middle) - len(begin), rest)]
    return Notification(
        about=record.run_key,
        kind=kind,
        occasion=occasion,
        application=record.application,
        cluster=record.cluster,
        owner=about.owner,
        dry_run=record.dry_run,
        subject=one_line(f"[{record.application} @ {record.cluster}] {dry}{kind.words}: {headline}"),
        lines=(*text, *(one_line(line) for line in tail)),
        link=link,
        command=command,
        deadline_ms=deadline_ms,
        at_ms=at_ms,
    )


def _first(lines: list[str], most: int, rest: str) -> list[str]:
    """At most so many lines; the last one of more has their number, and the command that shows the `rest`."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} lines more: {rest}"]


def one_line(text: str) -> str:
    """A line of a message, short enough to read, without links or mentions from its text.

    Our own command and link stay as they are, and so does a command that is indented under its undo card.
    """
    if text.startswith((_COMMAND, _LINK, INDENT)):
        return sentence(text)
    return outside(text, _LONGEST_LINE)
