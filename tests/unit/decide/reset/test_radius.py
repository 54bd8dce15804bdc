"""The blast radius of a reset: topics that go, stores, history, downstream, and the verdict.

Covers decide/reset/stores, decide/reset/pace, decide/reset/radius, decide/reset/late, decide/reset/restoring
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.reset.offsets import moved_offsets
from kstreams_runbooks.decide.reset.pace import catch_up, read_pace
from kstreams_runbooks.decide.reset.radius import Asked, blast_radius, made_topics, may_reset
from kstreams_runbooks.decide.reset.stores import repeats_count, restored_topics, table_inputs
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.input_offsets import InputPartition
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing, Taken, TopicReading
from kstreams_runbooks.model.readings.reset import (
    BlastRadius,
    CountedMove,
    LocalSize,
    MissingKeys,
    ReadPace,
    ResetFacts,
    ResetMode,
    RestoringLog,
    RunningUse,
    TopicUser,
)
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    StoreKind,
    Window,
)
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.present.blast_radius import as_text, document, exit_code
from world.samples import declared

# A count behind a repartition, a table of `customers`, a store of a processor, and a global table of `rates`.
TOPOLOGY = parse_topology("""Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [clicks])
      --> KSTREAM-KEY-SELECT-0000000001
    Processor: KSTREAM-KEY-SELECT-0000000001 (stores: [])
      --> counts-repartition-filter
      <-- KSTREAM-SOURCE-0000000000
    Processor: counts-repartition-filter (stores: [])
      --> counts-repartition-sink
      <-- KSTREAM-KEY-SELECT-0000000001
    Sink: counts-repartition-sink (topic: counts-repartition)
      <-- counts-repartition-filter

  Sub-topology: 1
    Source: counts-repartition-source (topics: [counts-repartition])
      --> KSTREAM-AGGREGATE-0000000003
    Source: KTABLE-SOURCE-0000000008 (topics: [customers])
      --> KTABLE-SOURCE-0000000009
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [counts])
      --> joined
      <-- counts-repartition-source
    Processor: KTABLE-SOURCE-0000000009 (stores: [customers-store])
      --> none
      <-- KTABLE-SOURCE-0000000008
    Processor: joined (stores: [customers-store])
      --> results-sink
      <-- KSTREAM-AGGREGATE-0000000003
    Sink: results-sink (topic: results)
      <-- joined

  Sub-topology: 2 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000011 (topics: [rates])
      --> KTABLE-SOURCE-0000000012
    Processor: KTABLE-SOURCE-0000000012 (stores: [rates-store])
      --> none
      <-- KSTREAM-SOURCE-0000000011
