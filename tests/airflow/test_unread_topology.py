"""A topology command that fails: every runbook is inconclusive before a change, and a person may accept it."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from lab.afresh import afresh
from lab.application import TO_RELEASE, WITH_REPARTITION, Deployed
from lab.kafka import COUNTED, create_topics
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, INCONCLUSIVE, STOPPED, begun, begun_other, ended
from world.given import declared_as
from world.runs import approve, log_of, question

_FAILS = ["sh", "-c", "echo no login to the registry >&2; exit 1", "topology", "{settings_file}"]
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_FIELD = "without_topology"
_REASON = "the registry is down, OPS-9"


def _failing(stack: Stack) -> dict[str, Any]:
    """The deployer's entry with a topology command that exits 1."""
    entry: dict[str, Any] = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text("utf-8"))
    deployer: dict[str, Any] = entry["deployer"]
    return deployer | {"topology": _FAILS}


@pytest.fixture(scope="module")
def unread(stack: Stack) -> Iterator[Stack]:
    """Two instances on the new release; its deployer can print no topology."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with declared_as(stack, deployer=_failing(stack), limits=_SHORT):
        yield stack


@pytest.mark.parametrize(
    ("runbook", "form"),
    [
        ("library_bump", {"target": "3.9.1"}),
        ("rolling_bounce", {"release": WITH_REPARTITION}),
        pytest.param("rolling_bounce", {"settings": {"topology.optimization": "all"}}, marks=pytest.mark.long),
        ("stop_and_restart", {"release": WITH_REPARTITION}),
        pytest.param(
            "control_topic_flush",
            {"release": WITH_REPARTITION, "switch": "manual", "longest_hold_min": 60},
            marks=pytest.mark.long,
        ),
        pytest.param(
            "reset_and_cleanup",
            {"release": WITH_REPARTITION, "mode": "reset", "targets": {"orders": "earliest"}},
            marks=pytest.mark.long,
        ),
        ("plan_change", {"release": WITH_REPARTITION}),
    ],
)
def test_nothing_is_planned_on_what_was_not_read(unread: Stack, runbook: str, form: dict[str, Any]) -> None:
    """In the dry run too: its GO ON changes nothing, and the outcome has the last line of the command."""
    trial = begun_other(unread, runbook, dry_run=True, **form)
    document = ended(trial, state="failed", outcome=INCONCLUSIVE)
    sentence = document["run"]["outcome_sentence"]
    assert "no login to the registry" in sentence
    offered = f"or accept that, with a reason in {_FIELD}" in sentence
    assert offered is (runbook not in {"control_topic_flush", "plan_change"})
    assert "--execute" not in log_of(unread, trial.run_id, "conclude")
    assert document["recheck"]["different"] == []


@pytest.mark.long
def test_a_restart_of_what_runs_needs_no_description(unread: Stack) -> None:
    """Nothing changes: the running instances show what they read."""
    for form in ({"restart": True}, {"settings": {"num.stream.threads": 2}}):
        ended(begun_other(unread, "rolling_bounce", dry_run=True, **form), state="success", outcome=DRY_RUN)


@pytest.mark.long
def test_an_approver_reads_what_a_person_accepts_and_an_undo_goes_back(unread: Stack) -> None:
    """Also where approvals are automatic; the undo has no topology command either."""
    accepts: dict[str, Any] = {"settings": {"topology.optimization": "none"}, _FIELD: _REASON}
    with declared_as(unread, automatic_approval=True, four_eyes=False):
        trial = begun_other(unread, "rolling_bounce", **accepts)
        body = question(unread, trial.run_id)["body"]
        assert "danger: orders: NOT COMPARED" in body
        assert "old and new members stop each other, or state and records are lost" in body
        assert f"accepted with the reason: {_REASON}" in body
        approve(unread, trial.run_id, "approve_plan")
        ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    back = begun_other(unread, "undo", run=trial.run_id)
    approve(unread, back.run_id, "approve_undo")
    ended(back, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


@pytest.mark.long
def test_a_wrong_roll_ends_at_its_gate_and_leads_to_undo(unread: Stack) -> None:
    """What a person accepted was another topology: no topic that is created helps, and the undo needs no registry."""
    create_topics(unread.lab.bootstrap, (COUNTED,))
    accepts: dict[str, Any] = {"release": WITH_REPARTITION, _FIELD: _REASON}
    trial = begun_other(unread, "rolling_bounce", **accepts)
    approve(unread, trial.run_id, "approve_plan")
    document = ended(trial, state="failed", outcome=STOPPED, restarted=((1, "orders-1"),))
    sentence = document["run"]["outcome_sentence"]
    assert "instances run different topologies: " in sentence
    assert "is read by orders-1 alone" in sentence
    log = log_of(unread, trial.run_id, "conclude")
    assert "GO ON: this run cannot go on, only back:" in log
    assert f"kstreams-runbooks trigger undo {trial.run_id}" in log
    back = begun_other(unread, "undo", run=trial.run_id)
    approve(unread, back.run_id, "approve_undo")
    ended(back, state="success", outcome=COMPLETED, restarted=((1, "orders-1"),))


def test_a_bump_is_inconclusive_and_goes_on_with_the_reason(stack: Stack) -> None:
    """Upward, from the old library: what the command would have printed may be another topology."""
    afresh(stack, Deployed())
    with declared_as(stack, deployer=_failing(stack), limits=_SHORT):
        document = ended(begun(stack, dry_run=True), state="failed", outcome=INCONCLUSIVE)
        assert "whether the topology changes is not known: release 4.3.1" in document["run"]["outcome_sentence"]
        trial = begun(stack, dry_run=True, **{_FIELD: _REASON})
        ended(trial, state="success", outcome=DRY_RUN)
        assert f"accepted with the reason: {_REASON}" in log_of(stack, trial.run_id, "plan")
