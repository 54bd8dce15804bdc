"""Deleting raw readings of runs that ended long ago; a gap entry in the chain records them."""

import hashlib
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, locked, rows_of
from kstreams_runbooks.ledger.tables import HoldRow, JournalRow
from kstreams_runbooks.model.runs.journal import GAP, READING


class Pruning:
    """The part of the ledger about pruning."""

    database: Database

    def prune_readings(self, run_key: str, before_ms: int, by: str, *, execute: bool) -> tuple[int, int]:
        """Delete a run's raw readings older than `before_ms` (without `execute`: only count); returns number and bytes.

        One gap entry keeps the hashed parts of each, with the SHA-256 of its content instead of the content: it stays
        proven that only readings are gone. Refused if the run has not concluded, or holds something.
        """

        def work(session: Session) -> tuple[int, int]:
            run = locked(session, run_key)
            if run.outcome is None or session.scalar(select(HoldRow.resource).filter_by(run_key=run_key).limit(1)):
                raise Refused(f"run {run_key} has not concluded, or holds something: nothing of it is pruned")
            rows = [row for row in rows_of(session, run_key, (READING,)) if row.at_ms < before_ms]
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
    """Adjacent entries together: the first place, the hashes before and at the end, and each without its content."""
    found: list[dict[str, Any]] = []
    for row in rows:
        digest = hashlib.sha256(row.payload).hexdigest()
        reading = [row.seq, row.task_id, row.try_number, row.name, row.at_ms, digest]
        if found and found[-1]["from"] + len(found[-1]["readings"]) == row.place:
            found[-1]["readings"].append(reading)
            found[-1]["last"] = row.hash
        else:
            found.append({"from": row.place, "before": row.previous, "last": row.hash, "readings": [reading]})
    return found
