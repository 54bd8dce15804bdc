"""What a version shows of itself for known defects, and the defects that bite a change or what runs."""

import json
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.defects import (
    change_defects,
    defects_that_bite,
    defects_with,
    program_facts,
    settings_facts,
    together,
)
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import DefectEffect
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import declared, down, instance, reading
from world.sides import COUNTS, described

RULES = upgrade_path_rules()
STATELESS = """
Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> orders-sink
    Sink: orders-sink (topic: copied)
      <-- orders-source
"""
EOS = {"processing.guarantee": "exactly_once_v2"}


def side(text: str = COUNTS, library: str = "3.6.1", **changes: object) -> Side:
    return Side(parse_topology(text), Declaration(library=Release(library), **changes))  # type: ignore[arg-type]


def on_disk(in_memory: bool | None = False) -> dict[str, DeclaredStore]:
    return {"counts": DeclaredStore(in_memory=in_memory)}


@pytest.mark.parametrize(
    ("config", "fact", "values"),
    [
        ({}, "guarantee", ("at_least_once",)),
        (EOS, "guarantee", ("exactly_once_v2",)),
        ({}, "standbys", ("no",)),
        ({"num.standby.replicas": "1"}, "standbys", ("yes",)),
        ({"num.standby.replicas": "1", "group.protocol": "Streams"}, "standbys", None),
        ({"group.protocol": "Streams"}, "protocol", ("streams",)),
        ({"cache.max.bytes.buffering": "0"}, "caching", ("no",)),
        ({"statestore.cache.max.bytes": "1"}, "caching", None),
        ({"topology.optimization": "all"}, "restores_from_inputs", ("yes",)),
        ({"topology.optimization": "merge.repartition.topics"}, "restores_from_inputs", ("no",)),
        ({"state.cleanup.dir.max.age.ms": "86400000"}, "state_cleanup_age", ("yes",)),
        ({"state.cleanup.dir.max.age.ms": "-1"}, "state_cleanup_age", ("no",)),
        (None, "guarantee", None),
    ],
)
def test_settings_that_decide_a_fact(config: dict[str, str] | None, fact: str, values: tuple[str, ...] | None) -> None:
    """All settings are given, or none is known; a default counts as set."""
    assert settings_facts(Declaration(config=config)).get(fact) == values


def test_a_setting_whose_value_was_not_read_decides_nothing() -> None:
    """Its default is not what the program has."""
    facts = settings_facts(Declaration(config={}, not_read={"config.num.standby.replicas": "set by code"}))
    assert "standbys" not in facts
    assert facts["guarantee"] == ("at_least_once",)


@pytest.mark.parametrize(
    ("version", "stores"),
    [
        (side(STATELESS), ("none",)),
        (side(stores=on_disk()), ("persistent",)),
        (side(stores=on_disk(in_memory=True)), ("in_memory",)),
        (side(stores=on_disk(in_memory=None)), None),
        (side(), None),
    ],
)
def test_the_kind_of_stores(version: Side, stores: tuple[str, ...] | None) -> None:
    """Of a store that nothing is declared of, it is not known."""
    assert program_facts(version).get("stores") == stores


def test_punctuation_is_known_only_of_a_program_that_was_read() -> None:
    """No description shows it; a processor of the program may schedule it when it starts."""
    assert "stream_time_punctuation" not in program_facts(side(STATELESS))
    read = side(STATELESS, not_read={"topics.orders.partitions": "not in the program"})
    assert program_facts(read)["stream_time_punctuation"] == ("no",)
    own = side(STATELESS, not_read={"operators.mine.punctuators": "a processor schedules them when it starts"})
    assert "stream_time_punctuation" not in program_facts(own)


def test_of_two_versions_a_fact_has_both_values() -> None:
    """One that only one of them gives is not known."""
    assert together({"a": ("yes",), "b": ("no",)}, {"a": ("no",)}) == {"a": ("no", "yes")}
    assert together() == {}


def test_a_change_on_the_same_release_has_the_defects_of_a_stop() -> None:
    """And a release that is left behind is information; one whose release is not given has none to look up."""
    before, after = (side(stores=on_disk(), config=EOS) for _ in range(2))
    severities = {one.id: one.severity for one in change_defects(Compared(before, after), RULES)}
    assert severities["KAFKA-16017"] == severities["KAFKA-18943"] == "danger"
    assert severities["KAFKA-16699"] == "warning"
    newer = replace(after, declared=replace(after.declared, library=Release("4.4.0")))
    severities = {one.id: one.severity for one in change_defects(Compared(before, newer), RULES)}
    assert (severities["KAFKA-16017"], severities["KAFKA-16699"]) == ("danger", "info")
    assert "CVE-2026-111496" in severities
    bare = Side(before.topology)
    assert not list(change_defects(Compared(bare, bare), RULES))


