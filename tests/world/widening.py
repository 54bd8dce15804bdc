"""A second shipped copier, which fills topics with three times the partitions from the control topics."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

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


def chain_of(stack: Stack) -> tuple[str, ...]:
    """The group of that copier, if it is declared now."""
    return (COPIER,) if (stack.lab.config / "applications" / f"{COPIER}.yaml").exists() else ()
