"""Deleting raw readings of runs that are long over; a gap entry in the chain says what was there."""

from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, locked, rows_of
from kstreams_runbooks.ledger.tables import HoldRow, JournalRow
from kstreams_runbooks.model.journal import GAP

_READING = "reading"


class Pruning:
    """The part of the ledger about what may be forgotten."""

    database: Database

    def prune_readings(self, run_key: str, before_ms: int, by: str, *, execute: bool) -> tuple[int, int]:
        """Delete the raw readings of a run that are older; how many there are, and their bytes (with `execute` were).

        Each stretch of neighbours is kept in one gap entry: how many, the hashes of the first and the last, and of the
        entry before them. Refused where the run has not concluded, or holds something.
        """

        def work(session: Session) -> tuple[int, int]:
            run = locked(session, run_key)
            if run.outcome is None or session.scalar(select(HoldRow.resource).filter_by(run_key=run_key).limit(1)):
                raise Refused(f"run {run_key} has not concluded, or holds something: nothing of it is pruned")
            rows = [row for row in rows_of(session, run_key, (_READING,)) if row.at_ms < before_ms]
            size = sum(len(row.payload) for row in rows)
            if execute and rows:
                append(session, run, GAP, "pruned", {"by": by, "count": len(rows), "stretches": _stretches(rows)})
                places = [row.place for row in rows]
                for row in rows:
                    session.expunge(row)
                # In parts: databases limit how many values a statement takes.
                for start in range(0, len(places), 500):
                    part = places[start : start + 500]
                    statement = delete(JournalRow).where(JournalRow.run_key == run_key, JournalRow.place.in_(part))
                    session.connection().execute(statement)
            return len(rows), size

        return self.database.write(work)


def _stretches(rows: list[JournalRow]) -> list[dict[str, Any]]:
    """Neighbours together: from which place to which, and what ties them to the entries around them."""
    found: list[dict[str, Any]] = []
    for row in rows:
        if found and found[-1]["to"] == row.place - 1:
            found[-1] |= {"to": row.place, "last": row.hash, "count": found[-1]["count"] + 1}
        else:
            ends = {"from": row.place, "to": row.place, "first": row.hash, "last": row.hash}
            found.append({**ends, "before": row.previous, "count": 1})
    return found
