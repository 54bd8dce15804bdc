"""Alembic's run of the ledger's migrations: on the given connection, in its transaction."""

from alembic import context

from kstreams_runbooks.ledger.tables import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    # SQLite rolls tables back too, if the driver does not begin transactions by itself (ledger/database.py).
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
