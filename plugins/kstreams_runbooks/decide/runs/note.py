"""The note of a run in Airflow: one marked block, in which the next action comes first; the rest is a person's.

Airflow allows 1,000 characters for all of it. A text is cut, a command never: half a command must not be pasted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kstreams_runbooks.decide.runs.approval import Asking, Label, may_answer_text, when
from kstreams_runbooks.decide.runs.conclusion import Conclusion
from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.wording import LONGEST_COMMAND, code, markdown, outside, sentence

LONGEST_NOTE = 1000
# The block begins with the one and ends with the other; Airflow's pages show only the first line of a note.
BEGIN, END = "▼ ", "▲ kstreams-runbooks"
_BETWEEN = "\n\n"
# A shorter text has no meaning any more, and is left out.
_SHORTEST = 60
_IN_THE_LOG = "**MANUALLY:** the commands are in the log of `conclude`"
# The first lines of a note have these, or they are about the page itself.
_SAID = (Label.EXPIRES, Label.DIGEST)


@dataclass(frozen=True, slots=True)
class Piece:
    """One paragraph: its Markdown in ever shorter forms, or a plain `text` that may be cut behind its `head`.

    Pieces of a higher rank are shortened and left out first, and of those of one rank the last. A `text` that cannot be
    cut any more leaves `last`.
    """

    rank: int
    forms: tuple[str, ...] = ()
    head: str = ""
    text: str = ""
    last: str = ""


def note_of_end(conclusion: Conclusion, action: NextAction, at_ms: int, zone: str) -> tuple[Piece, ...]:
    """What a run has come to: its outcome, GO ON, GO BACK, and what a person can do manually."""
    headline = f"**{str(conclusion.outcome).upper()}**"
    heading, *cards = action.manually or ("",)
    by_hand = _with_commands((f"{heading} {cards[0]}", *cards[1:]) if cards else action.manually)
    return (
        Piece(2, head=f"{headline}: ", text=conclusion.sentence, last=headline),
        Piece(3, (when(at_ms, zone),)),
        *(Piece(1 if len(forms) > 1 else 3, forms) for forms in _with_commands(action.lines)),
        *(Piece(4, (form,)) if at else Piece(2, (form, _IN_THE_LOG)) for at, (form, *_) in enumerate(by_hand)),
    )


def note_of_question(
    asking: Asking, *, task_id: str, asks: str, lines: Sequence[str], digest: str, command: str, why: str = ""
) -> tuple[Piece, ...]:
    """What a run waits for: `lines` is the present text of the question, `why` an answer that did not count."""
    zone = asking.declared.zone
    facts = [
        f"{Label.MAY_APPROVE.plain} {may_answer_text(asking)}",
        f"expires {when(asking.expires_at_ms, zone)}",
        f"plan digest {digest}",
        f"state read at {when(asking.at_ms, zone)}",
    ]
    return waiting(
        task_id,
        asks,
        "; ".join(facts),
        [line for line in lines if not line.startswith(tuple(label.plain for label in _SAID))],
        command,
        why,
    )


def waiting(
    task_id: str, asks: str, facts: str, lines: Sequence[str], command: str = "", why: str = ""
) -> tuple[Piece, ...]:
    """What a run waits for: `why` comes first, then who may answer until when, and how."""
    shown = _block((command,)) if command else ""
    return (
        *((_uncounted(why),) if why else ()),
        Piece(0, head=f"**WAITS** at {markdown(task_id)}: ", text=asks, last=f"**WAITS** at {markdown(task_id)}"),
        Piece(0, text=facts),
        *((Piece(0, (f"To answer, in the tab Required Actions or with{shown}", shown.strip())),) if command else ()),
        *(Piece(3, head=head, text=text) for head, text in map(_bold, lines)),
    )


def note_of_answer(why: str, at_ms: int, zone: str) -> tuple[Piece, ...]:
    """For the page of the task that asked: that an answer did not count, and since when it asks again."""
    return (_uncounted(why), Piece(0, (f"Asked again {when(at_ms, zone)}",)))


def _uncounted(why: str) -> Piece:
    wrong, _, reason = why.partition(": ")
    return Piece(1, head=f"**{markdown(wrong)}:** ", text=reason, last=f"**{markdown(wrong)}**")


def note_of_failure(task_id: str, why: str, again_in_s: float | None, at_ms: int, zone: str) -> tuple[Piece, ...]:
    """Why a task failed, then since when, and when Airflow tries it again (None: it does not).

    Airflow's pages show the first line of a note alone: the cause is in it before any time.
    """
    head = f"**{'STOPPED' if again_in_s is None else 'WAITS'}** at {markdown(task_id)}"
    again = "" if again_in_s is None else f", tries again in {again_in_s:g} s"
    return Piece(0, head=f"{head}: ", text=why, last=head), Piece(0, (f"since {when(at_ms, zone)}{again}",))


def note_of_progress(task_id: str, at_ms: int, zone: str, approvals: Iterable[Approval]) -> tuple[Piece, ...]:
    """That a run goes on after a wait or an end, and who approved it."""
    return (
        Piece(0, (f"**GOES ON** at {markdown(task_id)} since {when(at_ms, zone)}",)),
        *(
            Piece(1, head=f"{markdown(one.task_id)}: ", text=f"approved by {one.by}, {when(one.at_ms, zone)}")
            for one in approvals
        ),
    )


def merged(before: str, pieces: Sequence[Piece], task_id: str) -> str | None:
    """The whole note: the block in the place of the earlier one, or in front of a person's text, which stays.

    The log of `task_id` has what is left out. None if that text leaves no room for the block.
    """
    above, _, below = _parts(before)
    room = LONGEST_NOTE - sum(len(part) + len(_BETWEEN) for part in (above, below) if part)
    cut = f"The rest is in the log of {code(task_id)}."
    block = _fitted(pieces, room - len(BEGIN) - len(_BETWEEN) - len(END), cut)
    if not block:
        return None
    return _BETWEEN.join(part for part in (above, BEGIN + block, END, below) if part)


def with_line(before: str, line: str) -> str:
    """The note with one more line of a person; without room it loses its block, and then its oldest text."""
    above, block, below = _parts(before)
    own = _BETWEEN.join(part for part in (above, below, line) if part)
    whole = _BETWEEN.join(part for part in (block, own) if part)
    return whole if len(whole) <= LONGEST_NOTE else own[-LONGEST_NOTE:]


def _parts(note: str) -> tuple[str, str, str]:
    """The text of a person in front of the block, the block with its marks, and the text behind it."""
    lines = note.split("\n")
    begin = max((at for at, line in enumerate(lines) if line.startswith(BEGIN)), default=len(lines))
    end = next((at for at, line in enumerate(lines) if at > begin and line.strip() == END), None)
    if end is None:
        return "", "", note.strip()
    return tuple("\n".join(part).strip() for part in (lines[:begin], lines[begin : end + 1], lines[end + 1 :]))  # type: ignore[return-value] # three


def _with_commands(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each line with the commands that follow it, as Markdown, and such a line once more with fewer words."""
    groups: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(INDENT) and groups:
            groups[-1][1].append(line.strip())
        else:
            groups.append((line, []))
    for line, commands in groups:
        label, _, rest = line.partition(": ")
        is_labelled = rest and label.partition(",")[0].isupper()
        start, text = (f"**{label}:** ", rest) if is_labelled else ("", line)
        whole = f"{start}{markdown(text)}"
        yield (whole + _block(commands), (start.strip() + _block(commands)).strip()) if commands else (whole,)


