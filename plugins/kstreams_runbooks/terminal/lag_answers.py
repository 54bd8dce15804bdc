"""The answers of `lag`: each cluster separately, because a cluster that cannot be read must not hide the others."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.status.status import LagAnswer
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError
from kstreams_runbooks.fleet import Application, Fleet, load_fleet
from kstreams_runbooks.watch.buffers import buffer_limits
from kstreams_runbooks.watch.lag import ClusterLag, exact, not_read, of_cluster, of_group
from kstreams_runbooks.watch.lag_window import LagWindow

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of all applications, and the errors of reading and counting."""

    every: tuple[LagAnswer, ...]
    errors: tuple[RunbookError, ...] = ()


def of_fleet(names: Sequence[str], count: Say | None) -> Answers:
    """The answers of the named applications, by default of all; with `count` in records, and `count` receives progress.

    BadInput for a name that is not in the fleet, or without anything to read.
    """
    fleet = load_fleet()
    entries = [fleet.side(name) for name in dict.fromkeys(names or sorted(fleet.entries))]
    bad = [] if names else [Inconclusive(sentence) for sentence in fleet.not_looked_at]
    if not entries and not bad:
        raise fleet.empty
    parts = [
        _of_part(fleet, cluster, [entry for entry in entries if entry.cluster == cluster], count)
        for cluster in dict.fromkeys(entry.cluster for entry in entries)
    ]
    return Answers(
        tuple(one for part in parts for one in part.every), (*bad, *(one for part in parts for one in part.errors))
    )


def of_undeclared(group: str, cluster: str, count: Say | None) -> Answers:
    """The answer of a group that no fleet declares; BadInput for an empty name, Unreachable if no broker answers."""
    if not group.strip():
        raise BadInput("--group: is empty (expected a consumer group's id); kafka-consumer-groups --list names them")
    config = kafka_config(load_fleet().cluster(cluster).connection)
    window = LagWindow.before(_now_ms(), cluster, {})
    return Answers(window.answers(_counted(of_group(config, cluster, group, window.expiring_ms), config, count)))


def _of_part(fleet: Fleet, cluster: str, entries: list[Application], count: Say | None) -> Answers:
    window = LagWindow.before(_now_ms(), cluster, {entry.name: entry.application_id for entry in entries})
    try:
        config = kafka_config(fleet.cluster(cluster).connection)
        read = of_cluster(config, cluster, entries, make_deployer, window.expiring_ms, window.lags, window.kept)
    except RunbookError as error:
        why = f"cluster {cluster}: {error}"
        return Answers(window.answers(not_read(cluster, entries, _now_ms(), why)), (type(error)(why),))
    limits = {entry.name: buffer_limits(entry, window.settings) for entry in entries}
    return Answers(window.answers(_counted(read, config, count), limits))


def _counted(read: ClusterLag, config: dict[str, Any], count: Say | None) -> ClusterLag:
    """The lag in records if `count` is given, else in offsets."""
    return read if count is None else exact(read, config, count)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
