"""A topology command that fails, with commands, a person and containers: every runbook is inconclusive, undo goes on.

With supervisord: tests/airflow/test_unread_topology.py.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lab.afresh import afresh
from lab.airflow import APPROVER, heard_end
from lab.application import FROM_RELEASE, TO_RELEASE, WITH_REPARTITION, Deployed
from lab.follow import follow
from lab.settings import Lab
from lab.stack import Stack
from world.contained import Contained, contained
from world.endings import COMPLETED, INCONCLUSIVE, begun_other, ended
from world.given import command_deployer, declared_as, manual_deployer
from world.person import Person
from world.runs import evidence, log_of, trigger_other

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_NO_LOGIN = ["sh", "-c", "echo no login to the registry >&2; exit 1", "topology"]
_ACCEPTED = {"without_topology": "the registry is down, OPS-9"}
FORMS = [
    ("library_bump", {"target": FROM_RELEASE}),
    ("rolling_bounce", {"release": WITH_REPARTITION}),
    ("rolling_bounce", {"settings": {"topology.optimization": "all"}}),
    ("stop_and_restart", {"release": WITH_REPARTITION}),
    ("control_topic_flush", {"release": WITH_REPARTITION, "switch": "manual", "longest_hold_min": 60}),
    ("reset_and_cleanup", {"release": WITH_REPARTITION, "mode": "reset", "targets": {"orders": "earliest"}}),
    ("plan_change", {"release": WITH_REPARTITION}),
]


def unread(made: dict[str, Any]) -> dict[str, Any]:
    """A deployer whose topology command exits 1."""
    fails = {"run": [*_NO_LOGIN, "{release}", "{settings}"]}
    return made | {"commands": made["commands"] | {"topology": fails}, "settable": ["topology.optimization"]}


@pytest.fixture(scope="module")
def running(stack: Stack) -> Stack:
    """Two instances on the new release."""
    afresh(stack, Deployed(release=TO_RELEASE))
    return stack


@pytest.fixture(scope="module")
def in_containers(stack: Stack) -> Iterator[Contained]:
    """The same in containers."""
    with contained(stack, Deployed(release=TO_RELEASE)) as made:
        yield made


def inconclusive(stack: Stack, runbook: str, form: dict[str, Any]) -> None:
    """For real, not as a dry run: nothing was stopped, and no person was asked; the outcome has the command's words."""
    trial = begun_other(stack, runbook, **form)
    document = ended(trial, state="failed", outcome=INCONCLUSIVE, restarted=())
    assert "no login to the registry" in document["run"]["outcome_sentence"]
    assert document["recheck"]["different"] == []
    assert "PLEASE" not in log_of(stack, trial.run_id, "conclude")


def completed(stack: Stack, dag_id: str, *, by_a_person: bool = False, **form: Any) -> str:
    """A run to its end, everything approved, and all that it asks of a person done."""
    run_id = trigger_other(stack, dag_id, **form)
    person = Person(stack, run_id)
    person.idle = not by_a_person
    heard = lambda task_id: heard_end(stack.lab, task_id, run_id)  # noqa: E731 - of this run
    state = follow(stack.api(), dag_id, run_id, approver=stack.api(APPROVER), each_time=person, at_once=heard)
    run = evidence(stack, run_id)["run"]
    assert (state, run["outcome"]) == ("success", COMPLETED), run["outcome_sentence"]
    return run_id


@pytest.mark.parametrize("deployer", [command_deployer, manual_deployer])
@pytest.mark.parametrize(("runbook", "form"), FORMS)
def test_nothing_is_planned_on_what_was_not_read(
    running: Stack, runbook: str, form: dict[str, Any], deployer: Callable[[Lab], dict[str, Any]]
) -> None:
    """A team's commands, and a person who deploys."""
    with declared_as(running, deployer=unread(deployer(running.lab))):
        inconclusive(running, runbook, form)


@pytest.mark.parametrize("deployer", [command_deployer, manual_deployer])
def test_an_undo_needs_no_topology_command(running: Stack, deployer: Callable[[Lab], dict[str, Any]]) -> None:
    """Back to what ran: the run kept its description. Both ways by a person too, whom each bounce asks."""
    by_a_person = deployer is manual_deployer
    with declared_as(running, deployer=unread(deployer(running.lab)), limits=_SHORT):
        changed: dict[str, Any] = {"settings": {"topology.optimization": "none"}, **_ACCEPTED}
        run_id = completed(running, "rolling_bounce", by_a_person=by_a_person, **changed)
        completed(running, "undo", by_a_person=by_a_person, run=run_id)
        described = [
            (running.lab.instances / name / "deployment.properties").read_text(encoding="latin-1")
            for name in Deployed().names
        ]
    assert all(f"release={TO_RELEASE}" in text and "optimization" not in text for text in described)


@pytest.mark.parametrize(("runbook", "form"), FORMS)
def test_nothing_is_planned_in_containers(in_containers: Contained, runbook: str, form: dict[str, Any]) -> None:
    """The command runs in a container of the wanted image; no container was stopped, started or made."""
    stack, before = in_containers.stack, in_containers.starts()
    releases = (FROM_RELEASE, TO_RELEASE, WITH_REPARTITION)
    with declared_as(stack, deployer=in_containers.deployer(releases, topology=[*_NO_LOGIN, "{settings_file}"])):
        inconclusive(stack, runbook, form)
    assert in_containers.starts() == before
    assert in_containers.engine.names() == list(Deployed().names)


def test_an_undo_in_containers_needs_no_topology_command(in_containers: Contained) -> None:
    """Both instances are other containers afterwards, of the image and settings of before."""
    stack, before = in_containers.stack, in_containers.starts()
    deployer = in_containers.deployer((TO_RELEASE,), topology=[*_NO_LOGIN, "{settings_file}"])
    with declared_as(stack, deployer=deployer, limits=_SHORT):
        changed: dict[str, Any] = {"settings": {"topology.optimization": "none"}, **_ACCEPTED}
        run_id = completed(stack, "rolling_bounce", **changed)
        conf = [stack.lab.instances / name / "conf" / "settings.properties" for name in Deployed().names]
        assert all("topology.optimization=none" in file.read_text(encoding="latin-1") for file in conf)
        completed(stack, "undo", run=run_id)
        assert not any("optimization" in file.read_text(encoding="latin-1") for file in conf)
    after = in_containers.starts()
    assert all(after[name][0] != before[name][0] for name in before)
