"""Reads how long brokers keep what a group needs that moves from some topics to others."""

from collections.abc import Collection, Iterator

from kstreams_runbooks.model.readings.cutover import KeptFor
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.waiting import read_offsets_retention_ms

_POLICY, _RETENTION = "cleanup.policy", "retention.ms"
_UNLIMITED = -1


def read_kept_for(reader: ClusterReader, topics: Collection[str]) -> tuple[KeptFor, ...]:
    """The retention by time of each topic, and how long offsets are kept without a member.

    Retention by size is not read: it has no time.
    """
    settings = reader.settings(topics, (_POLICY, _RETENTION))
    offsets = KeptFor("offsets.retention.minutes", read_offsets_retention_ms(reader))
    return (*(one for name in sorted(topics) for one in _of_topic(name, settings.get(name, {}))), offsets)


def _of_topic(name: str, settings: dict[str, str]) -> Iterator[KeptFor]:
    what = f"{_RETENTION} of {name}"
    if _POLICY not in settings or _RETENTION not in settings:
        yield KeptFor(what, Missing(f"not reported; grant this login DescribeConfigs on Topic {name}"))
    elif "delete" not in settings[_POLICY]:
        yield KeptFor(what, None)
    else:
        kept_ms = int(settings[_RETENTION])
        yield KeptFor(what, None if kept_ms == _UNLIMITED else kept_ms)
