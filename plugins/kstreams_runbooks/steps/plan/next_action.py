"""The next action after the end of a run, from its ledger: kept as evidence next to the outcome."""

from collections.abc import Iterator, Sequence

from kstreams_runbooks.decide.plans.manually import UNKNOWN_BOOTSTRAP, manually
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import Ending
from kstreams_runbooks.decide.runs.next_action import NextAction, next_action
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.ledger import Card, Evidence, RunRecord
from kstreams_runbooks.model.times import utc_minute
from kstreams_runbooks.observe.kafka.clients import bootstrap
from kstreams_runbooks.steps.approval.void import voided
from kstreams_runbooks.steps.plan.cards import cards_that_count
from kstreams_runbooks.steps.plan.flushed import flush_back_of
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.held_inputs import held_inputs

# The name under which an undo remembers the run that it takes back.
UNDONE = "undone run"


def next_of_run(run: Run, outcome: RunOutcome, reached: str, failure: Evidence | None, *, is_void: bool) -> NextAction:
    """GO ON and GO BACK of a run; `reached` and `failure` are of the step that began last (None: it left none)."""
    cards, undone = tuple(cards_that_count(run)), _undone(run)
    return next_action(
        Ending(
            record=run.first.record,
            outcome=outcome,
            reached=reached,
            failure=failure.payload["sentence"] if failure else "",
            exit_code=failure.payload["exit_code"] if failure else 0,
            is_void=is_void or voided(run) is not None,
            cards=cards,
            by_hand={card.seq: _by_hand(run, card) for card in cards},
            held=tuple(_held(run)),
            # A plan that starts a runbook has no next leg.
            then=tuple((run.ledger.plan(run.key) or {}).get("then", ())),
            flush_back=_flush_back(run, cards, undone),
            undone=undone,
            tasks=_tasks(run),
        )
    )


def _by_hand(run: Run, card: Card) -> tuple[str, ...]:
    """The commands with which a person takes one card back; none of a kind that this release does not know."""
    try:
        facts = card_facts(card)
        if isinstance(facts, InstanceMoved):
            return facts.by_hand
        return (manually(facts, _bootstrap(run)).command,)
    except (RunbookError, ValueError):
        return ()


def _bootstrap(run: Run) -> str:
    """The brokers' address for a command; a placeholder if the connection cannot be read."""
    try:
        return bootstrap(run.kafka)
    except RunbookError:
        return UNKNOWN_BOOTSTRAP


def _tasks(run: Run) -> tuple[str, ...]:
    """The tasks of the run's DAG; none if no step has begun."""
    newest = run.ledger.evidence(run.key, kind="note", name=BEGUN, newest=1)
    return tuple(newest[-1].payload["tasks"]) if newest else ()


def _flush_back(run: Run, cards: Sequence[Card], undone: RunRecord | None) -> str:
    """The command that takes this run back by a flush; of an undo that which takes back its run."""
    if undone is None:
        return flush_back_of(run, run.first.record, cards)
    return flush_back_of(run, undone, run.ledger.cards(undone.run_key))


def _undone(run: Run) -> RunRecord | None:
    """The run that an undo takes back; None for another run, and after a prune of the ledger."""
    key = run.ledger.recall(run.key, UNDONE)
    try:
        return run.ledger.run(key) if key else None
    except RunbookError:
        # The command is a help: the end of a run does not fail without it.
        return None


def _held(run: Run) -> Iterator[str]:
    """The inputs that this run holds."""
    try:
        found = held_inputs(run.ledger, run.key)
    except ValueError:
        yield "whether this run holds inputs is not known: its plan or cards do not have the format of this release"
        return
    for held in found:
        yield (
            f"INPUTS {', '.join(held.inputs)} ARE HELD ({held.how_held}) since {utc_minute(held.since_ms)}: both ways "
            "below bring them back"
        )
