"""The place at which an application begins in a partition without a committed offset."""

from collections.abc import Collection, Mapping
from typing import Final

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.model.releases.settings import MAIN_CONSUMER
from kstreams_runbooks.model.topology.declaration import DEFAULT
from kstreams_runbooks.model.topology.topology import Source

# The setting for partitions without a committed offset, by its most specific name first.
RESET: Final = "auto.offset.reset"
_BY_AGE = "by_duration"


def beginning(side: Side, topic: str) -> str | None:
    """The word for the place that a partition of the topic without an offset is read from; None without settings.

    A source has a choice of its own, else the setting counts, and the library's is `earliest`. Of several choices the
    one that skips most: `latest`, `by_duration`, `none`.
    """
    sources = side.readers.get(topic) or [
        node for node in side.nodes.values() if isinstance(node, Source) and node.pattern == topic
    ]
    declared = (side.declared.operators.get(source.name) for source in sources)
    own = {one.offset_reset.lower() for one in declared if one is not None and one.offset_reset}
    if chosen := own - {DEFAULT}:
        words = {value.partition(":")[0] for value in chosen}
        return next((word for word in ("latest", _BY_AGE, "none") if word in words), "earliest")
    if side.declared.config is None:
        return None
    return _of_settings(side.declared.config)


def _of_settings(config: Mapping[str, str]) -> str:
    given = (config.get(f"{prefix}{RESET}") for prefix in MAIN_CONSUMER)
    return next((value.lower().partition(":")[0] for value in given if value), "earliest")


def beginning_of_all(side: Side, topics: Collection[str]) -> str:
    """The place at which the group begins a partition of any of the topics; empty if they differ or one is not known.

    The setting counts for a source only if it is known to have no place of its own.
    """
    if side.declared.config is None:
        return ""
    value = _of_settings(side.declared.config)
    own = {
        None if (declared := side.declared.operators.get(source.name)) is None else declared.offset_reset
        for topic in topics
        for source in side.readers.get(topic, ())
    }
    return value if own <= {DEFAULT, value} else ""
