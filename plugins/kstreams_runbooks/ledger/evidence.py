"""Evidence, approvals and undo cards: journal entries, written once, read by every later step."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar, cast, get_args

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, lock, locked, rows_of
from kstreams_runbooks.ledger.tables import JournalRow, RunObjectRow, RunRow
from kstreams_runbooks.model.runs.journal import APPROVAL, CARD, CARD_DONE, CARD_FACTS, PLANNED, READING, RUN, unpack
from kstreams_runbooks.model.runs.ledger import Approval, Card, Evidence, EvidenceKind, RunRecord

_Kept = TypeVar("_Kept", Approval, Card)
_APPLICATION = "application"
_KINDS: tuple[str, ...] = get_args(EvidenceKind)
# A reading of a large application has some hundred kilobytes.
_PAGE = 100


class Records:
    """The part of the ledger about evidence, approvals and cards."""

    database: Database

    def record(
        self, run_key: str, task_id: str, try_number: int, kind: str, name: str, payload: Any, at_ms: int
    ) -> int:
        """Keep one piece of evidence; `payload` is JSON. Returns its id, which grows with each entry."""
        if kind not in _KINDS:
            raise BadInput(f"evidence {name}: kind {kind!r} (expected one of {', '.join(_KINDS)})")
        return self.database.write(
            lambda session: append(session, locked(session, run_key), kind, name, payload, at_ms, task_id, try_number)
        )

    def evidence(
        self,
        run_key: str,
        kind: str | None = None,
        name: str | None = None,
        task_id: str | None = None,
        *,
        newest: int | None = None,
    ) -> list[Evidence]:
        """Evidence of a run in the order of writing, filtered by kind, name and task if given.

        With `newest` only the last so many. For something of which a run may have thousands, use it or `pieces`.
        """
        query = _wanted(run_key, kind, name, task_id)
        if newest is None:
            return self._read(query.order_by(JournalRow.place))
        return self._read(query.order_by(JournalRow.place.desc()).limit(newest))[::-1]

    def evidence_of(self, cluster: str, application: str, kind: str, name: str, *, newest: int) -> list[Evidence]:
        """The last so many pieces of one kind and name in any run of an application, in the order of writing."""
        about = {"cluster": cluster, "application": application, "kind": kind, "name": name}
        query = select(JournalRow).filter_by(**about).order_by(JournalRow.seq.desc()).limit(newest)
        return self._read(query)[::-1]

    def pieces(self, run_key: str, kind: str | None = None) -> Iterator[Evidence]:
        """The same, read in pages as they are asked for: only one page is in memory."""
        last = 0
        while page := self._read(
            _wanted(run_key, kind).where(JournalRow.seq > last).order_by(JournalRow.seq).limit(_PAGE)
        ):
            last = page[-1].id
            # Empty before the next one is read: two pages would be twice the memory.
            while page:
                yield page.pop(0)

    def piece(self, run_key: str, entry: int) -> Evidence:
        """One piece of evidence by its id; BadInput if the run does not have it."""
        if found := self._read(_wanted(run_key).where(JournalRow.seq == entry)):
            return found[0]
        raise BadInput(f"run {run_key}: has no evidence {entry}")

    def _read(self, query: Select[JournalRow]) -> list[Evidence]:
        return self.database.read(lambda session: [_piece(row) for row in session.scalars(query)])

    def approve(self, approval: Approval) -> None:
        """Keep an approval; earlier ones for the same task stay as evidence, the last one counts."""
        run_key, task_id, at_ms = approval.run_key, approval.task_id, approval.at_ms
        content = _content(approval)
        self.database.write(
            lambda session: append(session, locked(session, run_key), APPROVAL, task_id, content, at_ms, task_id)
        )

    def approval(self, run_key: str, task_id: str) -> Approval | None:
        """The last approval that a task got, None without one; the caller checks whether it is still valid."""
        given = [approval for approval in self.approvals(run_key) if approval.task_id == task_id]
        return given[-1] if given else None

    def approvals(self, run_key: str) -> tuple[Approval, ...]:
        """Every approval of a run in the order in which they were given."""

        def work(session: Session) -> tuple[Approval, ...]:
            rows = rows_of(session, run_key, (APPROVAL,))
            return tuple(_kept(Approval, row) for row in rows)

        return self.database.read(work)

    def write_card(self, card: Card) -> None:
        """Keep an undo card, before the write that it undoes; BadInput if the run already has that `seq`.

        A card about another application than the run's own counts among the changes of that one too.
        """

        def work(session: Session) -> None:
            run = _locked_for(session, card)
            if any(kept.seq == card.seq for kept in _cards(session, card.run_key)):
                raise BadInput(f"run {card.run_key}: undo card {card.seq} is there already; number the next one")
            content = _content(card)
            del content["done"]
            append(session, run, CARD, card.object, content, card.at_ms, card.task_id)

        self.database.write(work)

    def cards(self, run_key: str) -> list[Card]:
        """The undo cards of a run, first to last."""
        return self.database.read(lambda session: _cards(session, run_key))

    def cards_since(self, run: RunRecord, entry: int) -> list[Card]:
        """Cards of any run about the application of `run` from a journal entry on, in the order of writing.

        Those of runs of other applications come last.
        """
        query = select(JournalRow).where(
            JournalRow.cluster == run.cluster, JournalRow.application == run.application, JournalRow.kind == CARD
        )
        query = query.where(JournalRow.seq >= entry).order_by(JournalRow.seq)
        about = (run.cluster, run.application)

        def work(session: Session) -> list[Card]:
            own = [card for row in session.scalars(query) if _about(card := _kept(Card, row)) == about]
            others = session.scalars(_touched(about).where(RunObjectRow.entry >= entry))
            return own + [card for row in others for card in _cards(session, row.run_key) if _about(card) == about]

        return self.database.read(work)

    def cards_on(self, cluster: str, objects: Collection[str]) -> list[Card]:
        """Cards of any run about one of these objects (topics, groups) of a cluster, run after run."""
        named = select(JournalRow.run_key, JournalRow.name).where(
            JournalRow.cluster == cluster, JournalRow.kind == CARD
        )
        # A run of another cluster's application may have a side here.
        sides = select(RunObjectRow.run_key).filter_by(kind=_APPLICATION, cluster=cluster)

        def work(session: Session) -> list[Card]:
            runs = {str(row.run_key) for row in session.execute(named) if row.name in objects}
            runs |= set(session.scalars(sides))
            cards = (card for run_key in sorted(runs) for card in _cards(session, run_key))
            return [card for card in cards if card.cluster == cluster and card.object in objects]

        return self.database.read(work)

    def changed_since(self, run: RunRecord, entry: int) -> str | None:
        """The key of the newest other run that changed the application of `run` after an entry, None without one."""
        query = (
            select(JournalRow.seq, JournalRow.run_key)
            .where(JournalRow.cluster == run.cluster, JournalRow.application == run.application)
            .where(JournalRow.kind == CARD, JournalRow.run_key != run.run_key, JournalRow.seq > entry)
            .order_by(JournalRow.seq.desc())
            .limit(1)
        )
        others = _touched((run.cluster, run.application)).where(
            RunObjectRow.run_key != run.run_key, RunObjectRow.entry > entry
        )

        def work(session: Session) -> str | None:
            changes = [(row.seq, row.run_key) for row in session.execute(query)]
            changes += [(row.entry, row.run_key) for row in session.scalars(others)]
            return max(changes)[1] if changes else None

        return self.database.read(work)

    def touched_at(self, run_key: str, cluster: str, application: str) -> int:
        """The entry in the journal of another application at which a run last changed it, 0 if it did not."""
        of = {"run_key": run_key, "kind": _APPLICATION, "cluster": cluster, "name": application}

        def work(session: Session) -> int:
            row = session.get(RunObjectRow, of)
            return 0 if row is None else row.entry

        return self.database.read(work)

    def looked_before_plan(self, run_key: str, looks: Sequence[str], begun: str) -> int:
        """The entry that began the reading from which the stored plan of a run was made, 0 without one.

        A plan that was made again and not stored does not count. `looks` are the tasks that take such readings, `begun`
        the note with which each of them begins: a reading may miss changes that another run makes while it is taken.
        """
        own = select(func.max(JournalRow.seq)).where(JournalRow.run_key == run_key)
        planned = own.where(JournalRow.kind == RUN, JournalRow.name == PLANNED)
        looked = own.where(JournalRow.kind == READING, JournalRow.task_id.in_(looks))
        began = own.where(JournalRow.kind == "note", JournalRow.name == begun, JournalRow.task_id.in_(looks))

        def work(session: Session) -> int:
            stored = session.scalar(planned) or 0
            reading = session.scalar(looked.where(JournalRow.seq < stored)) or 0
            return session.scalar(began.where(JournalRow.seq < reading)) or reading

        return self.database.read(work)

    def last_changes(self, cluster: str) -> dict[str, int]:
        """The entry with which a run last began to change each application; applications without changes are absent."""
        query = (
            select(JournalRow.application, func.max(JournalRow.seq).label("seq"))
            .where(JournalRow.cluster == cluster, JournalRow.kind == CARD)
            .group_by(JournalRow.application)
        )
        touched = select(RunObjectRow).where(RunObjectRow.kind == _APPLICATION, RunObjectRow.cluster == cluster)

        def work(session: Session) -> dict[str, int]:
            last = {str(row.application): int(row.seq) for row in session.execute(query)}
            for row in session.scalars(touched):
                last[row.name] = max(row.entry, last.get(row.name, 0))
            return last

        return self.database.read(work)

    def know_card(self, run_key: str, seq: int, facts: Any) -> None:
        """Keep facts that a card could not have before its change, in place of its own; BadInput if it does not exist.

        `facts` are JSON of the same kind.
        """

        def work(session: Session) -> None:
            run = locked(session, run_key)
            self._require_card(session, run_key, seq)
            append(session, run, CARD_FACTS, str(seq), {"seq": seq, "facts": facts})

        self.database.write(work)

    def finish_card(self, run_key: str, seq: int) -> None:
        """Mark a card as done; BadInput if it does not exist."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            self._require_card(session, run_key, seq)
            append(session, run, CARD_DONE, str(seq), {"seq": seq})

        self.database.write(work)

    @staticmethod
    def _require_card(session: Session, run_key: str, seq: int) -> None:
        if all(card.seq != seq for card in _cards(session, run_key)):
            raise BadInput(f"run {run_key}: has no undo card {seq}")


