"""Changelogs that a run left behind, with the time since when nothing reads them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
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


def downgrade() -> None:
    op.drop_index("ix_orphan_cluster_application", "orphan")
    op.drop_table("orphan")
