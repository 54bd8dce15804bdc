"""Reads which topics of an application are not those that the scheduled check expects."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.status.recreated import recreated_topics
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.recreated import RecreatedSeen
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.own_writes import own_writes


def read_recreated(
    ledger: Ledger, about: tuple[str, str], application_id: str, kafka: Mapping[str, Any], now_ms: int
) -> RecreatedSeen | Missing | None:
    """The recreated topics of an application (`about`: cluster and name) now; None if no check has ever read it.

    Missing if its newest reading, or one of its topics, cannot be read. Unreachable if no broker answers.
    """
    cluster, name = about
    try:
        kept = ledger.lag_readings(cluster, [name], 1)[name]
    except ValueError:
        return Missing(f"the newest reading of {name} in the ledger cannot be read; let fleet_check run")
    if not kept or kept[-1].lag.application_id != application_id or not kept[-1].expected:
        return None
    last = kept[-1]
    with ClusterReader(kafka) as reader:
        names = reader.names()
        if hidden := names.unseen(last.expected):
            return Missing("; ".join(hidden.values()))
        there = reader.topics(last.expected.keys() & names.visible)
    own = own_writes(ledger, cluster, [last.lag], now_ms).topics
    return RecreatedSeen(recreated_topics(last, there, own), last.accepted)
