"""Partitions with too few replicas in sync: the end that their leader shows may not be the end of the log.

A leader shows consumers only what enough replicas have. With fewer replicas in sync than min.insync.replicas, records
that it has taken stay hidden until others are back (KIP-966): a group at the visible end need not be at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kstreams_runbooks.observe.kafka.configs import read_topic_configs, reported_values
from kstreams_runbooks.observe.kafka.read_only import ReadOnly

_MINIMUM = "min.insync.replicas"

# A partition's number, and why its end is not certain.
Uncertain = tuple[tuple[int, str], ...]


def uncertain_ends(admin: ReadOnly, described: Sequence[Mapping[str, Any]]) -> dict[str, Uncertain]:
    """By topic; one call, and only if a partition lacks a replica. Raises kafka-python's errors.

    `described` are topics as kafka-python describes them.
    """
    short = {str(topic["name"]): lacking for topic in described if (lacking := [*_lacking(topic)])}
    if not short:
        return {}
    minimum = reported_values(read_topic_configs(admin, short, [_MINIMUM]))
    found = {name: tuple(_uncertain(name, short[name], minimum.get(name, {}).get(_MINIMUM))) for name in short}
    return {name: why for name, why in found.items() if why}


def _lacking(topic: Mapping[str, Any]) -> Iterator[tuple[int, int, int]]:
    """Number, replicas in sync and all replicas of each partition that lacks one."""
    for one in topic["partitions"]:
        in_sync, every = len(one["isr_nodes"]), len(one["replica_nodes"])
        if in_sync < every:
            yield int(one["partition_index"]), in_sync, every


def _uncertain(topic: str, lacking: Sequence[tuple[int, int, int]], minimum: str | None) -> Iterator[tuple[int, str]]:
    for number, in_sync, every in lacking:
        there = f"{in_sync} of {every} replicas in sync"
        if minimum is None:
            yield number, f"{there}, and {_MINIMUM} is not visible; grant this login DescribeConfigs on Topic {topic}"
        elif in_sync < int(minimum):
            yield number, f"{there} ({_MINIMUM} {minimum}): its end is not certain; start its brokers"
