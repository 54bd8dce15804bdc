"""The cards of all runs about topics and offsets of a cluster, for the scheduled check; with them watch/held."""

from dataclasses import asdict
from pathlib import Path

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.runs.cards import GroupDeleted, OffsetsSet, OtherFacts, TopicCreated, TopicDeleted
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.model.runs.own_changes import TopicChange
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape
from kstreams_runbooks.watch.held import at_work
from kstreams_runbooks.watch.own_writes import own_writes
from world.new_ledger import new_ledger

LAG = ApplicationLag("orders", "orders-id", "classic", "Stable", (PartitionLag("t", 0, "source", "ok"),), kept=())
SHAPE = TopicShape("t", 4, 1, ())


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a run that has ended at 50 and one that has not."""
    made = new_ledger(tmp_path / "ledger.db")
    for run_id in ("ended", "open"):
        made.start_run(RunRecord("", "cutover", run_id, "orders", "demo", "oncall", False, "", {}, 1))
    made.conclude("cutover/ended", "completed", "", 50)
    return made


def card(ledger: Ledger, run_id: str, name: str, facts: OtherFacts, *, cluster: str = "demo") -> Card:
    """A card of a run about an object."""
    run_key = f"cutover/{run_id}"
    made = Card(
        run_key=run_key,
        seq=len(ledger.cards(run_key)) + 1,
        task_id="act",
        step="stage 1",
        object=name,
        what="",
        undo="",
        cost="",
        data_affected=False,
        point_of_no_return=False,
        facts=encode(facts),
        at_ms=10,
        kind=facts.kind,
        application="orders" if cluster == "demo" else "far",
        cluster=cluster,
        stage=1,
    )
    ledger.write_card(made)
    return made


def offsets(group: str) -> OffsetsSet:
    """Offsets of a group that were set on the topic."""
    return OffsetsSet(SavedOffsets(group, 1, ()), (CommittedOffset("t", 0, 1), CommittedOffset("t", 1, 1)))


def test_every_run_of_the_cluster_counts_and_nothing_else(ledger: Ledger) -> None:
    """Ids that were learned after the creation too; another cluster and another object do not."""
    card(ledger, "ended", "t", TopicDeleted(SHAPE, "a"))
    made = card(ledger, "open", "t", TopicCreated(SHAPE))
    assert [one.topic_id for one in own_writes(ledger, "demo", [LAG], 99).topics] == ["a", ""]
    ledger.know_card(made.run_key, made.seq, encode(TopicCreated(SHAPE, "b")))
    card(ledger, "open", "t", TopicDeleted(SHAPE, "x"), cluster="far")
    card(ledger, "open", "u", TopicDeleted(SHAPE, "y"))
    found = own_writes(ledger, "demo", [LAG], 99).topics
    assert found == (TopicChange("t", "a", 0), TopicChange("t", "b", 4, created=True))
    assert own_writes(ledger, "far", [LAG], 99).topics == (TopicChange("t", "x", 0),)


def test_offsets_may_move_until_their_run_has_ended(ledger: Ledger) -> None:
    """Of the group that was set; with a deleted topic those of every group go."""
    card(ledger, "ended", "orders-id", offsets("orders-id"))
    own = own_writes(ledger, "demo", [LAG], 99)
    assert (own.moved_at("orders-id", 50), own.moved_at("orders-id", 51)) == (("t",), ())
    assert own.moved_at("other", 50) == ()
    card(ledger, "open", "t", TopicDeleted(SHAPE, "a"))
    own = own_writes(ledger, "demo", [LAG], 99)
    assert (own.moved_at("other", 99), own.moved_at("orders-id", 100)) == (("t",), ())


def test_a_run_that_waits_for_a_person_is_not_at_work(ledger: Ledger) -> None:
    """Nor is one that holds a topic alone."""
    resources = ("application:demo:orders", "topic:demo:t")
    ledger.take_hold("cutover/open", resources, "demo", 1, 10, lambda _: False)
    assert at_work(ledger) == {("demo", "orders"): "cutover/open"}
    ledger.hold_waits("cutover/open", 11)
    assert at_work(ledger) == {}


def test_a_card_has_every_field(ledger: Ledger) -> None:
    """The cards of one object come as they are kept."""
    made = card(ledger, "ended", "t", TopicDeleted(SHAPE, "a"))
    [kept] = ledger.cards_on("demo", {"t"})
    assert {**asdict(kept), "entry": 0} == {**asdict(made), "entry": 0}


def test_offsets_of_a_deleted_group_are_moved_too(ledger: Ledger) -> None:
    """They are gone until somebody sets them again."""
    saved = SavedOffsets("orders-id", 1, (CommittedOffset("t", 0, 7),))
    card(ledger, "open", "orders-id", GroupDeleted(saved))
    assert own_writes(ledger, "demo", [LAG], 100).moved_at("orders-id", 100) == ("t",)
