"""What a card knows, and which members an instance has in the group, also once it cannot be read; on a real ledger."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.ledger.card_facts import card_facts, instance_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Start, Taken
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.steps.instances.undone import _move
from kstreams_runbooks.steps.plan.cards import instance_cards, members_in_group, previous_start, to_restart
from kstreams_runbooks.steps.run.run import Run
from world.imports import FILES, PACKAGE
from world.samples import BOUNCE_1, card, down, instance, member, reading

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


def test_the_facts_of_a_card_are_stored_as_ever() -> None:
    """Names and order are in the journal's hashes, and a person reads them in the evidence."""
    before, after = (
        DeployedInstance("orders-1", version, (("upgrade.from", "3.4"),), version) for version in ("3.4.1", "4.3.1")
    )
    facts = InstanceMoved(1, before, after, Start(5, 7), (member("orders-1"),), ("supervisorctl restart orders-1",))
    kept = encode(facts)
    assert list(kept) == ["bounce", "before", "after", "previous", "members", "by_hand", "deletes"]
    assert kept["before"] == {
        "instance": "orders-1",
        "release": "3.4.1",
        "settings": [["upgrade.from", "3.4"]],
        "version": "3.4.1",
        "build": "",
    }
    assert (kept["previous"], kept["by_hand"]) == ({"started_at_ms": 5, "pid": 7}, ["supervisorctl restart orders-1"])
    assert instance_facts(card(facts=kept)) == facts


@pytest.mark.parametrize("fact", ["before", "after"])
def test_a_card_without_a_release_to_go_back_to_is_one_sentence(fact: str) -> None:
    """An undo that needs what it lacks names the way back by hand."""
    kept = card()
    lacking = replace(kept, facts={name: value for name, value in kept.facts.items() if name != fact})
    with pytest.raises(BadInput, match=r"the facts of undo card 1 .* cannot be read .* manually: orders-1 back to"):
        _move(lacking)
    assert _move(kept).instance == "orders-1"


def test_only_one_module_opens_the_facts_of_a_card() -> None:
    """Everything else has them as a value."""
    opening = {str(path.relative_to(PACKAGE)) for path in FILES if "card.facts" in path.read_text(encoding="utf-8")}
    assert opening == {"ledger/card_facts.py"}


def test_a_card_of_an_unknown_kind_is_one_sentence(run: Run) -> None:
    """A newer release wrote it: what it was, what is known here, and the way back by hand."""
    strange = card(run_key=run.key, seq=4, kind="schema_registered", what="orders-value: version 7")
    with pytest.raises(BadInput, match=r"undo card 4 \(orders-value: version 7\) is of kind schema_registered, which"):
        card_facts(strange)


def test_cards_of_other_kinds_and_sides_are_no_instances(run: Run) -> None:
    """A topic may have the name of an instance, and another application an instance of the same name."""
    kept = [
        card(run_key=run.key, seq=1),
        card(run_key=run.key, seq=2, kind="topic_created"),
        card(run_key=run.key, seq=3, application="green", cluster="demo"),
    ]
    for one in kept:
        run.ledger.write_card(one)
    assert [one.seq for one in instance_cards(run)] == [1]


def test_a_restart_without_a_change_takes_each_instance_once(run: Run) -> None:
    """By the start on its card: a cleared task leaves alone what it has restarted already."""
    again, before, since = replace(BOUNCE_1, again=True), Start(5, 7), Start(9, 8)
    as_it_was = instance("orders-1", start=before)
    assert not to_restart(run, BOUNCE_1, as_it_was)
    assert to_restart(run, again, as_it_was)
    run.ledger.write_card(card(run_key=run.key, facts={"previous": {"started_at_ms": 5, "pid": 7}}))
    assert to_restart(run, again, as_it_was)
    assert not to_restart(run, again, instance("orders-1", start=since))
    assert not to_restart(run, again, replace(as_it_was, streams=Missing("no answer")))
    assert previous_start(run, "orders-1") == before
