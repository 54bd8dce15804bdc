"""Whether the notes of runs can be written: the connection, its login, and the login's right to edit runs."""

from collections.abc import Iterable

from kstreams_runbooks.connections import airflow_address
from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable
from kstreams_runbooks.fleet.notifications import notification_settings
from kstreams_runbooks.model.discovery.readiness import NoteReadiness
from kstreams_runbooks.wire.airflow_note import RunNotes


def note_readiness(dag_ids: Iterable[str]) -> NoteReadiness:
    """Signs in and asks for the right to the runs of these DAGs; changes nothing."""
    try:
        connection = notification_settings().note_connection
    except BadInput as error:
        return NoteReadiness("not known", str(error))
    if connection is None:
        return NoteReadiness("not needed", "note_connection is null in notifications.yaml")
    try:
        address = airflow_address(connection)
        RunNotes(connection, address).require_right(dag_ids)
    except Unreachable as error:
        return NoteReadiness("not known", str(error))
    except RunbookError as error:
        return NoteReadiness("missing", str(error))
    return NoteReadiness("ready", f"written as {address.user} (connection {connection})")
