"""Internal topics that nothing of their application reads any more."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

OrphanKind = Literal["changelog", "repartition"]


@dataclass(frozen=True, slots=True)
class KeptOrphan:
    """A changelog that the run `run_key` left behind, as the ledger has it; since `since_ms` nothing reads it."""

    run_key: str
    topic: str
    topic_id: str
    cluster: str
    application: str
    since_ms: int


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """An internal topic as the cluster has it.

    `bytes` are those of one copy, `records` the offsets from its start to its end, markers and aborted records
    included, `uncommitted` the number of partitions with records on which its group has no offset. None: unknown.
    """

    topic: str
    topic_id: str
    kind: OrphanKind
    bytes: int | None
    records: int | None
    uncommitted: int | None


@dataclass(frozen=True, slots=True)
class Orphan:
    """A topic that nothing reads, with the run that left it behind, if one did.

    `exists` is None if the cluster could not be read; `found` is then None too.
    """

    topic: str
    topic_id: str
    kind: OrphanKind
    exists: bool | None
    found: FoundTopic | None
    since_ms: int | None
    run: str | None


@dataclass(frozen=True, slots=True)
class ApplicationOrphans:
    """The orphans of one application at one time (Unix ms), and what could not be read."""

    application: str
    cluster: str
    at_ms: int
    orphans: tuple[Orphan, ...]
    problems: tuple[str, ...] = ()


def newest(kept: Iterable[KeptOrphan]) -> dict[tuple[str, str], KeptOrphan]:
    """By topic and id the run that left it behind last; the rows come oldest first."""
    return {(one.topic, one.topic_id): one for one in kept}
