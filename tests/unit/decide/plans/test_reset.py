"""The stages of a reset by mode, what it refuses, and the findings for its approval.

Covers decide/plans/reset, decide/plans/reset_findings
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.reset import RESET, ResetParts, reset_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.fleet_graph import DownstreamEntry
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.disorder import LateForecast
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.readings.readings import BrokerReading, Missing, Taken
from kstreams_runbooks.model.readings.reset import (
    BlastRadius,
    CatchUp,
    CountedMove,
    LocalSize,
    MissingKeys,
    OutputReader,
    ResetMode,
    ResetTopic,
    StoreFate,
)
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics, SaveOffsets, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import ClearState, StartAll
from kstreams_runbooks.model.writes import TopicShape
from world.samples import OLD, declared, reading

CLEAN_UP = (("clean.up", "true"),)
CHANGELOG, REPARTITION = "orders-counts-changelog", "orders-counts-repartition"
SHAPES = (TopicShape(CHANGELOG, 2, 1), TopicShape(REPARTITION, 2, 1))
TARGETS = (("orders", "earliest"),)
_TAKEN = Taken(1_000, "test")
BROKER = BrokerReading(_TAKEN, "4.3", (), auto_create_topics=False, brokers=1)


def topic(name: str, **changes: Any) -> ResetTopic:
    made = ResetTopic(name, f"id of {name}", "changelog", 2, 1_000_000, goes=True)
    return replace(made, **changes)


def radius(mode: ResetMode = "reset", **changes: Any) -> BlastRadius:
    """Two internal topics, one input that is read again; what a mode does not touch is left out."""
    internal = tuple(topic(name, goes=mode == "reset") for name in (CHANGELOG, REPARTITION))
    moved = MovedOffset("orders", 0, "id-1", "earliest", start=0, stable=50, before=40, wanted=0, after=0)
    made = BlastRadius(
        application="orders",
        application_id="orders",
        cluster="demo",
        mode=mode,
        taken=_TAKEN,
        internal=internal,
        offsets=() if mode == "state" else (moved,),
        counts=() if mode == "state" else (CountedMove("orders", 0, 38, 48),),
        unmoved=(),
        tables=(),
        missing_keys=(),
        history=(),
        stores=(),
        outputs=("results",),
        emptied=(),
        downstream=(),
        readers=(),
        local=(LocalSize("orders-1", {"0_0": 7}), LocalSize("orders-2", {})),
        catch_up=CatchUp(48, at_least=False, seconds=6.0),
    )
    return replace(made, **changes)


def restart() -> Plan:
    limits = (("gate_ceiling_s", 300.0),)
    made = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    return replace(made, limits=limits)


def plan(mode: ResetMode = "reset", *, broker: BrokerReading | Missing = BROKER, of: Any = None, **parts: Any) -> Plan:
    given = {"created": SHAPES if mode == "reset" else None, "targets": () if mode == "state" else TARGETS}
    return reset_plan(restart(), of or radius(mode), ResetParts(**{**given, **parts}), broker)


def kinds(made: Plan) -> list[str]:
    return [one.kind for one in made.stages]


def ids(made: Plan) -> set[str]:
    return {one.id for one in made.findings}


def test_a_reset_clears_state_before_it_deletes_and_creates_before_it_sets_offsets() -> None:
    """The likeliest to fail comes first, and nothing starts on kept state."""
    made = plan()
    assert kinds(made) == [
        "stop_all",
        "save_offsets",
        "clear_state",
        "delete_topics",
        "create_topics",
        "set_offsets",
        "set_offsets",
        "start_all",
    ]
    assert [one.number for one in made.stages] == list(range(1, 9))
    _, save, clear, delete, create, first, inputs, start = made.stages
    assert isinstance(save, SaveOffsets)
    assert save.topics == (CHANGELOG, REPARTITION)
    assert isinstance(clear, ClearState)
    assert clear.seen
    assert isinstance(delete, DeleteTopics)
    assert (delete.topics, delete.at_rest, delete.again) == ((CHANGELOG, REPARTITION), True, False)
    assert isinstance(create, CreateTopics)
    assert create.topics == SHAPES
    assert isinstance(first, SetOffsets)
    assert (first.to, first.topics) == ("start", (REPARTITION,))
    assert isinstance(inputs, SetOffsets)
    assert (inputs.to, inputs.targets, inputs.topics) == ("target", TARGETS, ("orders",))
    assert isinstance(start, StartAll)
    assert (start.must_clear, start.settings, start.release) == (True, (("audit", "true"),), OLD)
    assert (made.runbook, made.start) == (RESET, start)
    assert made.going == made.deleted_before(create) == {CHANGELOG, REPARTITION}
    assert made.deleted_before(clear) == frozenset()
    assert dict(made.change)["target"] == "orders to earliest"


def test_only_offsets() -> None:
    """State and topics stay; the way back is whole."""
    made = plan("offsets", most_lost=7)
    assert kinds(made) == ["stop_all", "save_offsets", "set_offsets", "start_all"]
    assert [one.most_lost for one in made.stages if isinstance(one, SetOffsets)] == [7]
    assert made.undo == (f"offsets back with their metadata, every instance back to {OLD}",)
    assert "reset-deletes-topics" not in ids(made)


def test_only_state() -> None:
    """No offset is touched; all of it, or the directories that were chosen."""
    assert kinds(plan("state")) == ["stop_all", "clear_state", "start_all"]
    stores = (
        StoreFate("counts", ("orders",), CHANGELOG, "restored"),
        StoreFate("names", ("orders",), "orders", "restored"),
        StoreFate("seen", ("orders",), "", "lost", "it has no changelog", accepted=True, local_only="no changelog"),
    )
    logged = plan("state", of=radius("state", stores=stores[:1]))
    [restored] = [one.message for one in logged.findings if one.id == "reset-clears-state"]
    assert f"up to 1.0 MB are restored from {CHANGELOG}" in restored
    several = plan("state", of=radius("state", stores=stores))
    [restored] = [one.message for one in several.findings if one.id == "reset-clears-state"]
    assert f"an unknown number of MB are restored from orders, {CHANGELOG}" in restored
    unlogged = plan("state", of=radius("state", stores=stores[2:]))
    [restored] = [one.message for one in unlogged.findings if one.id == "reset-clears-state"]
    assert "no topic restores it" in restored
    chosen = plan("state", directories=TaskDirectories(("1_",)))
    assert [one.deletes.names for one in chosen.stages if isinstance(one, ClearState)] == [("1_",)]


@pytest.mark.parametrize("mode", ["reset", "state"])
def test_the_application_deletes_its_state_at_its_start(mode: ResetMode) -> None:
    """The setting is there for that start alone; the approval says that the state is seen gone only after it."""
    made = plan(mode, clean_up=CLEAN_UP)
    assert kinds(made) == kinds(plan(mode))
    [clear] = [one for one in made.stages if isinstance(one, ClearState)]
    assert (clear.seen, clear.at_start) == (False, True)
    assert "seen gone right after that start, not before" in clear.sentence
    start = made.stages[-1]
    assert isinstance(start, StartAll)
    assert (start.once, start.must_clear, start.bounce.clears) == (CLEAN_UP, True, None)
    assert start.sentence.endswith("with clean.up=true for these starts alone")
    assert dict(made.change)["cleared_by"] == "application"
    [said] = [one for one in made.findings if one.id == "reset-cleans-up-at-start"]
    assert ("after the topics are deleted" in said.message) == (mode == "reset")
    assert ("refused while an instance has the state of before" in made.undo[-1]) == (mode == "reset")
    assert decode(Plan, encode(made)) == made
    assert "reset-cleans-up-at-start" not in ids(plan(mode))


@pytest.mark.parametrize("created", [None, Missing("declare stores.counts.kind")])
def test_topics_that_the_run_does_not_create_come_again_with_the_application(created: Missing | None) -> None:
    """The guards expect them, nothing sets offsets on them, and the approval has the reason."""
    made = plan(created=created)
    assert [one.again for one in made.stages if isinstance(one, DeleteTopics)] == [True]
    assert [one.to for one in made.stages if isinstance(one, SetOffsets)] == ["target"]
    [why] = [one.message for one in made.findings if one.id == "internal-topics-not-created"]
    assert (created.missing if created else "the form leaves them to the application") in why


def test_under_latest_new_repartition_topics_need_an_offset() -> None:
    """Without one their first records would be skipped."""
    with pytest.raises(Refused, match=r"under auto\.offset\.reset=latest the application skips"):
        plan(created=None, needed=(REPARTITION,), follows_latest=True)
    assert plan(created=None, needed=(CHANGELOG,), follows_latest=True)
    assert plan(needed=(REPARTITION,), follows_latest=True)


def test_brokers_that_create_topics_are_refused() -> None:
    """A client could create a deleted topic with one partition; if that is not known it is inconclusive."""
    with pytest.raises(Refused, match=r"auto\.create\.topics\.enable is true"):
        plan(broker=replace(BROKER, auto_create_topics=True))
    with pytest.raises(Inconclusive, match="not read"):
        plan(broker=Missing("not read"))
    with pytest.raises(Inconclusive, match="not reported"):
        plan(broker=replace(BROKER, auto_create_topics=Missing("not reported")))
    assert plan("offsets", broker=Missing("not read"))


def test_state_that_cannot_be_seen_gone_is_inconclusive() -> None:
    """Before anything is stopped."""
    unseen = (LocalSize("orders-1", Missing("declare deployer.commands.state_sizes")),)
    for mode in ("reset", "state"):
        with pytest.raises(Inconclusive, match="orders-1: its local state has to be seen gone before a start: declare"):
            plan(mode, of=radius(mode, local=unseen))
    assert plan("offsets", of=radius("offsets", local=unseen))


def test_a_topic_that_stays_is_not_taken_over_by_the_wanted_version() -> None:
    """It has the records of an older version, which the new one would restore."""
    left = topic("orders-totals-changelog", goes=False, why="no topology that may have run last has it")
    of = radius(internal=(topic(CHANGELOG), left))
    with pytest.raises(Refused, match=r"orders-totals-changelog: stays \(no topology"):
        plan(of=of, needed=(CHANGELOG, left.name))
    assert plan(of=of, needed=(CHANGELOG,))


def test_the_approval_has_what_is_destroyed_and_who_sees_it() -> None:
    """Each in one sentence, with counts."""
    made = plan(
        of=radius(
            stores=(
                StoreFate("counts", ("orders",), CHANGELOG, "partly", "12 offsets of orders are gone"),
                StoreFate("seen", ("orders",), "", "lost", "it has no changelog", accepted=True),
            ),
            missing_keys=(MissingKeys("customers", 3), MissingKeys("rates", 0)),
            downstream=(DownstreamEntry("billing", ("results",), "orders", 1),),
            readers=(
                OutputReader("billing-id", "classic", "Stable", ("results",), "billing"),
                OutputReader("stranger", "classic", "Stable", ("results",)),
            ),
        )
    )
    said = [one.message for one in made.findings]
    assert said == [
        f"2 internal topics are deleted with the records (2.0 MB): {CHANGELOG}, {REPARTITION}; nothing brings that "
        "state back",
        "orders to earliest: 38 records are read again",
        "table customers: keys without a record after its target will be missing: 3",
        "store counts is not built again in full: 12 offsets of orders are gone",
        "store seen is lost, which is accepted: it has no changelog",
        "until it has caught up: 48 records are left to read, about 6 s; results before that are incomplete",
        "results are written again and seen by billing (fleet), group stranger; tell their owners",
    ]
    assert "its state is gone" in made.worst_case
    assert made.undo[0].startswith("until the deletion")


@pytest.mark.parametrize("mode", ["reset", "state"])
def test_the_way_back_names_what_no_changelog_restores(mode: ResetMode) -> None:
    """Before the first deletion too: local state is cleared by then."""
    lost = StoreFate("seen", ("orders",), "", "lost", "it has no changelog", accepted=True, local_only="no changelog")
    made = plan(mode, of=radius(mode, stores=(lost, StoreFate("counts", ("orders",), CHANGELOG, "rebuilt"))))
    assert made.undo[0].endswith("; once local state is cleared, without seen (no changelog)")


def test_a_catch_up_that_takes_longer_than_a_gate_waits_is_said() -> None:
    """The run would end at wait_caught_up, with an application that is well."""
    [said] = [
        one.message
        for one in plan(of=radius(catch_up=CatchUp(9_000, at_least=False, seconds=9_000.0))).findings
        if one.id == "reset-catches-up"
    ]
    assert "about 9,000 s (a gate gives up after 300 s: set gate_ceiling_s of the form above that time)" in said


def test_what_is_not_known_is_named_as_unknown() -> None:
    """Sizes, counts, and the time to catch up."""
    of = radius(
        internal=(topic(CHANGELOG, bytes=Missing("hidden")),),
        counts=(CountedMove("orders", 0, Missing("Spark is away"), 48),),
        catch_up=CatchUp(Missing("not counted"), at_least=False, seconds=Missing("no pace")),
    )
    said = " / ".join(one.message for one in plan(of=of).findings)
    assert "1 internal topic is deleted with the records (an unknown size)" in said
    assert "records, how many is not known, are read again" in said
    assert "until it has caught up: not counted, how long is not known (no pace)" in said


def test_records_that_are_never_read_and_a_target_outside_the_log() -> None:
    """Both are for a person to weigh."""
    row = MovedOffset("orders", 0, "id-1", "99", start=0, stable=50, before=40, wanted=99, after=50)
    of = radius("offsets", offsets=(row,), counts=(CountedMove("orders", 0, 10, 0, at_least=True),))
    said = [one.message for one in plan("offsets", of=of).findings]
    assert "orders to 99: at least 10 records are never read, the target of orders-0 is outside the log" in said


def test_a_plan_survives_the_ledger_and_binds_its_targets() -> None:
    """Other targets are another plan; counts and sizes are not part of it."""
    made = plan()
    assert decode(Plan, encode(made)) == made
    assert plan(targets=(("orders", "latest"),)).digest != made.digest
    assert plan(of=radius(counts=())).digest == made.digest


def test_windows_that_may_drop_other_records_than_live_are_findings() -> None:
    """One for each known grace, one for all that are not declared, none for what is comparable."""
    late = LateForecast("counts", ("orders",), ("results",), 200, 9_000)
    undeclared = replace(late, store="sums", grace_ms=Missing("declare stores.sums.kind"))
    late_ones = (late, replace(late, store="sums", grace_ms=9_000), undeclared, replace(undeclared, store="totals"))
    found = [one for one in plan(of=radius(late=late_ones)).findings if one.id == "reset-drops-late"]
    assert [one.object for one in found] == ["counts", "orders"]
    assert "more than 0.2 s late" in found[0].message
    assert "up to 9.0 s apart; results may differ from what it was live" in found[0].message
    assert "stores sums, totals: whether late records are dropped is not known" in found[1].message
