"""Applications whose instances are polled for their topics and for failures: never all of a fleet each time."""

import zlib
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.status import KnownTopology

_SPREAD = 1_000


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Known facts of an application before it is read.

    `declared` is the digest of its fleet entry now, `word` its last status (None: never judged), `changed` the ledger's
    entry in which a run last changed it (0: never), `new_topics` internal ones on the cluster that its topology does
    not name.
    """

    application: str
    declared: str
    topology: KnownTopology | None
    word: str | None
    held: bool
    changed: int
    new_topics: tuple[str, ...]
    limited: bool = False


def why_poll(known: Acquaintance, at_ms: int, max_age_ms: int) -> str:
    """Why its instances have to be polled now, in a word or two; empty if their last report is still valid.

    Topologies that were reported at the same time expire at different times: no check polls a whole fleet again.
    """
    topology = known.topology
    if topology is None:
        return "never asked"
    if known.held:
        return "held by a run"
    if known.word is not None and known.word != "healthy":
        return f"is {known.word}"
    if topology.declared != known.declared:
        return "declared otherwise"
    if known.changed != topology.changed:
        return "changed by a run"
    if known.new_topics or known.limited:
        return "has new internal topics" if known.new_topics else "has a limited suppress buffer"
    share = zlib.crc32(known.application.encode()) % _SPREAD / _SPREAD
    if at_ms - topology.at_ms >= max_age_ms * (1 + share) / 2:
        return "told long ago"
    return ""


def unheard_of(now: ApplicationLag, before: ApplicationLag | None) -> tuple[str, ...]:
    """Partitions that its topology does not read and that its group has committed since the reading before.

    They have a reader: the known topology is not the running one any more.
    """
    known = {} if before is None else {row.name: row.committed for row in before.partitions}
    return tuple(
        row.name
        for row in now.partitions
        if before is not None and row.role == "orphaned" and row.committed not in {None, known.get(row.name)}
    )
