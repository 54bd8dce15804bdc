"""A library bump through a team's own scripts and through a person: the same application, a real Airflow."""

import time
from collections.abc import Iterator

import pytest
from lab import report
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import Deployed
from lab.follow import follow
from lab.judge import judged
from lab.stack import Stack
from world.given import command_deployer, declared_as, manual_deployer
from world.person import Person
from world.runs import DAG, evidence, finished, log_of, states, trigger

pytestmark = pytest.mark.long


@pytest.fixture
def fresh(stack: Stack) -> Iterator[Stack]:
    """Two instances on 3.4.1 under traffic."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(10)
    yield stack
    stack.stop_traffic()


def versions(stack: Stack, name: str) -> list[tuple[str, str | None]]:
    """Release and `upgrade.from` of every start of an instance, from its log."""
    log = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
    return [(start.version, start.upgrade_from) for start in report.starts_in(log)]


TWO_BOUNCES = [("3.4.1", None), ("4.3.1", "3.4"), ("4.3.1", None)]


def test_a_teams_own_scripts_lose_nothing(fresh: Stack) -> None:
    """Both bounces through the orders application's deploy script; what a person could paste is that script too."""
    with declared_as(fresh, deployer=command_deployer(fresh.lab)):
        run_id = trigger(fresh)
        assert finished(fresh, run_id) == "success"
        judgement = judged(fresh)
        document = evidence(fresh, run_id)
    assert (judgement.code, judgement.faults()) == (0, {})
    assert document["run"]["outcome"] == "completed"
    assert document["recheck"]["different"] == []
    assert [write["payload"]["bounce"] for write in document["writes"]] == [1, 1, 2, 2]
    assert versions(fresh, "orders-1") == versions(fresh, "orders-2") == TWO_BOUNCES
    by_hand = document["cards"][0]["facts"]["by_hand"]
    assert [line.split("/instances ")[1].split(" ")[0] for line in by_hand] == ["stop", "clear_state", "apply", "start"]


def test_a_script_that_fails_stops_the_run_before_anything(fresh: Stack) -> None:
    """Describe cannot be run: nothing can be read of any instance, so nothing is planned."""
    entry = command_deployer(fresh.lab)
    entry["commands"]["instances"] = {"run": ["/bin/false"]}
    with declared_as(fresh, deployer=entry):
        run_id = trigger(fresh)
        assert fresh.api().wait_finished(DAG, run_id, 240) == "failed"
        document = evidence(fresh, run_id)
    assert document["run"]["outcome"] == "inconclusive"
    assert (
        "orders: instances (/bin/false): it refused (exit 1, nothing on stderr)" in document["run"]["outcome_sentence"]
    )
    assert document["cards"] == document["writes"] == []


def test_a_person_is_asked_and_waited_for(fresh: Stack) -> None:
    """Each instance in each bounce: the log says what to do, no worker is held, and what was done is observed."""
    with declared_as(fresh, deployer=manual_deployer(fresh.lab)):
        run_id = trigger(fresh)
        person = Person(fresh, run_id)
        assert follow(fresh.api(), DAG, run_id, approver=fresh.api(APPROVER), each_time=person) == "success"
        judgement = judged(fresh)
        document = evidence(fresh, run_id)
    assert (judgement.code, judgement.faults()) == (0, {})
    assert document["run"]["outcome"] == "completed"
    assert document["recheck"]["different"] == []
    assert document["writes"] == [], "this program restarted nothing"
    assert [card["object"] for card in document["cards"]] == ["orders-1", "orders-2"] * 2
    assert [line.split(" ")[0] for line in person.done] == [
        "bounce_1_first",
        "bounce_1_rest",
        "bounce_2_first",
        "bounce_2_rest",
    ]
    assert versions(fresh, "orders-1") == versions(fresh, "orders-2") == TWO_BOUNCES


def test_a_dry_run_by_a_person_asks_nobody(fresh: Stack) -> None:
    """It says what it would ask for, and does not wait."""
    with declared_as(fresh, deployer=manual_deployer(fresh.lab)):
        run_id = trigger(fresh, dry_run=True)
        assert fresh.api().wait_finished(DAG, run_id, 180) == "success"
        assert evidence(fresh, run_id)["cards"] == []
    said = log_of(fresh, run_id, "bounce_1_first")
    assert "would ask a person: set orders-1 to release 4.3.1 (orders:4.3.1) with upgrade.from=3.4" in said
    assert "would wait up to 8 h for a person" in said
    assert "PLEASE" not in said


def test_a_person_who_does_nothing_ends_the_wait_and_a_clear_goes_on(stack: Stack) -> None:
    """Refused at its limit with what is missing; deployed meanwhile, the cleared task asks for no more than the rest.

    Without static membership what the old start leaves in the group is removed once it is gone.
    """
    afresh(stack, Deployed(static_membership=False))
    stack.start_traffic()
    time.sleep(10)
    other = {"static_membership": False, "table_aggregations": "no", "foreign_key_joins": "no"}
    limits = {"deploy_wait_h": 0.02}
    with declared_as(stack, deployer=manual_deployer(stack.lab), limits=limits, **other):
        run_id = trigger(stack)
        person = Person(stack, run_id)
        person.idle = True
        assert follow(stack.api(), DAG, run_id, approver=stack.api(APPROVER), each_time=person) == "failed"
        document = evidence(stack, run_id)
        assert document["run"]["outcome"] == "stopped, changed"
        assert (
            "orders-1 is not deployed as asked after 0.02 h (limit deploy_wait_h): orders-1 is set to 3.4.1 with no "
            "setting of a runbook (asked for: 4.3.1 with no setting of a runbook)"
        ) in document["run"]["outcome_sentence"] + log_of(stack, run_id, "bounce_1_first")
        assert versions(stack, "orders-1") == [("3.4.1", None)]
        person.idle = False
        stack.api().clear(DAG, run_id, "bounce_1_first")
        assert follow(stack.api(), DAG, run_id, approver=stack.api(APPROVER), each_time=person) == "success"
        document = evidence(stack, run_id)
    assert document["run"]["outcome"] == "completed"
    assert [line.split(" ")[0] for line in person.done] == ["bounce_1_first", "bounce_1_rest"]
    assert set(states(stack, run_id).values()) == {"success"}
    removed = "members of the stopped instance removed"
    tries = stack.api().tasks(DAG, run_id)["bounce_1_first"]["try_number"]
    assert removed in "\n".join(stack.api().log(DAG, run_id, "bounce_1_first", tries))
    assert "running" not in judged(stack).faults()
    for name in ("orders-1", "orders-2"):
        assert versions(stack, name) == [("3.4.1", None), ("4.3.1", None)]
