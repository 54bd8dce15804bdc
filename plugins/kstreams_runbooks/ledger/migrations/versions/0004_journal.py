"""One journal instead of evidence, approval and card: one order for an application, one chain of hashes for a run.

Existing rows are moved into it in the order of their times, as they were judged before. Every run that has any gets an
entry with the number of its entries from before the chain.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op
from kstreams_runbooks.model.runs.journal import GENESIS, Entry, entry_hash, value_digest

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_STATE = ("plan_digest", "outcome", "outcome_sentence", "ended_at_ms", "wrote_at_ms")
_FIXED = (
    *("dag_id", "run_id", "number", "application", "cluster", "requested_by", "dry_run", "reason", "params"),
    *("started_at_ms", "run_after", "conf_digest"),
)
# At equal times: a verdict applied to a card of its time, and an approval to a question of its time.
_FIRST = {"card": 0, "evidence": 1, "approval": 2}
_ORDER = {"card": ("run_key", "seq"), "evidence": ("id",), "approval": ("id",)}


def upgrade() -> None:
    op.create_table(
        "application",
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("cluster", "application", name="pk_application"),
    )
    op.create_table(
        "journal",
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(length=256), nullable=False),
        sa.Column("try_number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_journal_run_key_run"),
        sa.PrimaryKeyConstraint("cluster", "application", "seq", name="pk_journal"),
    )
    op.create_index("ix_journal_run_key_place", "journal", ["run_key", "place"], unique=True)
    op.create_index("ix_journal_run_key_kind_name", "journal", ["run_key", "kind", "name"])
    op.create_index("ix_journal_cluster_kind_application", "journal", ["cluster", "kind", "application"])
    # A default only for existing rows: SQLite cannot drop one without copying the table.
    op.add_column("run", sa.Column("number", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("run", sa.Column("run_after", sa.String(length=64), nullable=True))
    op.add_column("run", sa.Column("conf_digest", sa.String(length=64), nullable=True))
    op.add_column("run", sa.Column("ended_entry", sa.BigInteger(), nullable=True))
    op.add_column("run", sa.Column("rows", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("head", sa.String(length=64), nullable=False, server_default=""))
    op.add_column("hold", sa.Column("renewed_entry", sa.BigInteger(), nullable=False, server_default="0"))
    _move()
    op.drop_table("card")
    op.drop_index("ix_evidence_run_key_kind_name", "evidence")
    op.drop_table("evidence")
    op.drop_index("ix_approval_run_key_task_id", "approval")
    op.drop_table("approval")


def _move() -> None:
    connection = op.get_bind()
    tables = sa.MetaData()
    tables.reflect(
        connection, only=["run", "evidence", "approval", "card", "hold", "journal", "application", "remembered", "plan"]
    )
    run, hold = tables.tables["run"], tables.tables["hold"]
    runs = {row["run_key"]: dict(row) for row in connection.execute(sa.select(run)).mappings()}
    last, chains = dict[tuple[str, str], int](), dict[str, list[Any]]()

    def append(key: str, kind: str, content: Mapping[str, Any]) -> None:
        of = (runs[key]["cluster"], runs[key]["application"])
        last[of] = last.get(of, 0) + 1
        rows, head = chains.get(key, [0, GENESIS])
        entry = Entry(
            *of,
            seq=last[of],
            run_key=key,
            place=rows + 1,
            task_id=content.get("task_id", ""),
            try_number=content.get("try_number", 0),
            kind=kind,
            name=content["name"],
            at_ms=content["at_ms"],
            payload=content["payload"],
            previous=head,
        )
        chains[key] = [rows + 1, entry_hash(entry)]
        values = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
        connection.execute(sa.insert(tables.tables["journal"]).values(values | {"hash": chains[key][1]}))

    for key, kind, content in _kept(connection, tables):
        append(key, kind, content)
    for key, record in runs.items():
        state = {name: record[name] for name in (*_FIXED, *_STATE)}
        state |= {"before": chains.get(key, [0])[0], "facts": _facts(connection, tables, key)}
        state["plan_sha256"] = _plan_sha256(connection, tables, key)
        append(key, "run", {"name": "chain begun", "at_ms": record["started_at_ms"], "payload": _pack(state)})
        rows, head = chains[key]
        ended = None if record["ended_at_ms"] is None else rows
        connection.execute(sa.update(run).where(run.c.run_key == key).values(rows=rows, head=head, ended_entry=ended))
        if ended is not None:
            # Holds that a concluded run has renewed since are its own again.
            statement = sa.update(hold).where(hold.c.run_key == key, hold.c.renewed_at_ms > record["ended_at_ms"])
            connection.execute(statement.values(renewed_entry=ended))
    for (cluster, application), seq in last.items():
        values = {"cluster": cluster, "application": application, "last_seq": seq}
        connection.execute(sa.insert(tables.tables["application"]).values(values))


def _kept(connection: sa.Connection, tables: sa.MetaData) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """All rows of the three tables by time, each table in its own order: run, kind, content of the entry."""
    queue: list[tuple[int, int, int, str, tuple[Any, ...]]] = []
    for name, order in _ORDER.items():
        table = tables.tables[name]
        keys = [table.c[column] for column in order]
        highest: dict[str, int] = {}
        for run_key, at_ms, *found in connection.execute(
            sa.select(table.c.run_key, table.c.at_ms, *keys).order_by(*keys)
        ):
            # The rows of a run in one table keep the order of writing, also if a clock was set back.
            highest[run_key] = max(at_ms, highest.get(run_key, at_ms))
            queue.append((highest[run_key], _FIRST[name], len(queue), name, tuple(found)))
    for _, _, _, name, key in sorted(queue):
        table = tables.tables[name]
        where = [table.c[column] == value for column, value in zip(_ORDER[name], key, strict=True)]
        row = dict(connection.execute(sa.select(table).where(*where)).mappings().one())
        yield from _entries(name, row)


def _entries(table: str, row: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    key, at_ms = row.pop("run_key"), row["at_ms"]
    if table == "evidence":
        yield key, row["kind"], row
        return
    row.pop("id", None)
    done, object_ = row.pop("done", False), row.get("object", row["task_id"])
    yield key, table, {"name": object_, "task_id": row["task_id"], "at_ms": at_ms, "payload": _pack(row)}
    if done:
        yield key, "card_done", {"name": str(row["seq"]), "at_ms": at_ms, "payload": _pack({"seq": row["seq"]})}


def _facts(connection: sa.Connection, tables: sa.MetaData, key: str) -> dict[str, Any]:
    kept = tables.tables["remembered"]
    rows = connection.execute(sa.select(kept.c.name, kept.c.value).where(kept.c.run_key == key))
    return {row.name: row.value for row in rows}


def _plan_sha256(connection: sa.Connection, tables: sa.MetaData, key: str) -> str | None:
    kept = tables.tables["plan"]
    packed = connection.scalar(sa.select(kept.c.plan).where(kept.c.run_key == key))
    return None if packed is None else value_digest(json.loads(zlib.decompress(packed)))


def _pack(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode(errors="surrogatepass"))


def downgrade() -> None:
    op.create_table(
        "approval",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("task_id", sa.String(length=256), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("by", sa.String(length=256), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("emergency_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_approval_run_key_run"),
        sa.PrimaryKeyConstraint("id", name="pk_approval"),
    )
    op.create_index("ix_approval_run_key_task_id", "approval", ["run_key", "task_id"])
    op.create_table(
        "card",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task_id", sa.String(length=256), nullable=False),
        sa.Column("step", sa.String(length=256), nullable=False),
        sa.Column("object", sa.String(length=256), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("undo", sa.Text(), nullable=False),
        sa.Column("cost", sa.Text(), nullable=False),
        sa.Column("data_affected", sa.Boolean(), nullable=False),
        sa.Column("point_of_no_return", sa.Boolean(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_card_run_key_run"),
        sa.PrimaryKeyConstraint("run_key", "seq", name="pk_card"),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("task_id", sa.String(length=256), nullable=False),
        sa.Column("try_number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_evidence_run_key_run"),
        sa.PrimaryKeyConstraint("id", name="pk_evidence"),
    )
    op.create_index("ix_evidence_run_key_kind_name", "evidence", ["run_key", "kind", "name"])
    _move_back()
    op.drop_index("ix_journal_cluster_kind_application", "journal")
    op.drop_index("ix_journal_run_key_kind_name", "journal")
    op.drop_index("ix_journal_run_key_place", "journal")
    op.drop_table("journal")
    op.drop_table("application")
    op.drop_column("hold", "renewed_entry")
    for name in ("head", "rows", "ended_entry", "conf_digest", "run_after", "number"):
        op.drop_column("run", name)


def _move_back() -> None:
    """The older release knows evidence, approvals and cards; the proof of their order is lost."""
    connection = op.get_bind()
    tables = sa.MetaData()
    tables.reflect(connection, only=["evidence", "approval", "card", "journal"])
    journal, card = tables.tables["journal"], tables.tables["card"]
    kinds = ("reading", "verdict", "write", "plan", "note", "failure")
    order = (journal.c.cluster, journal.c.application, journal.c.seq)
    for row in connection.execute(sa.select(journal).order_by(*order)).mappings().all():
        if row["kind"] in kinds:
            names = ("run_key", "task_id", "try_number", "kind", "name", "at_ms", "payload")
            connection.execute(sa.insert(tables.tables["evidence"]).values({name: row[name] for name in names}))
        elif row["kind"] in {"approval", "card"}:
            content = json.loads(zlib.decompress(row["payload"])) | {"run_key": row["run_key"]}
            if row["kind"] == "card":
                misreads = content.get("misreads", False)
                content |= {"done": False, "point_of_no_return": content["point_of_no_return"] or misreads}
            content = {name: value for name, value in content.items() if name in tables.tables[row["kind"]].columns}
            connection.execute(sa.insert(tables.tables[row["kind"]]).values(content))
        elif row["kind"] == "card_done":
            done = card.c.run_key == row["run_key"], card.c.seq == int(row["name"])
            connection.execute(sa.update(card).where(*done).values(done=True))
