"""`plan_change` knows a program from its instances' agent and from its release's command; no file declares anything."""

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from kstreams_runbooks.properties import dump
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.stack import Stack
from lab.topology_facts import jar
from world.endings import DRY_RUN, INCONCLUSIVE, begun_other, ended
from world.given import declared_as
from world.runs import log_of

DAG = "plan_change"


@pytest.fixture(scope="module")
def shown(stack: Stack) -> Iterator[Stack]:
    """Two instances that were started with the agent, releases that print their facts, and no declaration file."""
    agent = jar()
    afresh(stack, Deployed(settings={"facts.agent": str(agent)}))
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
    assert asked == {"key", "key_serde", "value_serde", "aggregate"}
