"""Runs, their plans, what they remember, and how they ended."""

from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import PlanRow, RememberedRow, RunRow
from kstreams_runbooks.model.ledger import RunRecord

_FIELDS = tuple(RunRecord.__dataclass_fields__)
# Newest runs among which a mistyped id is looked for.
_NEAR = 500


class Runs:
    """The part of the ledger about runs."""

    database: Database

    def start_run(self, record: RunRecord) -> RunRecord:
        """Keep a run at its first step; at every later one, and on a second call, answer what was kept."""

        def work(session: Session) -> RunRecord:
            row = session.get(RunRow, record.run_key)
            if row is None:
                row = RunRow(**asdict(record))
                session.add(row)
                session.flush()
            return _record(row)

        return self.database.write(work)

    def run(self, run_key: str) -> RunRecord:
        """The run of a key, or of a bare run id where only one DAG has it; BadInput names the nearest."""

        def work(session: Session) -> RunRecord:
            row = session.get(RunRow, run_key)
            if row is not None:
                return _record(row)
            same = session.scalars(select(RunRow).where(RunRow.run_id == run_key).order_by(RunRow.run_key)).all()
            if len(same) == 1:
                return _record(same[0])
            if same:
                raise BadInput(f"run {run_key}: {len(same)} DAGs have it; give one of {_list(r.run_key for r in same)}")
            newest = select(RunRow.run_key, RunRow.run_id).order_by(RunRow.started_at_ms.desc()).limit(_NEAR)
            known = {name: key for key, run_id in session.execute(newest) for name in (key, run_id)}
            near = dict.fromkeys(known[name] for name in get_close_matches(run_key, known, n=6, cutoff=0.5))
            hint = (
                f"did you mean {_list(list(near)[:3])}?" if near else f"the ledger has {len(known) // 2 or 'no'} runs"
            )
            raise BadInput(f"run {run_key}: unknown to ledger {self.database.name}; {hint}")

        return self.database.read(work)

    def runs(self, *, open_only: bool = False) -> tuple[RunRecord, ...]:
        """Every run, oldest first; with `open_only` those that have not concluded."""

        def work(session: Session) -> tuple[RunRecord, ...]:
            query = select(RunRow).order_by(RunRow.started_at_ms, RunRow.run_key)
            if open_only:
                query = query.where(RunRow.outcome.is_(None))
            return tuple(_record(row) for row in session.scalars(query))

        return self.database.read(work)

    def remember(self, run_key: str, name: str, value: Any) -> Any:
        """Keep a JSON value under a name, once: the first one stays, and is the answer."""

        def work(session: Session) -> Any:
            row = session.get(RememberedRow, (run_key, name))
            if row is None:
                row = RememberedRow(run_key=run_key, name=name, value=value)
                session.add(row)
                session.flush()
                # As JSON gives it back (lists for tuples), so that the first caller and the later ones get the same.
                session.refresh(row)
            return row.value

        return self.database.write(work)

    def recall(self, run_key: str, name: str) -> Any:
        """The value kept under a name, None where there is none."""

        def work(session: Session) -> Any:
            row = session.get(RememberedRow, (run_key, name))
            return None if row is None else row.value

        return self.database.read(work)

    def store_plan(self, run_key: str, digest: str, plan: dict[str, Any]) -> None:
        """Keep the plan of a run; once the run has written anything, another plan is refused (WriteRefused)."""

        def work(session: Session) -> None:
            run, kept = _known(session, run_key), session.get(PlanRow, run_key)
            if kept is not None and kept.digest != digest and run.wrote_at_ms is not None:
                raise WriteRefused(
                    f"run {run_key} has written under plan {kept.digest}: it keeps that plan, {digest} is refused; "
                    "trigger a new run"
                )
            session.merge(PlanRow(run_key=run_key, digest=digest, plan=plan))
            run.plan_digest = digest

        self.database.write(work)

    def plan(self, run_key: str) -> dict[str, Any] | None:
        """The stored plan, None where there is none."""

        def work(session: Session) -> dict[str, Any] | None:
            row = session.get(PlanRow, run_key)
            return None if row is None else row.plan

        return self.database.read(work)

    def mark_written(self, run_key: str, at_ms: int) -> None:
        """Note that the run is about to change something; the first time stays, how it ended before does not."""

        def work(session: Session) -> None:
            run = _known(session, run_key)
            run.wrote_at_ms = at_ms if run.wrote_at_ms is None else run.wrote_at_ms
            run.outcome = run.outcome_sentence = run.ended_at_ms = None

        self.database.write(work)

    def conclude(self, run_key: str, outcome: str, sentence: str, at_ms: int) -> None:
        """Write how the run ended; a run that was cleared and ran again ends again."""

        def work(session: Session) -> None:
            _known(session, run_key)
            session.execute(
                update(RunRow)
                .where(RunRow.run_key == run_key)
                .values(outcome=outcome, outcome_sentence=sentence, ended_at_ms=at_ms)
            )

        self.database.write(work)


def _record(row: RunRow) -> RunRecord:
    return RunRecord(**{name: getattr(row, name) for name in _FIELDS})


def _known(session: Session, run_key: str) -> RunRow:
    row = session.get(RunRow, run_key)
    if row is None:
        raise BadInput(f"run {run_key}: unknown to the ledger; its first step has to start it")
    return row


def _list(names: Any) -> str:
    return ", ".join(names)
