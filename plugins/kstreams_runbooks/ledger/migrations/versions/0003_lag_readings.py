"""Lag readings, one document for each application and time, and the status of each application."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.drop_table("lag_status")
    op.drop_index("ix_lag_reading_taken_at_ms", "lag_reading")

    op.drop_table("lag_reading")
