"""Whom a message about a run is for: kept when the run first reads the declaration, which may be broken later."""

from dataclasses import dataclass

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.run.run import Run

# The name in a ledger's memory of a run, with the application behind it.
_CONTACT = "contact/"


@dataclass(frozen=True, slots=True)
class Contact:
    """Owner and time zone of an application; the owner is empty if neither fleet nor ledger has it."""

    owner: str = ""
    zone: str = "UTC"


def keep_contact(run: Run) -> None:
    """Keep the contact of the application of this side, once in a run."""
    found = {"owner": run.application.owner, "zone": run.application.zone}
    run.ledger.remember(run.key, _CONTACT + run.record.application, found)


def contact_of(run: Run) -> Contact:
    """The contact as declared now or, if the declaration is broken, as this run or the newest other one kept it."""
    try:
        return Contact(run.application.owner, run.application.zone)
    except BadInput:
        kept = run.ledger.recall(run.key, _CONTACT + run.record.application)
        return Contact(**kept) if kept else last_contact(run.ledger, run.record.application)


def last_contact(ledger: Ledger, application: str) -> Contact:
    """The contact of an application that the newest run about it kept."""
    for record in sorted(ledger.runs(), key=lambda one: one.started_at_ms, reverse=True):
        if kept := ledger.recall(record.run_key, _CONTACT + application):
            return Contact(**kept)
    return Contact()
