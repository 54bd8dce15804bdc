"""The next action after a run has ended: how it goes on, how it goes back, and last what a person can do manually."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kstreams_runbooks.decide.runbooks import ADOPT, GREEN, INCREASE, WITHOUT_FLUSH
from kstreams_runbooks.decide.runs.commands import UNDO, trigger_command, undo_command
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import INDENT, Ending, go_on
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card
from kstreams_runbooks.wording import first_of

# The ledger's entry for the answer.
NEXT = "next action"
_GROWN = "topic_grown"
_NOTHING_LEFT = "GO BACK: not needed, nothing is left to take back"


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
    way = go_on(ending, changed=bool(ending.cards))
    manually = ("MANUALLY, the last change first:", *_by_card(left, ending.by_hand)) if left else ()
    return NextAction((*ending.held, *way.lines, *_back(ending, left)), manually, way.command)


def _after_success(ending: Ending) -> tuple[tuple[str, ...], str]:
    command = trigger_command(ending.record)
    if ending.outcome is RunOutcome.DRY_RUN:
        return ("GO ON: nothing was changed; to do it:", INDENT + command), command
    if not ending.then:
        return (), ""
    return (*(f"still to come: {later}" for later in ending.then), "GO ON: the next leg:", INDENT + command), command


def _back(ending: Ending, left: Sequence[Card]) -> tuple[str, ...]:
    record = ending.record
    if record.dry_run:
        return ()
    if record.dag_id == UNDO:
        return _back_of_undo(ending, left)
    if not left:
        return (_NOTHING_LEFT,)
    if ending.flush_back and record.dag_id in {ADOPT, GREEN}:
        return ("GO BACK: its other mode, first as a dry run:", INDENT + ending.flush_back)
    if ending.flush_back:
        return (
            "GO BACK: flush once more, to what ran before; first as a dry run:",
            INDENT + ending.flush_back,
            "or, if what it started does not run: undo it, and lose the records that no older release reads:",
            INDENT + undo_command(record, f"{WITHOUT_FLUSH}=true"),
        )
    grown = [card.object for card in left if card.kind == _GROWN]
    if grown and record.dag_id == INCREASE:
        return _back_of_growth(ending, grown)
    past = " (past the point of no return: it shows what still applies)" if any(map(_is_past, left)) else ""
    return (f"GO BACK: undo this run, first as a dry run{past}:", INDENT + undo_command(record))


def _back_of_growth(ending: Ending, grown: Sequence[str]) -> tuple[str, ...]:
    never = f"partitions are never taken away ({first_of(grown)})"
    if ending.outcome.succeeded:
        return (f"GO BACK: not possible, {never}",)
    # What a card announces may not have happened: an undo looks.
    once = f"GO BACK: only if none of the topics has grown, {never}; undo shows it, first as a dry run:"
    return (once, INDENT + undo_command(ending.record))


def _back_of_undo(ending: Ending, left: Sequence[Card]) -> tuple[str, ...]:
    if not ending.cards and not ending.outcome.succeeded:
        return ("GO BACK: not needed, this undo changed nothing; what it was to take back still stands",)
    if not left:
        return (_NOTHING_LEFT,)
    back = "GO BACK: an undo has no undo; trigger the runbook that it takes back once more"
    if ending.undone is None:
        return (back,)
    return (f"{back}, first as a dry run:", INDENT + trigger_command(ending.undone, execute=False))


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
