"""A second shipped copier, which fills topics with three times the partitions from the control topics."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from lab.afresh import empty_group, forget_group
from lab.airflow import APPROVER
from lab.shipped_copier import place
from lab.stack import Stack

COPIER, INSTANCE = "orders-widening", "orders-widening-1"
PARTITIONS: Final = 12
# From each control topic.
WIDE: Final[Mapping[str, str]] = {"orders": "orders-wide", "customers": "customers-wide"}
# The first two ports of copiers are those of the one in front.
_NUMBER = 2


@contextmanager
def widening(stack: Stack) -> Iterator[dict[str, str]]:
    """Deployed, declared and down; the settings of a second application that reads its topics."""
    entry = place(stack, COPIER, (INSTANCE,), WIDE, first=_NUMBER, approvers=[APPROVER])
    try:
        yield {f"topic.{one}": wide for one, wide in WIDE.items()}
    finally:
        stack.supervisor.stop(INSTANCE)
        entry.unlink()
        if empty_group(stack.lab.bootstrap, COPIER):
            forget_group(stack.lab.bootstrap, COPIER)


@contextmanager
def declared_otherwise(stack: Stack, entry: Mapping[str, Any]) -> Iterator[None]:
    """With another entry while the body runs, or without one."""
    file = entry_of(stack)
    before = file.read_text(encoding="utf-8")
    file.unlink()
    if entry:
        file.write_text(yaml.safe_dump(dict(entry)), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def entry_of(stack: Stack) -> Path:
    """The file of its fleet entry."""
    return stack.lab.config / "applications" / f"{COPIER}.yaml"


def chain_of(stack: Stack) -> tuple[str, ...]:
    """The group of that copier, if it is declared now."""
    return (COPIER,) if entry_of(stack).exists() else ()
