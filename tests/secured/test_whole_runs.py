"""Whole runs in Airflow with exactly the rights that are printed, and the broker's own record of what was needed.

The authorizer's log has each operation that a login was asked for: none is denied, and each right that was granted is
used. Application, deployer and agents are real; Spark has no part in these runs.
"""

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
import yaml
from lab import kafka
from lab.airflow import passwords
from lab.application import TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION, described
from lab.supervise import until
from world.endings import COMPLETED, DRY_RUN, begun_other, held_by
from world.flushing import ACCEPTED, SHORT, SWAP
from world.given import declared_as
from world.resetting import declared, write
from world.runs import approve, command, evidence, finished
from world.secrets_shown import arguments, files_with, with_forms
from world.secured_stack import BETWEEN, SecuredStack, of

pytestmark = pytest.mark.long

# Until the first window closes nothing is written to its output.
_WARM_S, _USED_S = 5, 240
# Hidden from each login without a right on them: asked by name for what is hidden.
KAFKAS_OWN = {"__consumer_offsets", "__transaction_state"}
# Calls that a run makes only where something is there, with the test that takes their right away.
SELDOM = {
    "records": "offsets are left that may be markers: tests/hostile/test_rights.py",
    "transactions": "no request is logged without an open transaction: tests/hostile/test_rights.py",
    "in-sync": "a replica is out of sync: tests/unit/observe/kafka/test_in_sync.py",
    "producers": "a transaction is open at the end of a partition: tests/hostile/test_rights.py",
    "remove-members": "a member without group.instance.id stays behind: tests/hostile/test_write_rights.py",
    "delete-offsets": "a group has offsets on a topic that goes: tests/hostile/test_write_rights.py",
}


def performed(
    cluster: SecuredStack,
    dag_id: str,
    form: Mapping[str, Any],
    printed_for: tuple[str, ...] = (),
    question: str | None = "approve_plan",
) -> str:
    """A run that completes with what is printed for it, no more and no less; its id."""
    acls = cluster.allow(dag_id, *printed_for)
    with cluster.audited() as asked:
        # Windows of this application close after seconds, which no stop is short enough for.
        accepted = {} if dag_id in {"plan_change", "undo"} else ACCEPTED
        trial = begun_other(cluster.stack, dag_id, **{**accepted, **form})
        if question:
            approve(cluster.stack, trial.run_id, question)
        state = finished(cluster.stack, trial.run_id)
    document = evidence(cluster.stack, trial.run_id)
    outcome = DRY_RUN if form.get("dry_run") else COMPLETED
    assert (state, document["run"]["outcome"]) == ("success", outcome), document["run"]["outcome_sentence"]
    assert held_by(cluster.stack) == ()
    denied = {one for login in asked.values() for one in login if not one.allowed and one.name not in KAFKAS_OWN}
    assert not denied, denied
    assert not (needless := cluster.unused(acls, asked[cluster.runbooks.name], SELDOM)), "\n".join(needless)
    return trial.run_id


def undone(cluster: SecuredStack, run_id: str) -> None:
    """Take a run back with what is printed for the undo of this run."""
    performed(cluster, "undo", {"run": run_id}, ("--param", f"run={run_id}"), question="approve_undo")


