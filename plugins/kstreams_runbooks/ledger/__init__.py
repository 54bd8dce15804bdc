"""The ledger: what runs planned, who approved, what was read and decided, what is held, and how to go back."""

from kstreams_runbooks.ledger.database import ledger_url
from kstreams_runbooks.ledger.ledger import Ledger, migrate

__all__ = ["Ledger", "ledger_url", "migrate"]
