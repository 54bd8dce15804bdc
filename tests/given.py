"""What the shared fixtures give to a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
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


@contextmanager
def declared_as(stack: Stack, *, limits: dict[str, float] | None = None, **fields: Any) -> Iterator[None]:
    """The orders application declared with other fields and limits for as long as the body runs."""
    file = stack.lab.config / "applications" / "orders.yaml"
    before = file.read_text(encoding="utf-8")
    entry = yaml.safe_load(before)
    entry |= fields
    entry["limits"] |= limits or {}
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")
