"""Runs know a program from its instances' agent and from its release's command, with and without declarations."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.properties import dump
from kstreams_runbooks.wording import markdown
from lab.afresh import afresh
from lab.airflow import APPROVER, REQUESTER
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.stack import Stack
from lab.topology_facts import jar
from world.endings import COMPLETED, DRY_RUN, INCONCLUSIVE, NOTHING_CHANGED, begun, begun_other, ended
from world.given import declared_as
from world.runs import evidence, log_of, question

DAG = "plan_change"


@pytest.fixture(scope="module")
def running(stack: Stack) -> Stack:
    """Two instances that were started with the agent; releases print descriptions, and each has a declaration file."""
    afresh(stack, Deployed(settings={"facts.agent": str(jar())}))
    return stack


@pytest.fixture
def shown(running: Stack) -> Iterator[Stack]:
    """The same with releases that print their facts, and without a declaration file."""
    stack = running
    folder = stack.lab.config / "applications" / "orders"
    kept = stack.lab.run_dir / "declarations"
    shutil.move(folder, kept)
    try:
        with declared_as(stack, deployer=_printing(stack)):
            yield stack
    finally:
        shutil.move(kept, folder)


def _printing(stack: Stack) -> dict[str, Any]:
    """The deployer's entry with a topology command that prints the facts of a release with that release's settings."""
    lab = stack.lab
    entry: dict[str, Any] = yaml.safe_load((lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    command = ["java", "-cp", f"{jar()}:{{directory}}/*", "kstreams.runbooks.facts.FactsCommand"]
    command += [
        "--factory",
        "orders.OrdersApplication::topology",
        "--properties",
        f"{lab.run_dir}/{{release}}.properties",
    ]
    deployer: dict[str, Any] = entry["deployer"]
    return deployer | {"topology": command}


def settings_of(stack: Stack, release: str, **settings: str) -> None:
    """Write the settings that the topology command of a release has: those of the instances, and `settings`."""
    base = (stack.lab.instances / "orders-1" / "base.properties").read_text(encoding="latin-1")
    more = dump({name.replace("_", "."): value for name, value in settings.items()})
    (stack.lab.run_dir / f"{release}.properties").write_text(f"{base}\n{more}", encoding="latin-1")


@pytest.fixture
def proven(shown: Stack) -> Iterator[Stack]:
    """The command prints the release that runs too, with what its instances have: each has the jar in its settings."""
    for release in (FROM_RELEASE, TO_RELEASE):
        settings_of(shown, release, facts_agent=str(jar()))
    try:
        yield shown
    finally:
        (shown.lab.run_dir / f"{FROM_RELEASE}.properties").unlink()


def test_the_agent_alone_changes_no_plan(running: Stack) -> None:
    """What was read of one release is compared with what is declared of the other, and contradicts no declaration."""
    trial = begun_other(running, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["run"]["outcome_sentence"].startswith("LIBRARY BUMP: ")
    assert not [one for one in document["plan"]["findings"] if one["id"] == "declaration-contradicted"]


def test_a_change_that_no_description_shows_is_decided(shown: Stack) -> None:
    """A store without its changelog: the description is the same, and the plan names the loss and its runbook."""
    settings_of(shown, TO_RELEASE, windowed_changelog="false")
    trial = begun_other(shown, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["recheck"]["different"] == []
    sentence = document["run"]["outcome_sentence"]
    assert sentence.startswith("RUNBOOK NEEDED: reset_and_cleanup (danger: logging-switched-off")
    log = log_of(shown, trial.run_id, "describe_release")
    read = r"facts read from its program, \d+ not read; nothing declared"
    for found in (
        rf"runs: release {FROM_RELEASE}, 4 subtopologies from orders-1, orders-2, {read}",
        rf"wanted: release {TO_RELEASE}, 4 subtopologies from topology command of {TO_RELEASE}, {read}",
    ):
        assert re.search(found, log), log


def test_what_no_code_shows_is_all_that_is_asked(shown: Stack) -> None:
    """The same program on another library: the meaning of keys and formats of its own, no window and no join."""
    settings_of(shown, TO_RELEASE)
    trial = begun_other(shown, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="failed", outcome=INCONCLUSIVE)
    asked = {missing["field"] for one in document["plan"]["undecided"] if one["matters"] for missing in one["missing"]}
    assert asked == {"key", "value_serde", "aggregate"}
    again = "trigger a new run of plan_change with --param unchanged=key,value_serde,aggregate if the code of these did"
    assert again in document["run"]["outcome_sentence"]
    log = log_of(shown, trial.run_id, "plan")
    assert f"--application orders --param release={TO_RELEASE} --param unchanged=key,value_serde,aggregate" in log


def test_the_code_of_both_builds_leaves_nothing_to_ask(proven: Stack) -> None:
    """No file declares anything, and nobody names a field: the plan shows what the digests prove."""
    trial = begun_other(proven, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["run"]["outcome_sentence"].startswith("LIBRARY BUMP: ")
    assert document["recheck"]["different"] == []
    [same] = [one for one in document["plan"]["findings"] if one["id"] == "same-code"]
    assert "value_serde of " in same["message"]
    log = log_of(proven, trial.run_id, "plan")
    assert re.search(r"both\s+versions\s+have\s+the\s+same\s+code", log), log


def test_a_bump_is_planned_by_the_code_of_both_builds(proven: Stack) -> None:
    """Without a field of the form."""
    trial = begun(proven, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["recheck"]["different"] == []
    assert "same-code" in log_of(proven, trial.run_id, "plan")


def test_a_build_that_is_not_what_runs_proves_nothing(proven: Stack) -> None:
    """Its command prints another changelog than the instances have: the reason is in the log and in the outcome."""
    settings_of(proven, FROM_RELEASE, facts_agent=str(jar()), windowed_changelog="false")
    trial = begun_other(proven, DAG, release=TO_RELEASE, dry_run=True)
    document = ended(trial, state="failed", outcome=INCONCLUSIVE)
    why = (
        f"code of {FROM_RELEASE}: the topology command of {FROM_RELEASE} does not print what orders-1, orders-2 run: "
        "stores.orders-windowed-store.logging (True and False)"
    )
    assert why in document["run"]["outcome_sentence"]
    assert f"not compared: {why}" in log_of(proven, trial.run_id, "describe_release")


def test_what_the_form_names_as_unchanged_decides_it(shown: Stack) -> None:
    """No release has a declaration file: the plan, the question and the evidence show who named the fields."""
    settings_of(shown, TO_RELEASE)
    trial = begun_other(shown, DAG, release=TO_RELEASE, unchanged=["value_serde", "key", "aggregate"], dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["run"]["outcome_sentence"].startswith("LIBRARY BUMP: ")
    assert document["recheck"]["different"] == []
    [named] = [one for one in document["plan"]["findings"] if one["id"] == "named-unchanged"]
    by = document["run"]["requested_by"]
    assert named["message"] == f"declared in the form by {by}: key, value_serde, aggregate unchanged"
    assert named["message"] in log_of(shown, trial.run_id, "plan")
    assert f"nothing declared; {named['message']}" in log_of(shown, trial.run_id, "describe_release")


@pytest.mark.long
def test_the_approver_reads_what_was_named_and_the_started_runbook_gets_it(shown: Stack) -> None:
    """The question of the plan and that of the runbook have the line; the same plan is found again after a clear."""
    settings_of(shown, TO_RELEASE)
    trial = begun_other(shown, DAG, release=TO_RELEASE, unchanged=["key", "value_serde", "aggregate"])
    named = f"declared in the form by {REQUESTER}: key, value_serde, aggregate unchanged"
    assert markdown(named) in question(shown, trial.run_id)["body"]
    shown.api(APPROVER).answer(DAG, trial.run_id, "choose_runbook", "library_bump")
    document = ended(trial, state="success", outcome=COMPLETED)
    started = f"library_bump.{trial.run_id}"
    assert shown.api().wait_finished("library_bump", started, 180) == "success"
    assert shown.api().run("library_bump", started)["conf"]["unchanged"] == ["key", "value_serde", "aggregate"]
    assert f"info named-unchanged on unchanged: {named}" in log_of(shown, started, "plan")
    assert "nothing-declared" not in log_of(shown, started, "plan")
    digest = document["run"]["plan_digest"]
    shown.api().clear(DAG, trial.run_id, "plan")
    question(shown, trial.run_id)
    assert evidence(shown, trial.run_id)["run"]["plan_digest"] == digest
    shown.api(APPROVER).answer(DAG, trial.run_id, "choose_runbook", "none")
    ended(trial, state="success", outcome=COMPLETED)


def test_what_was_read_wins_over_the_form(shown: Stack) -> None:
    """A changelog that goes is a loss, also where the form names `logging` as unchanged, and the plan says so."""
    settings_of(shown, TO_RELEASE, windowed_changelog="false")
    trial = begun_other(shown, DAG, release=TO_RELEASE, unchanged="logging, key, value_serde, aggregate", dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["run"]["outcome_sentence"].startswith("RUNBOOK NEEDED: reset_and_cleanup (danger: logging-switched")
    [wrong] = [one for one in document["plan"]["findings"] if one["id"] == "declaration-contradicted"]
    assert wrong["object"] == "stores.orders-windowed-store"


def test_a_word_that_is_no_field_is_one_sentence(shown: Stack) -> None:
    """Before anything is read."""
    trial = begun_other(shown, DAG, release=TO_RELEASE, unchanged=["values"], dry_run=True)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["readings"] == []
    assert document["run"]["outcome_sentence"] == (
        "unchanged: 'values' is not a field that it can name (expected key, key_serde, value_serde, aggregate, join, "
        "logging, timestamped or other_code); correct it"
    )


@pytest.mark.long
def test_a_bump_goes_on_with_what_was_read_and_what_a_person_names(shown: Stack) -> None:
    """No file declares anything: both programs are compared as far as code shows them; GO ON has the fields for it."""
    settings_of(shown, TO_RELEASE)
    trial = begun(shown, dry_run=True)
    ended(trial, state="failed", outcome=INCONCLUSIVE)
    again = f"--param target={TO_RELEASE} --param unchanged=key,value_serde,aggregate"
    assert f"kstreams-runbooks trigger library_bump --application orders {again}" in log_of(
        shown, trial.run_id, "conclude"
    )
    trial = begun(shown, dry_run=True, unchanged="key,value_serde,aggregate")
    ended(trial, state="success", outcome=DRY_RUN)
    assert "named-unchanged" in log_of(shown, trial.run_id, "plan")


def test_a_bump_that_takes_a_changelog_away_is_refused(shown: Stack) -> None:
    """By what was read, although both descriptions are the same; nothing was changed."""
    settings_of(shown, TO_RELEASE, windowed_changelog="false")
    document = ended(begun(shown, dry_run=True), state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert "release 4.3.1 changes more than a roll may: logging-switched-off (orders-windowed-store)" in sentence


def test_readiness_names_what_stays_to_be_declared(shown: Stack) -> None:
    """Every instance has the jar; no fact but formats of the program and what only a person knows is left."""
    code, document = answered(shown, "readiness", "orders")
    facts = document["applications"][0]["topology_facts"]
    assert (facts["standing"], facts["instances_without"], facts["not_known"]) == ("ready", [], [])
    assert "aggregate of 1 store" in facts["not_read"]
    unknown = {why for one in document["applications"][0]["runbooks"] for why in one["not_known"]}
    assert not unknown, "the agent shows the suppression"
    assert code == 0, "a growth asks each store for its loss: that is a note"


def test_discover_declares_what_was_read(shown: Stack, tmp_path: Path) -> None:
    """The file of the running release loads, and its window is the program's."""
    lab = shown.lab
    ports = [word for number in (1, 2) for word in ("--jolokia-port", str(lab.ports.metrics(number)))]
    where = ("--bootstrap", lab.bootstrap, "--cluster", "found", "--out", str(tmp_path / "applications"))
    _, document = answered(shown, "discover", *where, *ports, "--approver", "ada")
    [found] = [one for one in document["applications"] if one["application_id"] == "orders"]
    assert (found["outcome"], found["problems"]) == ("written", [])
    assert "processing_guarantee" in found["fields"]["observed"]
    [file] = found["declarations"]
    declared = read_topology_declaration(Path(file))
    assert str(declared.library) == FROM_RELEASE
    window = declared.stores["orders-windowed-store"].window
    assert window is not None
    assert (window.kind, window.size_ms, window.grace_ms) == ("tumbling", 10_000, 120_000)


def answered(stack: Stack, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of a command."""
    command = [str(stack.lab.command), *words, "--format", "json"]
    done = subprocess.run(command, env=stack.environment(), capture_output=True, text=True, timeout=120, check=False)
    document: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, document
