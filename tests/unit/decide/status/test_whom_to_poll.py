"""Whose instances the scheduled check asks: those that may have something new to say."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.status.whom_to_poll import Acquaintance, unheard_of, why_poll
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, PartitionLag
from kstreams_runbooks.model.readings.status import KnownTopology

HOUR = 3_600_000
TOPOLOGY = KnownTopology(
    {"orders": "source"}, ("orders-store-changelog",), at_ms=10 * HOUR, declared="digest", changed=7
)
KNOWN = Acquaintance("orders", "digest", TOPOLOGY, "healthy", held=False, changed=7, new_topics=())


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (KNOWN, ""),
        (replace(KNOWN, word=None), ""),
        (replace(KNOWN, topology=None), "never asked"),
        (replace(KNOWN, held=True), "held by a run"),
        (replace(KNOWN, word="stopped"), "is stopped"),
        (replace(KNOWN, word="behind"), "is behind"),
        (replace(KNOWN, declared="other"), "declared otherwise"),
        (replace(KNOWN, changed=9), "changed by a run"),
        (replace(KNOWN, new_topics=("orders-new-repartition",)), "has new internal topics"),
        (replace(KNOWN, limited=True), "has a limited suppress buffer"),
    ],
)
def test_an_application_that_is_well_and_unchanged_is_left_alone(known: Acquaintance, why: str) -> None:
    """Held, not well, changed by anybody, or never asked: each is asked at once."""
    assert why_poll(known, 10 * HOUR + 60_000, HOUR) == why


def test_what_was_told_together_gets_old_one_by_one() -> None:
    """A fleet that was first seen in one check is not asked again in one: every one of it within the hour, few at once.

    500 applications, a check every five minutes.
    """
    asked: list[int] = []
    fleet = [replace(KNOWN, application=f"application-{number}") for number in range(500)]
    for minute in range(0, 65, 5):
        due = [one for one in fleet if why_poll(one, 10 * HOUR + minute * 60_000, HOUR)]
        asked.append(len(due))
        fleet = [one for one in fleet if one not in due]
    assert fleet == []
    assert sum(asked[:6]) == 0
    assert max(asked) < 120


def orphaned(committed: int | None, role: LagRole = "orphaned") -> ApplicationLag:
    row = PartitionLag("returns-in", 0, role, "ok", committed=committed)
    return ApplicationLag("orders", "orders", "classic", "Stable", (row,))


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        (orphaned(7), ApplicationLag("orders", "orders", "classic", "Stable", ()), True),
        (orphaned(7), orphaned(6), True),
        (orphaned(7), orphaned(None), True),
        (orphaned(7), orphaned(7), False),
        (orphaned(7), orphaned(7, "source"), False),
        (orphaned(None), orphaned(None), False),
        (orphaned(7, "source"), orphaned(6, "source"), False),
        (orphaned(7), None, False),
    ],
)
def test_a_commit_on_what_nothing_reads_says_that_something_does(
    now: ApplicationLag, before: ApplicationLag | None, *, said: bool
) -> None:
    """An offset that was left behind stays as it is; one that comes or moves is of another topology."""
    assert unheard_of(now, before) == (("returns-in-0",) if said else ())