@pytest.fixture(scope="module")
def running(cluster: SecuredStack) -> Iterator[SecuredStack]:
    """Gates that open soon, and a setting that adds a topic."""
    entry = yaml.safe_load((cluster.stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    deployer = entry["deployer"] | {"settable": [*entry["deployer"]["settable"], "audit"]}
    cluster.begin_with(TO_RELEASE)
    with declared_as(cluster.stack, limits={**SHORT, "bake_s": 1}, deployer=deployer):
        yield cluster


def test_the_application_needs_each_of_its_own_rights(running: SecuredStack) -> None:
    """From nothing, under traffic: its topics are created, written, read, and purged of what was read."""
    acls = of(running.printed("stop_and_restart"), running.application.name)
    with running.audited() as asked:
        running.begin_with(TO_RELEASE)
        running.stack.start_traffic()
        try:
            unused = partial(running.unused, acls, seldom=SELDOM)
            until(lambda: not unused(running.asked_so_far()), _USED_S, "every right was used", poll_s=5)
        finally:
            # The runs of the other tests have no traffic.
            running.stack.stop_traffic()
    assert not {one for one in asked[running.application.name] if not one.allowed}


def test_a_certificate(running: SecuredStack) -> None:
    performed(running, "certify_drain", {"inputs_paused": "the generator is stopped"}, question=None)


def test_a_rolling_bounce_and_its_undo(running: SecuredStack) -> None:
    run_id = performed(running, "rolling_bounce", {"settings": {"num.stream.threads": 2}})
    undone(running, run_id)


def test_a_restart_that_brings_a_topic(running: SecuredStack) -> None:
    performed(running, "stop_and_restart", {"settings": {"audit": "true"}}, ("--setting", "audit=true"))


def test_a_reset(running: SecuredStack) -> None:
    running.begin_with(TO_RELEASE)
    with declared(running.stack):
        write(running.stack)
        performed(running, "reset_and_cleanup", {})
        running.stack.stop_traffic()


def test_other_offsets_and_their_undo(running: SecuredStack) -> None:
    running.begin_with(TO_RELEASE)
    with declared(running.stack):
        write(running.stack)
        running.stack.stop_traffic()
        kafka.wait_drained(running.stack.lab.bootstrap, "orders")
        form = {"mode": "offsets", "targets": {"customers": "earliest"}}
        words = ("--param", "mode=offsets", "--param", 'targets={"customers": "earliest"}')
        undone(running, performed(running, "reset_and_cleanup", form, words))


def test_local_state_alone(running: SecuredStack) -> None:
    with declared(running.stack):
        performed(running, "reset_and_cleanup", {"mode": "state"}, ("--param", "mode=state"))


def test_a_planned_change(running: SecuredStack) -> None:
    """One repartition topic more, as the release prints it with another setting; it starts a dry run."""
    file = running.stack.lab.run_dir / "with-audit.txt"
    file.write_text(described(running.stack.lab, TO_RELEASE, audit="true"), encoding="utf-8")
    form = {"release": TO_RELEASE, "topology_file": str(file), "dry_run": True}
    performed(running, "plan_change", form, ("--setting", "audit=true"), question=None)


def test_a_flush(running: SecuredStack) -> None:
    running.begin_with(WITH_REPARTITION)
    running.stack.start_traffic()
    time.sleep(_WARM_S)
    form = {"release": WITHOUT_REPARTITION, **SWAP}
    words = ("--release", WITHOUT_REPARTITION, "--param", "without_key_check=true")
    performed(running, "control_topic_flush", form, words)
    running.stack.stop_traffic()


def test_a_bump(running: SecuredStack) -> None:
    running.begin_with(BETWEEN)
    performed(running, "library_bump", {"target": TO_RELEASE})


def test_no_password_is_left_anywhere(running: SecuredStack) -> None:
    """After runs that completed and one that was refused: logs, XCom, ledger, evidence, messages, process list.

    Only the files that hand a program its own login have one, and only their owner may read those.
    """
    running.allow("rolling_bounce")
    running.logins.allow(running.runbooks, [])
    trial = begun_other(running.stack, "rolling_bounce", settings={"num.stream.threads": 2}, **ACCEPTED)
    assert finished(running.stack, trial.run_id) == "failed"
    lab = running.stack.lab
    drawn = {one.password for one in (running.runbooks, running.application, running.spark)}
    shown = with_forms(drawn | {*passwords(lab).values()})
    handed = {lab.environment_file, lab.airflow_home / "passwords.json"}
    handed |= {lab.instances / name / "base.properties" for name in running.names}
    every = [file for file in lab.run_dir.rglob("*") if file.is_file() and not file.is_symlink()]
    assert {*files_with(shown, every)} <= handed
    assert not lab.run_dir.stat().st_mode & 0o077
    assert [file.name for file in every if file.suffix == ".db"], "ledger and metadata are among the files"
    assert not [form for form in shown if form in arguments()]
    for words in (
        ["runs"],
        ["evidence", trial.run_id],
        ["evidence", trial.run_id, "--format", "json", "--readings", "all"],
    ):
        code, said = command(running.stack, *words)
        assert (code, bool(said)) == (0, True), words
        assert not [form for form in shown if form in said]
