"""Resources reserved by runs: all or nothing, in one transaction, free again when the run has ended.

A run that holds something either changes something or waits: for a person, or for a day. Its newest entry about holds
in the journal shows which. Only runs that change something count for the limit of their cluster.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, lock, locked
from kstreams_runbooks.ledger.tables import HoldRow, JournalRow, RunRow
from kstreams_runbooks.model.runs.journal import HOLD
from kstreams_runbooks.model.runs.ledger import Hold
from kstreams_runbooks.model.runs.resources import to_hold
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.wording import first_of

# How often holds may change owner during one run's request.
_ROUNDS = 5
# Names of entries about holds.
_RESERVED, _WAITING, _TAKEN, _RENEWED, _RELEASED = "reserved", "waiting", "taken", "renewed", "released"
_AT_REST = frozenset({_RESERVED, _WAITING, _RELEASED})


class Holds:
    """The part of the ledger about holds."""

    database: Database

    def take_hold(
        self,
        run_key: str,
        resources: Sequence[str],
        cluster: str,
        limit: int,
        at_ms: int,
        is_finished: Callable[[str], bool],
        *,
        changes: bool = True,
    ) -> None:
        """Reserve every resource (`kind:cluster:name`) for a run, or none; its own holds are renewed.

        With `changes` the run begins to change something: then Refused also if `limit` others of `cluster` do. Without
        it the run only reserves, and does not count. Refused names each run that is in the way, since when it has held,
        and what to do. A run is out of the way if it concluded after it last renewed (a concluded run that is cleared
        renews again), in the order of its journal, or if `is_finished(run_key)`. That call goes to Airflow outside the
        transaction, and its result counts only for a hold that has not been renewed since. BadInput for a resource of
        an unknown kind or another cluster.
        """
        names = tuple(map(str, to_hold(resources, cluster)))
        most = limit if changes else None
        finished: set[Hold] = set()
        for _ in range(_ROUNDS):
            take = partial(
                _take,
                run_key=run_key,
                resources=names,
                cluster=cluster,
                limit=most,
                at_ms=at_ms,
                finished=frozenset(finished),
            )
            unknown = self.database.write(take)
            if not unknown:
                return
            ended = {key for key in dict.fromkeys(hold.run_key for hold in unknown) if is_finished(key)}
            finished |= {hold for hold in unknown if hold.run_key in ended}
            if blocking := [hold for hold in unknown if hold.run_key not in ended]:
                _refuse_if_in_the_way(blocking, names, cluster, most)
        raise Refused(f"cluster {cluster}: holds change hands too fast to take one ({_ROUNDS} tries); clear this task")

    def hold_waits(self, run_key: str, at_ms: int) -> None:
        """Record that a run, which keeps its holds, changes nothing until it takes them again."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            if (held := _held_by(session, run_key)) and _changing(session, [run_key]):
                append(session, run, HOLD, _WAITING, {"resources": [row.resource for row in held]}, at_ms)

        self.database.write(work)

    def held_since_ms(self, run_key: str) -> int | None:
        """The time since when a run has held something without a break, None if it holds nothing."""
        return self.database.read(
            lambda session: min((row.taken_at_ms for row in _held_by(session, run_key)), default=None)
        )

    def release_holds(self, run_key: str) -> None:
        """Release everything that a run holds."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            if held := _held_by(session, run_key):
                append(session, run, HOLD, _RELEASED, {"resources": [row.resource for row in held]})
                session.execute(delete(HoldRow).where(HoldRow.run_key == run_key))

        self.database.write(work)

    def holds(self) -> tuple[Hold, ...]:
        """Every hold, including those of runs that have ended without releasing them."""

        def work(session: Session) -> tuple[Hold, ...]:
            rows = [*session.scalars(select(HoldRow).order_by(HoldRow.resource))]
            changing = _changing(session, {row.run_key for row in rows})
            return tuple(_hold(row, changing) for row in rows)

        return self.database.read(work)


def _take(
    session: Session,
    run_key: str,
    resources: Sequence[str],
    cluster: str,
    limit: int | None,
    at_ms: int,
    finished: frozenset[Hold],
) -> list[Hold]:
    """Take the holds unless an active run is in the way; then return the holds that decide it, and change nothing."""
    # Two requests in one cluster count each other: one after the other.
    lock(session, cluster)
    run = locked(session, run_key)
    rows = session.execute(
        select(HoldRow, RunRow.ended_entry)
        .join(RunRow, RunRow.run_key == HoldRow.run_key)
        .where(or_(HoldRow.cluster == cluster, HoldRow.resource.in_(resources)))
    ).all()
    changing = _changing(session, {row.run_key for row, _ in rows})
    others = [(_hold(row, changing), ended) for row, ended in rows if row.run_key != run_key]
    free = {hold for hold, ended in others if hold in finished or (ended is not None and ended > hold.renewed_entry)}
    living = [hold for hold, _ in others if hold not in free]
    if _in_the_way(living, resources, cluster, limit):
        return living
    # All holds of an ended run, not only the requested ones: a run never keeps half of its holds.
    ended_runs = {hold.run_key for hold in free} - {hold.run_key for hold in living}
    session.execute(delete(HoldRow).where(HoldRow.run_key.in_(ended_runs)))
    own = {row.resource: row for row, _ in rows if row.run_key == run_key}
    name = _RESERVED if limit is None else _RENEWED if set(resources) <= set(own) else _TAKEN
    entry = append(session, run, HOLD, name, {"resources": sorted(resources), "freed": sorted(ended_runs)}, at_ms)
    for row in own.values():
        row.renewed_at_ms, row.renewed_entry = at_ms, entry
    for resource in sorted(set(resources) - set(own)):
        session.add(
            HoldRow(
                resource=resource,
                cluster=cluster,
                run_key=run_key,
                taken_at_ms=at_ms,
                renewed_at_ms=at_ms,
                renewed_entry=entry,
            )
        )
    return []


def _held_by(session: Session, run_key: str) -> list[HoldRow]:
    return [*session.scalars(select(HoldRow).where(HoldRow.run_key == run_key).order_by(HoldRow.resource))]


def _changing(session: Session, run_keys: Collection[str]) -> frozenset[str]:
    """Those of the runs whose newest entry about holds does not mark them as waiting."""
    query = select(JournalRow.run_key, JournalRow.name).where(JournalRow.run_key.in_(run_keys), JournalRow.kind == HOLD)
    newest = {row.run_key: row.name for row in session.execute(query.order_by(JournalRow.place))}
    return frozenset(key for key in run_keys if newest.get(key) not in _AT_REST)


def _in_the_way(living: Iterable[Hold], resources: Sequence[str], cluster: str, limit: int | None) -> str:
    """Why these holds of other runs are in the way, empty if they are not; without a `limit` only of the resources."""
    wanted: dict[str, list[Hold]] = {}
    since: dict[str, int] = {}
    for hold in living:
        if hold.resource in resources:
            wanted.setdefault(hold.run_key, []).append(hold)
        if hold.cluster == cluster and hold.changing:
            since[hold.run_key] = min(hold.taken_at_ms, since.get(hold.run_key, hold.taken_at_ms))
    if wanted:
        return (
            f"{first_of([_held(holds) for holds in wanted.values()], between='; ')}; wait until it has "
            "ended, or end it in Airflow (a run that has ended holds nothing)"
        )
    if limit is not None and len(since) >= limit:
        runs = ", ".join(f"{key} since {utc_second(taken)}" for key, taken in sorted(since.items()))
        return (
            f"cluster {cluster}: {len(since)} runs change something already (limit max_concurrent_runs {limit}): "
            f"{runs}; wait until one has ended or waits for an answer, then clear this task"
        )
    return ""


def _held(holds: Sequence[Hold]) -> str:
    """What one run holds of the wanted resources, and since when."""
    names = [hold.held.words for hold in holds]
    return (
        f"{first_of(names)} {'is' if len(names) == 1 else 'are'} held by run {holds[0].run_key} since "
        f"{utc_second(min(hold.taken_at_ms for hold in holds))}"
    )


def _refuse_if_in_the_way(living: Iterable[Hold], resources: Sequence[str], cluster: str, limit: int | None) -> None:
    if why := _in_the_way(living, resources, cluster, limit):
        raise Refused(why)


def _hold(row: HoldRow, changing: Collection[str]) -> Hold:
    return Hold(
        resource=row.resource,
        run_key=row.run_key,
        taken_at_ms=row.taken_at_ms,
        renewed_at_ms=row.renewed_at_ms,
        cluster=row.cluster,
        renewed_entry=row.renewed_entry,
        changing=row.run_key in changing,
    )
