"""The next action after a run has ended: how it goes on, how it goes back, and last what a person can do manually."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kstreams_runbooks.decide.runbooks import WITHOUT_FLUSH
from kstreams_runbooks.decide.runs.commands import UNDO, clear_command, trigger_command, undo_command
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card, RunRecord

# Commands are lines of their own, and begin with this.
INDENT = "    "
# The ledger's entry for the answer.
NEXT = "next action"
# The field of the form that the new run needs, if the sentence has its value.
_FIELD = re.compile(r"trigger a new run (?:of [a-z_ ]+ )?with --param ([a-z_]+)=([\w,]+)")
# What a sentence asks for: a new run since the present one cannot go on, or a task to begin from.
_ASKED = re.compile(
    r"\b(?P<new>trigger a new run|trigger again)\b|\bclear (?P<own>this (?:step|task))\b"
    r"|\bclear `?(?P<task>[a-z][a-z0-9_]*)\b|`(?P<unrun>[a-z][a-z0-9_]*)` has not run; clear it\b"
)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run as its ledger has it.

    `reached` is the task that began last (empty: none), `failure` the sentence with which it failed (empty: it left
    none) and `exit_code` that of its error; `tasks` are those of its DAG, empty if they are not known; `is_void`: the
    plan no longer matches the cluster. `cards` are all of its undo cards, first to last, and `by_hand` the commands of
    those about an instance, by their number; `held` are sentences about inputs that it still holds; `then` what the
    plan leaves to later runs. `flush_back` is the command that takes back a flush whose new release has begun to run
    (of an undo: the flush that it takes back; empty for another run); `undone` is the run that an undo takes back, as
    far as it is known.
    """

    record: RunRecord
    outcome: RunOutcome
    reached: str
    failure: str
    exit_code: int
    is_void: bool
    cards: tuple[Card, ...]
    by_hand: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    flush_back: str = ""
    undone: RunRecord | None = None
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NextAction:
    """Lines for a person, in the order of reading; `command` is the first one to paste, empty if there is none."""

    lines: tuple[str, ...]
    manually: tuple[str, ...]
    command: str


def next_action(ending: Ending) -> NextAction:
    """GO ON, then GO BACK, then the commands of the undo cards from last to first."""
    left = tuple(card for card in ending.cards if not card.done)
    if ending.outcome.succeeded:
        on, command = _after_success(ending)
        return NextAction((*on, *_back(ending, left)), (), command)
    on, command = _go_on(ending, changed=bool(ending.cards))
    manually = ("MANUALLY, the last change first:", *_by_card(left, ending.by_hand)) if left else ()
    return NextAction((*ending.held, *on, *_back(ending, left)), manually, command)


def _after_success(ending: Ending) -> tuple[tuple[str, ...], str]:
    command = trigger_command(ending.record)
    if ending.outcome is RunOutcome.DRY_RUN:
        return ("GO ON: nothing was changed; to do it:", INDENT + command), command
    if not ending.then:
        return (), ""
    return (*(f"still to come: {later}" for later in ending.then), "GO ON: the next leg:", INDENT + command), command


def _go_on(ending: Ending, *, changed: bool) -> tuple[tuple[str, ...], str]:
    record, asked = ending.record, _asked(ending)
    if ending.flush_back and record.dag_id == UNDO and f"{WITHOUT_FLUSH}=true" in ending.failure:
        return _flush_first(ending), ending.flush_back
    # Once a run has a plan its form was read, and what is wrong is a declaration that was changed since.
    wrong_form = ending.exit_code == BadInput.exit_code and not changed and record.plan_digest is None
    if ending.is_void or wrong_form or not ending.reached or (asked and asked["new"]):
        wanted = _FIELD.match(ending.failure, asked.start()) if asked and asked["new"] else None
        # What loses records is never the first command.
        if wanted and wanted[1] != WITHOUT_FLUSH and not ending.is_void:
            # Such a field accepts something: the plan of a dry run shows what.
            command = trigger_command(_with(record, wanted[1], wanted[2]), execute=False)
            why = f"to go on with {wanted[1]}, start a new run (this one cannot go on), first as a dry run"
            return (f"GO ON: {why}:", INDENT + command), command
        command = trigger_command(record, execute=not record.dry_run)
        why = "repair what is named above, then start a new run (this one cannot go on)"
        return (f"GO ON: {why}:", INDENT + command), command
    task_id = ((asked["task"] or asked["unrun"]) if asked else None) or ending.reached
    command = clear_command(record, task_id)
    why = f"repair what is named above, then clear {task_id} and what follows it"
    return (f"GO ON: {why}:", INDENT + command), command