def _wanted(
    run_key: str, kind: str | None = None, name: str | None = None, task_id: str | None = None
) -> Select[JournalRow]:
    wanted = {"run_key": run_key, "kind": kind, "name": name, "task_id": task_id}
    query = select(JournalRow).filter_by(**{key: value for key, value in wanted.items() if value is not None})
    return query.where(JournalRow.kind.in_(_KINDS))


def _piece(row: JournalRow) -> Evidence:
    return Evidence(
        id=row.seq,
        run_key=row.run_key,
        task_id=str(row.task_id),
        try_number=row.try_number,
        kind=cast("EvidenceKind", row.kind),
        name=str(row.name),
        at_ms=row.at_ms,
        payload=unpack(row.payload),
    )


def _cards(session: Session, run_key: str) -> list[Card]:
    rows = rows_of(session, run_key, (CARD, CARD_FACTS, CARD_DONE))
    done = {int(row.name) for row in rows if row.kind == CARD_DONE}
    known = {int(row.name): unpack(row.payload)["facts"] for row in rows if row.kind == CARD_FACTS}
    cards = [_kept(Card, row) for row in rows if row.kind == CARD]
    newer = {seq: {"facts": facts} for seq, facts in known.items()}
    cards = [replace(card, done=card.seq in done, **newer.get(card.seq, {})) for card in cards]
    return sorted(cards, key=lambda card: card.seq)


