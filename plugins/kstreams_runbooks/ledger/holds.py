"""Resources reserved by runs: all or nothing, in one transaction, free again when the run has ended."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.journal import append, lock, locked
from kstreams_runbooks.ledger.tables import HoldRow, RunRow
from kstreams_runbooks.model.runs.journal import HOLD
from kstreams_runbooks.model.runs.ledger import Hold
from kstreams_runbooks.model.times import utc_second

# How often holds may change owner during one run's request.
_ROUNDS = 5


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
    ) -> None:
        """Reserve every resource (`kind:cluster:name`) for a run, or none; its own holds are renewed.

        Refused names the run that is in the way: one that holds a resource, or `limit` others that hold anything in
        `cluster`. A run is out of the way if it concluded after it last renewed (a concluded run that is cleared
        renews again), in the order of its journal, or if `is_finished(run_key)`. That call goes to Airflow outside the
        transaction, and its result counts only for a hold that has not been renewed since.
        """
        finished: set[Hold] = set()
        for _ in range(_ROUNDS):
            take = partial(
                _take,
                run_key=run_key,
                resources=resources,
                cluster=cluster,
                limit=limit,
                at_ms=at_ms,
                finished=frozenset(finished),
            )
            unknown = self.database.write(take)
            if not unknown:
                return
            ended = {key for key in dict.fromkeys(hold.run_key for hold in unknown) if is_finished(key)}
            finished |= {hold for hold in unknown if hold.run_key in ended}
            if blocking := [hold for hold in unknown if hold.run_key not in ended]:
                _refuse_if_in_the_way(blocking, resources, cluster, limit)
        raise Refused(f"cluster {cluster}: holds change hands too fast to take one ({_ROUNDS} tries); clear this task")

    def release_holds(self, run_key: str) -> None:
        """Release everything that a run holds."""

        def work(session: Session) -> None:
            run = locked(session, run_key)
            if held := _held_by(session, run_key):
                append(session, run, HOLD, "released", {"resources": [row.resource for row in held]})
                session.execute(delete(HoldRow).where(HoldRow.run_key == run_key))

        self.database.write(work)

    def holds(self) -> tuple[Hold, ...]:
        """Every hold, including those of runs that have ended without releasing them."""

        def work(session: Session) -> tuple[Hold, ...]:
            return tuple(_hold(row) for row in session.scalars(select(HoldRow).order_by(HoldRow.resource)))

        return self.database.read(work)


def _take(
    session: Session,
    run_key: str,
    resources: Sequence[str],
    cluster: str,
    limit: int,
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
    others = [(_hold(row), ended) for row, ended in rows if row.run_key != run_key]
    free = {hold for hold, ended in others if hold in finished or (ended is not None and ended > hold.renewed_entry)}
    living = [hold for hold, _ in others if hold not in free]
    if _in_the_way(living, resources, cluster, limit):
        return living
    # All holds of an ended run, not only the requested ones: a run never keeps half of its holds.
    ended_runs = {hold.run_key for hold in free} - {hold.run_key for hold in living}
    session.execute(delete(HoldRow).where(HoldRow.run_key.in_(ended_runs)))
    own = {row.resource: row for row, _ in rows if row.run_key == run_key}
    name = "renewed" if set(resources) <= set(own) else "taken"
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


def _in_the_way(living: Iterable[Hold], resources: Sequence[str], cluster: str, limit: int) -> str:
    """Why these holds of other runs are in the way, empty if they are not."""
    wanted = [hold for hold in living if hold.resource in resources]
    if wanted:
        hold = wanted[0]
        kind, *_, name = hold.resource.split(":")
        return (
            f"{kind} {name} is held by run {hold.run_key} since {utc_second(hold.taken_at_ms)}; wait until it has "
            "ended, or end it in Airflow (a run that has ended holds nothing)"
        )
    since: dict[str, int] = {}
    for hold in living:
        if hold.cluster == cluster:
            since[hold.run_key] = min(hold.taken_at_ms, since.get(hold.run_key, hold.taken_at_ms))
    if len(since) >= limit:
        runs = ", ".join(f"{key} since {utc_second(taken)}" for key, taken in sorted(since.items()))
        return (
            f"cluster {cluster}: {len(since)} runs change something already (limit max_concurrent_runs {limit}): "
            f"{runs}; wait until one has ended"
        )
    return ""


def _refuse_if_in_the_way(living: Iterable[Hold], resources: Sequence[str], cluster: str, limit: int) -> None:
    if why := _in_the_way(living, resources, cluster, limit):
        raise Refused(why)


def _hold(row: HoldRow) -> Hold:
    return Hold(
        resource=row.resource,
        run_key=row.run_key,
        taken_at_ms=row.taken_at_ms,
        renewed_at_ms=row.renewed_at_ms,
        cluster=row.cluster,
        renewed_entry=row.renewed_entry,
    )
