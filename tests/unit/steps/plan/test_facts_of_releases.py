"""What a run knows of a release: its file, over it what was read of its program, and the reasons for the rest."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Taken
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Contradiction, Declaration, Described, TopologyFacts
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from kstreams_runbooks.steps.plan.releases import before_a_roll, one_running, running, wanted
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.facts import COUNTED, with_code
from world.new_ledger import new_ledger
from world.samples import NEW, OLD, declared, instance, reading

SETS = COUNTED.replace("config:\n", 'config:\n  "processing.guarantee": "exactly_once_v2"\n  "state.dir": "/data/1"\n')
RUNS = SETS.replace('"4.3.1"', f'"{OLD}"')
READ = read_facts(RUNS, "test")
WIDER = read_facts(RUNS.replace("size_ms: 3600000", "size_ms: 7200000"), "test")
FILE = """\
stores:
  readings-store:
    kind: window
    key: sensor
    window: {kind: tumbling, size_ms: 60000, grace_ms: 300000}
"""


CODE = """\
code:
  facts: {"stores.readings-store.key": "0000000000000001"}
  digests: {"0000000000000001": {methods: "0"}}
  methods: {"app.App": "key 1a2b3c4d"}
  java: [61]
  jvm: 17
  rules: 2
"""


class Printing:
    """A deployer whose topology command prints the facts of the new release."""

    def topology_target(self, target: Target) -> Target:
        """It takes no settings."""
        return target.release_alone

    def topology(self, target: Target) -> str:
        """The description in them."""
        return self._found(target).text or ""

    def facts(self, target: Target, *, started: bool = False) -> Declaration:  # noqa: ARG002 - as for all
        """What was read of the program."""
        return self._found(target).read

    def _found(self, target: Target) -> TopologyFacts:
        if target.release == OLD:
            raise Refused("3.4.1 does not print it")
        return read_facts(COUNTED, "test")


class PrintingCode(Printing):
    """It prints the facts of both releases, with digests of their code."""

    def _found(self, target: Target) -> TopologyFacts:
        return read_facts(with_code(RUNS if target.release == OLD else SETS, CODE), "test")


class PrintingNewCode(Printing):
    """It prints digests of the new release alone."""

    def _found(self, target: Target) -> TopologyFacts:
        return read_facts(with_code(SETS, CODE), "test") if target.release == NEW else super()._found(target)


@pytest.fixture
def run(tmp_path: Path, config: Path) -> Callable[..., Run]:
    """A run whose instances show these facts; with `files` both releases have a declaration."""

    def make(
        first: Declaration | Missing = READ.read,
        second: Declaration | Missing = READ.read,
        *,
        files: bool = False,
        settings: str = "",
        **params: Any,
    ) -> Run:
        folder = config / "applications" / "orders"
        folder.mkdir(parents=True)
        for release in (OLD, NEW) if files else ():
            (folder / f"{release}.yaml").write_text(FILE + settings)
        ledger = new_ledger(tmp_path / "change.db")
        record = RunRecord("plan_change/r", "plan_change", "r", "orders", "demo", "oncall", True, "", params, now_ms())
        made = Run(ledger.start_run(record), "describe_release", 1, ledger)
        found = {
            name: one if isinstance(one, Missing) else FactsReading(Taken(1, "jolokia"), name, one)
            for name, one in (("orders-1", first), ("orders-2", second))
        }
        vars(made).update(
            declared=declared(),
            application=SimpleNamespace(name="orders", application_id="orders"),
            deployer=Printing(),
            running_facts=lambda _: found,
        )
        return made

    return make


def now() -> ApplicationReading:
    """Both instances run, and report the description that their facts have."""
    text = READ.text or ""
    return reading(instance("orders-1", topology=text), instance("orders-2", topology=text))


def running_version(run: Run) -> Described:
    return running(run, one_running(run, now()))


def test_what_runs_is_known_from_its_instances(run: Callable[..., Run]) -> None:
    """Without a file: what was read is all that is known."""
    found = running_version(run())
    assert (found.release, found.library, found.source) == (OLD, OLD, "orders-1, orders-2")
    assert (found.read, found.only_read, found.unread) == (True, True, ())
    window = found.declaration.stores["readings-store"].window
    assert window is not None
    assert window.size_ms == 3_600_000
    assert found.declaration.stores["readings-store"].key is None


def test_a_file_fills_in_what_was_not_read_and_its_contradictions_are_named(run: Callable[..., Run]) -> None:
    """What was read wins."""
    found = running_version(run(files=True))
    store = found.declaration.stores["readings-store"]
    assert store.window is not None
    assert (store.key, store.window.size_ms, found.only_read) == ("sensor", 3_600_000, False)
    assert found.declaration.contradictions == (
        Contradiction("stores.readings-store.window.size_ms", "60000", "3600000"),
    )


def test_the_library_that_was_read_wins_over_the_fleet_entry(run: Callable[..., Run]) -> None:
    """A release whose jars are of another library than its name says."""
    newer = read_facts(SETS, "test").read
    found = running_version(run(newer, newer))
    assert (found.library, found.declaration.contradictions) == (NEW, (Contradiction("library", OLD, NEW),))


def test_an_instance_without_the_jar_leaves_the_file(run: Callable[..., Run]) -> None:
    """The reason is kept for the plan; the facts of the other are not used for it."""
    found = running_version(run(second=NoFacts("no MBean in the JVM"), files=True))
    assert (found.read, found.unread) == (False, ("orders-2: no MBean in the JVM",))
    window = found.declaration.stores["readings-store"].window
    assert window is not None
    assert window.size_ms == 60_000


def test_instances_whose_programs_differ_are_refused(run: Callable[..., Run]) -> None:
    """With the place and both values; a roll goes on, as two versions."""
    made = run(second=WIDER.read)
    with pytest.raises(
        Refused,
        match=r"the programs of orders-1 and orders-2 differ in release 3\.4\.1 \(expected: one\): "
        r"stores\.readings-store\.window\.size_ms \(3600000 and 7200000\); look at their settings",
    ):
        one_running(made, now())
    before, after = before_a_roll(made, now(), Target(NEW))
    assert [one.source for one in before] == ["orders-1", "orders-2"]
    assert isinstance(after, Described)
    assert (after.read, after.library) == (True, NEW)


def test_the_settings_that_were_read_win_over_the_fleet_entry(run: Callable[..., Run]) -> None:
    """A program that does not set its guarantee has the library's default."""
    default = read_facts(COUNTED, "test").read
    found = running_version(run(default, default))
    assert found.declaration.config == {"application.id": "app", "processing.guarantee": "at_least_once"}
    assert found.declaration.contradictions[-1:] == (
        Contradiction("processing_guarantee of the fleet entry", "exactly_once_v2", "at_least_once"),
    )


