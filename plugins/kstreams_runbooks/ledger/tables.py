"""Tables of the ledger. Times are Unix milliseconds; no type or statement is SQLite's or PostgreSQL's own.

A change here needs a migration beside it (`migrations/versions`); a test compares both.
"""

import json
import zlib
from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

# SQLite numbers rows by itself only where the key's type is INTEGER.
_RowId = BigInteger().with_variant(Integer(), "sqlite")
_KEY = String(512)
_NAME = String(256)


class CompressedJson(TypeDecorator[Any]):
    """JSON as zlib-compressed UTF-8: a reading of a large application is some hundred kilobytes of repetition."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes:  # noqa: ARG002 - SQLAlchemy's signature
        """To the database."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        # What a topology or an agent gave may hold half of a surrogate pair: it is kept as JSON escapes it.
        return zlib.compress(text.encode(errors="backslashreplace"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        """From the database."""
        return None if value is None else json.loads(zlib.decompress(value))


class Base(DeclarativeBase):
    """Base of all tables; constraints have fixed names, so that migrations can name them."""

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


class PlanRow(Base):
    """The plan of a run: one, replaced until the run writes something."""

    __tablename__ = "plan"

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    plan: Mapped[Any] = mapped_column(CompressedJson)


class RememberedRow(Base):
    """A named fact of a run that is found out once: the first value stays."""

    __tablename__ = "remembered"

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    name: Mapped[str] = mapped_column(_KEY, primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)


class ApprovalRow(Base):
    """A yes to a plan digest; a later one for the same task stands beside it and counts."""

    __tablename__ = "approval"
    __table_args__ = (Index(None, "run_key", "task_id"),)

    id: Mapped[int] = mapped_column(_RowId, primary_key=True)
    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key))
    task_id: Mapped[str] = mapped_column(_NAME)
    digest: Mapped[str] = mapped_column(String(64))
    by: Mapped[str] = mapped_column(_NAME)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    expires_at_ms: Mapped[int] = mapped_column(BigInteger)
    emergency_reason: Mapped[str | None] = mapped_column(Text)


class EvidenceRow(Base):
    """One reading, verdict or write; never changed, never deleted."""

    __tablename__ = "evidence"
    __table_args__ = (Index(None, "run_key", "kind", "name"),)

    id: Mapped[int] = mapped_column(_RowId, primary_key=True)
    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key))
    task_id: Mapped[str] = mapped_column(_NAME)
    try_number: Mapped[int]
    kind: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(_NAME)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    payload: Mapped[Any] = mapped_column(CompressedJson)


class HoldRow(Base):
    """A reserved resource: the primary key is what makes it one run's."""

    __tablename__ = "hold"
    __table_args__ = (Index(None, "cluster"), Index(None, "run_key"))

    resource: Mapped[str] = mapped_column(_KEY, primary_key=True)
    cluster: Mapped[str] = mapped_column(_NAME)
    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key))
    taken_at_ms: Mapped[int] = mapped_column(BigInteger)
    renewed_at_ms: Mapped[int] = mapped_column(BigInteger)


class CardRow(Base):
    """An undo card."""

    __tablename__ = "card"

    run_key: Mapped[str] = mapped_column(ForeignKey(RunRow.run_key), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    task_id: Mapped[str] = mapped_column(_NAME)
    step: Mapped[str] = mapped_column(_NAME)
    object: Mapped[str] = mapped_column(_NAME)
    what: Mapped[str] = mapped_column(Text)
    undo: Mapped[str] = mapped_column(Text)
    cost: Mapped[str] = mapped_column(Text)
    data_affected: Mapped[bool]
    point_of_no_return: Mapped[bool]
    facts: Mapped[Any] = mapped_column(JSON)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    done: Mapped[bool]


class NotificationRow(Base):
    """A message to one notifier: the primary key is what makes it sent once.

    `not_before_ms` is when it may be tried (again): past the claim of whoever tries it now, or a pause after a failure.
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
    """What was read of one application at one time: one document, all its partitions in it."""

    __tablename__ = "lag_reading"
    __table_args__ = (Index(None, "taken_at_ms"),)

    cluster: Mapped[str] = mapped_column(_NAME, primary_key=True)
    application: Mapped[str] = mapped_column(_NAME, primary_key=True)
    taken_at_ms: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    document: Mapped[Any] = mapped_column(CompressedJson)


class LagStatusRow(Base):
    """How an application stands by the last check, since when, and what was told of it last."""

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
