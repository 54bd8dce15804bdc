"""GO ON of refused runs, followed: the command of each, from its own log, is not refused for the same reason."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from lab import started_over
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed, wait_running
from lab.stack import Stack
from world.endings import NOTHING_CHANGED, begun_other
from world.given import declared_as
from world.going_on import followed
from world.runs import evidence, finished

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release; every run here is a dry run."""
    afresh(stack, Deployed())
    return stack


@contextmanager
def one_down(stack: Stack) -> Iterator[None]:
    """One instance is down until the run has ended; it is started before its GO ON is followed."""
    stack.supervisor.stop("orders-1")
    try:
        yield
    finally:
        stack.supervisor.start("orders-1")
        wait_running(stack.lab, stack.supervisor, ("orders-1",))


@dataclass(frozen=True)
class Case:
    """A refused dry run, the beginning of the command that GO ON has, and whether that run completes."""

    dag_id: str
    params: dict[str, Any]
    command: str
    completes: bool = False
    meanwhile: Callable[[Stack], AbstractContextManager[Any]] = field(default=lambda _: nullcontext())


CASES = (
    Case("rolling_bounce", {"release": "3.4.1"}, "trigger rolling_bounce", completes=True),
    Case("rolling_bounce", {"settings": {"num.stream.threads": "two"}}, "trigger rolling_bounce"),
    Case("rolling_bounce", {"settings": {"upgrade.from": "3.4"}}, "trigger rolling_bounce"),
    Case("stop_and_restart", {"local_state": "some"}, "trigger stop_and_restart", completes=True),
    Case("stop_and_restart", {"lose_state": ["none"]}, "trigger stop_and_restart", completes=True),
    Case("library_bump", {"target": "4.3.1", "unchanged": ["values"]}, "trigger library_bump"),
    Case("library_bump", {"target": "3.4.1"}, "trigger library_bump"),
    Case("reset_and_cleanup", {"mode": "reset", "targets": {"orders": "+0"}}, "trigger reset_and_cleanup"),
    Case("reset_and_cleanup", {"mode": "reset", "targets": {"none": "earliest"}}, "trigger reset_and_cleanup"),
    Case("reset_and_cleanup", {"mode": "reset", "clean_outputs": ["none"]}, "trigger reset_and_cleanup"),
    Case("plan_change", {}, "trigger plan_change"),
    Case("plan_change", {"topology_file": "topology.txt"}, "trigger plan_change"),
    Case("rolling_bounce", {"restart": True}, "clear", completes=True, meanwhile=one_down),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dag_id}-{'-'.join(case.params) or 'empty'}")
def test_the_command_of_go_on_is_not_refused_for_the_same_reason(fresh: Stack, case: Case) -> None:
    """It is there whole, it runs, and a run that it completes ends well."""
    with case.meanwhile(fresh):
        trial = begun_other(fresh, case.dag_id, dry_run=True, **case.params)
        assert finished(fresh, trial.run_id) == "failed"
        run = evidence(fresh, trial.run_id)["run"]
    assert run["outcome"] == NOTHING_CHANGED
    code, said = followed(fresh, trial.run_id)
    assert run["outcome_sentence"] not in said
    assert (code == 0) or not case.completes, said


# Two copies of the release that runs: one as the program is built, one with a fact that refuses it.
GOOD, BAD = "3.4.1.8", "3.4.1.9"
Facts = dict[str, Any]


@pytest.fixture(scope="module")
def facts(fresh: Stack) -> Facts:
    """What the jar of topology facts prints of the release that runs."""
    lab, words = fresh.lab, started_over.fields(fresh.lab)["deployer"]["topology"]
    command_line = [word.format(directory=lab.releases / FROM_RELEASE, settings_file="") for word in words]
    printed = subprocess.run(command_line, capture_output=True, text=True, timeout=60, check=True).stdout
    return dict(yaml.safe_load(printed))


@contextmanager
def as_built(stack: Stack, facts: Facts, place: str, value: object) -> Iterator[None]:
    """The fleet entry has both copies; the facts of the refused one differ at `place`, a key or two with a slash."""
    lab, folder = stack.lab, stack.lab.run_dir / "facts"
    folder.mkdir(exist_ok=True)
    section, _, key = place.partition("/")
    changed = facts | {section: facts[section] | {key: value} if key else value}
    for release, printed in ((FROM_RELEASE, facts), (GOOD, facts), (BAD, changed)):
        (folder / f"{release}.yaml").write_text(yaml.safe_dump(printed, sort_keys=False), encoding="utf-8")
    declared = lab.config / "applications" / "orders"
    deployer = started_over.fields(lab)["deployer"] | {"topology": ["cat", f"{folder}/{{release}}.yaml"]}
    deployer["releases"] |= dict.fromkeys((GOOD, BAD), str(lab.releases / FROM_RELEASE))
    for release in (GOOD, BAD):
        shutil.copy(declared / f"{FROM_RELEASE}.yaml", declared / f"{release}.yaml")
    try:
        with declared_as(stack, deployer=deployer, libraries=dict.fromkeys((GOOD, BAD), FROM_RELEASE)):
            yield
    finally:
        for release in (GOOD, BAD):
            (declared / f"{release}.yaml").unlink()


_UNLINKED = {"class": "orders.Enrich", "jar": "orders.jar", "needed_by": "orders.Enrich", "handled": False}
_UNLINKED |= {"references": 1, "sentence": "Enrich (orders.jar) calls a method that Kafka 3.4.1 does not have"}


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("config/application.id", "others", "is another application than orders"),
        ("config/auto.offset.reset", "newest", "3.4.1 refuses auto.offset.reset=newest"),
        ("default_value_serde", None, "Please specify a"),
        ("links", [_UNLINKED], "does not link"),
    ],
    ids=["another-application", "auto-offset-reset", "serde-missing", "class-not-linked"],
)
def test_a_release_that_is_refused_as_it_is_built_goes_on_with_another(
    fresh: Stack, facts: Facts, place: str, value: object, words: str
) -> None:
    """The same release would be refused again: the command brings another one, and that run completes."""
    if place == "default_value_serde":
        place, value = "operators", without_a_serde(facts)
    with as_built(fresh, facts, place, value):
        trial = begun_other(fresh, "rolling_bounce", release=BAD, dry_run=True)
        assert finished(fresh, trial.run_id) == "failed"
        run = evidence(fresh, trial.run_id)["run"]
        assert run["outcome"] == NOTHING_CHANGED, run["outcome_sentence"]
        assert words in run["outcome_sentence"]
        code, said = followed(fresh, trial.run_id, {"RELEASE": GOOD})
        assert code == 0, said


def without_a_serde(facts: Facts) -> Facts:
    """The operators, of which a sink leaves its serdes to the settings."""
    sink = facts["operators"]["orders-running-sink"]
    left = {name: value for name, value in sink.items() if name != "key_serde"}
    return {**facts["operators"], "orders-running-sink": left | {"key_serde_of_settings": ["default.key.serde"]}}