def test_settings_of_an_instance_stay_as_they_are_declared(run: Callable[..., Run]) -> None:
    """They are no facts of a release, and contradict nothing."""
    made = run(files=True, settings="config: {state.dir: /data/2, processing.guarantee: exactly_once_v2}\n")
    declaration = running_version(made).declaration
    assert (declaration.config or {})["state.dir"] == "/data/2"
    assert [one.where for one in declaration.contradictions] == ["stores.readings-store.window.size_ms"]


def _code_of(one: Described | Missing) -> dict[str, str]:
    assert isinstance(one, Described)
    return {where: code.digest for where, code in one.declaration.code.items()}


PROVEN = {"stores.readings-store.key": "0000000000000001"}


def test_a_roll_compares_the_code_of_both_builds(run: Callable[..., Run]) -> None:
    """Its instances show facts, and the topology command of their release prints the same with digests."""
    made = run()
    vars(made)["deployer"] = PrintingCode()
    [before], after = before_a_roll(made, now(), Target(NEW))
    assert (_code_of(before), _code_of(after)) == (PROVEN, PROVEN)
    assert (before.source, before.unread) == ("orders-1, orders-2", ())


def test_what_a_build_cannot_prove_is_said(run: Callable[..., Run]) -> None:
    """Another build has the name of the release that runs, or its command fails: no code is compared."""
    other, said = run(WIDER.read, WIDER.read), list[str]()
    vars(other).update(deployer=PrintingCode(), say=said.append)
    [before], after = before_a_roll(other, now(), Target(NEW))
    assert (_code_of(before), _code_of(after)) == ({}, PROVEN)
    assert "size_ms (7200000 and 3600000)" in before.unread[0]
    assert said == [f"not compared: {before.unread[0]}"]
    vars(other)["deployer"] = PrintingNewCode()
    [before], _ = before_a_roll(other, now(), Target(NEW))
    assert before.unread == ("code of 3.4.1: release 3.4.1 is not described: 3.4.1 does not print it",)


@pytest.mark.parametrize("how", ["release", "topology_text"])
def test_the_wanted_release_is_known_from_its_facts(run: Callable[..., Run], how: str) -> None:
    """Its topology command prints them, or they are pasted."""
    found = wanted(run(**{how: NEW if how == "release" else COUNTED}))
    assert found.text.strip() == (READ.text or "").strip()
    assert (found.library, found.read, found.only_read) == (NEW, True, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("facts: 1\nnot_read: []\n", "these topology facts have no description; print them with topology-facts.jar"),
        ("facts: 3\nnot_read: []\n", "facts: 3 is a format that is not known"),
    ],
)
def test_pasted_facts_that_cannot_be_used_are_one_sentence(run: Callable[..., Run], text: str, sentence: str) -> None:
    """Without a description, or printed by another release of the jar."""
    with pytest.raises(BadInput, match=f"topology_text: {sentence}"):
        wanted(run(release=NEW, topology_text=text))
