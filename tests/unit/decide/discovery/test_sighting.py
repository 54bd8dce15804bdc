"""Which groups of a cluster are Kafka Streams applications, and which only look so.

Covers decide/topology/names
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.discovery.sighting import sighted
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.model.discovery.discovery import Signs
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken

UUID = "8f4c1c0e-30e5-4d3a-9d0b-0e6a6e1f2a77"
THREAD = f"orders-{UUID}-StreamThread-1-consumer"


def signs(*client_ids: str, protocol: str = "", state: str = "Stable", **changes: Any) -> Signs:
    """A classic group with one member for each client id."""
    members = tuple(MemberReading(client_id, client_id, "10.0.0.1") for client_id in client_ids)
    group = GroupReading(Taken(1, "test"), "orders", "classic", state, members, protocol)
    return replace(Signs("orders", "classic", state, "consumer", group, {"clicks": 4}, 0, ()), **changes)


@pytest.mark.parametrize(
    "found",
    [
        signs(THREAD, protocol="stream"),
        signs("my-own-client-id-StreamThread-12-consumer", protocol="stream"),
        signs(THREAD, state="PreparingRebalance", stamped=1),
        signs(THREAD, state="CompletingRebalance", internal=("orders-store-changelog",)),
        signs(state="Empty", stamped=4),
        signs(state="Empty", stamped=4, internal=("orders-store-changelog",)),
        signs(state="Empty", committed={}, internal=("orders-store-changelog",)),
        signs(type="streams", state="Empty", protocol_type="streams", committed={}),
    ],
)
def test_an_application(found: Signs) -> None:
    """By the assignor of its members, by two signs in a rebalance, and by what a stopped one leaves behind."""
    assert sighted(found).kind == "application"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (signs("reader-1", protocol="range"), "by the assignor range, as Kafka Streams never does"),
        (signs(THREAD, protocol="cooperative-sticky"), "although its client ids look so"),
        (signs("reader-1", type="consumer"), "by the consumer protocol (KIP-848)"),
        (signs(state="Empty"), "nothing that Kafka Streams leaves behind"),
        (
            signs("reader-1", state="PreparingRebalance"),
            "Streams leaves behind (PreparingRebalance)",
        ),
        (signs("connect-1", protocol="sessioned", protocol_type="connect"), "a group of the protocol connect"),
        (signs(type="share", protocol_type="share"), "a share group"),
    ],
)
def test_something_else(found: Signs, why: str) -> None:
    """Plain consumers whatever their client id says, Connect workers, share groups: with the reason."""
    sighting = sighted(found)
    assert (sighting.kind, why in sighting.why) == ("other", True), sighting.why


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (signs("reader-1", protocol="range", stamped=2), "but it has partition times in 2 of its offsets"),
        (signs("r", type="consumer", internal=("orders-x-changelog",)), "but it has 1 internal topic"),
        (signs(THREAD, state="PreparingRebalance"), "client ids of stream threads, and no more than that"),
        (signs("r", state="PreparingRebalance", stamped=1), "partition times in 1 of its offsets, and no more"),
        (signs(state="Empty", internal=("orders-x-changelog",)), "none of its offsets is stamped by Streams"),
        (signs(THREAD, protocol="stream", group_id="my orders"), "no topic can begin with its name"),
    ],
)
def test_perhaps_an_application(found: Signs, why: str) -> None:
    """One sign is not enough, and two that contradict each other are not either."""
    sighting = sighted(found)
    assert (sighting.kind, why in sighting.why) == ("perhaps", True), sighting.why


@pytest.mark.parametrize("part", ["group", "committed"])
@pytest.mark.parametrize("kind", ["classic", "streams"])
def test_a_group_that_cannot_be_read_is_neither(part: str, kind: str) -> None:
    """What is missing is said; of a streams group too: that nobody could see its members is not that none runs."""
    hidden: dict[str, Any] = {part: Missing("may this user see it?"), "type": kind}
    sighting = sighted(replace(signs(THREAD, protocol="stream"), **hidden))
    assert (sighting.kind, sighting.why) == ("unknown", "may this user see it?")


def test_of_ids_that_begin_each_other_the_longer_has_its_own() -> None:
    """Exactly one of them has each topic, and a topic that only begins like one is nobody's."""
    names = {
        "orders-by-key-repartition",
        "orders-v2-by-key-repartition",
        "orders-v2-store-changelog",
        "orders-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000010-topic",
        "orders-trade-subscription-registration-topic",
        "orders-changelog",
        "orders-v2",
        "others-store-changelog",
    }
    assert internal_by_id(names, ["orders", "orders-v2", "order"]) == {
        "orders": (
            "orders-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000010-topic",
            "orders-by-key-repartition",
            "orders-trade-subscription-registration-topic",
        ),
        "orders-v2": ("orders-v2-by-key-repartition", "orders-v2-store-changelog"),
    }


@pytest.mark.parametrize(
    "found",
    [
        signs(state="Empty"),
        signs(state="Empty", internal=("orders-store-changelog",)),
        signs(state="Empty", committed={}, internal=("orders-store-changelog",)),
        signs("reader-1", state="PreparingRebalance"),
        signs("reader-1", protocol="range"),
        signs("reader-1", type="consumer"),
    ],
)
def test_what_left_nothing_behind_may_have_left_it_where_it_is_hidden(found: Signs) -> None:
    """Offsets on hidden topics are left out: never "nothing that Kafka Streams leaves behind"."""
    sighting = sighted(replace(found, unseen="2 topics are hidden"))
    assert (sighting.kind, "2 topics are hidden" in sighting.why) == ("unknown", True)


@pytest.mark.parametrize(
    "found",
    [
        signs("reader-1", protocol="range", internal=("orders-store-changelog",)),
        signs(THREAD, protocol="stream"),
        signs(state="Empty", stamped=4),
    ],
)
def test_what_is_seen_is_enough_where_it_decides(found: Signs) -> None:
    """The assignor of Streams, a partition time, and an internal topic of a plain group, need no other topic."""
    assert sighted(replace(found, unseen="2 topics are hidden")).kind == sighted(found).kind
