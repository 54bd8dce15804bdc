"""Which topics are an application's by their names, where nothing tells its topology."""

import pytest
from kstreams_runbooks.decide.internal_names import internal_by_id, is_changelog
from kstreams_runbooks.model.readings import TopicReading
from kstreams_runbooks.observe.lag import LagAsked, lag_of
from kstreams_runbooks.observe.offsets import Committed, Ends

IDS = ("orders", "orders-v2", "billing")


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("orders-by-customer-repartition", "orders"),
        ("orders-v2-by-customer-repartition", "orders-v2"),
        ("orders-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000010-topic", "orders"),
        ("orders-trade-trader-subscription-response-topic", "orders"),
        ("orders-store-changelog", "orders"),
        ("orders", None),
        ("others-by-customer-repartition", None),
    ],
)
def test_a_longer_id_takes_its_own(name: str, whose: str | None) -> None:
    """Of two ids of which one begins the other, the longer one that fits."""
    assert internal_by_id([name], IDS) == ({} if whose is None else {whose: (name,)})
    assert is_changelog(name) is (name == "orders-store-changelog")


def test_an_offset_past_the_end_of_its_log_is_not_known() -> None:
    """The topic was created again, or somebody set it: what lies in it now was never read."""
    place = ("orders", 0)
    lag = lag_of(
        LagAsked("app", "app", {"orders": "source"}),
        {"app": ("classic", "Empty")},
        {"app": {place: Committed(1_000, "")}},
        {"orders": "source"},
        {"orders": TopicReading("orders", "id", 1)},
        {place: Ends(0, 50, 50)},
    )
    [row] = lag.partitions
    assert (row.state, row.records, lag.unread) == ("unknown", None, None)
    assert row.why.startswith("committed 1,000 is past its end 50")
