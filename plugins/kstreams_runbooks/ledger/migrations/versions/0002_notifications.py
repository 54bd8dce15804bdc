"""Notifications: messages per notifier, sent once, and those still pending."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
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


def downgrade() -> None:
    op.drop_index("ix_notification_at_ms", "notification")

    op.drop_table("notification")
