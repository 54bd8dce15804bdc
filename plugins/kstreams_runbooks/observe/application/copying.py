"""The reading of a copier or a consumer in place of those of a Streams client and a topology."""

from collections.abc import Collection, Mapping
from typing import Protocol

from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.readings.readings import Deployment, Missing, Start, StreamsReading
from kstreams_runbooks.model.readings.states import is_up
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics

_STATE = {"running": "RUNNING", "starting": "CREATED"}


class _AsDeployed(Protocol):
    @property
    def application_id(self) -> str: ...

    @property
    def client_ids(self) -> Mapping[str, str]: ...


def client_of_process(deployment: Deployment | Missing, entry: _AsDeployed) -> StreamsReading | Missing:
    """The state of an instance of a copier or a consumer, by its process; Missing while none runs.

    A gate distinguishes starts by their time: Missing too if its deployer does not report it.
    """
    if isinstance(deployment, Missing):
        return Missing(deployment.missing)
    if not is_up(deployment.process):
        return Missing(f"its process is {deployment.process}")
    if deployment.started_at_ms is None:
        return Missing("its deployer does not report when its process started (started_at_ms)")
    missing = Missing("it has no topology")
    return StreamsReading(
        taken=deployment.taken,
        start=Start(deployment.started_at_ms, deployment.pid),
        client_id=entry.client_ids.get(deployment.instance, ""),
        application_id=entry.application_id,
        state=_STATE[deployment.process],
        version=AS_DEPLOYED,
        alive_threads=1,
        failed_threads=0,
        restoring=0,
        restore_remaining=0,
        topology=missing,
        buffers=(),
        as_deployed=True,
    )


def copied_topics(inputs: Collection[str], outputs: Collection[str]) -> TopologyTopics:
    """The topics of a copier or a consumer, as its declaration names them."""
    none: frozenset[str] = frozenset()
    return TopologyTopics(frozenset(inputs), none, none, none, frozenset(outputs))
