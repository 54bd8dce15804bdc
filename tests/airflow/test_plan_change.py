"""`plan_change` on the real application: what it shows, what it starts, and what it refuses."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lab.airflow import APPROVER, REQUESTER
from lab.application import FROM_RELEASE, TO_RELEASE, described
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, DRY_RUN, INCONCLUSIVE, NOTHING_CHANGED, begun, begun_other, ended
from world.given import declared_as
from world.runs import evidence, log_of, question

DAG = "plan_change"


def plan_of(document: dict[str, Any]) -> dict[str, Any]:
    """The plan that a run kept."""
    plan: dict[str, Any] = document["plan"]
    return plan


def test_a_dry_run_shows_the_verdict_and_starts_nothing(fresh: Stack) -> None:
    """What follows from the other release, with figures of the cluster; nobody is asked."""
    trial = begun_other(fresh, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["recheck"]["different"] == []
    sentence = document["run"]["outcome_sentence"]
    assert sentence.startswith("LIBRARY BUMP: ")
    assert "; nothing was changed" in sentence
    plan = plan_of(document)
    assert (plan["verdict"], plan["runbooks"]) == ("proceed", ["library_bump"])
    kept = {topic["name"]: topic for topic in plan["internal_topics"]["kept"]}
    assert kept["orders-orders-by-customer-repartition"]["partitions"] == 4
    assert kept["orders-orders-store-changelog"]["bytes"] is not None
    assert plan["costs"]["records_to_reprocess"] == 0
    log = log_of(fresh, trial.run_id, "plan")
    assert "[orders @ demo] DRY RUN LIBRARY BUMP: " in log
    assert f"trigger library_bump --application orders --param target={TO_RELEASE}" in log
    assert "would start library_bump, or none, as the approver chooses" in log_of(fresh, trial.run_id, "start_runbook")
    assert document["approvals"] == document["writes"] == []
    described = log_of(fresh, trial.run_id, "describe_release")
    assert "topology facts not read: orders-1: jolokia" in described
    assert "start the instance with -javaagent:topology-facts.jar (docs/facts.md)" in described


def test_the_chosen_runbook_is_started_once_as_a_dry_run(fresh: Stack) -> None:
    """With its parameters filled in; the requester's own choice asks again; cleared, nothing is started twice."""
    with declared_as(fresh, approvers=[APPROVER, REQUESTER]):
        trial = begun_other(fresh, DAG, release=TO_RELEASE, reason="OPS-7")
        asked = question(fresh, trial.run_id)
        assert asked["options"] == ["library_bump", "none"]
        assert f"choose the runbook for {TO_RELEASE}" in asked["subject"]
        fresh.api(REQUESTER).answer(DAG, trial.run_id, "choose_runbook", "library_bump")
        until(lambda: "asked again" in log_of(fresh, trial.run_id, "choose_runbook"), 60, "the answer is judged")
        question(fresh, trial.run_id)
        fresh.api(APPROVER).answer(DAG, trial.run_id, "choose_runbook", "library_bump")
        document = ended(trial, state="success", outcome=COMPLETED)
    started = f"library_bump.{trial.run_id}"
    assert f"library_bump is started as a dry run: run {started}" in document["run"]["outcome_sentence"]
    assert fresh.api().wait_finished("library_bump", started, 180) == "success"
    # Whoever asked for the plan has asked for what it starts: four eyes need another.
    assert evidence(fresh, started)["run"]["requested_by"] == REQUESTER
    conf = fresh.api().run("library_bump", started)["conf"]
    assert (conf["application"], conf["target"], conf["dry_run"]) == ("orders", TO_RELEASE, True)
    assert conf["reason"] == f"OPS-7; planned by plan_change, run {trial.run_id}"
    fresh.api().clear(DAG, trial.run_id, "start_runbook")
    document = ended(trial, state="success", outcome=COMPLETED)
    assert f"library_bump was started before as a dry run: run {started}" in document["run"]["outcome_sentence"]
    assert [write["payload"]["new"] for write in document["writes"]] == [True, False]


def test_none_starts_nothing(fresh: Stack) -> None:
    """A plan that somebody has read is what was wanted."""
    trial = begun_other(fresh, DAG, release=TO_RELEASE)
    question(fresh, trial.run_id)
    fresh.api(APPROVER).answer(DAG, trial.run_id, "choose_runbook", "none")
    document = ended(trial, state="success", outcome=COMPLETED)
    assert "nothing was started, as was chosen" in document["run"]["outcome_sentence"]
    assert document["writes"] == []


