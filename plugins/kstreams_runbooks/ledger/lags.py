"""Lag readings of the scheduled check, kept for a set time, and how each application stands."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import LagReadingRow, LagStatusRow
from kstreams_runbooks.model.lag_kept import KeptReading, KeptStatus

_STATUS = tuple(KeptStatus.__dataclass_fields__)


class Lags:
    """The part of the ledger about lag."""

    database: Database

    def keep_lag(self, cluster: str, readings: Mapping[str, KeptReading]) -> None:
        """Keep one reading of each application by name, all of them or none."""
        rows = [
            LagReadingRow(cluster=cluster, application=name, taken_at_ms=reading.at_ms, document=encode(reading))
            for name, reading in readings.items()
        ]

        def work(session: Session) -> None:
            for row in rows:
                session.merge(row)

        self.database.write(work)

    def lag_readings(self, cluster: str, applications: Iterable[str], most: int) -> dict[str, tuple[KeptReading, ...]]:
        """The last `most` readings of each application, oldest first; one that was never read has none."""

        def work(session: Session) -> dict[str, list[LagReadingRow]]:
            # One short look at the primary key for each: a window over all rows would read every reading of a week.
            return {
                name: list(
                    session.scalars(
                        select(LagReadingRow)
                        .where(LagReadingRow.cluster == cluster, LagReadingRow.application == name)
                        .order_by(LagReadingRow.taken_at_ms.desc())
                        .limit(most)
                    )
                )
                for name in applications
            }

        found = self.database.read(work)
        return {
            name: tuple(decode(KeptReading, row.document) for row in reversed(rows)) for name, rows in found.items()
        }

    def forget_lag(self, before_ms: int) -> int:
        """Delete readings taken before that time and statuses judged before it; how many readings there were."""

        def work(session: Session) -> int:
            session.execute(delete(LagStatusRow).where(LagStatusRow.at_ms < before_ms))
            statement = delete(LagReadingRow).where(LagReadingRow.taken_at_ms < before_ms)
            return int(session.connection().execute(statement).rowcount)

        return self.database.write(work)

    def lag_statuses(self) -> tuple[KeptStatus, ...]:
        """How every application stood when it was last judged, by cluster and name."""
        query = select(LagStatusRow).order_by(LagStatusRow.cluster, LagStatusRow.application)

        def work(session: Session) -> tuple[KeptStatus, ...]:
            rows = session.scalars(query)
            return tuple(KeptStatus(**{field: getattr(row, field) for field in _STATUS}) for row in rows)

        return self.database.read(work)

    def keep_lag_statuses(self, statuses: Iterable[KeptStatus]) -> None:
        """Replace how these applications stand."""
        rows = [LagStatusRow(**asdict(status)) for status in statuses]

        def work(session: Session) -> None:
            for row in rows:
                session.merge(row)

        self.database.write(work)