def test_a_defect_that_refuses_the_target_is_a_finding_of_the_path_alone() -> None:
    """It is not told twice."""
    pair = Compared(side(library="4.2.1"), side(library="4.3.0"))
    assert "rocksdb-leak-4.3.0" not in {one.id for one in change_defects(pair, RULES)}
    back = Compared(side(library="4.3.0"), side(library="4.3.0"))
    assert "rocksdb-leak-4.3.0" in {one.id for one in change_defects(back, RULES)}


def ids(
    *versions: str, target: str = "", program: Declaration | None = None, guarantee: str = "unknown"
) -> dict[str, str]:
    now = reading(*(instance(f"orders-{number}", release=one) for number, one in enumerate(versions)))
    one = () if program is None else (described(declares=program),)
    found = defects_that_bite(now, declared(processing_guarantee=guarantee), one, RULES, target)
    return {one.id: one.severity for one in found}


def test_what_runs_is_judged_by_all_that_is_known_of_it() -> None:
    """The fleet entry has the guarantee, the program its stores; without the program they are not known."""
    program = Declaration(stores=on_disk(), config=EOS)
    assert ids("3.6.1", program=program, guarantee="exactly_once_v2")["KAFKA-16017"] == "danger"
    assert ids("3.6.1", guarantee="exactly_once_v2")["KAFKA-16017"] == "warning"
    assert "KAFKA-16017" not in ids("3.6.1", guarantee="at_least_once")
    in_memory = Declaration(stores=on_disk(in_memory=True), config=EOS)
    assert "KAFKA-16017" not in ids("3.6.1", program=in_memory)


def test_a_setting_of_the_deployer_may_be_another_than_that_of_the_entry() -> None:
    """Both count: in the middle of a change either may be in effect."""
    now = reading(instance("orders-1", release="3.6.1", settings=(("processing.guarantee", "exactly_once_v2"),)))
    found = defects_that_bite(now, declared(processing_guarantee="at_least_once"), (), RULES)
    assert "KAFKA-18943" in {one.id for one in found}


def test_a_setting_that_a_plan_brings_counts_too() -> None:
    """The program has no standbys, and the plan gives it some; what the plan does not give is as it was."""
    program = Declaration(stores=on_disk(), config=EOS)
    now = reading(instance("orders-1", release="4.1.1"))
    without, brought = (
        {one.id for one in defects_that_bite(now, declared(), (described(declares=program),), RULES, "4.1.1", settings)}
        for settings in ((("commit.interval.ms", "100"),), (("num.standby.replicas", "1"),))
    )
    assert brought - without == {"KAFKA-19960"}
    assert without < brought


def test_several_running_releases_have_the_worst_of_their_findings() -> None:
    """In a roll, one release is left and the other stays."""
    mixed = ids("3.6.1", "3.9.2", target="3.9.2", guarantee="exactly_once_v2")
    assert mixed["KAFKA-18943"] == "danger"
    assert "KAFKA-18943" not in ids("3.9.2", target="3.9.2", guarantee="exactly_once_v2")


def test_a_streams_group_on_brokers_with_a_defect() -> None:
    """The group and the brokers are read, not declared."""
    now = reading(instance("orders-1", release="4.3.1"))
    assert not isinstance(now.group, Missing)
    assert not isinstance(now.broker, Missing)
    streams = replace(now, group=replace(now.group, type="streams"), broker=replace(now.broker, version="4.2.0"))
    found = {one.id: one.message for one in defects_that_bite(streams, declared(), (), RULES)}
    assert not found["group-migration-4.2.0"].startswith("May apply")
    assert "group-migration-4.2.0" not in {one.id for one in defects_that_bite(now, declared(), (), RULES)}


def test_without_a_running_release_only_the_target_is_judged() -> None:
    """Nothing tells what an instance runs that is down."""
    now = reading(down("orders-1"), down("orders-2"))
    assert not [one for one in defects_that_bite(now, declared(), (), RULES) if "broker" not in one.object]
    assert "CVE-2026-111496" in {one.id for one in defects_that_bite(now, declared(), (), RULES, "4.3.1")}


