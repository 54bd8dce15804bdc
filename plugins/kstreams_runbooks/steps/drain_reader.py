"""What reads a drain: a fleet entry, its deployer, what its releases declare, and what counts records."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.model.declaration import Declaration
from kstreams_runbooks.model.readable import Isolation
from kstreams_runbooks.observe.drain import DrainReader
from kstreams_runbooks.observe.first_unread import first_unread
from kstreams_runbooks.observe.readable import count_readable

# How long one reading looks for a record among many offsets: what lies in a transaction that was aborted passes at the
# pace of the network, some ten million records in this time.
_LOOK_S = 20.0


def drain_reader(entry: Application, deployer: Deployer, kafka: Mapping[str, Any]) -> DrainReader:
    """A reader that may be asked again and again, of one thread at a time; `kafka` is a librdkafka configuration."""
    known = entry.declared()

    def declared(release: str) -> Declaration | None:
        if release not in known.releases:
            return None
        return release_declaration(entry.name, release, known.library(release))

    # Where nobody knows which, what was aborted is something to process.
    once = entry.processing_guarantee.startswith("exactly_once")
    isolation: Isolation = "read_committed" if once else "read_uncommitted"
    return DrainReader(
        entry,
        deployer,
        lambda ranges: count_readable(kafka, ranges, isolation=isolation),
        lambda ranges: first_unread(kafka, ranges, _LOOK_S, isolation),
        declared,
    )
