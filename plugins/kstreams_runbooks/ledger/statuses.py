"""Lag readings of the scheduled check, kept for a set time, and the status of each application."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import LagReadingRow, LagStatusRow
from kstreams_runbooks.model.readings.status import KeptReading, KeptStatus, apart

_STATUS = tuple(KeptStatus.__dataclass_fields__)
# Times searched for readings that are far enough apart: manual checks may be in between.
_LOOK = 100


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

    def lag_readings(
        self, cluster: str, applications: Iterable[str], most: int, *, until_ms: int | None = None, apart_ms: int = 0
    ) -> dict[str, tuple[KeptReading, ...]]:
        """The last `most` readings of each application, oldest first; empty for one that was never read.

        Up to and including `until_ms`. With `apart_ms` also the last `most` that are at least so far apart.
        """

        def work(session: Session) -> dict[str, list[LagReadingRow]]:
            # Short lookups by primary key for each: a window over all rows would read every reading of a week.
            found = {}
            for name in applications:
                own = [LagReadingRow.cluster == cluster, LagReadingRow.application == name]
                if until_ms is not None:
                    own.append(LagReadingRow.taken_at_ms <= until_ms)
                newest = LagReadingRow.taken_at_ms.desc()
                look = most if not apart_ms else _LOOK
                times = [*session.scalars(select(LagReadingRow.taken_at_ms).where(*own).order_by(newest).limit(look))]
                own.append(LagReadingRow.taken_at_ms.in_({*times[:most], *apart(times, apart_ms)[:most]}))
                found[name] = [*session.scalars(select(LagReadingRow).where(*own).order_by(newest))]
            return found

        found = self.database.read(work)
        return {
            name: tuple(decode(KeptReading, row.document) for row in reversed(rows)) for name, rows in found.items()
        }

    def lag_readings_after(self, cluster: str, at_ms: int) -> int:
        """How many readings of a cluster have a later time: taken before the clock was set back."""
        # By the index on times, which rarely has later rows: the key would read all rows of a cluster.
        query = select(LagReadingRow.cluster).where(LagReadingRow.taken_at_ms > at_ms)
        return self.database.read(lambda session: [*session.scalars(query)].count(cluster))

    def forget_lag(self, before_ms: int) -> int:
        """Delete readings taken before that time and statuses judged before it; returns the number of readings."""

        def work(session: Session) -> int:
            session.execute(delete(LagStatusRow).where(LagStatusRow.at_ms < before_ms))
            statement = delete(LagReadingRow).where(LagReadingRow.taken_at_ms < before_ms)
            return int(session.connection().execute(statement).rowcount)

        return self.database.write(work)

    def lag_statuses(self) -> tuple[KeptStatus, ...]:
        """The status of every application when it was last judged, by cluster and name."""
        query = select(LagStatusRow).order_by(LagStatusRow.cluster, LagStatusRow.application)

        def work(session: Session) -> tuple[KeptStatus, ...]:
            rows = session.scalars(query)
            return tuple(KeptStatus(**{field: getattr(row, field) for field in _STATUS}) for row in rows)

        return self.database.read(work)

    def keep_lag_statuses(self, statuses: Iterable[KeptStatus]) -> None:
        """Replace the statuses of these applications."""
        rows = [LagStatusRow(**asdict(status)) for status in statuses]

        def work(session: Session) -> None:
            for row in rows:
                session.merge(row)

        self.database.write(work)