""")
CHANGELOG, TABLE, REPARTITION = (
    "orders-counts-changelog",
    "orders-customers-store-changelog",
    "orders-counts-repartition",
)
LOGGED = DeclaredStore(logging=True)
COUNTED = DeclaredStore(kind="key_value", aggregate="count", logging=True)
COUNTS = Declaration(stores={"counts": COUNTED, "customers-store": LOGGED})
REUSED = Declaration(stores={"counts": COUNTED}, config={"topology.optimization": "all"})
SIDE = Side(TOPOLOGY, COUNTS)


def topic(name: str) -> TopicReading:
    return TopicReading(name, f"id of {name}", 2)


def logs(**gone: int | Missing) -> tuple[RestoringLog, ...]:
    """The changelogs and the topic of the global table, whole but for these offsets of `counts`, `table`, `rates`."""
    return (
        RestoringLog(CHANGELOG, "compact", gone.get("counts", 0)),
        RestoringLog(TABLE, "compact", gone.get("table", 0)),
        RestoringLog("rates", "compact", gone.get("rates", 0)),
    )


def facts(**changes: Any) -> ResetFacts:
    """Two partitions of clicks and one of customers, whole logs, everything known."""
    inputs = (
        InputPartition("clicks", 0, "id-1", start=0, stable=50, committed=40),
        InputPartition("clicks", 1, "id-1", start=0, stable=60, committed=60),
        InputPartition("customers", 0, "id-2", start=0, stable=10, committed=10),
    )
    found = ResetFacts(
        taken=Taken(1_000, "test"),
        inputs=inputs,
        policies={"clicks": "delete", "customers": "compact"},
        internal=(topic(CHANGELOG), topic(REPARTITION), topic(TABLE)),
        sizes={CHANGELOG: 10, REPARTITION: 20, TABLE: 30},
        users=(),
        others=(),
        local=(LocalSize("orders-1", {"0_0": 2_000_000}), LocalSize("orders-2", Missing("not seen"))),
        pace=ReadPace(30.0, 10.0, 2),
        restoring=logs(),
    )
    return replace(found, **changes)


def radius(
    mode: ResetMode = "reset", targets: dict[str, str] | None = None, side: Side = SIDE, **changes: Any
) -> BlastRadius:
    """The radius with these targets (default: earliest), each offset counted as one record."""
    fleet = changes.pop("fleet", (entry(),))
    directories = changes.pop("directories", ())
    missing_keys = changes.pop("missing_keys", ())
    read = facts(**changes)
    wanted = dict.fromkeys(("clicks", "customers"), "earliest") if targets is None and mode == "reset" else targets
    rows = moved_offsets({name: parse_target(name, one, 10_000) for name, one in (wanted or {}).items()}, read.inputs)
    counts = []
    for row in rows:
        span = row.again or row.skipped or (0, 0)
        left = row.left or (0, 0)
        counts.append(CountedMove(row.topic, row.partition, span[1] - span[0], left[1] - left[0]))
    asked = Asked(entry(), mode, frozenset({"results"}), rows, tuple(counts), missing_keys, directories=directories)
    return blast_radius(asked, (side,), read, fleet_graph(fleet))


def entry() -> DeclaredApplication:
    return declared(inputs=("clicks", "customers"), outputs=("results",))


def fates(found: BlastRadius) -> dict[str, str]:
    return {one.store: one.fate for one in found.stores}


def local_fates(found: BlastRadius) -> dict[str, str]:
    """Without the global store."""
    return {name: fate for name, fate in fates(found).items() if name != "rates-store"}


def refused(found: BlastRadius, *said: str) -> None:
    verdict = may_reset(found)
    assert verdict.outcome is Outcome.REFUSE
    assert len(verdict.reasons) == len(said)
    for reason, expected in zip(verdict.reasons, said, strict=True):
        assert expected in reason


def test_what_a_topology_makes_and_reads() -> None:
    """Full names; a global table has neither a changelog nor an offset."""
    assert made_topics(SIDE, "orders") == {CHANGELOG, REPARTITION, TABLE}
    assert table_inputs(SIDE) == {"customers": True}
    assert restored_topics(SIDE) == {"rates"}


def test_a_reset_of_everything() -> None:
    """Internal topics go, state is rebuilt, and the records are caught up as fast as they were ever read."""
    found = radius()
    assert [one.name for one in found.deleted] == [CHANGELOG, REPARTITION, TABLE]
    assert [one.kind for one in found.internal] == ["changelog", "repartition", "changelog"]
    assert fates(found) == {"counts": "rebuilt", "customers-store": "rebuilt", "rates-store": "restored"}
    assert (found.catch_up.records, found.catch_up.seconds) == (120, 6.0)
    assert may_reset(found).outcome is Outcome.PROCEED
    assert decode(BlastRadius, encode(found)) == found


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        (
            {"users": (TopicUser(CHANGELOG, "thief", "classic", "Empty", commits=True, assigned=False),)},
            "has offsets on",
        ),
        ({"users": (TopicUser(CHANGELOG, "thief", "classic", "Stable", commits=False, assigned=True),)}, "reads it"),
        ({"others": (RunningUse(CHANGELOG, "billing", writes=True),)}, "billing writes it"),
        ({"others": (RunningUse(CHANGELOG, "billing", writes=False),)}, "billing reads it"),
        ({"fleet": (entry(), declared(name="billing", inputs=(CHANGELOG,)))}, "billing declares it"),
        ({"fleet": (entry(), declared(name="billing", outputs=(CHANGELOG,)))}, "billing declares it"),
    ],
)
def test_a_topic_that_another_uses_never_goes(changes: dict[str, Any], who: str) -> None:
    found = radius(**changes)
    assert CHANGELOG not in {one.name for one in found.deleted}
    refused(found, who)


def test_a_topic_goes_only_if_topology_and_cluster_agree() -> None:
    """One that is named like it alone stays, and one that does not exist is not there."""
    found = radius(internal=(topic(CHANGELOG), topic("orders-old-changelog")), sizes={CHANGELOG: 1})
    assert [one.name for one in found.deleted] == [CHANGELOG]
    assert "no topology that may have run last has it" in found.internal[1].why
    assert found.internal[1].bytes == Missing("no broker reports its size")
    assert may_reset(found).outcome is Outcome.PROCEED


def test_kept_state_counts_twice_what_is_read_again() -> None:
    """Refused with the count, if the release declares it; what is not declared is unknown; a table is read again."""
    found = radius("offsets", {"clicks": "-5"})
    assert local_fates(found) == {"counts": "doubled", "customers-store": "kept"}
    refused(found, "store counts: 10 records of clicks are counted twice with kept state (limit 0)")
    assert found.unmoved == ("customers",)
    assert not found.deleted
    unknown = radius("offsets", {"clicks": "-5"}, Side(TOPOLOGY))
    verdict = may_reset(unknown)
    assert (verdict.outcome, fates(unknown)["counts"]) == (Outcome.INCONCLUSIVE, "unknown")
    assert "declare stores.counts.aggregate" in verdict.reasons[0]
    table = radius("offsets", {"customers": "earliest"}, Side(TOPOLOGY, table_declared()))
    assert local_fates(table) == {"counts": "kept", "customers-store": "kept"}
    skipped = radius("offsets", {"clicks": "latest"})
    assert fates(skipped)["counts"] == "partly"
    assert may_reset(skipped).outcome is Outcome.PROCEED


def table_declared() -> Declaration:
    return Declaration(stores={**COUNTS.stores, "customers-store": DeclaredStore(source_table=True)})


@pytest.mark.parametrize(
    ("name", "store", "repeats"),
    [
        ("s", DeclaredStore(aggregate="count"), True),
        ("s", DeclaredStore(aggregate="none"), False),
        ("s", DeclaredStore(aggregation="reduce"), True),
        ("s", DeclaredStore(aggregation="none", aggregate="sum"), False),
        ("s", DeclaredStore(kind="join"), True),
        ("KSTREAM-JOINTHIS-0000000004-store", DeclaredStore(), True),
        ("KTABLE-SUPPRESS-STATE-STORE-0000000004", DeclaredStore(), False),
        ("closed-store", DeclaredStore(), False),
        ("x-subscription-store", DeclaredStore(), False),
        ("s", DeclaredStore(source_table=True), False),
        ("s", DeclaredStore(join="inner"), False),
        ("s", DeclaredStore(), None),
    ],
)
def test_whether_a_store_counts_a_record_twice(name: str, store: DeclaredStore, repeats: bool | None) -> None:
    suppressions = {"closed": DeclaredSuppression("until_window_closes")}
    assert repeats_count(name, Declaration(stores={name: store}, suppressions=suppressions)) is repeats


def test_a_store_without_a_changelog_is_destroyed_by_mode_state() -> None:
    """Refused, or named if its loss is declared acceptable."""
    without = (topic(REPARTITION), topic(TABLE))
    found = radius("state", internal=without)
    assert local_fates(found) == {"counts": "lost", "customers-store": "restored"}
    refused(found, f"store counts: {CHANGELOG}, which would restore it, does not exist: local disks alone")
    accepted = Declaration(stores={**COUNTS.stores, "counts": DeclaredStore(loss_acceptable=True)})
    verdict = may_reset(radius("state", side=Side(TOPOLOGY, accepted), internal=without))
    assert verdict.outcome is Outcome.PROCEED
    assert "lost, or perhaps lost, and accepted: counts" in verdict.reasons


@pytest.mark.parametrize(
    ("directories", "fate"), [(("0_",), "kept"), (("global",), "kept"), (("1_",), "lost"), (("0_", "1_1"), "lost")]
)
def test_a_store_whose_directories_stay_is_kept(directories: tuple[str, ...], fate: str) -> None:
    """Mode state with chosen task directories: only their stores are restored, or lost."""
    found = radius("state", internal=(topic(REPARTITION), topic(TABLE)), directories=directories)
    assert fates(found)["counts"] == fate
    assert fates(found)["rates-store"] == ("restored" if "global" in directories else "kept")


def test_a_source_that_is_its_own_changelog_keeps_its_content() -> None:
    """With topology.optimization a table has no changelog but its input, which never goes."""
    there = (topic(CHANGELOG), topic(REPARTITION))
    fates_by_mode: tuple[tuple[ResetMode, str], ...] = (("reset", "kept"), ("state", "restored"), ("retire", "kept"))
    for mode, fate in fates_by_mode:
        found = radius(mode, internal=there, side=Side(TOPOLOGY, REUSED))
        assert fates(found)["customers-store"] == fate
        assert [one.changelog for one in found.stores if one.store == "customers-store"] == ["customers"]
        assert "customers" not in {one.name for one in found.deleted}


def test_a_log_that_lost_records_restores_less_than_the_disks_have() -> None:
    """Mode state destroys that: refused with the count, or named if its loss is declared acceptable."""
    found = radius("state", restoring=logs(counts=7))
    assert local_fates(found) == {"counts": "lost", "customers-store": "restored"}
    refused(found, f"store counts: 7 offsets of {CHANGELOG} are gone, so what they held is on local disks alone")
    refused(radius("state", restoring=logs(rates=3)), "store rates-store: 3 offsets of rates are gone")
    accepted = Declaration(stores={**COUNTS.stores, "rates-store": DeclaredStore(loss_acceptable=True)})
    verdict = may_reset(radius("state", side=Side(TOPOLOGY, accepted), restoring=logs(rates=3)))
    assert (verdict.outcome, verdict.reasons[1:]) == (
        Outcome.PROCEED,
        ("lost, or perhaps lost, and accepted: rates-store",),
    )
    assert fates(radius("offsets", {"clicks": "-5"}, restoring=logs(rates=3)))["rates-store"] == "kept"


def test_what_only_local_disks_have_is_no_undo_either() -> None:
    """A reset builds a store without a changelog again; an undo before the deletion does not."""
    found = {one.store: one for one in radius(internal=(topic(REPARTITION), topic(TABLE))).stores}
    assert (found["counts"].fate, found["counts"].local_only) == (
        "rebuilt",
        f"{CHANGELOG}, which would restore it, does not exist: local disks alone have its content",
    )
    assert (found["customers-store"].local_only, found["rates-store"].local_only) == ("", "")
    lost = {one.store: one.local_only for one in radius(restoring=logs(counts=7, rates=3)).stores}
    assert "7 offsets" in lost["counts"]
    assert "3 offsets" in lost["rates-store"]
    assert all(one.local_only == "" for one in radius("offsets", {"clicks": "-5"}, restoring=logs(counts=7)).stores)


def test_a_changelog_that_was_not_read_is_not_taken_for_whole() -> None:
    for restoring, said in (((), "it was not read"), (logs(counts=Missing("no answer")), "no answer")):
        found = radius("state", restoring=restoring)
        verdict = may_reset(found)
        assert (verdict.outcome, fates(found)["counts"]) == (Outcome.INCONCLUSIVE, "unknown")
        assert said in verdict.reasons[0]
    found = radius(restoring=logs(rates=Missing("no answer")))
    assert (fates(found)["rates-store"], may_reset(found).outcome) == ("unknown", Outcome.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("kind", "policy", "fate"),
    [
        ("window", "compact,delete", "restored"),
        ("session", "compact,delete", "restored"),
        ("key_value", "compact,delete", "lost"),
        (None, "compact,delete", "unknown"),
        ("window", "compact", "lost"),
        (None, "compact", "lost"),
    ],
)
def test_a_window_store_drops_what_its_changelog_drops(kind: StoreKind | None, policy: str, fate: str) -> None:
    side = Side(TOPOLOGY, Declaration(stores={"counts": replace(LOGGED, kind=kind, retention_ms=3_600_000)}))
    restoring = (RestoringLog(CHANGELOG, policy, 9, 90_000_000), *logs()[1:])
    assert fates(radius("state", side=side, restoring=restoring))["counts"] == fate


# Whose records a store keeps for a day.
_SESSION = Window("session", 43_200_000, 43_200_000)


def _declared(**fields: Any) -> Side:
    return Side(TOPOLOGY, Declaration(stores={**COUNTS.stores, "counts": replace(COUNTED, **fields)}))


@pytest.mark.parametrize(
    ("side", "fate", "why"),
    [
        (_declared(logging=False), "lost", "it has no changelog: local disks alone have its content"),
        (_declared(logging=None), "unknown", "declare stores.counts.logging"),
        (_declared(logging=False, in_memory=True), "gone", "it is in memory without a changelog"),
    ],
)
def test_an_orphaned_changelog_is_no_copy(side: Side, fate: str, why: str) -> None:
    """The topic is there, with records: what was declared or read decides whether the store writes to it."""
    [found] = [one for one in radius("state", side=side).stores if one.store == "counts"]
    assert (found.fate, why in found.why) == (fate, True)


@pytest.mark.parametrize(
    ("store", "log", "fate"),
    [
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": 3_600_000}, "lost"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": 90_000_000}, "restored"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": None}, "unknown"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": None, "gone": 0}, "restored"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": Missing("hidden")}, "unknown"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": 3_600_000, "gone": 0}, "lost"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": 7_200_000, "gone": 0}, "restored"),
        ({"kind": "window", "retention_ms": 7_200_000}, {"retention_ms": 90_000_000, "limited_bytes": True}, "unknown"),
        ({"kind": "window"}, {"retention_ms": 3_600_000}, "unknown"),
        ({"kind": "window"}, {"retention_ms": 3_600_000, "gone": 0}, "unknown"),
        ({"kind": "window"}, {"retention_ms": None, "gone": 0}, "restored"),
        ({"kind": "window"}, {"policy": "compact", "retention_ms": 3_600_000, "gone": 0}, "restored"),
        ({"kind": "session", "window": _SESSION}, {"retention_ms": 3_600_000, "gone": 0}, "lost"),
        ({"kind": "session", "window": _SESSION}, {"retention_ms": 86_400_000}, "restored"),
        ({"kind": "session", "window": _SESSION}, {"policy": "", "gone": 0}, "unknown"),
        ({"kind": "versioned", "history_retention_ms": 60_000}, {"policy": "compact", "lag_ms": 0, "gone": 0}, "lost"),
        ({"kind": "versioned", "history_retention_ms": 60_000}, {"lag_ms": Missing("hidden")}, "unknown"),
        (
            {"kind": "versioned", "history_retention_ms": 60_000},
            {"policy": "compact", "lag_ms": 60_000, "gone": 0},
            "restored",
        ),
        (
            {"kind": "versioned", "history_retention_ms": 60_000},
            {"lag_ms": 60_000, "retention_ms": 1, "gone": 0},
            "lost",
        ),
        ({"kind": "versioned"}, {"policy": "compact", "lag_ms": 3_600_000, "gone": 0}, "unknown"),
        ({"kind": None}, {"policy": "compact", "lag_ms": 3_600_000, "gone": 0}, "unknown"),
        ({"kind": None}, {"policy": "compact", "lag_ms": Missing("hidden"), "gone": 0}, "unknown"),
        ({"kind": None}, {"policy": "compact", "gone": 0}, "restored"),
        ({"kind": None}, {"retention_ms": 3_600_000, "gone": 0}, "unknown"),
        ({"kind": "key_value"}, {"retention_ms": 3_600_000, "gone": 0}, "lost"),
        ({"kind": "key_value"}, {"policy": "delete", "retention_ms": 3_600_000, "gone": 0}, "lost"),
        ({"kind": "key_value"}, {"retention_ms": None, "limited_bytes": True, "gone": 0}, "lost"),
        ({"kind": "key_value"}, {"retention_ms": Missing("hidden"), "gone": 0}, "unknown"),
        ({"kind": "key_value"}, {"policy": "", "gone": 0}, "unknown"),
        ({"kind": "key_value"}, {"retention_ms": None, "gone": 0}, "restored"),
        ({"kind": "key_value"}, {"policy": "compact", "retention_ms": 3_600_000, "gone": 0}, "restored"),
    ],
)
def test_a_changelog_that_keeps_less_than_its_store_is_not_whole(
    store: dict[str, Any], log: dict[str, Any], fate: str
) -> None:
    """Its start has moved on; that alone is no loss of a store that expires as long as the log keeps what it does.

    A log that keeps less loses it until the run clears the state, also if nothing is gone yet.
    """
    found = replace(RestoringLog(CHANGELOG, "compact,delete", 9), **log)
    side = _declared(aggregate=None, **store)
    assert fates(radius("state", side=side, restoring=(found, *logs()[1:])))["counts"] == fate


@pytest.mark.parametrize(
    ("log", "fate"),
    [
        ({}, "restored"),
        ({"policy": "delete", "retention_ms": 3_600_000}, "lost"),
        ({"policy": "compact,delete", "retention_ms": Missing("hidden")}, "unknown"),
        ({"policy": "delete", "retention_ms": None}, "restored"),
        ({"policy": ""}, "unknown"),
    ],
)
def test_an_input_and_a_global_topic_that_delete_are_no_copies(log: dict[str, Any], fate: str) -> None:
    """A table keeps every key; a topic without a limit has them all."""
    there = (topic(CHANGELOG), topic(REPARTITION))
    restoring = (logs()[0], *(replace(RestoringLog(name, "compact", 0), **log) for name in ("customers", "rates")))
    found = fates(radius("state", internal=there, side=Side(TOPOLOGY, REUSED), restoring=restoring))
    assert (found["customers-store"], found["rates-store"]) == (fate, fate)


def test_a_table_that_its_input_restores_loses_what_its_input_lost() -> None:
    """Its keys are on local disks alone: a reset shows it, mode state refuses."""
    there = (topic(CHANGELOG), topic(REPARTITION))
    old = (*facts().inputs[:2], replace(facts().inputs[2], start=4))
    reused = Side(TOPOLOGY, REUSED)
    found = radius(internal=there, inputs=old, side=reused)
    assert fates(found)["customers-store"] == "partly"
    assert "not rebuilt in full: customers-store" in may_reset(found).reasons
    found = radius("state", internal=there, inputs=old, side=reused)
    refused(found, "store customers-store: 4 offsets of customers are gone")
    assert {one.store for one in found.stores if one.in_part} == {"customers-store"}, "the topic has the rest"


def test_history_that_retention_deleted_cannot_be_rebuilt() -> None:
    """By input and by store; an approval accepts it, so it does not refuse."""
    old = (replace(facts().inputs[0], start=30), *facts().inputs[1:])
    found = radius(inputs=old, oldest_ms={"clicks": 5_000})
    [gone] = found.history
    assert (gone.topic, gone.offsets, gone.partitions, gone.policy, gone.oldest_ms) == (
        "clicks",
        30,
        1,
        "delete",
        5_000,
    )
    assert local_fates(found) == {"counts": "partly", "customers-store": "rebuilt"}
    verdict = may_reset(found)
    assert verdict.outcome is Outcome.PROCEED
    assert "not rebuilt in full: counts" in verdict.reasons
    for policy in ("compact", "compact,delete"):
        compacted = radius(policies={"clicks": policy})
        assert "older values of its keys are gone" in next(one.why for one in compacted.stores if one.store == "counts")


def test_a_table_that_begins_later_lacks_keys() -> None:
    """They are named; if they cannot be counted the answer is not known."""
    found = radius(
        targets={"clicks": "earliest", "customers": "4"}, missing_keys=(MissingKeys("customers", 2, ("a",)),)
    )
    assert fates(found)["customers-store"] == "partly"
    text = as_text(found, may_reset(found))
    assert "table customers: 2 keys with their newest record before its target will be missing: a" in text
    unknown = radius(targets={"customers": "4"}, missing_keys=(MissingKeys("customers", Missing("too many")),))
    assert may_reset(unknown).outcome is Outcome.INCONCLUSIVE


def test_records_that_cannot_be_counted_are_not_known() -> None:
    """Each partition is named; a count of 0 is one."""
    found = radius()
    lost = replace(found.counts[0], moved=Missing("this login may not read clicks"))
    verdict = may_reset(replace(found, counts=(lost, *found.counts[1:])))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons == (
        "clicks-0: how many records are read again or skipped is not known: this login may not read clicks",
    )


def test_who_sees_results_again() -> None:
    """Entries of the fleet behind the outputs, and groups that read them; its own group is none of them."""
    users = (
        TopicUser("results", "billing-group", "classic", "Stable", commits=True, assigned=True),
        TopicUser("results", "someone", "consumer", "Empty", commits=True, assigned=False),
        TopicUser("results", "orders", "classic", "Stable", commits=True, assigned=True),
    )
    billing = declared(name="billing", application_id="billing-group", inputs=("results",), outputs=("bills",))
    fleet = (entry(), billing, declared(name="reports", application_id="reports", inputs=("bills",)))
    found = radius(users=users, fleet=fleet)
    assert [(one.group_id, one.entry) for one in found.readers] == [("billing-group", "billing"), ("someone", "")]
    assert [(one.entry, one.steps) for one in found.downstream] == [("billing", 1), ("reports", 2)]
    assert "results are seen again by billing, reports, someone" in may_reset(found).reasons


def test_windows_that_drop_late_records() -> None:
    """By the times that were read; an input that stays goes on now, and a reset by target alone has a history."""
    window = Window("tumbling", 10_000, 4_000)
    stores = {"counts": DeclaredStore(kind="window", aggregate="count", window=window)}
    topics = {"clicks": DeclaredTopic(timestamp_extractor=DEFAULT)}
    side = Side(TOPOLOGY, Declaration(stores=stores, topics=topics, config={}))
    read = facts()
    asked = Asked(entry(), "reset", frozenset({"results"}), radius(side=side).offsets)
    counts = (
        CountedMove("clicks", 0, 40, 50, after_ms=1_000, newest_ms=6_000),
        CountedMove("clicks", 1, 60, 60, after_ms=0, newest_ms=3_000),
    )
    found = blast_radius(replace(asked, counts=counts), (side,), read, fleet_graph((entry(),)))
    assert [(one.store, one.disorder_ms, one.comparable) for one in found.late] == [("counts", 6_000, False)]
    text = as_text(found, may_reset(found))
    assert "late records:\n  counts: NOT COMPARABLE: drops records that come more than 4.0 s late; the catch-up" in text
    [late] = document(found, may_reset(found))["late"]
    assert (late["disorder_ms"], late["comparable"]) == (6_000, False)
    [unread] = blast_radius(replace(asked, counts=counts[1:]), (side,), read, fleet_graph((entry(),))).late
    assert unread.disorder_ms == Missing("clicks-0: the times of its records were not read")
    assert radius("state", side=side).late == radius("retire", side=side).late == ()
    assert radius("offsets", {"customers": "earliest"}, side=side).late == ()
    assert "late records" not in as_text(radius(), may_reset(radius()))


def test_what_is_unknown_is_never_fine() -> None:
    """A problem of the reading, an end, a record count."""
    assert may_reset(radius(problems=("hidden",))).reasons == ("hidden",)
    broken = (replace(facts().inputs[0], stable=Missing("no leader")), *facts().inputs[1:])
    verdict = may_reset(radius(inputs=broken))
    assert (verdict.outcome, verdict.reasons) == (Outcome.INCONCLUSIVE, ("clicks-0: no leader",))
    assert exit_code(verdict) == 3


def test_the_answer_as_text_and_json() -> None:
    """The same facts in both; an unknown size is not a zero."""
    found = radius(pace=Missing("no reading"))
    verdict = may_reset(found)
    text = as_text(found, verdict).splitlines()
    assert text[0].startswith("[orders @ demo] PROCEED: mode reset")
    assert f"  {CHANGELOG} (id id of {CHANGELOG}, 2 partitions, 10 bytes): goes" in text
    assert "  clicks-0: earliest: 40 → 0 (40 records again, from the end to the end)" in text
    assert "  orders-1: 2.0 MB in 1 directory" in text
    assert "  orders-2: size not known: not seen" in text
    assert "  120 records to read; not known when: no reading" in text
    answer = document(found, verdict)
    assert (answer["verdict"], answer["taken_at_ms"], answer["mode"]) == ("proceed", 1_000, "reset")
    assert answer["catch_up"]["seconds"]["missing"] == "no reading"
    row = answer["offsets"][0]
    assert (row["topic"], row["direction"], row["records_moved"], row["records_left"]) == ("clicks", "back", 40, 50)
    assert "  3 stay: mode state deletes no topic" in as_text(radius("state"), verdict).splitlines()
    assert "  it does not start again" in as_text(radius("retire"), verdict).splitlines()


def kept(at_ms: int, committed: int | None, end: int, topic_id: str = "id") -> KeptReading:
    """A reading of the scheduled check with one partition."""
    row = PartitionLag("clicks", 0, "source", "ok", topic_id=topic_id, committed=committed, log_end_offset=end)
    return KeptReading(at_ms, ApplicationLag("orders", "orders", "classic", "Stable", (row,)))


def test_the_pace_is_the_highest_that_was_measured() -> None:
    """Between two readings in a row; what does not fit is left out."""
    pace = read_pace([kept(0, 0, 100), kept(1_000, 50, 110), kept(2_000, 60, 120)])
    assert pace == ReadPace(50.0, 10.0, 3)
    for readings in (
        [],
        [kept(0, 0, 1)],
        [kept(0, None, 1), kept(1_000, 1, 1)],
        [kept(0, 5, 9), kept(1_000, 1, 9)],
        [kept(0, 1, 9), kept(1_000, 5, 9, "other")],
        [kept(0, 1, 9), kept(0, 5, 9)],
    ):
        assert isinstance(read_pace(readings), Missing)


def test_an_application_at_the_end_of_its_inputs_shows_no_pace() -> None:
    """It reads what comes in: 300 records a second, and now and then some more that were on their way."""
    steady = [kept(60_000 * number, 18_000 * number + number % 2 * 60, 18_000 * number + 90) for number in range(6)]
    found = read_pace(steady)
    assert isinstance(found, Missing)
    assert "no two in a row have every offset and more to read than came in" in found.missing
    # An idle one that has read all shows none either, and one that catches up does, until it is at the end.
    assert isinstance(read_pace([kept(0, 50, 100), kept(1_000, 100, 100)]), Missing)
    behind = [kept(0, 0, 500_000), kept(10_000, 110_000, 503_000), kept(20_000, 505_900, 506_000)]
    assert read_pace([*behind, *steady]) == ReadPace(11_000.0, 300.0, 2)


def test_the_time_until_caught_up() -> None:
    """Records come in meanwhile; a pace that was no faster than they came shows no end."""
    pace = ReadPace(50.0, 10.0, 3)
    assert catch_up(400, pace).seconds == 10.0
    assert catch_up(0, Missing("none")).seconds == 0.0
    slow = catch_up(400, ReadPace(10.0, 10.0, 3)).seconds
    assert isinstance(slow, Missing)
    assert "no faster than 10.0 records/s came in" in slow.missing
    assert isinstance(catch_up(Missing("x"), pace).seconds, Missing)
    assert catch_up(400, Missing("none")).seconds == Missing("none")
