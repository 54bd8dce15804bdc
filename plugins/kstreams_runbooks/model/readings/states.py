"""The meaning of the states of a process, a Streams client and a group: each set of words is written only here.

Process states are a deployer's (model/readings/readings.py:ProcessState), those of a client `KafkaStreams.State`
(Javadoc), those of a group the broker's, in any case (`Empty` of a classic group, `EMPTY` of a streams group).
"""

from typing import Final

from kstreams_runbooks.model.times import MINUTE_MS

_DOWN: Final = frozenset({"stopped", "failed"})
_UP: Final = frozenset({"running", "starting"})
# Kafka Streams does not leave these states by itself.
_DEAD: Final = frozenset({"ERROR", "PENDING_ERROR", "NOT_RUNNING"})
_IN_ERROR: Final = frozenset({"ERROR", "PENDING_ERROR"})
_BEGINNING: Final = frozenset({"CREATED", "REBALANCING"})
_EMPTY: Final = frozenset({"empty", "dead"})
# `GroupState` of Kafka's Admin client (Javadoc); a group leaves these by itself, in seconds.
_MOVING: Final = frozenset({"preparingrebalance", "completingrebalance", "assigning", "reconciling"})

# A JVM of this age without a Streams client has lost it (a client on its way into ERROR takes its metrics with it) or
# will never have one: what an application does before it builds its topology takes seconds, not a minute.
CLIENT_DUE_MS: Final = MINUTE_MS


def is_down(process: str) -> bool:
    """Whether a process has ended."""
    return process in _DOWN


def is_up(process: str) -> bool:
    """Whether a process runs or is being started; False if that is unknown."""
    return process in _UP


def is_dead(client: str) -> bool:
    """Whether a Streams client never works again by itself."""
    return client in _DEAD


def is_in_error(client: str) -> bool:
    """Whether a Streams client failed: it ended without a request to stop."""
    return client in _IN_ERROR


def is_beginning(client: str) -> bool:
    """Whether a Streams client does not process yet and may soon."""
    return client in _BEGINNING


def is_well(client: str) -> bool:
    """Whether a Streams client processes or may soon."""
    return client == "RUNNING" or is_beginning(client)


def is_empty(group: str) -> bool:
    """Whether a group has no member."""
    return group.lower() in _EMPTY


def is_moving(group: str) -> bool:
    """Whether partitions are on their way from one member of a group to another."""
    return group.replace("_", "").lower() in _MOVING


def is_stable(group: str) -> bool:
    """Whether a group assigns no partitions now: it is stable, or has no member."""
    return group.lower() == "stable" or is_empty(group)
