"""Local state after a kill: what a plan has, and what each end of a process needs.

Covers decide/plans/killed
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.killed import after_kill, killed_sentence, left_state, with_kills
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import AfterKill, LeftState, TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import declared, instance, reading
from world.sides import BEFORE, known

BITTEN, LOG = "3.9.1", "orders-counts-changelog"
WHOLE = {LOG: RestoringLog(LOG, "compact", 0)}
KNOWN = known(orders=4, orders_counts_changelog=4, orders_by_customer_repartition=4)
ABLE = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)
CLEARS = TaskDirectories(("1_",), (LOG,))
KILL = AfterKill((BITTEN,), ("KAFKA-20685",), CLEARS)
EXACTLY = {"processing.guarantee": "exactly_once_v2"}
ENTRY = declared(processing_guarantee="exactly_once_v2", releases=(BITTEN, "3.4.1", "4.3.1"))


def version(config: dict[str, str] | None = None, **store: Any) -> Described:
    """The running version under exactly once, with these facts of its one store."""
    counts = replace(BEFORE.declaration.stores["counts"], **{"in_memory": False, "logging": True, **store})
    return replace(BEFORE, declared=replace(BEFORE.declaration, stores={"counts": counts}, config=config or EXACTLY))


def plan(release: str = BITTEN) -> Plan:
    """A restart of two instances of a release."""
    seen = reading(*(instance(name, release=release) for name in ("orders-1", "orders-2")))
    return restart_plan(seen, ENTRY, None, {}, (), (), "code", at_once=False, restart=True)


def kill(
    *versions: Described,
    made: Plan | None = None,
    unread: tuple[str, ...] = (),
    logs: dict[str, RestoringLog] | Missing = WHOLE,
    elsewhere: tuple[str, ...] = (),
    able: Abilities = ABLE,
) -> AfterKill | None:
    """What the plan has for these versions."""
    return after_kill(
        made or plan(),
        reading(),
        ENTRY,
        versions or (version(),),
        unread,
        KNOWN,
        logs,
        elsewhere,
        able,
        upgrade_path_rules(),
    )


def test_the_directories_of_stores_that_a_topic_restores_are_deleted() -> None:
    """With the topic that restores them, and the release that may have left them so."""
    assert kill() == KILL


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (plan("3.4.1"), version()),
        (plan("4.3.1"), version()),
        (plan(), version({"processing.guarantee": "at_least_once"})),
        (plan(), version(in_memory=True)),
    ],
    ids=["before the defect", "after the defect", "at least once", "in memory"],
)
def test_nothing_is_deleted_without_the_defect(made: Plan, shown: Described) -> None:
    """Neither on other releases, nor where its needs are not met."""
    entry = replace(ENTRY, processing_guarantee="unknown")
    assert after_kill(made, reading(), entry, (shown,), (), KNOWN, WHOLE, (), ABLE, upgrade_path_rules()) is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"shown": version(logging=False)}, "store counts: it has no changelog: local disks alone have its content"),
        ({"shown": version(logging=None)}, "store counts: whether a changelog has its content is not known"),
        ({"logs": {}}, f"store counts: {LOG}, which would restore it, does not exist"),
        ({"logs": Missing("not authorized")}, f"store counts: whether {LOG} has lost records is not known"),
        ({"logs": {LOG: RestoringLog(LOG, "compact", 7)}}, "store counts: 7 offsets of"),
        ({"unread": ("release 3.9.1 is not described",)}, "release 3.9.1 is not described"),
        ({"elsewhere": ("orders-1 keeps its state in /tmp",)}, "orders-1 keeps its state in /tmp"),
        (
            {"able": replace(ABLE, clear=False, clear_directories=False)},
            "the deployer of orders does not delete single task directories",
        ),
    ],
)
def test_what_a_run_may_not_delete_is_left_to_a_person(given: dict[str, Any], why: str) -> None:
    """No topic restores it for certain, or nothing deletes it: the plan has the reason."""
    found = kill(given.pop("shown", version()), **given)
    assert found is not None
    assert why in found.unclear


def test_an_accepted_loss_is_deleted() -> None:
    """Its owners have declared that the store may begin empty."""
    found = kill(version(logging=False, loss_acceptable=True))
    assert found is not None
    assert (found.unclear, found.clears.names) == ("", ("1_",))


def test_a_release_that_the_plan_brings_counts() -> None:
    """Its instances may be killed in the next bounce, or in an undo."""
    made = plan("3.4.1")
    found = kill(made=replace(made, stages=tuple(replace(one, library=BITTEN) for one in made.bounces)))
    assert found is not None
    assert found.libraries == (BITTEN,)


@pytest.mark.parametrize("ended", [False, Missing("its deployer does not report it")])
def test_a_kill_and_an_end_that_is_not_known_delete(ended: bool | Missing) -> None:
    """What is not known counts as a kill."""
    left = left_state(KILL, "orders-1", ended, (BITTEN,), "", gone=False)
    assert left.clears == CLEARS
    assert "KAFKA-20685" in left.why


@pytest.mark.parametrize(
    ("ended", "ran", "gone"), [(True, BITTEN, False), (False, "3.4.1", False), (False, BITTEN, True)]
)
def test_state_stays_otherwise(ended: bool, ran: str, *, gone: bool) -> None:
    """A clean end, another release, directories that a person has deleted."""
    assert left_state(KILL, "orders-1", ended, (ran,), "", gone=gone) == LeftState()


def test_a_release_that_is_not_known_may_have_the_defect() -> None:
    """Nothing was read of what ran."""
    assert left_state(KILL, "orders-1", False, (), "", gone=False).clears == CLEARS


def test_an_instance_stays_down_for_a_person() -> None:
    """With the reason, and what to do."""
    left = left_state(replace(KILL, unclear="no changelog"), "orders-1", False, (BITTEN,), "delete it", gone=False)
    assert left.clears is None
    assert left.stays_down == (
        "orders-1 is not started: it was killed, and 3.9.1 may keep writes that were not committed (KAFKA-20685); this "
        "run does not delete its state: no changelog; delete it"
    )


def test_the_plan_has_it_in_its_worst_case_and_in_its_digest() -> None:
    """An approver reads what a kill deletes, and how long it restores; another one is another plan."""
    made = plan()
    with_it = with_kills(made, (KILL,), {"": 50_000_000})
    assert with_it.worst_case.endswith(
        "if an instance of orders on 3.9.1 does not end by itself and is killed, the run clears task directories 1_* "
        f"before it starts it (KAFKA-20685): a full restore from {LOG}: up to 50.0 MB in all of them, about 16 s at "
        "5 MB/s"
    )
    assert with_it.digest != made.digest
    left = with_kills(made, (replace(KILL, unclear="no changelog"),), {"": 0})
    assert left.worst_case.endswith("is killed, it stays down for a person (KAFKA-20685): no changelog")


def test_a_person_who_deploys_reads_it_in_the_request() -> None:
    """What to delete, or that it must not be started yet."""
    assert killed_sentence(KILL, "delete 1_*") == (
        "if the process does not end by itself and is killed, delete 1_* before you start it (KAFKA-20685)"
    )
    assert "do not start it yet: no changelog" in killed_sentence(replace(KILL, unclear="no changelog"), "delete 1_*")
