"""What the shared fixtures give to a test."""

from dataclasses import dataclass

from kstreams_runbooks.fleet import Application
from lab.stack import Stack


@dataclass(frozen=True)
class Kafka:
    """A broker that is up."""

    bootstrap: str


@dataclass(frozen=True)
class Orders:
    """The orders application, up on its first release, with its fleet entry."""

    application: Application
    stack: Stack
