"""The ledger: plans, approvals, evidence, holds, undo cards and statuses."""

from kstreams_runbooks.ledger.database import ledger_url, one_machine
from kstreams_runbooks.ledger.ledger import Ledger, migrate

__all__ = ["Ledger", "ledger_url", "migrate", "one_machine"]
