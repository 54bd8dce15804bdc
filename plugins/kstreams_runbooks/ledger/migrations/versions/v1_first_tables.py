"""First tables: runs, plans, remembered facts, the journal, holds, notifications, lag readings, what runs left."""

import sqlalchemy as sa
from alembic import op

revision = "v1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("dag_id", sa.String(length=256), nullable=False),
        sa.Column("run_id", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("requested_by", sa.String(length=256), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("started_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("plan_digest", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.String(length=256), nullable=True),
        sa.Column("outcome_sentence", sa.Text(), nullable=True),
        sa.Column("ended_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("wrote_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("run_after", sa.String(length=64), nullable=False),
        sa.Column("conf_digest", sa.String(length=64), nullable=False),
        sa.Column("ended_entry", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("run_key", name="pk_run"),
    )
    op.create_index("ix_run_run_id", "run", ["run_id"])
    op.create_index("ix_run_started_at_ms", "run", ["started_at_ms"])
    op.create_table(
        "plan",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("plan", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_plan_run_key_run"),
        sa.PrimaryKeyConstraint("run_key", name="pk_plan"),
    )
    op.create_table(
        "remembered",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_remembered_run_key_run"),
        sa.PrimaryKeyConstraint("run_key", "name", name="pk_remembered"),
    )
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
    op.create_table(
        "run_object",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_run_object_run_key_run"),
        sa.PrimaryKeyConstraint("run_key", "kind", "cluster", "name", name="pk_run_object"),
    )
    op.create_index("ix_run_object_kind_cluster_name", "run_object", ["kind", "cluster", "name"])
    op.create_table(
        "orphan",
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("topic", sa.String(length=256), nullable=False),
        sa.Column("topic_id", sa.String(length=64), nullable=False),
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_orphan_run_key_run"),
        sa.PrimaryKeyConstraint("run_key", "topic", name="pk_orphan"),
    )
    op.create_index("ix_orphan_cluster_application", "orphan", ["cluster", "application"])
    op.create_table(
        "hold",
        sa.Column("resource", sa.String(length=512), nullable=False),
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("taken_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("renewed_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("renewed_entry", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_hold_run_key_run"),
        sa.PrimaryKeyConstraint("resource", name="pk_hold"),
    )
    op.create_index("ix_hold_cluster", "hold", ["cluster"])
    op.create_index("ix_hold_run_key", "hold", ["run_key"])
    op.create_table(
        "notification",
        sa.Column("about", sa.String(length=512), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("occasion", sa.String(length=256), nullable=False),
        sa.Column("channel", sa.String(length=64), nullable=False),
        sa.Column("message", sa.LargeBinary(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("not_before_ms", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sent_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("about", "kind", "occasion", "channel", name="pk_notification"),
    )
    op.create_index("ix_notification_at_ms", "notification", ["at_ms"])
    op.create_table(
        "lag_reading",
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("taken_at_ms", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("cluster", "application", "taken_at_ms", name="pk_lag_reading"),
    )
    op.create_index("ix_lag_reading_taken_at_ms", "lag_reading", ["taken_at_ms"])
    op.create_table(
        "lag_status",
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("application", sa.String(length=256), nullable=False),
        sa.Column("word", sa.String(length=32), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=False),
        sa.Column("told", sa.String(length=32), nullable=True),
        sa.Column("told_read", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("cluster", "application", name="pk_lag_status"),
    )


def downgrade() -> None:
    for table in (
        *("lag_status", "lag_reading", "notification", "hold", "orphan", "run_object"),
        *("journal", "application", "remembered", "plan", "run"),
    ):
        op.drop_table(table)