def _block(commands: Sequence[str]) -> str:
    """Each command as a block of code: Airflow's page covers the underscores of code inside a text.

    The page also shows a block in one line, in which two commands are one: never two in a block.
    """
    return "".join(f"\n\n{_fenced(sentence(one, LONGEST_COMMAND))}" for one in commands)


def _fenced(command: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", command)), default=0))
    return f"{fence}\n{command}\n{fence}"


def _bold(line: str) -> tuple[str, str]:
    """The label of a question's line in Markdown, empty without one, and its text."""
    label, _, text = line.partition(": ")
    return (f"**{label}:** ", text) if text and label in set(Label) else ("", line)


def _fitted(pieces: Sequence[Piece], room: int, cut: str) -> str:
    """The pieces as one text of at most `room` characters, with `cut` if some are shorter; empty if none fits."""
    texts = [piece.forms[0] if piece.forms else _whole(piece) for piece in pieces]
    if len(text := _joined(texts)) <= room:
        return text
    room -= len(_BETWEEN) + len(cut)
    for rank in sorted({piece.rank for piece in pieces}, reverse=True):
        places = [at for at, piece in enumerate(pieces) if piece.rank == rank][::-1]
        for at in (*places, *places):
            # First all of a rank in fewer words, then one after another is left out.
            if (over := len(_joined(texts)) - room) > 0:
                texts[at] = _shorter(pieces[at], texts[at], over)
    return _joined((*texts, cut)) if any(texts) else ""


def _shorter(piece: Piece, text: str, over: int) -> str:
    """The next shorter form of a piece, which is `over` characters shorter if it is cut; empty after the last."""
    if not piece.text:
        at = piece.forms.index(text) + 1 if text else len(piece.forms)
        return piece.forms[at] if at < len(piece.forms) else ""
    most = len(text) - over - len(piece.head)
    if text == piece.last:
        return ""
    while most >= _SHORTEST:
        cut = f"{piece.head}{markdown(outside(piece.text, most), LONGEST_NOTE)}"
        if len(cut) <= len(text) - over:
            return cut
        most -= len(cut) - (len(text) - over)
    return piece.last if text else ""


def _whole(piece: Piece) -> str:
    return f"{piece.head}{markdown(piece.text, LONGEST_NOTE)}"


def _joined(texts: Sequence[str]) -> str:
    return _BETWEEN.join(filter(None, texts))
