"""What an application reads while no instance of it reports that: the same for `lag` and for the scheduled check."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing
from kstreams_runbooks.model.readings.status import KeptReading, KnownTopology
from kstreams_runbooks.observe.application.application import read_topology
from kstreams_runbooks.observe.application.topics_read import topics_to_read_again
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked

# Each description starts a program.
DESCRIBING_THREADS = 4

DeployerOf = Callable[[Application], Deployer]

_SILENT = Missing("nothing was asked of it a second time")


def of_silent(
    asked: LagAsked, entry: Application, known: KnownTopology | None, deployer_of: DeployerOf, names: TopicNames
) -> LagAsked:
    """The question by the releases that its deployer has configured; else by what its instances reported last.

    `known` is that report, None if there is none that still counts. `lacking` has the reason if neither is complete.
    """
    found = _described(asked, entry, deployer_of, names)
    return topics_to_read_again(entry, known, names) if found.lacking and known is not None else found


def declared_digest(entry: Application) -> str:
    """Digest of the fields of a fleet entry that a topology may depend on."""
    said = [entry.application_id, entry.inputs, entry.outputs, entry.rule_topics, sorted(entry.deployer.releases)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def remembered(entry: Application, readings: Sequence[KeptReading]) -> KnownTopology | None:
    """What its instances reported last, while its declaration is the same."""
    known = readings[-1].topology if readings else None
    return known if known is not None and known.declared == declared_digest(entry) else None


def _described(asked: LagAsked, entry: Application, deployer_of: DeployerOf, names: TopicNames) -> LagAsked:
    try:
        deployer = deployer_of(entry)
        instances = [InstanceReading(one.instance, one, _SILENT) for one in deployer.instances()]
        topology = read_topology(instances, deployer.topology, entry.application_id, names)
    except RunbookError as error:
        topology = Missing(f"no running instance reports its topology, and its deployer does not either: {error}")
    if isinstance(topology, Missing):
        return replace(asked, lacking=f"{topology.missing}, so a topic without a committed offset would be missed")
    found, unproven = topology.read_on(names)
    reads: dict[str, LagRole] = dict.fromkeys(found, "source")
    reads |= dict.fromkeys(topology.internal, "repartition")
    return replace(asked, reads=reads, lacking=unproven) if reads else replace(asked, lacking=unproven or asked.lacking)
