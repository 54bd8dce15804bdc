"""Internal topics that an application stopped reading."""

import pytest
from kstreams_runbooks.decide.drain.marks import dropped_topics, nothing_left
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import partition, reading

AUDIT = "orders-audit-repartition"
LEFT = partition(topic=AUDIT)


def test_only_internal_topics_count() -> None:
    """An input that is no longer read was taken out on purpose."""
    before = reading(partitions=(partition(), LEFT, partition(topic="returns")))
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
        ((LEFT,), Outcome.PROCEED, "nothing is left"),
        (
            (partition(100, 111, topic=AUDIT), partition(7, 8, 1, topic=AUDIT)),
            Outcome.REFUSE,
            "12 offsets are left unread in topics that the application no longer reads (expected 0): "
            "orders-audit-repartition-0 (11), orders-audit-repartition-1 (1)",
        ),
        ((partition(stable=Missing("timed out"), topic=AUDIT),), Outcome.INCONCLUSIVE, "timed out"),
        (
            (partition(101, topic=AUDIT),),
            Outcome.INCONCLUSIVE,
            "orders-audit-repartition-0: committed 101 is past its end",
        ),
    ],
)
def test_everything_has_to_have_been_read(left: tuple[PartitionLag, ...], outcome: Outcome, sentence: str) -> None:
    """To the last offset of every partition, and nobody says 0 for what cannot be read."""
    verdict = nothing_left(left)
    assert verdict.outcome is outcome
    assert sentence in verdict.sentence
