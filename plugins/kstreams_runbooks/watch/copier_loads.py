"""What a copier in front of an application has to carry: sizes on the brokers' disks, and the pace of its sources."""

import time
from collections.abc import Callable, Mapping, Sequence

from kstreams_runbooks.decide.plans.copier_costs import CopierLoad
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.topic_ends import KnownEnds, known_ends

# Between two looks at the ends of the sources.
_APART_S = 3.0


def read_loads(
    reader: ClusterReader,
    routes: Sequence[tuple[str, str]],
    replicas: Mapping[str, int],
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[CopierLoad, ...]:
    """The load of each route (a source and its target), in two looks some seconds apart.

    `replicas` are those of each source, which its target has too. The bytes of a record are the mean of its topic:
    compacted and aborted records count as others. Inconclusive if an end is not known.
    """
    topics = {one.name: one for one in reader.topics([source for source, _ in routes])}
    sizes = reader.bytes_of(sorted(topics))
    before = {name: known_ends(reader, topic) for name, topic in topics.items()}
    began = time.monotonic()
    sleep(_APART_S)
    after = {name: known_ends(reader, topic) for name, topic in topics.items()}
    seconds = time.monotonic() - began
    return tuple(
        _load(source, target, replicas[source], _size(sizes, source), before[source], after[source], seconds)
        for source, target in routes
    )


def _size(sizes: Mapping[str, int] | Missing, topic: str) -> int | Missing:
    if isinstance(sizes, Missing):
        return sizes
    return sizes.get(
        topic, Missing(f"size of {topic}: not reported by any broker; grant this login Describe on Cluster")
    )


def _load(
    source: str,
    target: str,
    replicas: int,
    size: int | Missing,
    before: Sequence[KnownEnds],
    after: Sequence[KnownEnds],
    seconds: float,
) -> CopierLoad:
    offsets = sum(one.end - one.start for one in after)
    written = sum(now.end - then.end for then, now in zip(before, after, strict=True))
    if isinstance(size, Missing):
        rate: float | Missing = size
    else:
        rate = written * (size / offsets) / max(seconds, _APART_S) if offsets else 0.0
    return CopierLoad(source, target, size, replicas, rate, offsets)
