"""The ledger: plans, approvals, evidence, holds, undo cards and statuses."""

from kstreams_runbooks.ledger.database import ledger_url
from kstreams_runbooks.ledger.ledger import Ledger, migrate

__all__ = ["Ledger", "ledger_url", "migrate"]
