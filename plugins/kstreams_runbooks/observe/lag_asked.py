"""Which topics each application reads, from the topologies that run: what a lag reading is asked about."""

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kstreams_runbooks.model.lag import LagRole
from kstreams_runbooks.model.readings import StreamsReading
from kstreams_runbooks.observe.application import ObservedApplication
from kstreams_runbooks.observe.lag import LagAsked
from kstreams_runbooks.observe.metrics import read_streams
from kstreams_runbooks.observe.topology_topics import topology_topics

# Most of the time is waiting for hosts that are down: one timeout, whatever their number.
_THREADS = 32


def lag_asked(entries: Sequence[ObservedApplication], names: Collection[str]) -> tuple[LagAsked, ...]:
    """One question for each application; without a running instance that tells its topology, by names alone.

    In the middle of a roll two topologies may run: what either reads is read. `names` are the cluster's topics.
    """
    instances = [(entry, one) for entry in entries for one in entry.deployer.instances]
    with ThreadPoolExecutor(max_workers=min(_THREADS, len(instances) + 1), thread_name_prefix="topology") as pool:
        readings = [
            (entry.name, pool.submit(read_streams, one.metrics, application_id=entry.application_id))
            for entry, one in instances
        ]
        texts: dict[str, set[str]] = {entry.name: set() for entry in entries}
        for name, future in readings:
            found = future.result()
            if isinstance(found, StreamsReading) and isinstance(found.topology, str):
                texts[name].add(found.topology)
    return tuple(_asked(one, _reads(one, texts[one.name], names)) for one in entries)


def _asked(entry: ObservedApplication, reads: dict[str, LagRole] | None) -> LagAsked:
    lacking = "" if reads else "no running instance tells its topology: a topic that was never committed is not seen"
    return LagAsked(entry.name, entry.application_id, reads, lacking)


def _reads(entry: ObservedApplication, texts: Iterable[str], names: Collection[str]) -> dict[str, LagRole] | None:
    found: dict[str, LagRole] = {}
    for text in sorted(texts):
        topics = topology_topics(text, entry.application_id, names)
        found |= {topic: "repartition" if topic in topics.internal else "source" for topic in topics.sources(names)}
    return found or None