def test_a_pasted_text_that_is_no_description_ends_in_one_sentence(fresh: Stack) -> None:
    """With the line; nothing was changed."""
    trial = begun_other(fresh, DAG, topology_text="Topologies:\n  Sub-topology: 0\n  hello", dry_run=True)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["outcome_sentence"] == (
        "topology_text: line 3: 'hello' (expected `Source:`, `Processor:` or `Sink:`); give the text as it is printed"
    )
    assert "Traceback" not in log_of(fresh, trial.run_id, "describe_release")


def test_a_description_in_a_file_is_planned_with_the_partitions_of_the_cluster(fresh: Stack) -> None:
    """One repartition topic more, as the release prints it with another setting: what to start is the other runbook."""
    file = fresh.lab.run_dir / "with-audit.txt"
    file.write_text(described(fresh.lab, FROM_RELEASE, audit="true"), encoding="utf-8")
    trial = begun_other(fresh, DAG, release=FROM_RELEASE, topology_file=str(file), dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    plan = plan_of(document)
    assert plan["choices"]["runbooks"] == plan["runbooks"] == ["stop_and_restart"]
    (created,) = plan["internal_topics"]["created"]
    assert (created["name"], created["partitions"]) == ("orders-orders-audit-repartition", 4)


def test_a_runbook_that_is_no_dag_is_a_procedure_for_a_person(fresh: Stack) -> None:
    """Another name of a store, pasted and declared: nobody is asked, and the run says who does it."""
    text = described(fresh.lab, FROM_RELEASE).replace("orders-running-store", "orders-totals-store")
    with declarations(fresh) as folder:
        file = folder / f"{TO_RELEASE}.yaml"
        declared = file.read_text(encoding="utf-8")
        file.write_text(declared.replace("orders-running-store:", "orders-totals-store:"), encoding="utf-8")
        trial = begun_other(fresh, DAG, release=TO_RELEASE, topology_text=text)
        document = ended(trial, state="success", outcome=COMPLETED)
    (runbook,) = plan_of(document)["runbooks"]
    sentence = document["run"]["outcome_sentence"]
    assert sentence.startswith(f"RUNBOOK NEEDED: {runbook} (danger: store-renamed")
    assert f"; {runbook} is not a DAG yet: it is a manual procedure" in sentence
    assert f"{runbook} is not a DAG yet, manual procedure" in log_of(fresh, trial.run_id, "plan")
    assert document["approvals"] == document["writes"] == []


def test_a_bump_to_a_release_that_changes_more_is_refused(fresh: Stack) -> None:
    """By the same findings: the rule, the store, and what to use in its place; nothing was changed."""
    with declarations(fresh) as folder:
        file = folder / f"{TO_RELEASE}.yaml"
        text = file.read_text(encoding="utf-8")
        by_customer = "orders-running-store:\n    kind: key_value\n    key: customer"
        assert by_customer in text
        file.write_text(
            text.replace(by_customer, by_customer.replace("key: customer", "key: region")), encoding="utf-8"
        )
        document = ended(begun(fresh), state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert "release 4.3.1 changes more than a roll may: key-changed-before-store (orders-running-store)" in sentence
    assert "use reset_and_cleanup in place of this" in sentence
    assert document["recheck"]["different"] == []


@pytest.mark.long
def test_a_bump_of_what_nobody_declares_is_inconclusive_although_the_descriptions_are_the_same(fresh: Stack) -> None:
    """They have no windows and no formats; a person may go on without."""
    with declarations(fresh) as folder:
        shutil.rmtree(folder)
        document = ended(begun(fresh, dry_run=True), state="failed", outcome=INCONCLUSIVE)
        trial = begun(fresh, dry_run=True, without_topology="the same jar on another library")
        ended(trial, state="success", outcome=DRY_RUN)
    said = "nothing but the description is known of release 3.4.1 and release 4.3.1: the descriptions are the same"
    assert said in document["run"]["outcome_sentence"]
    assert f"danger topology-not-compared on orders: NOT COMPARED: {said}" in log_of(fresh, trial.run_id, "plan")


@contextmanager
def declarations(stack: Stack) -> Iterator[Path]:
    """The folder of what the releases declare, put back as it was once the body has run."""
    folder = stack.lab.config / "applications" / "orders"
    kept = stack.lab.run_dir / "declarations"
    shutil.copytree(folder, kept)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(kept, folder)
