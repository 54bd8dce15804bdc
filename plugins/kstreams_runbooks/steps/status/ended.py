"""Concludes runs that Airflow has ended before their `conclude`: at their limit, or marked or deleted by a person.

Airflow then skips every task that is left, also one with the trigger rule `all_done`.
"""

from collections.abc import Callable

from kstreams_runbooks.decide.runbooks import longest_h
from kstreams_runbooks.decide.runs.message import one_line
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.conclude import close, tell
from kstreams_runbooks.steps.run.note import note_end
from kstreams_runbooks.steps.run.run import Run


def conclude_ended(ledger: Ledger, is_over: Callable[[str], bool], say: Callable[[str], None]) -> tuple[str, ...]:
    """Conclude each run that has ended without an outcome, and release what it holds; returns their keys.

    `is_over` reports whether Airflow has ended a run. Its owner is notified if it still held something. A run that
    cannot be judged is logged with the reason, and the next check tries again.
    """
    ended = []
    for record in ledger.runs(open_only=True):
        try:
            if not is_over(record.run_key):
                continue
            _conclude(Run.again(record.run_key, "conclude", 1), say)
        except Exception as error:  # noqa: BLE001 - the next run is another one
            why = str(error) if isinstance(error, RunbookError) else f"{type(error).__name__}: {error}"
            say(one_line(f"{record.run_key}: whether it has ended is not known, or it could not be concluded: {why}"))
            continue
        ended.append(record.run_key)
    return tuple(ended)


def _conclude(run: Run, say: Callable[[str], None]) -> None:
    held = run.ledger.held_since_ms(run.key) is not None
    hours = longest_h(run.record.dag_id)
    outcome, action = close(
        run, f"Airflow ended the run before conclude: marked, deleted, or at its limit of {hours:g} h"
    )
    say(run.line(f"{run.key} {outcome.outcome.upper()}: {outcome.sentence}"))
    for line in (*action.lines, *action.manually):
        say(run.line(line))
    note_end(run, outcome, action)
    if held:
        tell(run, outcome, action, run.ledger.run(run.key).head)
