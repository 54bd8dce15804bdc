"""First tables: runs, plans, facts kept once, approvals, evidence, holds, undo cards."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
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
        sa.PrimaryKeyConstraint("run_key", name="pk_run"),
    )
    op.create_index("ix_run_run_id", "run", ["run_id"])
    op.create_index("ix_run_started_at_ms", "run", ["started_at_ms"])

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

    op.create_table(
        "hold",
        sa.Column("resource", sa.String(length=512), nullable=False),
        sa.Column("cluster", sa.String(length=256), nullable=False),
        sa.Column("run_key", sa.String(length=512), nullable=False),
        sa.Column("taken_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("renewed_at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_hold_run_key_run"),
        sa.PrimaryKeyConstraint("resource", name="pk_hold"),
    )
    op.create_index("ix_hold_cluster", "hold", ["cluster"])
    op.create_index("ix_hold_run_key", "hold", ["run_key"])

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


def downgrade() -> None:
    op.drop_table("remembered")
    op.drop_table("plan")
    op.drop_index("ix_hold_run_key", "hold")
    op.drop_index("ix_hold_cluster", "hold")

    op.drop_table("hold")
    op.drop_index("ix_evidence_run_key_kind_name", "evidence")

    op.drop_table("evidence")
    op.drop_table("card")
    op.drop_index("ix_approval_run_key_task_id", "approval")

    op.drop_table("approval")
    op.drop_index("ix_run_started_at_ms", "run")
    op.drop_index("ix_run_run_id", "run")

    op.drop_table("run")
