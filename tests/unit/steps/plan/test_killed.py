"""What a plan does after a kill, and what each end of a process needs, with the deployer that shows it."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import AfterKill, LeftState, RestoredFirst, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.plan import defects, killed
from kstreams_runbooks.steps.plan.defects import with_restored_first
from kstreams_runbooks.steps.plan.killed import ProcessEnds, ends_of_instance, keep_cleared, killed_requests, with_kills
from kstreams_runbooks.steps.run.run import Run
from world.samples import card, declared, down, instance, reading
from world.sides import BEFORE, known

BITTEN, LOG = "3.9.1", "orders-counts-changelog"
ENTRY = declared(processing_guarantee="exactly_once_v2", releases=(BITTEN, "3.4.1", "3.6.1", "3.6.2", "4.3.1"))
ABLE = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)
CLEARS = TaskDirectories(("1_",), (LOG,))
KILL = AfterKill((BITTEN,), ("KAFKA-20685",), CLEARS)


class Shown:
    """A deployer that shows these directories."""

    def __init__(self, sizes: Mapping[str, int] | Missing) -> None:
        self.sizes = sizes

    def state_sizes(self, _: str) -> Mapping[str, int] | Missing:
        """Of one instance."""
        return self.sizes

    def request(self, wish: str, instance: str, directories: tuple[str, ...] = ()) -> str:
        """In a few words."""
        return f"{wish} {instance} {','.join(directories)}".strip()


def seen(release: str = BITTEN) -> ApplicationReading:
    return reading(*(instance(name, release=release) for name in ("orders-1", "orders-2")))


def made(release: str = BITTEN) -> Plan:
    return restart_plan(seen(release), ENTRY, None, {}, (), (), "code", at_once=False, restart=True)


def planning(run: Run, monkeypatch: pytest.MonkeyPatch, release: str = BITTEN, **store: Any) -> Run:
    """The run on a release, whose one store is on disks and has this changelog."""
    counts = replace(BEFORE.declaration.stores["counts"], **{"in_memory": False, "logging": True, **store})
    config = {"processing.guarantee": "exactly_once_v2"}
    version = replace(BEFORE, declared=replace(BEFORE.declaration, stores={"counts": counts}, config=config))
    deployer = SimpleNamespace(abilities=ABLE)
    vars(run).update(application=SimpleNamespace(copies=False, as_deployed=False), declared=ENTRY, deployer=deployer)
    vars(run)["observed"] = lambda _: seen(release)
    for module in (killed, defects):
        monkeypatch.setattr(module, "versions_of", lambda *_: ((version,), ()))
    names = known(orders=4, orders_counts_changelog=4, orders_by_customer_repartition=4)
    monkeypatch.setattr(killed, "known_of", lambda *_: names)
    monkeypatch.setattr(killed, "logs_of", lambda *_: {LOG: RestoringLog(LOG, "compact", 0)})
    monkeypatch.setattr(killed, "bytes_of_topics", lambda *_: 5_000_000)
    return run


def test_a_plan_has_what_is_deleted_after_a_kill(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the restore in its worst case; the digest is another one."""
    plan = with_kills(planning(run, monkeypatch), made(), "observe")
    assert plan.after_kill == (KILL,)
    assert "about 7 s at 5 MB/s" in plan.worst_case
    assert plan.digest != made().digest


def test_a_plan_on_other_releases_describes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topology command may take minutes: it is asked only if a defect may bite."""
    planning(run, monkeypatch, "4.3.1")
    monkeypatch.setattr(killed, "versions_of", lambda *_: pytest.fail("described"))
    assert with_kills(run, made("4.3.1"), "observe") == made("4.3.1")


def test_a_version_that_is_not_described_leaves_it_to_a_person(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of its stores have a changelog is not known."""
    planning(run, monkeypatch)

    def fails(*_: object) -> tuple[tuple[Described, ...], tuple[str, ...]]:
        raise Inconclusive("topology command of 3.9.1: exit code 1")

    monkeypatch.setattr(killed, "versions_of", fails)
    [kill] = with_kills(run, made(), "observe").after_kill
    assert kill.unclear == "topology command of 3.9.1: exit code 1"


