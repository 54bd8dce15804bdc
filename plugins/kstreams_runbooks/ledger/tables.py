"""Tables of the ledger. Times are Unix milliseconds; types and statements work on both SQLite and PostgreSQL.

A change here needs a migration (`migrations/versions`); a test compares both.
"""

from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from kstreams_runbooks.model.runs.journal import pack, unpack

_KEY = String(512)
_NAME = String(256)


class CompressedJson(TypeDecorator[Any]):
    """A value as `pack` packs it."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes:  # noqa: ARG002 - SQLAlchemy's signature
        """To the database."""
        return pack(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        """From the database."""
        return None if value is None else unpack(value)


class Base(DeclarativeBase):
    """Base of all tables; migrations refer to constraints by their fixed names."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class RunRow(Base):
    """A run of a runbook."""

    __tablename__ = "run"
    __table_args__ = (Index(None, "run_id"), Index(None, "started_at_ms"))

    run_key: Mapped[str] = mapped_column(_KEY, primary_key=True)
    dag_id: Mapped[str] = mapped_column(_NAME)
    run_id: Mapped[str] = mapped_column(_NAME)
    application: Mapped[str] = mapped_column(_NAME)
    cluster: Mapped[str] = mapped_column(_NAME)
    requested_by: Mapped[str] = mapped_column(_NAME)
    dry_run: Mapped[bool]
    reason: Mapped[str] = mapped_column(Text)
    params: Mapped[Any] = mapped_column(JSON)
    started_at_ms: Mapped[int] = mapped_column(BigInteger)
    plan_digest: Mapped[str | None] = mapped_column(String(64))
    outcome: Mapped[str | None] = mapped_column(_NAME)
    outcome_sentence: Mapped[str | None] = mapped_column(Text)
    ended_at_ms: Mapped[int | None] = mapped_column(BigInteger)
    wrote_at_ms: Mapped[int | None] = mapped_column(BigInteger)
    number: Mapped[int]
    run_after: Mapped[str] = mapped_column(String(64))
    conf_digest: Mapped[str] = mapped_column(String(64))
    ended_entry: Mapped[int | None] = mapped_column(BigInteger)
    rows: Mapped[int]
    head: Mapped[str] = mapped_column(String(64))


class PlanRow(Base):
    """The plan of a run: one, replaced until the run writes something."""

    __tablename__ = "plan"

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    plan: Mapped[Any] = mapped_column(CompressedJson)


class RememberedRow(Base):
    """A named fact of a run that is determined once: the first value stays."""

    __tablename__ = "remembered"

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    name: Mapped[str] = mapped_column(_KEY, primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)


class ApplicationRow(Base):
    """The counter of an application's journal entries: a writer locks this row until its transaction ends.

    With an empty application it is the cluster's, locked by a run that reserves something in the cluster.
    """

    __tablename__ = "application"

    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    application: Mapped[str] = mapped_column(_NAME, primary_key=True)
    last_seq: Mapped[int] = mapped_column(BigInteger)


class JournalRow(Base):
    """One journal entry (model/runs/journal.py); never changed; only pruning deletes it, and leaves a gap entry."""

    __tablename__ = "journal"
    __table_args__ = (
        Index(None, "run_key", "place", unique=True),
        Index(None, "run_key", "kind", "name"),
        Index(None, "cluster", "kind", "application"),
    )

    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    application: Mapped[str] = mapped_column(_NAME, primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key))
    place: Mapped[int]
    task_id: Mapped[str] = mapped_column(_NAME)
    try_number: Mapped[int]
    kind: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(_KEY)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    payload: Mapped[bytes] = mapped_column(LargeBinary)
    previous: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class RunObjectRow(Base):
    """An object that a run changed outside its own application; `entry` counts in the order of that application."""

    __tablename__ = "run_object"
    __table_args__ = (Index(None, "kind", "cluster", "name"),)

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32), primary_key=True)
    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    name: Mapped[str] = mapped_column(_NAME, primary_key=True)
    entry: Mapped[int] = mapped_column(BigInteger)


class OrphanRow(Base):
    """A changelog that a run left behind: since that time nothing of the application reads it. Never deleted."""

    __tablename__ = "orphan"
    __table_args__ = (Index(None, "cluster", "application"),)

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    topic: Mapped[str] = mapped_column(_NAME, primary_key=True)
    topic_id: Mapped[str] = mapped_column(String(64))
    cluster: Mapped[str] = mapped_column(_NAME)
    application: Mapped[str] = mapped_column(_NAME)
    since_ms: Mapped[int] = mapped_column(BigInteger)


class HoldRow(Base):
    """A reserved resource: the primary key limits it to one run."""

    __tablename__ = "hold"
    __table_args__ = (Index(None, "cluster"), Index(None, "run_key"))

    resource: Mapped[str] = mapped_column(_KEY, primary_key=True)
    cluster: Mapped[str] = mapped_column(_NAME)
    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key))
    taken_at_ms: Mapped[int] = mapped_column(BigInteger)
    renewed_at_ms: Mapped[int] = mapped_column(BigInteger)
    renewed_entry: Mapped[int] = mapped_column(BigInteger)


class NotificationRow(Base):
    """A message to one notifier: the primary key ensures that it is sent once.

    `not_before_ms` is when it may be tried (again): after the current sender's claim, or a pause after a failure.
    """

    __tablename__ = "notification"
    __table_args__ = (Index(None, "at_ms"),)

    about: Mapped[str] = mapped_column(_KEY, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32), primary_key=True)
    occasion: Mapped[str] = mapped_column(_NAME, primary_key=True)
    channel: Mapped[str] = mapped_column(String(64), primary_key=True)
    message: Mapped[Any] = mapped_column(CompressedJson)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    not_before_ms: Mapped[int] = mapped_column(BigInteger)
    attempts: Mapped[int]
    sent_at_ms: Mapped[int | None] = mapped_column(BigInteger)
    error: Mapped[str | None] = mapped_column(Text)


class LagReadingRow(Base):
    """The reading of one application at one time: one document with all its partitions."""

    __tablename__ = "lag_reading"
    __table_args__ = (Index(None, "taken_at_ms"),)

    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    application: Mapped[str] = mapped_column(_NAME, primary_key=True)
    taken_at_ms: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    document: Mapped[Any] = mapped_column(CompressedJson)


class LagStatusRow(Base):
    """The status of an application by the last check, its start, and the last notification about it."""

    __tablename__ = "lag_status"

    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    application: Mapped[str] = mapped_column(_NAME, primary_key=True)
    word: Mapped[str] = mapped_column(String(32))
    sentence: Mapped[str] = mapped_column(Text)
    since_ms: Mapped[int] = mapped_column(BigInteger)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    read: Mapped[bool]
    told: Mapped[str | None] = mapped_column(String(32))
    told_read: Mapped[bool]
