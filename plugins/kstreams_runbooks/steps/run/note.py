"""Writes the note of a run over Airflow's API: what it waits for, that it goes on, its end and the next action.

A task cannot set its run's note, so a login of its own does, that of the Airflow connection `note_connection`
(config/notifications.yaml). A note never fails a step, and delays it by `MOST_S` at most; why one could not be written
is in the log once in a run.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airflow.sdk._shared.secrets_masker import redact

from kstreams_runbooks.connections import airflow_address
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunOutcome
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.decide.runs.note import (
    LONGEST_NOTE,
    Piece,
    merged,
    note_of_answer,
    note_of_end,
    note_of_failure,
    note_of_progress,
)
from kstreams_runbooks.errors import BadInput, Refused, RunbookError
from kstreams_runbooks.fleet.notifications import NOTE_CONNECTION, notification_settings
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.steps.run.contact import contact_of
from kstreams_runbooks.steps.run.run import Run, log, now_ms
from kstreams_runbooks.wire.airflow_note import RunNotes
from kstreams_runbooks.wording import outside

# The ledger's entries for a note after it was written, and for one that could not be.
NOTED, NOT_NOTED = "the run's note", "the run's note was not written"
WAITS = "waits"
_GOES_ON = "goes on"
_ENDED = "ended"
_LAST = "conclude"


def can_note(run: Run) -> bool:
    """Whether the run's note will show the present text, as far as that is known without asking Airflow."""
    try:
        if (connection := note_connection()) is None:
            return False
        airflow_address(connection)
        last = [
            max((one.id for one in run.ledger.evidence(run.key, kind="note", name=name, newest=1)), default=0)
            for name in (NOTED, NOT_NOTED)
        ]
    except RunbookError:
        return False
    return last[0] >= last[1]


def note_connection() -> str | None:
    """The id of the connection, None if no note is wanted; a broken file leaves the default."""
    try:
        return notification_settings().note_connection
    except BadInput:
        return NOTE_CONNECTION


def note(run: Run, what: str, build: Callable[[str], Sequence[Piece]], *, of_task: str = "") -> None:
    """Write the block of the run's note, or of a task's, which `build` makes for a time zone; never raises."""
    try:
        if (connection := note_connection()) is None:
            return
        notes = RunNotes(connection, airflow_address(connection))
        _write(notes, airflow_run(run.key), run.task_id, build(contact_of(run).zone), of_task)
        run.keep("note", NOTED, {"what": what})
    except Exception as error:  # noqa: BLE001 - after any error the step continues
        _say_once(run, error)


def note_answer(run: Run, why: str) -> None:
    """On the page of the question: an answer that did not count, at the place where it was given; never raises."""
    note(run, WAITS, lambda zone: note_of_answer(why, now_ms(), zone), of_task=run.task_id)


def note_end(run: Run, outcome: Conclusion, action: NextAction) -> None:
    """The outcome, GO ON, GO BACK and what a person can do manually; never raises."""
    note(run, _ENDED, lambda zone: note_of_end(outcome, action, now_ms(), zone))


def note_failed(run: Run, error: RunbookError, again_in_s: float | None) -> None:
    """Why a step failed, until `conclude` writes more, or what it waits for until it is tried again; never raises."""
    if run.task_id != _LAST:
        note(run, WAITS, lambda zone: note_of_failure(run.task_id, str(error), again_in_s, now_ms(), zone))


def note_never_began(
    context: Mapping[str, Any], error: RunbookError, action: NextAction | None, again_in_s: float | None
) -> None:
    """The same for a run that cannot be read: `action` is its next action if it has not begun; never raises."""
    ti = context["ti"]
    try:
        if (connection := note_connection()) is None:
            return
        if action is None:
            pieces = note_of_failure(ti.task_id, str(error), again_in_s, now_ms(), "UTC")
        else:
            pieces = note_of_end(Conclusion(RunOutcome.NOTHING_CHANGED, str(error)), action, now_ms(), "UTC")
        notes = RunNotes(connection, airflow_address(connection))
        _write(notes, (ti.dag_id, ti.run_id), ti.task_id, pieces)
    except Exception as failed:  # noqa: BLE001 - after any error the step ends as without it
        log.warning("the run's note is not written: %s", outside(redact(str(failed))))


def note_progress(run: Run) -> None:
    """That the run goes on, if its note shows a wait, or an end after which a task was cleared; never raises."""
    if run.task_id == _LAST:
        return
    try:
        last = run.ledger.evidence(run.key, kind="note", name=NOTED, newest=1)
        if not last or last[0].payload["what"] == _GOES_ON or last[0].task_id == run.task_id:
            return
        approvals = run.ledger.approvals(run.key)
    except RunbookError as error:
        _say_once(run, error)
        return
    note(run, _GOES_ON, lambda zone: note_of_progress(run.task_id, now_ms(), zone, approvals))


def _write(notes: RunNotes, of_run: tuple[str, str], task_id: str, pieces: Sequence[Piece], of_task: str = "") -> None:
    dag_id, run_id = of_run
    before = notes.read(dag_id, run_id, of_task)
    text = merged(before, pieces, task_id)
    if text is None:
        raise Refused(
            f"{len(before):,} characters of other text leave no room in it (limit {LONGEST_NOTE:,}); shorten them"
        )
    if text != before:
        notes.write(dag_id, run_id, text, of_task)


def _say_once(run: Run, error: Exception) -> None:
    why = str(error) if isinstance(error, RunbookError) else f"{type(error).__name__}: {error}"
    sentence = f"the run's note is not written: {outside(redact(why))}"
    try:
        known = [one.payload["why"] for one in run.ledger.evidence(run.key, kind="note", name=NOT_NOTED)]
        if why not in known:
            run.keep("note", NOT_NOTED, {"why": why})
            run.warn(sentence)
    except RunbookError:
        run.warn(sentence)
