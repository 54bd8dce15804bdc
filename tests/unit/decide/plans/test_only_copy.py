"""A plan that loses what only local disks have: refused, accepted by name, or inconclusive.

Covers decide/plans/only_copy
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.comparison.setting_facts import DEFAULTS
from kstreams_runbooks.decide.plans.only_copy import (
    given_up,
    given_up_in_part,
    losing,
    may_lose_state,
    restoring_topics,
    state_elsewhere,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared, reading
from world.sides import BEFORE, COUNTS, known

KNOWN = known(orders=4, orders_counts_changelog=4, orders_by_customer_repartition=4)
LOG = "orders-counts-changelog"
WHOLE = {LOG: RestoringLog(LOG, "compact", 0)}


def version(**store: bool | str | int | None) -> Described:
    """The running version, with these facts of its one store."""
    one = BEFORE.declaration.stores["counts"]
    return replace(BEFORE, declared=replace(BEFORE.declaration, stores={"counts": replace(one, **store)}))  # type: ignore[arg-type]


def plan(*, at_once: bool = True, static: bool = True, clears: TaskDirectories | None = None) -> Plan:
    """A restart of two instances that deletes these directories."""
    made = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=at_once, restart=not at_once)
    bounces = tuple(replace(one, deletes=clears) if clears else one for one in made.bounces)
    costs = tuple(replace(cost, session_ms=900_000, session_source="declared for its release") for cost in made.costs)
    return replace(made, stages=bounces, costs=costs, facts=replace(made.facts, static_membership=static))


CLEARED, ELSEWHERE = TaskDirectories(("1_",), (LOG,)), TaskDirectories(("0_",))


def judged(
    made: Plan,
    before: Described | Missing,
    *named: str,
    logs: dict[str, RestoringLog] | Missing = WHOLE,
    **more: Any,
) -> Verdict:
    return may_lose_state(made, (before,), KNOWN, logs, named, "ada", **more)


def test_a_deleted_directory_with_the_only_copy_is_refused() -> None:
    """The store, why, what the run does, and what to do instead come first; the command accepts exactly that."""
    verdict = judged(plan(clears=CLEARED), version(logging=False))
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    assert reason.startswith(
        "store counts: it has no changelog: local disks alone have its content, and stop_and_restart"
    )
    assert "deletes task directories 1_*" in reason
    assert "Instead, local_state=keep keeps the files; or switch logging on first" in reason
    assert "--param lose_state=counts" in reason


def test_a_deployer_that_keeps_no_copy_says_what_a_person_does() -> None:
    """In the refusal, and to the approver of a store that the form names; one that keeps a copy offers it."""
    cleared = replace(plan(clears=CLEARED), runbook="undo")
    [refused] = judged(cleared, version(logging=False)).reasons
    assert "Instead, start from a copy of the directories (this run keeps one aside if the form names the store)" in (
        refused
    )
    by_hand = "copy the directories aside while the instances are stopped (this run keeps no copy"
    [refused] = judged(cleared, version(logging=False), keeps_aside=False).reasons
    assert f"Instead, {by_hand}" in refused
    [accepted] = judged(cleared, version(logging=False), "counts", keeps_aside=False).findings
    assert by_hand in accepted.message
    [accepted] = judged(cleared, version(logging=False), "counts").findings
    assert "aside" not in accepted.message
    moves = judged(plan(at_once=False, static=False), version(logging=False), "counts", keeps_aside=False)
    assert not any("aside" in one.message for one in moves.findings), "nothing is deleted: nothing has to be kept"


def test_its_name_in_the_form_accepts_it() -> None:
    """The approval shows who did, and the plan binds the store."""
    verdict = judged(plan(clears=CLEARED), version(logging=False), "counts")
    assert verdict.outcome is Outcome.PROCEED
    [finding] = verdict.findings
    assert (finding.severity, finding.object) == ("danger", "counts")
    assert "store counts begins empty" in finding.message
    assert "accepted in the form by ada; no undo brings it back" in finding.message
    assert given_up(verdict.findings) == ("counts",)
    declared_so = judged(plan(clears=CLEARED), version(logging=False, loss_acceptable=True))
    assert "accepted by its declaration" in declared_so.findings[0].message


@pytest.mark.parametrize("store", [{"logging": True}, {"logging": False, "in_memory": True}])
def test_the_form_may_not_name_a_store_that_keeps_its_content(store: dict[str, bool]) -> None:
    """A wrong name is bad input, with those that would be right."""
    with pytest.raises(BadInput, match=r"lose_state: store counts keeps its content .* begin empty: none"):
        judged(plan(clears=CLEARED), version(**store), "counts")
    with pytest.raises(BadInput, match=r"store totals keeps its content .* begin empty: counts"):
        judged(plan(clears=CLEARED), version(logging=False), "counts", "totals")


@pytest.mark.parametrize(
    ("store", "logs"),
    [
        ({"logging": True}, WHOLE),
        ({"logging": False, "in_memory": True}, WHOLE),
        # The start of an expiring store's log moves on.
        (
            {"logging": True, "kind": "window", "retention_ms": 3_600_000},
            {LOG: RestoringLog(LOG, "compact,delete", 9, 90_000_000)},
        ),
    ],
)
def test_what_a_topic_restores_is_not_lost(store: dict[str, bool], logs: dict[str, RestoringLog]) -> None:
    """Nor is a store in memory, which each restart empties anyway."""
    verdict = judged(plan(clears=CLEARED), version(**store), logs=logs)
    assert verdict.outcome is Outcome.PROCEED
    assert "state-given-up" not in {one.id for one in verdict.findings}


@pytest.mark.parametrize(
    ("logs", "outcome", "why"),
    [
        ({}, Outcome.REFUSE, f"{LOG}, which would restore it, does not exist"),
        ({LOG: RestoringLog(LOG, "compact", 7)}, Outcome.REFUSE, f"7 offsets of {LOG} are gone"),
        (Missing("hidden"), Outcome.INCONCLUSIVE, "hidden"),
    ],
)
def test_a_changelog_that_is_not_whole_is_no_copy(
    logs: dict[str, RestoringLog] | Missing, outcome: Outcome, why: str
) -> None:
    """One decision for every runbook that clears state."""
    verdict = judged(plan(clears=CLEARED), version(logging=True), logs=logs)
    assert verdict.outcome is outcome
    assert why in verdict.reasons[0]


@pytest.mark.parametrize(
    ("store", "log", "outcome", "why"),
    [
        (
            {"kind": "window"},
            ("compact,delete", 9, 3_600_000),
            Outcome.INCONCLUSIVE,
            "declare stores.counts.retention_ms",
        ),
        (
            {"kind": "versioned"},
            ("compact", 0, None, 3_600_000),
            Outcome.INCONCLUSIVE,
            "declare stores.counts.history_retention_ms",
        ),
        (
            {"kind": "session", "retention_ms": 86_400_000},
            ("compact,delete", 0, 3_600_000),
            Outcome.REFUSE,
            "set retention.ms of the topic to 86400000 first",
        ),
        ({}, ("compact,delete", 0, 3_600_000), Outcome.REFUSE, "set cleanup.policy=compact on the topic first"),
        ({}, ("", 0), Outcome.INCONCLUSIVE, "grant this login DescribeConfigs on Topic orders-counts-changelog"),
    ],
)
def test_a_log_that_keeps_less_than_its_store_stops_a_deletion(
    store: dict[str, Any], log: tuple[Any, ...], outcome: Outcome, why: str
) -> None:
    """Also while nothing of it is gone: an approval waits for hours, and the broker deletes meanwhile."""
    verdict = judged(plan(clears=CLEARED), version(logging=True, **store), logs={LOG: RestoringLog(LOG, *log)})
    assert verdict.outcome is outcome
    assert why in verdict.reasons[0]
    assert "state-restored-from" not in {one.id for one in verdict.findings}


def test_a_store_that_is_restored_in_part_is_not_called_empty_or_restored() -> None:
    """The approver reads one sentence about it."""
    short = {LOG: RestoringLog(LOG, "compact", 7)}
    [reason] = judged(plan(clears=CLEARED), version(logging=True), logs=short).reasons
    assert "it would begin without what its files alone have" in reason
    assert "or let every key be written once first" in reason
    assert "switch logging on" not in reason
    [finding] = judged(plan(clears=CLEARED), version(logging=True), "counts", logs=short).findings
    assert finding.message.startswith(
        f"store counts begins without what its files alone have: 7 offsets of {LOG} are gone"
    )
    assert (given_up([finding]), given_up_in_part([finding])) == (("counts",), ("counts",))
    emptied = replace(plan(clears=CLEARED), emptied=("counts", "totals"), in_part=given_up_in_part([finding]))
    assert emptied.losses == ("counts begins without what its files alone have", "totals begins empty")


def test_the_plan_names_the_topic_that_restores_each_store() -> None:
    """By the facts: a reused source topic is not called a changelog, and a store without a topic is not among them."""
    source = "by-customer-repartition"
    reused = version(logging=None, changelog=source, source_table=True)
    whole = {source: RestoringLog(source, "compact", 0)}
    for one, logs, topic in ((version(logging=True), WHOLE, LOG), (reused, whole, source)):
        [named] = [found for found in judged(plan(clears=CLEARED), one, logs=logs).findings if found.severity == "info"]
        assert (named.id, named.object) == ("state-restored-from", "orders")
        assert named.message.endswith(f": counts from {topic}")
    lost = judged(plan(clears=CLEARED), version(logging=False), "counts")
    assert "state-restored-from" not in {found.id for found in lost.findings}
    assert judged(plan(clears=ELSEWHERE), version(logging=True)).findings == ()


def test_undeclared_logging_stops_a_deletion_and_asks_for_the_field() -> None:
    """A topic of that name may be left from before logging was switched off."""
    verdict = judged(plan(clears=CLEARED), version(logging=None))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "declare stores.counts.logging" in verdict.reasons[0]
    assert judged(plan(clears=CLEARED), version(logging=None), "counts").outcome is Outcome.PROCEED


def test_directories_of_other_stores_touch_nothing() -> None:
    """Nothing is asked of a store whose files stay."""
    one = replace(plan(at_once=False, static=True), stages=plan(at_once=False, clears=ELSEWHERE).stages)
    for logging in (None, False):
        assert judged(one, version(logging=logging)).outcome is Outcome.PROCEED


def test_a_roll_with_dynamic_membership_moves_tasks() -> None:
    """A store without a changelog is lost at each move; static membership keeps the task, and topics restore others."""
    rolled = plan(at_once=False, static=False)
    assert judged(rolled, version(logging=False)).outcome is Outcome.REFUSE
    assert "use static membership" in judged(rolled, version(logging=False)).reasons[0]
    assert judged(rolled, version(logging=True), logs={}).outcome is Outcome.PROCEED
    assert losing(plan(at_once=False, static=True)) == ()
    alone = replace(rolled, facts=replace(rolled.facts, instances=rolled.facts.instances[:1]))
    assert losing(alone) == ()


@pytest.mark.parametrize(
    ("gap_s", "session_ms", "outcome", "sentence"),
    [
        ((2, 10), 10_000, Outcome.PROCEED, ""),
        ((2, 10), 9_000, Outcome.INCONCLUSIVE, "others take its tasks after session.timeout.ms 9,000"),
        ((10, 12), 9_000, Outcome.REFUSE, "away for up to 12 s, and others take its tasks after session"),
        ((2, 10), None, Outcome.INCONCLUSIVE, "whether session.timeout.ms covers that is not known (no agent)"),
    ],
)
def test_static_membership_keeps_a_task_within_its_session_alone(
    gap_s: tuple[int, int], session_ms: int | None, outcome: Outcome, sentence: str
) -> None:
    """The timeout of one instance is enough to lose its stores; topics restore others."""
    rolled = plan(at_once=False)
    first, *others = rolled.costs
    rolled = replace(
        rolled, costs=(replace(first, gap_s=gap_s, session_ms=session_ms, session_source="no agent"), *others)
    )
    verdict = judged(rolled, version(logging=False))
    assert verdict.outcome is outcome
    assert sentence in " ".join(verdict.reasons)
    assert judged(rolled, version(logging=True), logs={}).outcome is Outcome.PROCEED
    assert judged(rolled, version(logging=False), *(["counts"] if sentence else [])).outcome is Outcome.PROCEED
    alone = replace(rolled, facts=replace(rolled.facts, instances=rolled.facts.instances[:1]))
    assert judged(alone, version(logging=False)).outcome is Outcome.PROCEED


def test_a_move_with_undeclared_logging_is_not_known_as_a_deletion_is() -> None:
    """The library switches logging on by default, and a program may switch it off: the field decides, or a person."""
    rolled = plan(at_once=False, static=False)
    verdict = judged(rolled, version(logging=None))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "declare stores.counts.logging" in verdict.reasons[0]
    assert "--param lose_state=counts" in verdict.reasons[0]
    assert judged(rolled, version(logging=None), "counts").outcome is Outcome.PROCEED
    assert judged(plan(at_once=False), version(logging=None)).outcome is Outcome.PROCEED


def test_a_person_who_is_asked_anyway_decides_about_a_move_of_which_nothing_is_known() -> None:
    """An undo at night is not stopped by logging that was never declared; a deletion and a certain loss are."""
    rolled = plan(at_once=False, static=False)
    asked = judged(rolled, version(logging=None), unread=True)
    assert (asked.outcome, [one.id for one in asked.findings]) == (Outcome.PROCEED, ["state-copies-not-known"])
    assert "stores.counts.logging" in asked.findings[0].message
    assert judged(rolled, version(logging=False), unread=True).outcome is Outcome.REFUSE
    assert judged(plan(clears=CLEARED), version(logging=None), unread=True).outcome is Outcome.INCONCLUSIVE


def test_a_start_of_all_may_give_a_task_to_another_instance() -> None:
    """Which one gets a task without a changelog is not known, and what a topic restores may go anywhere."""
    made = plan()
    start = StartAll(1, made.bounces[0].release, made.bounces[0].settings)
    together = replace(made, stages=(start,))
    verdict = judged(together, version(logging=False))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a start of all instances may give a task to another one than before: it may begin empty" in verdict.text
    assert judged(together, version(logging=True), logs={}).outcome is Outcome.PROCEED
    alone = replace(together, facts=replace(together.facts, instances=together.facts.instances[:1]))
    assert judged(alone, version(logging=False)).outcome is Outcome.PROCEED


@pytest.mark.parametrize("at_once", [True, False])
def test_a_container_created_again_without_a_volume_is_refused(at_once: bool) -> None:
    """As declared of the deployer: the files are gone with the first stop, also in a roll with static membership."""
    verdict = judged(plan(at_once=at_once), version(logging=False), keeps_state=False)
    assert verdict.outcome is Outcome.REFUSE
    assert "deployer.keeps_state: false" in verdict.text
    assert "give each instance a volume that stays" in verdict.text
    unlogged = judged(plan(at_once=at_once), version(logging=None), keeps_state=False)
    assert unlogged.outcome is Outcome.INCONCLUSIVE
    assert judged(plan(at_once=at_once), version(logging=True), keeps_state=False).outcome is Outcome.PROCEED
    short = judged(plan(at_once=at_once), version(logging=True), logs={}, keeps_state=False)
    assert short.outcome is Outcome.REFUSE


def test_a_deployer_that_does_not_show_its_volumes_makes_an_unlogged_store_not_known() -> None:
    """A changelog restores any other store, so nothing is asked of it."""
    verdict = judged(plan(at_once=False), version(logging=False), keeps_state=None)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "whether a started instance finds the state of before is not known" in verdict.text
    assert "declare deployer.keeps_state" in verdict.text
    assert judged(plan(at_once=False), version(logging=False), keeps_state=True).outcome is Outcome.PROCEED
    assert judged(plan(at_once=False), version(logging=True), logs={}, keeps_state=None).outcome is Outcome.PROCEED
    named = judged(plan(at_once=False), version(logging=False), "counts", keeps_state=None)
    assert "store counts may begin empty" in named.findings[0].message


def shows(**config: str) -> FactsReading:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    return FactsReading(Taken(1, "test"), "client", Declaration(config={"application.id": "orders", **settings}))


@pytest.mark.parametrize(
    ("config", "own"),
    [
        ({"state_dir": DEFAULTS["state.dir"]}, DEFAULTS["state.dir"]),
        ({}, DEFAULTS["state.dir"]),
        ({"state_dir": "/state-of-orders"}, "/state-of-orders"),
        ({"state_dir": "data"}, "data"),
        ({"state_dir": "/data/state"}, ""),
        ({"state_dir": "/data/state/"}, ""),
        ({"state_dir": "./state"}, ""),
    ],
)
def test_the_directory_of_a_program_is_compared_with_the_declared_one(config: dict[str, str], own: str) -> None:
    """The default of the library without a setting; a relative one that may be the same is not another one."""
    able = Abilities(True, True, True, True, True, state_dirs=(("orders-1", "/data/state"),))
    found = state_elsewhere(able, {"orders-1": shows(**config)})
    said = f"orders-1 keeps its state in {own} (state.dir of its program), not in /data/state"
    assert found == ((said,) if own else ())


def test_a_directory_that_is_not_known_is_not_compared() -> None:
    """No facts, a setting that was not read, and a deployer that declares none."""
    able = Abilities(True, True, True, True, True, state_dirs=(("orders-1", "/data/state"),))
    hidden = replace(shows(), read=Declaration(config={"a": "b"}, not_read={"config.state.dir": "of a provider"}))
    empty = replace(shows(), read=Declaration(config={}))
    for read in ({}, {"orders-1": Missing("no jar")}, {"orders-1": hidden}, {"orders-1": empty}):
        assert state_elsewhere(able, read) == ()
    assert state_elsewhere(replace(able, state_dirs=()), {"orders-1": shows()}) == ()


ELSEWHERE_NAMED = ("orders-1 keeps its state in /tmp/kafka-streams (state.dir of its program), not in /state",)


def test_state_in_another_directory_is_not_cleared_by_a_run() -> None:
    """An older version would start on files that it cannot open; no acceptance of a loss changes that."""
    verdict = judged(plan(clears=CLEARED), version(logging=True), elsewhere=ELSEWHERE_NAMED)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "clears local state where it is not: orders-1 keeps its state in /tmp/kafka-streams" in verdict.text
    assert "declare the directory of the program in the fleet entry" in verdict.text
    named = judged(plan(clears=CLEARED), version(logging=False), "counts", elsewhere=ELSEWHERE_NAMED, unread=True)
    assert named.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("store", "keeps", "outcome"),
    [
        ({"logging": False}, False, Outcome.INCONCLUSIVE),
        ({"logging": None}, False, Outcome.INCONCLUSIVE),
        ({"logging": True}, False, Outcome.PROCEED),
        ({"logging": False, "in_memory": True, "loss_acceptable": True}, False, Outcome.PROCEED),
        ({"logging": False}, True, Outcome.PROCEED),
    ],
)
def test_state_in_the_own_layer_of_a_container_may_be_lost(
    store: dict[str, Any], keeps: bool, outcome: Outcome
) -> None:
    """Each change makes another container. A host keeps what is elsewhere; the approver reads where it is."""
    verdict = judged(plan(at_once=False), version(**store), elsewhere=ELSEWHERE_NAMED, keeps_elsewhere=keeps)
    assert verdict.outcome is outcome
    assert [(one.id, one.severity) for one in verdict.findings] == [("state-elsewhere", "warning")]
    assert ("which the next container has only if it is mounted there" in verdict.text) == (
        outcome is not Outcome.PROCEED
    )
    assert judged(plan(at_once=False), version(**store), keeps_elsewhere=keeps).outcome is Outcome.PROCEED


def test_a_store_in_memory_without_a_changelog_is_a_warning_until_it_is_declared() -> None:
    """Also if no file is touched: the restart itself loses it. Nothing is refused."""
    verdict = judged(plan(at_once=False), version(logging=False, in_memory=True))
    assert verdict.outcome is Outcome.PROCEED
    assert [(one.id, one.severity) for one in verdict.findings] == [("only-copy-in-memory", "warning")]
    for quiet in (
        version(logging=False, in_memory=True, loss_acceptable=True),
        version(logging=True, in_memory=True),
        version(logging=False),
    ):
        assert judged(plan(at_once=False), quiet).findings == ()
    assert judged(replace(plan(), stages=()), version(logging=False, in_memory=True)).findings == ()


def test_another_state_dir_leaves_every_file() -> None:
    """It is set by the run; the files stay where nothing reads them."""
    made = plan(at_once=False)
    moved = replace(made, stages=tuple(replace(one, settings=(("state.dir", "/b"),)) for one in made.bounces))
    verdict = judged(moved, version(logging=False))
    assert verdict.outcome is Outcome.REFUSE
    assert "state.dir becomes /b" in verdict.reasons[0]
    assert "move the directory on every instance" in verdict.reasons[0]
    assert judged(moved, version(logging=True)).outcome is Outcome.PROCEED
    not_known = judged(moved, version(logging=None))
    assert not_known.outcome is Outcome.INCONCLUSIVE
    assert "declare stores.counts.logging" in not_known.text


def test_a_version_without_a_description_stops_a_deletion() -> None:
    """Which stores it has is not known; the form names those that may begin empty."""
    unknown = Missing("no topology command")
    verdict = judged(plan(clears=CLEARED), unknown)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no topology command" in verdict.reasons[0]
    assert judged(plan(clears=CLEARED), unknown, "counts").outcome is Outcome.PROCEED
    rolled = plan(at_once=False, static=False)
    assert judged(rolled, unknown).outcome is Outcome.INCONCLUSIVE
    asked = judged(rolled, unknown, unread=True)
    assert (asked.outcome, [one.id for one in asked.findings]) == (Outcome.PROCEED, ["state-copies-not-known"])
    assert judged(plan(clears=CLEARED), unknown, unread=True).outcome is Outcome.INCONCLUSIVE
    assert judged(plan(at_once=False), unknown).outcome is Outcome.PROCEED


def test_the_topics_that_restore_the_stores() -> None:
    """By their full names, of the facts."""
    assert restoring_topics([version(logging=True)], KNOWN) == {LOG}
    assert restoring_topics([version(logging=False)], KNOWN) == frozenset()
    assert Declaration(stores={"counts": DeclaredStore()}) != BEFORE.declaration


ELSEWHERE_NOW = COUNTS.replace("Sub-topology: 1", "Sub-topology: 2").replace(
    "  Sub-topology: 2", "  Sub-topology: 1\n    Source: audit (topics: [orders])\n      --> none\n\n  Sub-topology: 2"
)


@pytest.mark.parametrize(("logging", "outcome"), [(False, Outcome.REFUSE), (None, Outcome.INCONCLUSIVE)])
def test_an_undo_that_leaves_the_files_of_a_store_is_refused(logging: bool | None, outcome: Outcome) -> None:
    """The version before has the store in another subtopology; what the form names goes on."""
    now = replace(version(logging=logging), text=ELSEWHERE_NOW)
    before = version(logging=logging)
    verdict = judged(plan(at_once=False), now, back=(before,))
    assert verdict.outcome is outcome
    assert "its files are left (moves from subtopology 2 to 1)" in verdict.text
    assert "--param lose_state=counts" in verdict.text
    accepted = judged(plan(at_once=False), now, "counts", back=(before,))
    assert given_up(accepted.findings) == ("counts",)


def test_an_undo_that_finds_every_store_is_not_asked() -> None:
    """The same place, or a changelog; a version that is not described is a danger for the approver."""
    moved = replace(version(logging=True), text=ELSEWHERE_NOW)
    assert judged(plan(at_once=False), moved, back=(version(logging=True),)).outcome is Outcome.PROCEED
    stays = judged(plan(at_once=False), version(logging=False), back=(version(logging=False),))
    assert (stays.outcome, stays.findings) == (Outcome.PROCEED, ())
    unknown = judged(plan(at_once=False), version(logging=True), back=(Missing("no topology command"),))
    assert [(one.id, one.severity) for one in unknown.findings] == [("state-copies-not-known", "danger")]
    assert "no topology command" in unknown.findings[0].message
