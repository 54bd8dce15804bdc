"""An instance that does not start on another release runs the old one afterwards, live, with deployers that act."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lab import report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.contained import contained
from world.given import command_deployer, declared_as
from world.runs import approve, dag_of, evidence, finished, log_of, question, trigger_other

pytestmark = pytest.mark.long

BAD = "4.3.1.9"
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
# The launcher of an instance ends with 2 if this file is missing; no topology command reads it.
_REFUSED_BY_A_START = {"facts.agent": "/no/such/agent.jar"}


@pytest.fixture
def bad(stack: Stack) -> Iterator[Path]:
    """The application's jar in a release that is a copy of the new one, under a name of its own."""
    folder = stack.lab.releases / BAD
    shutil.copytree(stack.lab.releases / TO_RELEASE, folder)
    declared = stack.lab.config / "applications" / "orders"
    shutil.copy(declared / f"{TO_RELEASE}.yaml", declared / f"{BAD}.yaml")
    yield folder / "orders.jar"
    shutil.rmtree(folder)
    (declared / f"{BAD}.yaml").unlink()


def deployer_of(stack: Stack, kind: str) -> dict[str, Any]:
    """The entry's deployer, with one more release and one more setting."""
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))["deployer"]
    own = command_deployer(stack.lab) if kind == "command" else entry
    artifact = f"orders:{BAD}" if kind == "command" else str(stack.lab.releases / BAD)
    settable = [*own.get("settable", entry["settable"]), *_REFUSED_BY_A_START]
    return own | {"releases": own["releases"] | {BAD: artifact}, "settable": settable}


def versions(stack: Stack, name: str) -> list[str]:
    """Of every start of an instance, by its own log; a JVM that ends before it prints has none."""
    log = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
    return [start.version for start in report.starts_in(log)]


def failed(stack: Stack, run_id: str) -> str:
    """The sentence of a run that ended stopped, everything asked approved."""
    assert finished(stack, run_id) == "failed"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == "stopped, changed"
    assert document["recheck"]["different"] == []
    return str(document["run"]["outcome_sentence"])


@pytest.mark.parametrize("kind", ["supervisord", "command"])
def test_a_broken_jar_goes_back_and_a_mended_one_is_brought_by_a_clear(stack: Stack, bad: Path, kind: str) -> None:
    """3.4.1 may not open what 4.3 leaves: the task directories are as at the stop. Nothing is lost in either part."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(5)
    whole = bad.read_bytes()
    libraries = {BAD: TO_RELEASE}
    with declared_as(stack, deployer=deployer_of(stack, kind), limits=_SHORT, libraries=libraries):
        run_id = trigger_other(stack, "library_bump", target=BAD)
        body = question(stack, run_id)["body"]
        assert (
            f"by itself: if an instance does not start on {BAD} with `upgrade.from=3.4`, it is set back to 3.4.1"
            in body
        )
        bad.write_bytes(b"not a jar")
        approve(stack, run_id, "approve_plan")
        sentence = failed(stack, run_id)
        assert sentence.startswith(f"orders-1 did not start on {BAD} with upgrade.from=3.4: ")
        assert (
            "orders-1 was set back to 3.4.1 and is RUNNING on it; correct the cause, then clear bounce_1_f" in sentence
        )
        assert sentence.endswith(f"changed so far: orders-1: bounce 1: {BAD} with upgrade.from=3.4 (set back)")
        assert versions(stack, "orders-1") == [FROM_RELEASE, FROM_RELEASE]
        assert versions(stack, "orders-2") == [FROM_RELEASE]
        assert [card["done"] for card in evidence(stack, run_id)["cards"]] == [True]
        conclusion = log_of(stack, run_id, "conclude")
        assert f"kstreams-runbooks clear {run_id} bounce_1_first" in conclusion
        assert "GO BACK: not needed, nothing is left to take back" in conclusion
        bad.write_bytes(whole)
        stack.api().clear(dag_of(run_id), run_id, "bounce_1_first")
        assert finished(stack, run_id) == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    assert versions(stack, "orders-1") == [FROM_RELEASE, FROM_RELEASE, TO_RELEASE, TO_RELEASE]


@pytest.mark.parametrize(
    ("kind", "dag", "clears"),
    [
        ("supervisord", "rolling_bounce", "bounce_1_first"),
        ("command", "rolling_bounce", "bounce_1_first"),
        ("supervisord", "stop_and_restart", "stop_application"),
        ("command", "stop_and_restart", "stop_application"),
    ],
)
def test_a_setting_that_only_a_start_refuses_goes_back(stack: Stack, kind: str, dag: str, clears: str) -> None:
    """One instance, or all of them; an undo finds nothing to take back, and the records are all there."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(5)
    with declared_as(stack, deployer=deployer_of(stack, kind), limits=_SHORT):
        run_id = trigger_other(stack, dag, settings=_REFUSED_BY_A_START)
        sentence = failed(stack, run_id)
        assert "did not start on 3.4.1 with facts.agent=/no/such/agent.jar" in sentence
        assert "orders-1 was set back to 3.4.1 and is RUNNING on it" in sentence
        assert f"correct the cause, then clear {clears}" in sentence
        undo = trigger_other(stack, "undo", run=run_id)
        assert finished(stack, undo) == "failed"
        assert "has no undo card left" in evidence(stack, undo)["run"]["outcome_sentence"]
    expected = {"orders-1": 2, "orders-2": 2 if dag == "stop_and_restart" else 1}
    assert {name: len(versions(stack, name)) for name in expected} == expected
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})