def _about(card: Card) -> tuple[str, str]:
    return card.cluster, card.application


def _touched(about: tuple[str, str]) -> Select[RunObjectRow]:
    """The runs of other applications that changed this one: cluster and name."""
    cluster, name = about
    return select(RunObjectRow).filter_by(kind=_APPLICATION, cluster=cluster, name=name)


def _locked_for(session: Session, card: Card) -> RunRow:
    """The locked run of a card; a change of another application takes a number in that one's order."""
    found = session.get(RunRow, card.run_key)
    other = _about(card)
    if found is None or other == (found.cluster, found.application):
        return locked(session, card.run_key)
    # In one order for all runs, or two that touch each other's applications would wait for each other.
    for cluster, name in sorted({other, (found.cluster, found.application)}):
        lock(session, cluster, name)
    counter = lock(session, *other)
    counter.last_seq += 1
    of = {"run_key": card.run_key, "kind": _APPLICATION, "cluster": other[0], "name": other[1]}
    session.merge(RunObjectRow(**of, entry=counter.last_seq))
    return locked(session, card.run_key)


def _kept(kind: type[_Kept], row: JournalRow) -> _Kept:
    """The content of an entry; ValueError if it is of another kind."""
    try:
        content = unpack(row.payload)
        return kind(run_key=row.run_key, entry=row.seq, **content)
    except TypeError:
        raise ValueError(f"entry {row.place} of run {row.run_key} is not a {row.kind}") from None


def _content(kept: Approval | Card) -> dict[str, Any]:
    return {name: value for name, value in asdict(kept).items() if name not in {"run_key", "entry"}}