def test_a_copier_has_no_state(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no Kafka Streams application."""
    vars(planning(run, monkeypatch))["application"] = SimpleNamespace(copies=True, as_deployed=False)
    assert with_kills(run, made(), "observe") == made()
    assert with_restored_first(run, made(), "observe") == made()


@pytest.mark.parametrize(("release", "waits"), [("3.6.1", True), ("3.6.2", False), (BITTEN, False)])
def test_a_plan_has_the_releases_that_are_stopped_restored(
    run: Run, monkeypatch: pytest.MonkeyPatch, release: str, *, waits: bool
) -> None:
    """KAFKA-16017 up to 3.6.1 under exactly once."""
    plan = with_restored_first(planning(run, monkeypatch, release), made(release), "observe")
    assert plan.restored_first == ((RestoredFirst(release, ("KAFKA-16017",)),) if waits else ())
    assert ("is stopped while a task of it restores" in plan.worst_case) is waits


def ends(of: InstanceReading, run: Run, kill: AfterKill = KILL, sizes: Mapping[str, int] | None = None) -> ProcessEnds:
    """The decision about one instance, which 4.3.1 is to run."""
    plan = replace(made(), after_kill=(kill,))
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    vars(run)["declared"] = ENTRY
    shown = Shown({"1_0": 1, "0_0": 1} if sizes is None else sizes)
    found = ends_of_instance(run, of, "4.3.1", shown)  # type: ignore[arg-type]
    assert found is not None
    return found


def ended(cleanly: bool | Missing) -> Deployment:
    found = down("orders-1", release=BITTEN).deployment
    assert isinstance(found, Deployment)
    return replace(found, ended_cleanly=cleanly)


def test_the_end_of_what_runs_decides(run: Run) -> None:
    """A kill, an end that is not known, an instance that is not shown; a clean end keeps its state."""
    one = ends(instance("orders-1", release=BITTEN), run)
    assert one(ended(cleanly=False), False).clears == CLEARS
    assert one(ended(Missing("not reported")), False).clears == CLEARS
    assert one(None, False).clears == CLEARS
    assert one(ended(cleanly=True), False) == LeftState()


def test_the_release_that_ran_decides(run: Run) -> None:
    """An instance that runs another one has nothing of the defect; one that is down, what is declared and its card."""
    assert ends(instance("orders-1"), run)(ended(cleanly=False), False) == LeftState()
    assert ends(down("orders-1"), run)(ended(cleanly=False), False) == LeftState()
    assert ends(down("orders-1", release=BITTEN), run)(ended(cleanly=False), False).clears == CLEARS


def test_a_start_that_failed_counts_for_the_release_that_was_started(run: Run) -> None:
    """It may have written before it ended."""
    kill = replace(KILL, libraries=("4.3.1",))
    one = ends(instance("orders-1", release=BITTEN), run, kill)
    assert one(ended(cleanly=False), False) == LeftState()
    assert one(ended(cleanly=False), True).clears == CLEARS


def test_directories_that_a_person_has_deleted_are_enough(run: Run) -> None:
    """Else the instance stays down: with what to delete, and the step to clear."""
    kill = replace(KILL, unclear="no changelog")
    left = ends(instance("orders-1", release=BITTEN), run, kill)(ended(cleanly=False), False)
    assert left.stays_down.endswith("clear_state orders-1 1_, start orders-1, then clear bounce_1_first")
    gone = ends(instance("orders-1", release=BITTEN), run, kill, {"0_0": 1})
    assert gone(ended(cleanly=False), False) == LeftState()


def test_the_outcome_has_what_was_deleted(run: Run) -> None:
    """And why."""
    run.ledger.write_card(replace(card(), run_key=run.key))
    one = ends(instance("orders-1", release=BITTEN), run)
    one(ended(cleanly=False), False)
    keep_cleared(run, one)
    keep_cleared(run, None)
    [sentence] = facts_of(run).cleared
    assert sentence.startswith("task directories 1_* of orders-1 (it was killed, and 3.9.1 may keep writes")


def test_a_person_is_told_before_the_start(run: Run) -> None:
    """One request more; none without the defect."""
    assert killed_requests(run, "orders-1") == []
    ends(instance("orders-1", release=BITTEN), run)
    vars(run)["deployer"] = Shown({})
    [asked] = killed_requests(run, "orders-1")
    assert asked.startswith("orders-1: if the process does not end by itself and is killed, clear_state orders-1 1_ ")
