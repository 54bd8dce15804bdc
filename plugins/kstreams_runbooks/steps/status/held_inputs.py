"""Reports inputs that runs hold, and notifies their owners each day that a run which has ended leaves them held."""

from collections.abc import Callable

from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.decide.runs.next_action import NEXT, NextAction
from kstreams_runbooks.decide.status.held_inputs import held_status
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.held_inputs import HeldInputs
from kstreams_runbooks.steps.run.notify import notify_all
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.held import at_work
from kstreams_runbooks.watch.held_inputs import forecast_of, held_inputs, may_hold_inputs


def report_held_inputs(
    ledger: Ledger,
    is_over: Callable[[str], bool],
    say: Callable[[str], None],
    warn: Callable[[str], None] | None = None,
) -> tuple[HeldInputs, ...]:
    """Log all inputs that runs hold; returns those to bring back, after notifying their owners.

    `is_over` reports whether Airflow has ended a run. A run that cannot be judged is logged with the reason, and does
    not affect the others. `warn` logs what a person should not miss, `say` the rest.
    """
    warn = warn or say
    alarms: list[HeldInputs] = []
    work = at_work(ledger)
    for record in may_hold_inputs(ledger):
        try:
            for held in held_inputs(ledger, record.run_key):
                ended, worker = is_over(held.run_key), work.get((held.cluster, held.application), "")
                found = held_status(
                    held,
                    forecast_of(ledger, held.run_key, held.number),
                    now_ms(),
                    ended=ended,
                    worker="" if worker == held.run_key else worker,
                )
                (warn if found.alarm else say)(f"[{held.application} @ {held.cluster}] {found.sentence}")
                if found.alarm:
                    run = Run.again(held.run_key, "inputs_held", 1).on(held.application)
                    told = {"sentence": found.sentence, "ended": ended, "action": _next(run) if ended else None}
                    notify_all(run, message.inputs_held, held=held, **told)
                    alarms.append(held)
        except Exception as error:  # noqa: BLE001 - the next run is another one
            why = str(error) if isinstance(error, RunbookError) else f"{type(error).__name__}: {error}"
            warn(message.one_line(f"{record.run_key}: whether it holds inputs is not known: {why}"))
    return tuple(alarms)


def _next(run: Run) -> NextAction | None:
    """GO ON and GO BACK of a run, as its end kept them; None if it has not been concluded."""
    kept = run.ledger.evidence(run.key, kind="note", name=NEXT, newest=1)
    return NextAction(tuple(kept[-1].payload["lines"]), (), kept[-1].payload["command"]) if kept else None
