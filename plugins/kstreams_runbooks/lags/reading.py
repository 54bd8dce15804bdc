"""What `lag` reads: each cluster once, and the descriptions of applications that are down."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from kstreams_runbooks.counting.counter import Counter
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.lag import ApplicationLag, LagRole, LagSnapshot, unread_ranges, with_counts
from kstreams_runbooks.model.readings import InstanceReading, Missing
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application import read_topology
from kstreams_runbooks.observe.lag import LagAsked, read_lag
from kstreams_runbooks.observe.lag_asked import lag_asked

# Each description is the start of a program.
_THREADS = 4
_SILENT = Missing("nothing was asked of it a second time")

_BY = {"consumer": "a read_committed consumer", "spark": "Spark over Connect"}

DeployerOf = Callable[[Application], Deployer]


def of_cluster(
    config: Mapping[str, Any], cluster: str, entries: Sequence[Application], deployer_of: DeployerOf
) -> LagSnapshot:
    """The lag of these applications of one cluster; Unreachable where no broker answers.

    The topology of one that is down is what its deployer describes, of the release that is set.
    """
    with ClusterReader(config) as reader:
        names = reader.topic_names()
        asked = lag_asked(entries, names)
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="describe") as pool:
            asked = tuple(pool.map(lambda one, entry: described(one, entry, deployer_of, names), asked, entries))
        return read_lag(reader, cluster, asked)


def of_group(config: Mapping[str, Any], cluster: str, group: str) -> LagSnapshot:
    """The lag of a group that no fleet declares: what it has offsets on, and internal topics by their names."""
    with ClusterReader(config) as reader:
        return read_lag(reader, cluster, [LagAsked(group, group)])


def described(asked: LagAsked, entry: Application, deployer_of: DeployerOf, names: Collection[str]) -> LagAsked:
    """The question with the topics of the description, where no instance told its topology."""
    if asked.reads is not None:
        return asked
    try:
        deployer = deployer_of(entry)
        instances = [InstanceReading(one.instance, one, _SILENT) for one in deployer.describe()]
        topology = read_topology(instances, deployer.topology, entry.application_id, frozenset(names))
    except RunbookError as error:
        topology = Missing(f"no running instance tells its topology, and its deployer does not either: {error}")
    if isinstance(topology, Missing):
        return replace(asked, lacking=f"{topology.missing}: a topic that was never committed is not seen")
    reads: dict[str, LagRole] = dict.fromkeys(topology.sources(names), "source")
    reads |= dict.fromkeys(topology.internal, "repartition")
    return replace(asked, reads=reads, lacking="") if reads else asked


def exact(snapshot: LagSnapshot, config: Mapping[str, Any], say: Callable[[str], None]) -> LagSnapshot:
    """The snapshot with records in place of offsets; `say` is told what takes long, and why."""
    with Counter(config, say=say) as count:
        return replace(snapshot, applications=tuple(_exact(one, count, say) for one in snapshot.applications))


def _exact(lag: ApplicationLag, count: Counter, say: Callable[[str], None]) -> ApplicationLag:
    counted = count(unread_ranges(lag.partitions))
    if counted.by != "nothing":
        say(f"{lag.application_id}: {counted.records:,} records counted by {_BY[counted.by]}")
    return replace(lag, partitions=with_counts(lag.partitions, counted.readable))
