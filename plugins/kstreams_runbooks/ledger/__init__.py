"""The ledger: what runs planned, who approved, what was read and decided, what is held, and how to go back."""

from kstreams_runbooks.ledger.book import Ledger, migrate
from kstreams_runbooks.ledger.database import ledger_url

__all__ = ["Ledger", "ledger_url", "migrate"]
