"""Changelogs that runs left behind."""

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import OrphanRow
from kstreams_runbooks.model.readings.orphans import KeptOrphan

_FIELDS = tuple(KeptOrphan.__dataclass_fields__)


class Orphans:
    """The part of the ledger about topics that nothing reads any more."""

    database: Database

    def keep_orphans(self, found: Iterable[KeptOrphan]) -> None:
        """Keep them; what the same run has kept before stays, with its time."""
        rows = list(found)

        def work(session: Session) -> None:
            for one in rows:
                if session.get(OrphanRow, (one.run_key, one.topic)) is None:
                    session.add(OrphanRow(**asdict(one)))

        self.database.write(work)

    def orphans(self, cluster: str, application: str) -> tuple[KeptOrphan, ...]:
        """What runs left behind of one application, oldest first: also what is read again, gone, or another topic."""
        query = select(OrphanRow).filter_by(cluster=cluster, application=application)

        def work(session: Session) -> tuple[KeptOrphan, ...]:
            rows = session.scalars(query.order_by(OrphanRow.since_ms, OrphanRow.topic))
            return tuple(KeptOrphan(**{field: getattr(row, field) for field in _FIELDS}) for row in rows)

        return self.database.read(work)
