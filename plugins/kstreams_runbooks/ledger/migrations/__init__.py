"""Schema migrations, run by Alembic (ledger/schema.py)."""
