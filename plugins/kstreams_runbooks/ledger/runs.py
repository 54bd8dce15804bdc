"""Runs, their plans, their remembered values, and their outcomes."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, lock, locked
from kstreams_runbooks.ledger.tables import PlanRow, RememberedRow, RunRow
from kstreams_runbooks.model.runs.journal import (
    CONCLUDED,
    FACT,
    GENESIS,
    PLANNED,
    RUN,
    STARTED,
    WRITTEN,
    started_with,
    value_digest,
)
from kstreams_runbooks.model.runs.ledger import RunRecord

_FIELDS = tuple(RunRecord.__dataclass_fields__)
# Newest runs that are searched for the nearest to a mistyped id.
_NEAR = 500


class Runs:
    """The part of the ledger about runs."""

    database: Database

    def start_run(self, record: RunRecord) -> RunRecord:
        """Keep a run at its first step; every later call returns the kept record.

        Another Airflow run with an id that was used before is another record, with a number behind its key.
        """

        def work(session: Session) -> RunRecord:
            lock(session, record.cluster, record.application)
            before = _of_one_id(session, record.dag_id, record.run_id)
            if kept := _same(before, record):
                return kept
            number = 1 + max((one.number for one in before), default=0)
            key = f"{record.dag_id}/{record.run_id}{f'#{number}' if number > 1 else ''}"
            row = RunRow(**asdict(replace(record, run_key=key, number=number, rows=0, head=GENESIS)))
            session.add(row)
            session.flush()
            append(session, row, RUN, STARTED, started_with(_record(row)), record.started_at_ms)
            return _record(row)

        return self.database.write(work)

    def same_run(self, record: RunRecord) -> RunRecord | None:
        """The record of exactly the Airflow run that `record` describes, None if it has not been started."""
        return self.database.read(lambda session: _same(_of_one_id(session, record.dag_id, record.run_id), record))

    def is_superseded(self, record: RunRecord) -> bool:
        """Whether Airflow's run was deleted and its id used again since: tasks left over from it have no authority."""
        return any(one.number > record.number for one in self.same_id(record))

    def same_id(self, record: RunRecord) -> tuple[RunRecord, ...]:
        """Every record of the same DAG and run id, oldest first."""
        return self.database.read(lambda session: tuple(_of_one_id(session, record.dag_id, record.run_id)))

    def run(self, run_key: str) -> RunRecord:
        """The run of a key, or of a bare run id if only one DAG has it; BadInput names the nearest."""

        def work(session: Session) -> RunRecord:
            row = session.get(RunRow, run_key)
            return _record(row) if row is not None else self._found(session, run_key)

        return self.database.read(work)

    def find_run(self, given: str) -> RunRecord:
        """The run that a person names: by id, by `dag_id/run_id`, or by either with `#` and a number.

        If an id was used again, the newest run is meant, unless a number is given. BadInput names the nearest.
        """
        name, mark, number = given.rpartition("#")
        wanted = int(number) if mark and number.isdecimal() else None

        def work(session: Session) -> RunRecord:
            asked = given if wanted is None else name
            exact = session.get(RunRow, asked)
            same = _of_one_id(session, *(exact.dag_id, exact.run_id)) if exact else self._ids(session, asked)
            for one in same:
                if one.number == wanted:
                    return one
            if wanted is not None or not same:
                return self._found(session, given)
            return same[-1]

        return self.database.read(work)

    def _ids(self, session: Session, run_id: str) -> list[RunRecord]:
        """Every record of a bare run id, oldest first; BadInput if several DAGs have it."""
        dags = [
            *session.scalars(select(RunRow.dag_id).where(RunRow.run_id == run_id).distinct().order_by(RunRow.dag_id))
        ]
        if len(dags) > 1:
            keys = _list(f"{dag}/{run_id}" for dag in dags)
            raise BadInput(f"run {run_id}: {len(dags)} DAGs have it; give one of {keys}")
        return _of_one_id(session, dags[0], run_id) if dags else []

    def _found(self, session: Session, given: str) -> RunRecord:
        """The newest run of a bare id; BadInput names the nearest if it does not exist."""
        if same := self._ids(session, given):
            return same[-1]
        newest = select(RunRow.run_key, RunRow.run_id).order_by(RunRow.started_at_ms.desc()).limit(_NEAR)
        known = {name: key for key, run_id in session.execute(newest) for name in (key, run_id)}
        near = dict.fromkeys(known[name] for name in get_close_matches(given, known, n=6, cutoff=0.5))
        hint = f"did you mean {_list(list(near)[:3])}?" if near else f"the ledger has {len(known) // 2 or 'no'} runs"
        raise BadInput(f"run {given}: unknown to ledger {self.database.name}; {hint}")

    def runs(self, *, open_only: bool = False) -> tuple[RunRecord, ...]:
        """Every run, oldest first; with `open_only` those that have not concluded."""

        def work(session: Session) -> tuple[RunRecord, ...]:
            query = select(RunRow).order_by(RunRow.started_at_ms, RunRow.run_key)
            if open_only:
                query = query.where(RunRow.outcome.is_(None))
            return tuple(_record(row) for row in session.scalars(query))

        return self.database.read(work)

    def remember(self, run_key: str, name: str, value: Any) -> Any:
        """Keep a JSON value under a name, once: later calls return the first value."""

        def work(session: Session) -> Any:
            run = locked(session, run_key)
            row = session.get(RememberedRow, (run_key, name))
            if row is None:
                row = RememberedRow(run_key=run_key, name=name, value=value)
                session.add(row)
                session.flush()
                # As JSON returns it (lists for tuples): the first caller and the later ones get the same.
                session.refresh(row)
                append(session, run, FACT, name, {"value": row.value})
            return row.value

        return self.database.write(work)

    def recall(self, run_key: str, name: str) -> Any:
        """The value kept under a name, None without one."""

        def work(session: Session) -> Any:
            row = session.get(RememberedRow, (run_key, name))
            return None if row is None else row.value

        return self.database.read(work)

    def recalled(self, run_key: str) -> dict[str, Any]:
        """Every value kept under a name."""
        query = select(RememberedRow).where(RememberedRow.run_key == run_key)
        return self.database.read(lambda session: {row.name: row.value for row in session.scalars(query)})

    def store_plan(self, run_key: str, digest: str, plan: Mapping[str, Any]) -> None:
        """Keep the plan of a run; once the run has written anything, another plan is refused (WriteRefused)."""

        def work(session: Session) -> None:
            run, kept = locked(session, run_key), session.get(PlanRow, run_key)
            if kept is not None and kept.digest != digest and run.wrote_at_ms is not None:
                raise WriteRefused(
                    f"run {run_key} has written under plan {kept.digest}: it keeps that plan, {digest} is refused; "
                    "trigger a new run"
                )
            session.merge(PlanRow(run_key=run_key, digest=digest, plan=plan))
            run.plan_digest = digest
            append(session, run, RUN, PLANNED, {"digest": digest, "sha256": value_digest(plan)})

        self.database.write(work)

    def plan(self, run_key: str) -> dict[str, Any] | None:
        """The stored plan, None without one."""

        def work(session: Session) -> dict[str, Any] | None:
            row = session.get(PlanRow, run_key)
            return None if row is None else row.plan

        return self.database.read(work)

    def plan_digest(self, run_key: str) -> str | None:
        """The digest next to the stored plan, None without one."""
        query = select(PlanRow.digest).where(PlanRow.run_key == run_key)
        return self.database.read(lambda session: session.scalar(query))

    def mark_written(self, run_key: str, at_ms: int) -> None:
        """Record that the run is about to change something; keeps the first time, and clears an earlier outcome."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            run.wrote_at_ms = at_ms if run.wrote_at_ms is None else run.wrote_at_ms
            run.outcome = run.outcome_sentence = run.ended_at_ms = run.ended_entry = None
            append(session, run, RUN, WRITTEN, {"wrote_at_ms": run.wrote_at_ms}, at_ms)

        self.database.write(work)

    def conclude(self, run_key: str, outcome: str, sentence: str, at_ms: int) -> None:
        """Write the outcome of a run; a run that was cleared and ran again ends again."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            run.outcome, run.outcome_sentence, run.ended_at_ms = outcome, sentence, at_ms
            ended = {"outcome": outcome, "outcome_sentence": sentence, "ended_at_ms": at_ms}
            run.ended_entry = append(session, run, RUN, CONCLUDED, ended, at_ms)

        self.database.write(work)


def _record(row: RunRow) -> RunRecord:
    return RunRecord(**{name: getattr(row, name) for name in _FIELDS})


def _of_one_id(session: Session, dag_id: str, run_id: str) -> list[RunRecord]:
    query = select(RunRow).where(RunRow.dag_id == dag_id, RunRow.run_id == run_id).order_by(RunRow.number)
    return [_record(row) for row in session.scalars(query)]


def _same(kept: Iterable[RunRecord], record: RunRecord) -> RunRecord | None:
    return next((one for one in kept if one.is_same_run(record)), None)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
