"""Which run an undo takes back: the one that was found first, whatever its id is used for afterwards."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.steps.instances import undo as module
from kstreams_runbooks.steps.instances.undone import check_builds, topics_of_cards, undone_record
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, card, reading


def test_an_undo_keeps_to_the_run_that_it_was_planned_for(run: Run) -> None:
    """The id is used again between the plan and the end of the undo; a new undo means the newer run."""

    def undo(run_id: str) -> Run:
        asked = replace(run.record, dag_id="undo", run_id=run_id, params={"run": " r "})
        return replace(run, record=run.ledger.start_run(asked))

    begun = undo("u1")
    assert undone_record(begun).run_key == run.key
    second = run.ledger.start_run(replace(run.record, run_after="2026-11-23T10:00:00+00:00"))
    assert undone_record(begun).run_key == run.key
    assert undone_record(undo("u2")).run_key == second.run_key
    other = replace(begun, record=replace(begun.record, run_key=undo("u3").key, application="payments"))
    with pytest.raises(BadInput, match="is one of orders \\(asked for: payments\\)"):
        undone_record(other)
    assert run.ledger.recalled(other.key) == {}


def test_an_undo_reads_the_topics_that_the_run_created(run: Run) -> None:
    """The application does not read them: they would look as if they did not exist."""
    created = {"kind": "topic_created", "topic": {"name": "control", "partitions": 1, "replication": 1}}
    run.ledger.write_card(card(run_key=run.key))
    run.ledger.write_card(card(run_key=run.key, seq=2, object="control", kind="topic_created", facts=created))
    asked = replace(run.record, dag_id="undo", run_id="u", params={"run": "r"})
    begun = replace(run, record=run.ledger.start_run(asked))
    assert topics_of_cards(begun) == ("control",)


def test_an_undo_goes_back_to_the_build_that_ran(run: Run, plan: Plan) -> None:
    """By the first card of each instance, if its deployer knows builds, and only of those that go back to it."""
    asked: list[tuple[str, ...]] = []
    orders_1, other = DeployedInstance("orders-1", OLD, (), OLD, "sha256:1"), DeployedInstance("o", OLD, (), OLD)
    later = replace(orders_1, release=NEW, build="sha256:2")
    for seq, was in enumerate((orders_1, other, later), start=1):
        run.ledger.write_card(card(was.instance, run_key=run.key, seq=seq, facts=encode(InstanceMoved(1, was, was))))
    undo = replace(run.record, dag_id="undo", run_id="u", params={"run": "r"})
    begun = replace(run, record=run.ledger.start_run(undo))
    vars(begun)["deployer"] = SimpleNamespace(check_build=lambda *words: asked.append(words))
    check_builds(begun, plan)
    assert asked == [], "the plan goes elsewhere"
    back = replace(plan, stages=(Bounce(1, OLD, ()),))
    check_builds(begun, back)
    assert asked == [("orders-1", OLD, "sha256:1")]
    check_builds(begun, replace(plan, stages=(Bounce(1, OLD, (), instances=("o",)),)))
    assert len(asked) == 1


@pytest.mark.parametrize("way", ["_stage", "_together", "_stop"])
def test_the_build_is_looked_at_again_before_anything_is_stopped(
    run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """An approval may come hours after the plan; a tag that was moved meanwhile stops nothing."""

    def moved(*_: object) -> None:
        raise WriteRefused("image orders:3.4.1 was sha256:1 before, and is sha256:2 now")

    done: list[str] = []
    monkeypatch.setattr(Run, "read", lambda *_: reading())
    monkeypatch.setattr(module, "check_builds", moved)
    monkeypatch.setattr(module, "next_of", lambda *_: "orders-1")
    monkeypatch.setattr(module, "started_by", lambda *_: False)
    monkeypatch.setattr(module, "authorize", lambda *_, **__: None)
    monkeypatch.setattr(module, "stop_all", lambda *_: done.append("stop_all"))
    monkeypatch.setattr(module.UndoOperator, "take", lambda *_: done.append("take"))
    with pytest.raises(WriteRefused):
        getattr(module.undo(), way)(run, plan.bounces[0])
    assert done == []
