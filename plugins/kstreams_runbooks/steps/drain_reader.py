"""What reads a drain: a fleet entry, its deployer, what its releases declare, and who counts records."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.model.declaration import Declaration
from kstreams_runbooks.observe.drain import DrainReader
from kstreams_runbooks.observe.readable import count_readable


def drain_reader(entry: Application, deployer: Deployer, kafka: Mapping[str, Any]) -> DrainReader:
    """A reader that may be asked again and again; `kafka` is a librdkafka configuration."""
    known = entry.declared()

    def declared(release: str) -> Declaration | None:
        if release not in known.releases:
            return None
        return release_declaration(entry.name, release, known.library(release))

    return DrainReader(entry, deployer, partial(count_readable, kafka), declared)
