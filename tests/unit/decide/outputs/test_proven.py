"""A control topic is proven while both topics grow: compacted ones by what compaction has left below the ends."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.outputs.proven import copy_is_proven
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    UnlikeKeys,
)
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome


def output(name: str, *, grown_to: int = 10, start: int = 0) -> ComparedOutput:
    """A compacted topic of one partition."""
    ranges = (OutputRange(0, 0, 10, start, grown_to, grown_to, grown_to),)
    return ComparedOutput(name, f"id of {name}", compacted=True, ranges=ranges)


def reading(keys: UnlikeKeys | None = None, **second: int) -> OutputsReading:
    """Two compacted topics, compared by the last value of each key; the second one differs as given."""
    return OutputsReading(
        Taken(0, "test"),
        "latest",
        (),
        output("customers"),
        output("customers-control", **second),
        CompareLimits(100, 1_000, 60),
        10,
        OutputComparison((RecordsRead(0, 8),), (RecordsRead(0, 7),), keys=keys or UnlikeKeys(equal=5)),
    )


def test_equal_topics_at_rest_are_proven() -> None:
    """Nothing more has to be said."""
    verdict = copy_is_proven(reading())
    assert verdict.outcome is Outcome.PROCEED
    assert len(verdict.reasons) == 1


def test_growth_behind_the_ends_is_said_and_proven() -> None:
    """A newer value of a key may have taken the older one away."""
    verdict = copy_is_proven(reading(grown_to=20))
    assert verdict.outcome is Outcome.PROCEED
    assert "a newer value behind these ends" in verdict.reasons[-1]


@pytest.mark.parametrize("changes", [{"grown_to": 20}, {}])
def test_a_difference_is_never_proven_away(changes: dict[str, int]) -> None:
    """At rest it refuses; with growth nothing is known."""
    verdict = copy_is_proven(reading(UnlikeKeys(equal=4, missing=1), **changes))
    assert verdict.outcome is (Outcome.INCONCLUSIVE if changes else Outcome.REFUSE)


def test_deleted_records_stay_inconclusive() -> None:
    """What is gone was not compared."""
    assert copy_is_proven(reading(grown_to=20, start=3)).outcome is Outcome.INCONCLUSIVE


def test_records_without_growth_are_judged_as_they_are() -> None:
    """In mode record nothing explains a gap."""
    rows = replace(reading(grown_to=20), mode="record")
    assert copy_is_proven(rows).outcome is Outcome.INCONCLUSIVE
