"""What runs hold, for readers and notifications: which run has an application, or a topic of it."""

from collections.abc import Iterable, Mapping

from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import Hold
from kstreams_runbooks.model.runs.resources import APPLICATION, TOPIC, HeldResource


def holds_by_run(ledger: Ledger) -> dict[str, tuple[Hold, ...]]:
    """Every run that holds something, with its holds by resource; runs that have ended may be among them."""
    found: dict[str, list[Hold]] = {}
    for hold in ledger.holds():
        found.setdefault(hold.run_key, []).append(hold)
    return {run_key: tuple(holds) for run_key, holds in found.items()}


def at_work(ledger: Ledger) -> dict[tuple[str, str], str]:
    """The run that is changing each application now, by cluster and name; one that waits for a person changes none."""
    return {
        (hold.cluster, hold.held.name): hold.run_key
        for hold in ledger.holds()
        if hold.changing and hold.held.kind == APPLICATION
    }


def holders(ledger: Ledger, cluster: str, entries: Iterable[Application]) -> dict[str, str]:
    """The run that holds each application of `entries`, or else one of its declared topics; others are absent."""
    held = {hold.held: hold.run_key for hold in ledger.holds() if hold.cluster == cluster}
    found = {entry.name: _holder(held, cluster, entry) for entry in entries if entry.cluster == cluster}
    return {name: run_key for name, run_key in found.items() if run_key}


def _holder(held: Mapping[HeldResource, str], cluster: str, entry: Application) -> str:
    topics = sorted({*entry.inputs, *entry.outputs, *entry.rule_topics})
    resources = (HeldResource(APPLICATION, cluster, entry.name), *(HeldResource(TOPIC, cluster, one) for one in topics))
    return next((held[one] for one in resources if one in held), "")
