"""Evidence, approvals and undo cards: written once, read by every later step."""

from dataclasses import asdict
from typing import Any, get_args

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import ApprovalRow, CardRow, EvidenceRow, RunRow
from kstreams_runbooks.model.ledger import Approval, Card, Evidence, EvidenceKind, RunRecord

_APPROVAL = tuple(Approval.__dataclass_fields__)
_EVIDENCE = tuple(Evidence.__dataclass_fields__)
_CARD = tuple(Card.__dataclass_fields__)


class Records:
    """The part of the ledger about what a run's steps leave behind."""

    database: Database

    def record(
        self, run_key: str, task_id: str, try_number: int, kind: EvidenceKind | str, name: str, payload: Any, at_ms: int
    ) -> int:
        """Keep one piece of evidence; `payload` is JSON. The answer is its id: a later piece has a higher one."""
        if kind not in get_args(EvidenceKind):
            raise BadInput(f"evidence {name}: kind {kind!r} (expected one of {', '.join(get_args(EvidenceKind))})")

        def work(session: Session) -> int:
            row = EvidenceRow(
                run_key=run_key,
                task_id=task_id,
                try_number=try_number,
                kind=kind,
                name=name,
                payload=payload,
                at_ms=at_ms,
            )
            session.add(row)
            session.flush()
            return row.id

        return self.database.write(work)

    def evidence(
        self, run_key: str, kind: str | None = None, name: str | None = None, task_id: str | None = None
    ) -> list[Evidence]:
        """Evidence of a run in the order of writing, only of a kind, a name, a task where given."""
        wanted = {"run_key": run_key, "kind": kind, "name": name, "task_id": task_id}
        query = select(EvidenceRow).filter_by(**{key: value for key, value in wanted.items() if value is not None})

        def work(session: Session) -> list[Evidence]:
            rows = session.scalars(query.order_by(EvidenceRow.id))
            return [Evidence(**{field: getattr(row, field) for field in _EVIDENCE}) for row in rows]

        return self.database.read(work)

    def approve(self, approval: Approval) -> None:
        """Keep an approval; earlier ones for the same task stay as evidence, the last one counts."""
        self.database.write(lambda session: session.add(ApprovalRow(**asdict(approval))))

    def approval(self, run_key: str, task_id: str) -> Approval | None:
        """The last approval that a task got, None where there is none; whether it still holds is for the caller."""
        given = [approval for approval in self.approvals(run_key) if approval.task_id == task_id]
        return given[-1] if given else None

    def approvals(self, run_key: str) -> tuple[Approval, ...]:
        """Every approval of a run in the order in which they were given."""
        query = select(ApprovalRow).filter_by(run_key=run_key).order_by(ApprovalRow.id)

        def work(session: Session) -> tuple[Approval, ...]:
            rows = session.scalars(query)
            return tuple(Approval(**{field: getattr(row, field) for field in _APPROVAL}) for row in rows)

        return self.database.read(work)

    def write_card(self, card: Card) -> None:
        """Keep an undo card, before the write that it undoes; BadInput where the run has that `seq` already."""

        def work(session: Session) -> None:
            if session.get(CardRow, (card.run_key, card.seq)) is not None:
                raise BadInput(f"run {card.run_key}: undo card {card.seq} is there already; number the next one")
            session.add(CardRow(**asdict(card)))

        self.database.write(work)

    def cards(self, run_key: str) -> list[Card]:
        """The undo cards of a run, first to last."""
        query = select(CardRow).filter_by(run_key=run_key).order_by(CardRow.seq)

        def work(session: Session) -> list[Card]:
            return [Card(**{field: getattr(row, field) for field in _CARD}) for row in session.scalars(query)]

        return self.database.read(work)

    def changed_since(self, run: RunRecord, at_ms: int) -> str | None:
        """The key of the newest other run that has changed the application of `run` after `at_ms`, None for none."""
        query = (
            select(CardRow.run_key)
            .join(RunRow, RunRow.run_key == CardRow.run_key)
            .where(RunRow.application == run.application, RunRow.cluster == run.cluster)
            .where(CardRow.run_key != run.run_key, CardRow.at_ms > at_ms)
            .order_by(CardRow.at_ms.desc())
            .limit(1)
        )
        return self.database.read(lambda session: session.scalar(query))

    def last_changes(self, cluster: str) -> dict[str, int]:
        """When a run last began to change each application of a cluster; one that no run has changed is absent."""
        query = (
            select(RunRow.application, func.max(CardRow.at_ms).label("at_ms"))
            .join(CardRow, RunRow.run_key == CardRow.run_key)
            .where(RunRow.cluster == cluster)
            .group_by(RunRow.application)
        )
        return self.database.read(lambda session: {row.application: row.at_ms for row in session.execute(query)})

    def finish_card(self, run_key: str, seq: int) -> None:
        """Mark a card as dealt with; BadInput where there is none."""
        statement = update(CardRow).where(CardRow.run_key == run_key, CardRow.seq == seq).values(done=True)

        def work(session: Session) -> None:
            if session.connection().execute(statement).rowcount == 0:
                raise BadInput(f"run {run_key}: has no undo card {seq}")

        self.database.write(work)
