"""What a run changed outside its own application: another run about such an object has to see it.

From this version on undo cards have a kind, and plans have stages: an older release refuses the ledger by its schema
instead of reading them as cards of instances.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
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


def downgrade() -> None:
    op.drop_index("ix_run_object_kind_cluster_name", "run_object")
    op.drop_table("run_object")
