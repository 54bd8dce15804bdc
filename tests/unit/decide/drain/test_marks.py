"""Internal topics that an application stopped reading."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.marks import dropped_topics, nothing_left
from kstreams_runbooks.model.readings.readings import Missing, PartitionReading
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import partition, reading

LEFT = replace(partition(), topic="orders-audit-repartition")


def test_only_internal_topics_count() -> None:
    """An input that is no longer read was taken out on purpose."""
    before = reading(partitions=(partition(), LEFT, replace(partition(), topic="returns")))
    assert dropped_topics(before, reading(), "orders") == ("orders-audit-repartition",)
    assert dropped_topics(before, before, "orders") == ()


def test_what_cannot_be_read_is_not_nothing() -> None:
    """Missing data is never OK, on either side."""
    blind = reading(partitions=Missing("timed out"))
    for before, after in ((blind, reading()), (reading(), blind)):
        dropped = dropped_topics(before, after, "orders")
        assert isinstance(dropped, Missing)
        assert nothing_left(dropped).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("left", "outcome", "sentence"),
    [
        ((), Outcome.PROCEED, "nothing is left"),
        ((replace(LEFT, committed=100, stable=100),), Outcome.PROCEED, "nothing is left"),
        (
            (replace(LEFT, committed=100, stable=111), replace(LEFT, partition=1, committed=7, stable=8)),
            Outcome.REFUSE,
            "12 offsets are left unread in topics that the application no longer reads (expected 0): "
            "orders-audit-repartition-0 (11), orders-audit-repartition-1 (1)",
        ),
        ((replace(LEFT, stable=Missing("timed out")),), Outcome.INCONCLUSIVE, "timed out"),
    ],
)
def test_everything_has_to_have_been_read(left: tuple[PartitionReading, ...], outcome: Outcome, sentence: str) -> None:
    """To the last offset of every partition, and nobody says 0 for what cannot be read."""
    verdict = nothing_left(left)
    assert verdict.outcome is outcome
    assert sentence in verdict.sentence