def test_the_decision_can_be_made_again_from_the_evidence() -> None:
    """With its rules, as each decision."""
    inputs = {
        "reading": reading(),
        "declared": declared(),
        "versions": (described(declares=Declaration(stores=on_disk(), config=EOS)),),
        "rules": RULES,
        "target": "4.3.1",
    }
    made = defects_that_bite(**inputs)  # type: ignore[arg-type]
    assert made
    kept = json.loads(json.dumps(encode_call(defects_that_bite, inputs, made)))
    assert call_again(defects_that_bite, kept) == encode(made)


def test_what_one_instance_or_the_plan_alone_is_given_takes_no_row_away() -> None:
    """The others may have another value, and no description shows it."""
    both = reading(
        instance("orders-1", release="4.1.1", settings=(("num.standby.replicas", "0"),)),
        instance("orders-2", release="4.1.1"),
    )
    ids_of_one = {one.id for one in defects_that_bite(both, declared(), (), RULES)}
    assert {"KAFKA-19960", "KAFKA-21276"} <= ids_of_one
    planned = (("processing.guarantee", "exactly_once_v2"),)
    now = reading(instance("orders-1", release="4.0.1"))
    unknown = declared(processing_guarantee="unknown")
    assert "KAFKA-19479" in {one.id for one in defects_that_bite(now, unknown, (), RULES, "4.0.1", planned)}


def test_a_description_that_no_parser_reads_leaves_the_program_unknown() -> None:
    """Others report it; the rows may apply."""
    broken = replace(described(), text="Topologies:\n  what is this\n")
    now = reading(instance("orders-1", release="4.1.1"))
    assert defects_that_bite(now, declared(), (broken,), RULES)


def ended(cleanly: bool | Missing, release: str = "3.9.1") -> InstanceReading:
    found = down("orders-1", release=release)
    assert isinstance(found.deployment, Deployment)
    return replace(found, deployment=replace(found.deployment, ended_cleanly=cleanly))


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (ended(cleanly=False), True),
        (ended(Missing("its deployer does not report how its process ended")), True),
        (ended(cleanly=True), False),
        (ended(cleanly=False, release="3.4.1"), False),
        (ended(cleanly=False, release="4.3.1"), False),
        (instance("orders-1", release="3.9.1"), False),
    ],
    ids=["killed", "not known", "clean", "before the defect", "fixed", "runs"],
)
def test_an_instance_that_was_killed_is_named(one: InstanceReading, *, shown: bool) -> None:
    """Whoever starts it next deletes its directories first; a run does."""
    entry = declared(processing_guarantee="exactly_once_v2", releases=("3.4.1", "3.9.1", "4.3.1"))
    found = defects_that_bite(reading(one, instance("orders-2", release="3.9.1")), entry, (), RULES)
    assert [one.object for one in found if one.id == "state-after-kill"] == (["orders-1"] if shown else [])


def test_at_least_once_needs_no_deletion_after_a_kill() -> None:
    """Records are processed again in any case."""
    found = defects_that_bite(reading(ended(cleanly=False)), declared(processing_guarantee="at_least_once"), (), RULES)
    assert "state-after-kill" not in {one.id for one in found}


@pytest.mark.parametrize(
    ("effect", "library", "defects"),
    [
        ("no_stop_while_restoring", "3.6.1", ("KAFKA-16017",)),
        ("no_stop_while_restoring", "3.6.2", ()),
        ("no_stop_while_restoring", "4.0.1", ("KAFKA-19960",)),
        ("expect_full_restore", "4.3.0", ("KAFKA-20663", "KAFKA-20805")),
        ("expect_full_restore", "4.4.0", ()),
        ("clear_state_before_start", "as-deployed", ("release-not-known",)),
    ],
)
def test_what_is_done_differently_hangs_on_the_release(
    effect: DefectEffect, library: str, defects: tuple[str, ...]
) -> None:
    """A need that is not known keeps the defect; a release that is not known may have one."""
    assert defects_with(effect, library, {"guarantee": ("exactly_once_v2",)}, RULES) == defects


def test_defects_of_brokers_count_if_their_release_is_asked_for() -> None:
    """One that is not known may have them."""
    facts = {"protocol": ("streams",), "stateful": ("yes",), "stores": ("in_memory",)}
    assert defects_with("expect_full_restore", "4.4.0", facts, RULES, "4.3") == ("KAFKA-20899",)
    assert defects_with("expect_full_restore", "4.4.0", facts, RULES, Missing("no brokers")) == ("KAFKA-20899",)
    assert defects_with("expect_full_restore", "4.4.0", facts, RULES, "4.0") == ()