def test_a_start_that_opened_the_state_leads_to_undo(stack: Stack) -> None:
    """4.3.1 runs and its threads die: 3.4.1 may not open what it left; the undo clears it, and nothing is lost."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(5)
    base = stack.lab.instances / "orders-1" / "base.properties"
    whole = base.read_text(encoding="latin-1")
    with declared_as(stack, limits=_SHORT):
        base.write_text(whole + "fail.at.start=true\n", encoding="latin-1")
        run_id = trigger_other(stack, "library_bump", target=TO_RELEASE)
        sentence = failed(stack, run_id)
        base.write_text(whole, encoding="latin-1")
        assert "not set back by itself: the process of orders-1 is not known to be gone" in sentence
        assert "; undo this run" in sentence
        assert "GO ON: this run cannot go on, only back:" in log_of(stack, run_id, "conclude")
        undo = trigger_other(stack, "undo", run=run_id)
        assert finished(stack, undo) == "success"
    assert versions(stack, "orders-1") == [FROM_RELEASE, TO_RELEASE, FROM_RELEASE]
    assert judged(stack).faults() == {}


@pytest.mark.parametrize(("dag", "clears"), [("rolling_bounce", "bounce_1_first"), ("stop_and_restart", "stop_app")])
def test_a_start_in_a_container_goes_back(stack: Stack, bad: Path, dag: str, clears: str) -> None:
    """A jar that is none, then a setting that only a start refuses: the container of before runs again."""
    with contained(stack, Deployed(release=TO_RELEASE)) as made:
        stack.start_traffic()
        time.sleep(5)
        deployer = made.deployer((TO_RELEASE, BAD))
        whole = bad.read_bytes()
        with declared_as(stack, deployer=deployer, limits=_SHORT, libraries={BAD: TO_RELEASE}):
            run_id = trigger_other(stack, dag, release=BAD)
            question(stack, run_id)
            bad.write_bytes(b"not a jar")
            approve(stack, run_id, "approve_plan")
            sentence = failed(stack, run_id)
            assert f"did not start on {BAD}" in sentence
            assert f"orders-1 was set back to {TO_RELEASE} and is RUNNING on it" in sentence
            assert f"correct the cause, then clear {clears}" in sentence
            run_id = trigger_other(stack, dag, settings=_REFUSED_BY_A_START)
            sentence = failed(stack, run_id)
            assert f"did not start on {TO_RELEASE} with facts.agent=/no/such/agent.jar" in sentence
            assert f"orders-1 was set back to {TO_RELEASE} and is RUNNING on it" in sentence
            bad.write_bytes(whole)
        names = list(Deployed().names)
        assert made.engine.names() == names
        images = {made.engine.api.inspect_container(name)["Config"]["Image"] for name in names}
        assert images == {f"orders:{TO_RELEASE}"}
        assert {version for name in names for version in versions(stack, name)} == {TO_RELEASE}
        judgement = judged(stack)
        assert (judgement.code, judgement.faults()) == (0, {})
