"""Faults in one topic of a log, each made in place, for the judge to find."""

import json
from collections.abc import Callable
from typing import Any

from kstreams_runbooks.demo.traffic.topics import TopicRole

from world.reference_application import Entry, Log

Place = tuple[int, int]


def places(log: Log, role: TopicRole) -> list[Place]:
    """Every record of a topic as (partition, offset)."""
    return [(partition, offset) for partition, entries in enumerate(log[role]) for offset in range(len(entries))]


def drop(log: Log, role: TopicRole, place: Place) -> None:
    """Take a record out; the later ones of its partition move up."""
    del log[role][place[0]][place[1]]


def duplicate(log: Log, role: TopicRole, place: Place, to: int | None = None) -> None:
    """Write a record a second time, at the end of its partition or in front of offset `to`."""
    entries = log[role][place[0]]
    entries.insert(len(entries) if to is None else to, entries[place[1]])


def alter(log: Log, role: TopicRole, place: Place, change: Callable[[dict[str, Any]], None]) -> None:
    """Change fields of a record's value."""
    key, value = log[role][place[0]][place[1]]
    assert value is not None
    document = json.loads(value)
    change(document)
    log[role][place[0]][place[1]] = (key, json.dumps(document, separators=(",", ":")).encode())


def swap(log: Log, role: TopicRole, partition: int, one: int, other: int) -> None:
    """Let two records of a partition change places."""
    entries = log[role][partition]
    entries[one], entries[other] = entries[other], entries[one]


def of_key(log: Log, role: TopicRole, key: bytes) -> list[Place]:
    """The records of one key as (partition, offset)."""
    return [place for place in places(log, role) if entry(log, role, place)[0] == key]


def entry(log: Log, role: TopicRole, place: Place) -> Entry:
    """One record."""
    return log[role][place[0]][place[1]]
