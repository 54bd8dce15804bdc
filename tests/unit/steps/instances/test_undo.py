"""Which run an undo takes back: the one that was found first, whatever its id is used for afterwards."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.without_topology import may_stay_unread
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import BadInput, Refused, WriteRefused
from kstreams_runbooks.ledger.codec import encode, encode_call
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.steps.instances import undo as module
from kstreams_runbooks.steps.instances.undone import (
    accepted_before,
    check_builds,
    kept_descriptions,
    topics_of_cards,
    undone_record,
)
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.moved import MovedGroup
from world.cutting import cutover, restart
from world.samples import NEW, OLD, applied, card, declared, instance, reading
from world.sides import AUDITED, COUNTS, declaration, described


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


def _begun(run: Run, **form: str) -> Run:
    """The undo of a run, which was triggered with nothing but its id and these fields."""
    own = "-".join(("u", *form.values()))
    asked = replace(run.record, dag_id="undo", run_id=own, params={"run": "r", **form})
    begun = replace(run, record=run.ledger.start_run(asked))
    vars(begun)["declared"] = declared()
    return begun


def test_an_undo_has_what_its_run_knew_of_the_releases_before(run: Run) -> None:
    """As the run compared them, else as the instances showed what they ran; no topology command is needed."""
    begun = _begun(run)
    assert kept_descriptions(begun) == {}
    shown = instance("orders-1", topology=COUNTS)
    stale = applied(instance("orders-2", release="9", topology=AUDITED), value=False)
    now = reading(shown, stale)
    run.ledger.record(run.key, "observe", 1, "reading", "application", encode(now), 1)
    assert {release: one.text for release, one in kept_descriptions(begun).items()} == {OLD: COUNTS}
    compared = described(COUNTS, OLD, declaration())
    accepted = may_stay_unread(("x",), declared(), "down")
    call = encode_call(may_be_rolled, {"before": (compared,)}, accepted)
    run.ledger.record(run.key, "plan", 1, "verdict", "may_be_rolled", call | {"application": "payments"}, 2)
    assert kept_descriptions(begun)[OLD].declared is None
    run.ledger.record(run.key, "plan", 1, "verdict", "may_be_rolled", call | {"application": "orders"}, 3)
    assert kept_descriptions(begun) == {OLD: compared}


def test_an_undo_has_the_reason_of_its_run(run: Run) -> None:
    """Its own comes first; a run that compared its topologies gives none."""
    assert accepted_before(_begun(run, without_topology="")) == ""
    bold = replace(run, record=replace(run.record, params={"without_topology": "the registry is down"}))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kstreams_runbooks.steps.instances.undone.undone_record", lambda _: bold.record)
        assert accepted_before(_begun(run, without_topology="")) == "the registry is down"
        assert accepted_before(_begun(run, without_topology="looked by hand")) == "looked by hand"


@pytest.fixture
def taken_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, list[tuple[str, str]]]:
    """The undo of a cutover that has started a group on its new topics, and what it looks at."""
    made = cutover_plan(restart(), cutover())
    run.ledger.store_plan(run.key, made.digest, encode(made))
    run.ledger.write_card(card(run_key=run.key))
    [start] = [one for one in made.stages if (one.kind, one.side) == ("start_all", "downstream_1")]
    run.keep("note", START_BEGUN, {"bounce": start.number, "instances": ["billing-1"]})
    begun = _begun(run)
    back = replace(made, runbook="undo", stages=())
    run.ledger.store_plan(begun.key, back.digest, encode(back))
    seen: list[tuple[str, str]] = []

    def prove(side: Run, of: MovedGroup) -> None:
        assert (of.run_key, of.start.number) == (run.key, start.number)
        seen.append(("moved", side.record.application))

    monkeypatch.setattr(module, "authorize", lambda *_, **__: None)
    monkeypatch.setattr(module, "require_kept_seeds", lambda side, _: seen.append(("seeds", side.record.application)))
    monkeypatch.setattr(module, "prove_moved", prove)
    monkeypatch.setattr(module, "_proven", lambda side: seen.append(("proven", side.record.application)))
    monkeypatch.setattr(module, "keep_read_since", lambda side, _: seen.append(("read", side.record.application)))
    return begun, seen


_LOOKED = [("seeds", "billing"), *(("proven", name) for name in ("orders", "orders-v2", "orders-copier"))]


def test_what_the_old_side_has_read_since_the_seam_is_noted(
    run: Run, taken_back: tuple[Run, list[tuple[str, str]]]
) -> None:
    """A cutover takes the groups back that have moved: it asks what was late for the old side since its start."""
    begun, seen = taken_back
    module.undo().go(begun)
    assert seen == [*_LOOKED, ("moved", "billing"), ("proven", "reports"), ("read", "orders")]
    assert [one.done for one in run.ledger.cards(run.key)] == [True]


def test_a_group_that_a_cutover_has_moved_is_looked_at(
    run: Run, taken_back: tuple[Run, list[tuple[str, str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the seam and the stages of the run that has moved it; a refusal ends the undo before its cards are closed."""

    def prove(*_: object) -> None:
        raise Refused("totals-v2-0 is committed at 69 (seed: 70)")

    begun, seen = taken_back
    monkeypatch.setattr(module, "prove_moved", prove)
    with pytest.raises(Refused, match="committed at 69"):
        module.undo().go(begun)
    assert seen == _LOOKED
    assert [one.done for one in run.ledger.cards(run.key)] == [False]