def _flush_first(ending: Ending) -> tuple[str, ...]:
    """How an undo goes on that was refused because a flush takes its run back without a loss."""
    lossy = trigger_command(_with(ending.record, WITHOUT_FLUSH, "true"), execute=False)
    return (
        "GO ON: flush once more, to what ran before; first as a dry run:",
        INDENT + ending.flush_back,
        "or, if what the flush started does not run: undo it, and lose the records that no older release reads; first "
        "as a dry run:",
        INDENT + lossy,
    )


def _asked(ending: Ending) -> re.Match[str] | None:
    """What the sentence of a failure asks for last: before that it may quote a person, who asks for other things.

    Other words follow "clear" too (the state, cache_dir): only a task of the DAG is one.
    """
    found = None
    for one in _ASKED.finditer(ending.failure):
        task_id = one["task"] or one["unrun"]
        if task_id is None or task_id in ending.tasks:
            found = one
    return found


def _with(record: RunRecord, name: str, value: str) -> RunRecord:
    """The same run with a field of its form set; a list that the form has keeps what is in it."""
    given = record.params.get(name)
    whole = [*given, *(one for one in value.split(",") if one not in given)] if isinstance(given, list) else value
    return replace(record, params={**record.params, name: whole})


def _back(ending: Ending, left: Sequence[Card]) -> tuple[str, ...]:
    record = ending.record
    if record.dry_run:
        return ()
    if record.dag_id == UNDO and not ending.cards and not ending.outcome.succeeded:
        return ("GO BACK: not needed, this undo changed nothing; what it was to take back still stands",)
    if not left:
        return ("GO BACK: not needed, nothing is left to take back",)
    if record.dag_id == UNDO:
        back = "GO BACK: an undo has no undo; trigger the runbook that it takes back once more"
        if ending.undone is None:
            return (back,)
        return (f"{back}, first as a dry run:", INDENT + trigger_command(ending.undone, execute=False))
    if ending.flush_back:
        return (
            "GO BACK: flush once more, to what ran before; first as a dry run:",
            INDENT + ending.flush_back,
            "or, if what it started does not run: undo it, and lose the records that no older release reads:",
            INDENT + undo_command(record, f"{WITHOUT_FLUSH}=true"),
        )
    past = " (past the point of no return: it shows what still applies)" if any(map(_is_past, left)) else ""
    return (f"GO BACK: undo this run, first as a dry run{past}:", INDENT + undo_command(record))


def _is_past(card: Card) -> bool:
    return card.misreads or card.point_of_no_return


def _by_card(cards: Sequence[Card], by_hand: Mapping[int, tuple[str, ...]]) -> Iterator[str]:
    """The undo cards from last to first, with the commands that an operator can run."""
    unguarded = False
    for card in reversed(cards):
        if card.kind == INSTANCE:
            if unguarded and not card.misreads:
                yield "before the next: read the repartition topics to their end, an older release misreads them"
            unguarded = card.misreads
        yield f"undo {card.seq}: {card.undo} ({card.cost})" + (
            " — PAST THE POINT OF NO RETURN" if _is_past(card) else ""
        )
        yield from (INDENT + command for command in by_hand.get(card.seq, ()))
