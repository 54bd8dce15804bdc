"""Appending to the journal, and reading it: one order of everything about an application, on any database.

A writer locks the application's row (`SELECT … FOR UPDATE`; on SQLite the write lock of the whole file) before it
takes the next number, until its transaction ends. A number that is visible can have no lower one still to come.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_type_hints

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import ApplicationRow, JournalRow, RunRow
from kstreams_runbooks.model.runs.journal import Clock, Entry, entry_hash, pack
from kstreams_runbooks.model.runs.ledger import RunRecord

_ENTRY = tuple(Entry.__dataclass_fields__)
_TYPES = get_type_hints(Entry)
# SQLite takes any type in any column. These replace a value of a wrong type, and the entry's hash then does not fit.
_DAMAGED: dict[type, Any] = {int: -1, bytes: b""}


class Journal:
    """The part of the ledger about order and proof."""

    database: Database

    def entries(self, run_key: str) -> tuple[Entry, ...]:
        """Every entry of a run as it is stored, by its place."""
        query = select(JournalRow).where(JournalRow.run_key == run_key).order_by(JournalRow.place, JournalRow.seq)
        return self.database.read(lambda session: tuple(as_entry(row) for row in session.scalars(query)))

    def timeline(self, run_key: str) -> tuple[Entry, ...]:
        """The same without contents (`payload` is empty): a long run has megabytes of readings."""
        columns = [getattr(JournalRow, name) for name in _ENTRY if name != "payload"]
        query = select(*columns).where(JournalRow.run_key == run_key).order_by(JournalRow.place, JournalRow.seq)

        def work(session: Session) -> tuple[Entry, ...]:
            return tuple(_entry({**row, "payload": b""}) for row in session.execute(query).mappings())

        return self.database.read(work)

    def newest_entry(self, run: RunRecord) -> int:
        """The number of the newest entry about the application of a run, 0 without one."""
        key = (run.cluster, run.application)

        def work(session: Session) -> int:
            row = session.get(ApplicationRow, key)
            return 0 if row is None else row.last_seq

        return self.database.read(work)

    def latest_clock(self, run: RunRecord, after: int, *, own: bool = False) -> Clock | None:
        """The highest time in the journal after entry `after`, of the application or of the run alone (`own`)."""
        return self._clock(run, after, JournalRow.at_ms.desc(), own=own)

    def earliest_clock(self, run: RunRecord, after: int) -> Clock | None:
        """The lowest time in the journal of the application after entry `after`."""
        return self._clock(run, after, JournalRow.at_ms.asc(), own=False)

    def _clock(self, run: RunRecord, after: int, first: ColumnElement[int], *, own: bool) -> Clock | None:
        query = select(JournalRow.at_ms, JournalRow.seq, JournalRow.run_key, JournalRow.task_id).where(
            JournalRow.cluster == run.cluster, JournalRow.application == run.application, JournalRow.seq > after
        )
        if own:
            query = query.where(JournalRow.run_key == run.run_key)
        query = query.order_by(first, JournalRow.seq).limit(1)

        def work(session: Session) -> Clock | None:
            row = session.execute(query).first()
            return None if row is None else Clock(row.at_ms, row.seq, row.run_key, row.task_id)

        return self.database.read(work)


def wall_clock_ms() -> int:
    """Unix milliseconds, for entries whose caller gives no time."""
    return time.time_ns() // 1_000_000


def lock(session: Session, cluster: str, application: str = "") -> ApplicationRow:
    """The counter's row of an application (or of a cluster), locked until the transaction ends."""
    key = (cluster, application)
    row = session.get(ApplicationRow, key, with_for_update=True, populate_existing=True)
    if row is None:
        row = ApplicationRow(cluster=cluster, application=application, last_seq=0)
        session.add(row)
        # The second of two that create it fails here, and is retried (ledger/database.py).
        session.flush()
    return row


def locked(session: Session, run_key: str) -> RunRow:
    """A run, with its application's row locked; BadInput if the ledger does not have it."""
    found = session.execute(select(RunRow.cluster, RunRow.application).where(RunRow.run_key == run_key)).first()
    if found is not None:
        lock(session, found.cluster, found.application)
        # Read again: it may have changed while this transaction waited.
        if (run := session.get(RunRow, run_key, populate_existing=True)) is not None:
            return run
    raise BadInput(f"run {run_key}: unknown to the ledger; a run has to be started before it is used")


def append(
    session: Session,
    run: RunRow,
    kind: str,
    name: str,
    payload: Any,
    at_ms: int | None = None,
    task_id: str = "",
    try_number: int = 0,
) -> int:
    """Append one entry to the journal of a run that is `locked`; returns its number among all of the application."""
    counter = lock(session, run.cluster, run.application)
    counter.last_seq += 1
    # Not the newest existing row: a deleted row has to stay missed.
    run.rows += 1
    entry = Entry(
        cluster=run.cluster,
        application=run.application,
        seq=counter.last_seq,
        run_key=run.run_key,
        place=run.rows,
        task_id=task_id,
        try_number=try_number,
        kind=kind,
        name=name,
        at_ms=wall_clock_ms() if at_ms is None else at_ms,
        payload=pack(payload),
        previous=run.head,
    )
    run.head = entry_hash(entry)
    session.add(JournalRow(**(asdict(entry) | {"hash": run.head})))
    session.flush()
    return entry.seq


def rows_of(session: Session, run_key: str, kinds: Iterable[str]) -> list[JournalRow]:
    """The journal rows of a run of these kinds, by place."""
    query = select(JournalRow).where(JournalRow.run_key == run_key, JournalRow.kind.in_(tuple(kinds)))
    return [*session.scalars(query.order_by(JournalRow.place))]


def as_entry(row: JournalRow) -> Entry:
    """A row as a value."""
    return _entry({field: getattr(row, field) for field in _ENTRY})


def _entry(found: Mapping[str, Any]) -> Entry:
    return Entry(
        **{
            name: value if type(value) is _TYPES[name] else _DAMAGED.get(_TYPES[name], repr(value))
            for name, value in found.items()
        }
    )
