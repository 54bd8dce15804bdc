"""Which members an instance has in the group, also once it cannot be read; on a real SQLite ledger."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.steps.plan.cards import members_in_group
from kstreams_runbooks.steps.run.run import Run
from world.samples import card, down, instance, member, reading

DOWN = down("orders-1")


def now(*names: str, static: bool = True) -> GroupReading:
    """The group with these members."""
    members = tuple(member(name, static=static) for name in names)
    return GroupReading(Taken(1, "t"), "orders", "classic", "Stable", members)


def test_a_static_member_is_known_by_its_instance_id(run: Run) -> None:
    """Its JVM is gone, so nobody says its client id; another instance's member stays where it is."""
    one = replace(DOWN, group_instance_id="orders-1")
    found = members_in_group(run, reading(one, instance("orders-2"), group=now("orders-1", "orders-2")), one)
    assert [single.member_id for single in found] == ["orders-1-1"]


def test_without_one_the_last_card_knows_who_is_still_there(run: Run) -> None:
    """Those that stood on it and are still in the group."""
    kept = encode((member("orders-1", static=False), member("orders-1", static=False, thread=2)))
    run.ledger.write_card(card(run_key=run.key, facts={"members": kept}))
    found = members_in_group(run, reading(DOWN, instance("orders-2"), group=now("orders-1", static=False)), DOWN)
    assert [single.member_id for single in found] == ["orders-1-1"]


def test_a_group_that_cannot_be_read_is_inconclusive(run: Run) -> None:
    """Nobody is removed, and nobody is left, on a guess."""
    with pytest.raises(Inconclusive, match="group of orders: timed out"):
        members_in_group(run, replace(reading(DOWN), group=Missing("timed out")), DOWN)
