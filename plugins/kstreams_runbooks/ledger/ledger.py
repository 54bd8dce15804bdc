"""The ledger as one object, and how it is opened."""

from kstreams_runbooks.ledger.database import Database, ledger_url
from kstreams_runbooks.ledger.evidence import Records
from kstreams_runbooks.ledger.holds import Holds
from kstreams_runbooks.ledger.journal import Journal
from kstreams_runbooks.ledger.notifications import Notifications
from kstreams_runbooks.ledger.orphans import Orphans
from kstreams_runbooks.ledger.pruning import Pruning
from kstreams_runbooks.ledger.runs import Runs
from kstreams_runbooks.ledger.schema import HEAD, ensure_schema, upgrade
from kstreams_runbooks.ledger.statuses import Lags


class Ledger(Runs, Records, Journal, Pruning, Holds, Notifications, Lags, Orphans):
    """All records, by subject; safe to use from several processes and threads.

    Every method is one transaction. Unreachable if the database does not respond, BadInput if its address or schema is
    wrong or a run is unknown.
    """

    def __init__(self, url: str) -> None:
        self.database = Database(url)

    @classmethod
    def open(cls, url: str | None = None) -> "Ledger":
        """The ledger at `url` (default: KSTREAMS_RUNBOOKS_LEDGER, else an SQLite file in AIRFLOW_HOME), schema checked.

        An SQLite file is created and migrated by itself; any other database needs `kstreams-runbooks migrate-ledger`.
        """
        ledger = cls(ledger_url(url))
        ensure_schema(ledger.database)
        return ledger

    @classmethod
    def existing(cls, url: str | None = None) -> "Ledger | None":
        """The same for a reader: None if it would be an SQLite file that does not exist."""
        file = Database(ledger_url(url)).file
        return cls.open(url) if file is None or file.is_file() else None


def migrate(url: str | None = None) -> str:
    """Bring a ledger's schema up to date; returns a sentence about the result."""
    database = Database(ledger_url(url))
    found = upgrade(database)
    if found == HEAD:
        return f"ledger {database.name}: schema {HEAD} is up to date"
    return f"ledger {database.name}: schema migrated from {found or 'empty'} to {HEAD}"
