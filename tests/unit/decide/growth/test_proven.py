"""Whether a growth has arrived in the group and in the producers."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.growth.proven import growth_is_proven
from kstreams_runbooks.model.readings.growth import ForecastKind, KeyShare, TopicForecast
from kstreams_runbooks.model.readings.partitioning import PlacedKey
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.model.verdicts import Outcome

READ = (("orders", 4), ("orders-a-repartition", 2))
HELD = tuple(f"{topic}-{number}" for topic, count in READ for number in range(count))


def group(*partitions: str) -> GroupReading:
    """Two members that share these partitions."""
    members = (
        MemberReading("a", "a", "h", partitions=partitions[::2]),
        MemberReading("b", "b", "h", partitions=partitions[1::2]),
    )
    return GroupReading(Taken(1, "t"), "orders", "classic", "Stable", members)


def since(keys: int = 10, misplaced: int = 0, kind: ForecastKind = "input") -> TopicForecast:
    """The keys of the records since the growth."""
    examples = {"misplaced": (PlacedKey("c-1", (1,), ()),)} if misplaced else {}
    share = KeyShare(keys, keys, keys)
    return TopicForecast(
        "orders" if kind == "input" else "orders-a-repartition",
        kind,
        4,
        4,
        share,
        KeyShare(),
        KeyShare(),
        misplaced=misplaced,
        examples=examples,  # type: ignore[arg-type]
    )


def test_every_partition_has_a_member_and_every_key_its_partition() -> None:
    verdict = growth_is_proven(READ, group(*HELD), (since(),))
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.reasons == (
        "every one of 6 partitions has a member; 10 keys of 1 topics have records since the growth, each in the "
        "partition of its new number",
    )


def test_a_repartition_topic_that_was_emptied_is_named() -> None:
    """Kafka Streams deletes what it has read: that topic is not counted among those that prove it."""
    verdict = growth_is_proven(READ, group(*HELD), (since(), since(keys=0, kind="repartition")))
    assert verdict.outcome is Outcome.PROCEED
    assert "10 keys of 1 topics" in verdict.reasons[0]
    assert verdict.reasons[1].startswith("topic orders-a-repartition: no record since the growth is left to read")


def test_a_group_that_rebalances_is_not_known() -> None:
    """Its members have no partitions for a moment: that is no assignment from before."""
    verdict = growth_is_proven(READ, replace(group(), state="PreparingRebalance"), (since(),))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "group orders is PreparingRebalance (expected Stable): clear prove_growth once it is" in verdict.text


def test_an_assignment_from_before_the_growth_is_refused() -> None:
    """Two of four partitions, while the group is Stable."""
    verdict = growth_is_proven(READ, group(*HELD[:2], *HELD[4:]), (since(),))
    assert verdict.outcome is Outcome.REFUSE
    assert "2 of 6 partitions have no member (orders-2, orders-3; limit 0)" in verdict.text


def test_a_producer_with_the_old_number_is_refused() -> None:
    """Also if the group cannot be read."""
    for of in (group(*HELD), Missing("hidden")):
        verdict = growth_is_proven(READ, of, (since(misplaced=3),))
        assert verdict.outcome is Outcome.REFUSE
        assert "3 keys have records since the growth in another partition than 4 partitions give (limit 0)" in (
            verdict.text
        )
        assert "key c-1 is in partition 1" in verdict.text


@pytest.mark.parametrize(
    ("of", "topics", "reason"),
    [
        (Missing("hidden"), (since(),), "hidden"),
        (group(*HELD), Missing("purged"), "purged"),
        (group(*HELD), (since(keys=0),), "no record with a key since the growth"),
        # What Kafka Streams sends to itself shows no producer of an input.
        (group(*HELD), (since(keys=0), since(kind="repartition")), "no record with a key since the growth"),
        (group(*HELD), (), "no record with a key since the growth"),
    ],
)
def test_what_was_not_read_is_not_proven(
    of: GroupReading | Missing, topics: tuple[TopicForecast, ...] | Missing, reason: str
) -> None:
    verdict = growth_is_proven(READ, of, topics)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert reason in verdict.text
