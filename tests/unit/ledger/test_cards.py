"""Undo cards of every kind, of one application or of two; on a real SQLite ledger."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.readings import Start
from kstreams_runbooks.model.runs.cards import (
    KINDS,
    CardFacts,
    GroupDeleted,
    InputsPaused,
    InputsResumed,
    InstanceMoved,
    OffsetsDeleted,
    OffsetsSet,
    PersonAsked,
    RecordsDeleted,
    StateCleared,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    kind_of,
)
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape
from kstreams_runbooks.watch.evidence import verified
from world.samples import card

_TOPIC = TopicShape("orders-control", 4, 1, (("cleanup.policy", "compact"),))
_RAN = DeployedInstance("orders-1", "4.3.1", (("acks", "all"),), "4.3.1", "b7")
_WAS = SavedOffsets("orders", 1_000, (CommittedOffset("orders", 0, 17, "AgAAAZ", 3),))
FACTS: tuple[CardFacts, ...] = (
    InstanceMoved(1, _RAN, _RAN, Start(5, 7)),
    TopicCreated(_TOPIC, "id-7"),
    TopicGrown("orders", "id-1", 4, 8),
    TopicDeleted(_TOPIC, "id-7"),
    RecordsDeleted("orders", "id-1", ((0, 17), (1, 0))),
    OffsetsSet(_WAS, (CommittedOffset("orders", 0, 0),), "/saved.csv"),
    OffsetsDeleted(_WAS, ("orders",)),
    GroupDeleted(_WAS, "/saved.csv"),
    StateCleared("orders-1", TaskDirectories(("1_",)), ("seen",)),
    InputsPaused(("orders",), "declared"),
    InputsResumed(("orders",), "declared"),
    PersonAsked("stop the cron job", "start it again"),
)


def test_facts_of_every_kind_come_back_as_they_were(ledger: Ledger, start: Callable[..., str]) -> None:
    """Each under its own kind, from the database."""
    key = start("r")
    for seq, facts in enumerate(FACTS, 1):
        ledger.write_card(card(run_key=key, seq=seq, kind=kind_of(facts), facts=encode(facts), stage=seq))
    cards = ledger.cards(key)
    assert [one.kind for one in cards] == list(KINDS)
    assert tuple(decode(KINDS[one.kind], one.facts) for one in cards) == FACTS
    assert {(one.cluster, one.application) for one in cards} == {("demo", "orders")}


def test_a_card_learns_the_id_of_the_topic_that_it_announced(ledger: Ledger, start: Callable[..., str]) -> None:
    """The card stays as it was written; what came afterwards is an entry of its own, and the chain holds."""
    key = start("r")
    ledger.write_card(card(run_key=key, kind="topic_created", facts=encode(TopicCreated(_TOPIC))))
    ledger.know_card(key, 1, encode(TopicCreated(_TOPIC, "id-7")))
    [kept] = ledger.cards(key)
    assert decode(TopicCreated, kept.facts) == TopicCreated(_TOPIC, "id-7")
    assert [one.kind for one in ledger.entries(key)] == ["run", "card", "card_facts"]
    assert verified(ledger, ledger.run(key), ledger.run(key).head).outcome is Outcome.PROCEED
    with pytest.raises(BadInput, match="has no undo card 2"):
        ledger.know_card(key, 2, {})


def test_a_change_of_another_application_is_seen_by_its_runs(ledger: Ledger, start: Callable[..., str]) -> None:
    """In the order of that application's own journal: before its run looked, or after."""
    both = start("cutover")
    record = RunRecord("", "library_bump", "g", "green", "demo", "oncall", False, "", {}, 2_000)
    green = ledger.start_run(record)
    first = ledger.record(green.run_key, "observe", 1, "reading", "application", {}, 2_100)
    assert ledger.changed_since(green, first) is None
    ledger.write_card(card(run_key=both, seq=1))
    assert ledger.changed_since(green, first) is None
    ledger.write_card(card("green-1", run_key=both, seq=2, application="green", cluster="demo", misreads=True))
    assert ledger.changed_since(green, first) == both
    assert [one.object for one in ledger.cards_since(green, first)] == ["green-1"]
    assert ledger.last_changes("demo").keys() == {"orders", "green"}
    assert ledger.last_changes("demo")["green"] > first
    later = ledger.record(green.run_key, "observe", 2, "reading", "application", {}, 2_200)
    assert ledger.changed_since(green, later) is None
    assert ledger.cards_since(green, later) == []
    assert ledger.changed_since(ledger.run(both), 0) is None
    for key in (both, green.run_key):
        assert verified(ledger, ledger.run(key), ledger.run(key).head).outcome is Outcome.PROCEED


def test_a_run_does_not_count_its_own_changes_of_another_application(ledger: Ledger, start: Callable[..., str]) -> None:
    """Asked from the other application's side."""
    both = start("cutover")
    ledger.write_card(card("green-1", run_key=both, application="green", cluster="demo"))
    assert ledger.changed_since(replace(ledger.run(both), application="green"), 0) is None
