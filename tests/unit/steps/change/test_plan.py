"""The steps of `plan_change`: what is compared, what may be chosen, and what is started, on a real SQLite ledger."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.described import described_change
from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.runs.choice import Choices
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.ledger import Approval, RunRecord
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import NamedUnchanged
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present.change.document import document
from kstreams_runbooks.present.change.text import as_text
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.change.plan import CHOOSE, CHOSEN, answer_choice, demand_runbook, sides_of
from kstreams_runbooks.steps.conclude import facts_of, shown_plan
from kstreams_runbooks.steps.plan.releases import before_a_roll, running, wanted
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.new_ledger import new_ledger
from world.samples import NEW, OLD, declared, instance, reading
from world.sides import AUDITED, COUNTS, declaration, described, known

Started = list[tuple[str, str, dict[str, Any]]]
DIGEST = "d1"


@pytest.fixture
def asked(tmp_path: Path, config: Path) -> Callable[..., Run]:
    """A run of `plan_change` with these fields of its form, of an application that declares nothing."""
    ledger = new_ledger(tmp_path / "change.db")
    (config / "applications").mkdir()

    def make(*, dry_run: bool = False, **params: Any) -> Run:
        record = RunRecord(
            "plan_change/r", "plan_change", "r", "orders", "demo", "oncall", dry_run, "OPS-7", params, now_ms()
        )
        record = replace(record, conf_digest=str(params))
        run = Run(ledger.start_run(record), "start_runbook", 1, ledger)
        vars(run).update(
            declared=declared(),
            application=SimpleNamespace(name="orders", application_id="orders", deployer=SimpleNamespace(instances=())),
            deployer=Describing(),
        )
        return run

    return make


class Describing:
    """A deployer that knows one description."""

    def facts(self, target: Target, *, started: bool = False) -> None:
        """It prints descriptions."""

    def topology_target(self, target: Target) -> Target:
        """Settings change nothing in it."""
        return target.release_alone

    def topology(self, target: Target) -> str:
        """What one release prints, and the other does not."""
        if target.release == OLD:
            raise Refused("3.4.1 does not print it")
        return AUDITED


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({}, r"release, topology_file, topology_text: none is given \(expected: one\)"),
        ({"topology_text": " "}, "none is given"),
        ({"topology_text": COUNTS, "topology_file": "/a"}, "topology_file and topology_text: both are given"),
        ({"release": "9.9.9"}, r"release 9\.9\.9: not declared for orders"),
        ({"topology_file": "a.txt"}, r"topology_file: a\.txt is not an absolute path"),
        ({"topology_file": "/nowhere/a.txt"}, r"topology_file: /nowhere/a\.txt does not exist on this worker"),
        ({"topology_file": "/etc/passwd"}, r"topology_file: /etc/passwd has no topology description \(expected a"),
    ],
)
def test_what_the_form_cannot_mean_is_one_sentence(asked: Callable[..., Run], params: Any, sentence: str) -> None:
    """A file that is no description is not quoted: a worker has files that nobody here may read."""
    with pytest.raises(BadInput, match=sentence) as raised:
        wanted(asked(**params))
    assert "root:" not in str(raised.value)


def test_a_description_comes_from_where_the_form_says(asked: Callable[..., Run]) -> None:
    """The release prints it, a file has it, or it is pasted; a release beside it is what is deployed."""
    found = wanted(asked(release=NEW))
    assert (found.release, found.library, found.source, found.text) == (NEW, NEW, f"topology command of {NEW}", AUDITED)


def test_a_pasted_description_needs_no_release(asked: Callable[..., Run]) -> None:
    """Then nothing can be deployed, and nothing declared is known."""
    found = wanted(asked(topology_text=COUNTS))
    assert (found.release, found.library, found.source, found.declared) == ("", "", "topology_text", None)


def test_what_the_form_names_counts_as_the_line_of_the_releases_declaration(asked: Callable[..., Run]) -> None:
    """Of the wanted side alone, also if no file declares anything, with the login that named it; for a roll too."""
    run = asked(release=NEW, unchanged=["value_serde", "key"])
    now = reading(instance("orders-1", topology=COUNTS), instance("orders-2", topology=COUNTS))
    (before,), rolled = before_a_roll(run, now, Target(NEW))
    assert not isinstance(rolled, Missing)
    for found in (wanted(run), rolled):
        assert found.is_bare
        assert found.declaration.unchanged == {"key", "value_serde"}
        assert found.declaration.named == NamedUnchanged(("key", "value_serde"), "in the form by oncall")
    assert before.declared is None
    with pytest.raises(BadInput, match="unchanged: 'kind' is not a field that it can name"):
        wanted(asked(release=NEW, unchanged="kind"))


def test_the_run_ends_with_the_fields_that_decide_it() -> None:
    """Only where they are all that is open."""
    open_ = replace(declaration().stores["counts"], key=None)
    sides = (declaration(stores={"counts": open_}), declaration(stores={"counts": open_}))
    before, after = (described(declares=one) for one in sides)
    change = described_change(before, after, known(), topology_change_rules(), upgrade_path_rules())
    with pytest.raises(Inconclusive, match="run of plan_change with --param unchanged=key if the code of these"):
        demand_runbook(change, Verdict(Outcome.PROCEED, ()), ())


def test_a_description_in_a_file_is_of_the_release_beside_it(asked: Callable[..., Run], tmp_path: Path) -> None:
    """With what is declared of that release."""
    file = tmp_path / "topology.txt"
    file.write_text(COUNTS)
    folder = tmp_path / "config" / "applications" / "orders"
    folder.mkdir(parents=True)
    (folder / f"{NEW}.yaml").write_text("config: {}\n")
    found = wanted(asked(topology_file=str(file), release=NEW))
    assert (found.release, found.source, found.text.strip()) == (NEW, str(file), COUNTS.strip())
    assert found.declared is not None


def test_a_roll_is_compared_as_far_as_anything_describes_itself(asked: Callable[..., Run]) -> None:
    """What runs says it itself; a release that does not print it leaves nothing to compare."""
    run = asked()
    now = reading(instance("orders-1", topology=COUNTS), instance("orders-2", topology=COUNTS))
    before, after = before_a_roll(run, now, Target(NEW))
    assert [(one.release, one.source) for one in before] == [(OLD, "orders-1, orders-2")]
    assert not isinstance(after, Missing)
    silent = reading(instance("orders-1", topology=Missing("no such attribute")))
    assert before_a_roll(run, silent, Target(NEW)) == ((), Missing("3.4.1 does not print it"))


@pytest.fixture
def planned(asked: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Run, Started]]:
    """A run with a stored plan that offers these runbooks, and what it starts."""
    started: Started = []

    def start(dag_id: str, run_id: str, conf: dict[str, Any], note: str) -> bool:
        assert note == "planned by plan_change, run r"
        started.append((dag_id, run_id, conf))
        return [one[1] for one in started].count(run_id) == 1

    monkeypatch.setattr("kstreams_runbooks.steps.change.plan.start_run", start)

    def make(*runbooks: str, verdict: str = "proceed", **params: Any) -> tuple[Run, Started]:
        run = asked(**params)
        document = {
            "verdict": verdict,
            "first": [],
            "way_back": {"doors": [], "loses": False, "sentences": []},
            "runbooks": list(runbooks or ("store_migration",)),
            "findings": [],
            "defects": [],
            "after": {"release": NEW},
            "choices": encode(Choices(runbooks, () if runbooks else ("store_migration is not a DAG yet",))),
        }
        run.ledger.store_plan(run.key, DIGEST, document)
        return run, started

    return make


def choose(run: Run, runbook: str, *, digest: str = DIGEST, by: str = "approver", lasts_ms: int = 60_000) -> None:
    run.ledger.record(run.key, CHOOSE, 1, "note", CHOSEN, {"runbook": runbook, "by": by, "digest": digest}, now_ms())
    run.ledger.approve(Approval(run.key, CHOOSE, digest, by, now_ms(), now_ms() + lasts_ms))


def answered(run: Run) -> str:
    """What the run ends with."""
    verified = facts_of(run).verified
    assert verified is not None
    return verified.sentence


def test_what_was_chosen_is_started_once(planned: Callable[..., tuple[Run, Started]]) -> None:
    """As a dry run, under an id that is the same each time."""
    run, started = planned("library_bump")
    choose(run, "library_bump")
    answer_choice(run)
    dag_id, run_id, conf = started[0]
    assert (dag_id, run_id) == ("library_bump", "library_bump.r")
    assert (conf["target"], conf["dry_run"], conf["reason"]) == (NEW, True, "OPS-7; planned by plan_change, run r")
    assert answered(run) == "proceed: library_bump is started as a dry run: run library_bump.r"
    answer_choice(run)
    assert [one.payload["new"] for one in run.ledger.evidence(run.key, kind="write")] == [True, False]
    assert answered(run) == "proceed: library_bump was started before as a dry run: run library_bump.r"


def test_the_form_may_start_it_for_real(planned: Callable[..., tuple[Run, Started]]) -> None:
    """Its own approval is still its own."""
    run, started = planned("library_bump", start_dry_run=False, unchanged="value_serde")
    choose(run, "library_bump")
    answer_choice(run)
    assert started[0][2]["dry_run"] is False
    assert started[0][2]["unchanged"] == ["value_serde"]


def test_a_dry_run_starts_nothing(planned: Callable[..., tuple[Run, Started]]) -> None:
    """Even where somebody has chosen."""
    run, started = planned("library_bump", dry_run=True)
    choose(run, "library_bump")
    answer_choice(run)
    assert started == []
    assert answered(run).startswith("proceed: RUNBOOK NEEDED: library_bump; nothing was changed, trigger again")


def test_none_and_a_procedure_start_nothing(planned: Callable[..., tuple[Run, Started]]) -> None:
    """A procedure is for a person, and nobody was asked."""
    run, started = planned("library_bump")
    choose(run, "none")
    answer_choice(run)
    assert answered(run) == "proceed: RUNBOOK NEEDED: library_bump; nothing was started, as was chosen"
    run, _ = planned()
    answer_choice(run)
    assert answered(run) == (
        "proceed: RUNBOOK NEEDED: store_migration; store_migration is not a DAG yet; nothing was changed"
    )
    assert started == []


def test_a_choice_counts_for_its_own_plan_alone(planned: Callable[..., tuple[Run, Started]]) -> None:
    """Nothing is started because somebody marked a task, or for an answer that was taken back or is too old."""
    run, started = planned("library_bump")
    with pytest.raises(WriteRefused, match="no approval of choose_runbook in the ledger"):
        answer_choice(run)
    choose(run, "library_bump", digest="another")
    with pytest.raises(WriteRefused, match="choose_runbook was given for plan another, the plan is now d1"):
        answer_choice(run)
    choose(run, "library_bump", lasts_ms=-60_000)
    with pytest.raises(WriteRefused, match="the approval by approver expired 1 min ago"):
        answer_choice(run)
    choose(run, "library_bump")
    run.ledger.record(run.key, CHOOSE, 2, "note", VOIDED, {"by": "asked again"}, now_ms() + 1)
    with pytest.raises(WriteRefused, match="was withdrawn when choose_runbook asked again"):
        answer_choice(run)
    run.ledger.record(run.key, CHOOSE, 2, "note", VOIDED, {"by": "asked again"}, now_ms())
    assert started == []


def test_what_is_not_offered_is_not_started(planned: Callable[..., tuple[Run, Started]]) -> None:
    """Whatever stands in the ledger; and nothing at all where the plan says no."""
    run, _ = planned("library_bump")
    choose(run, "stop_and_restart")
    with pytest.raises(WriteRefused, match="stop_and_restart is not among what the plan offers"):
        answer_choice(run)
    run, _ = planned("library_bump", verdict="inconclusive")
    with pytest.raises(Refused, match=r"the plan of this run is inconclusive \(expected proceed\)"):
        answer_choice(run)


def test_a_plan_is_made_from_what_was_described(asked: Callable[..., Run]) -> None:
    """`describe_release` marked successful manually has described nothing."""
    run = asked()
    with pytest.raises(Refused, match="`describe_release` has not run"):
        sides_of(run)


def test_a_version_that_runs_is_described_by_its_instances(asked: Callable[..., Run]) -> None:
    """While none of them does, by its release."""
    run = asked()
    silent = RunningRelease(NEW, None, ("orders-1",), targets=(Target(NEW),))
    assert running(run, silent).source == f"topology command of {NEW}"


def test_an_inconclusive_plan_says_why_facts_were_not_read() -> None:
    """They would answer what is not declared: the instance and the next action follow the reasons."""
    change = described_change(
        described(), described(AUDITED, NEW), known(), topology_change_rules(), upgrade_path_rules()
    )
    assert change.plan.verdict is Outcome.INCONCLUSIVE
    fits = Verdict(Outcome.PROCEED, ())
    unread = ("orders-1: no MBean in the JVM; start it with the jar", "orders-2: HTTP 403")
    with pytest.raises(Inconclusive) as raised:
        demand_runbook(change, fits, unread)
    assert str(raised.value).endswith(
        "; topology facts were not read: orders-1: no MBean in the JVM; start it with the jar; orders-2: HTTP 403"
    )
    with pytest.raises(Inconclusive) as raised:
        demand_runbook(change, fits, ())
    assert "topology facts" not in str(raised.value)


def test_a_dry_run_leaves_its_plan_in_airflow(asked: Callable[..., Run]) -> None:
    """`trigger --wait` prints it from there; it printed none."""
    run = asked(dry_run=True)
    rules = topology_change_rules(), upgrade_path_rules()
    change = described_change(described(COUNTS), described(AUDITED), known(), *rules)
    made = {**document(change), "choices": encode(Choices((), ()))}
    run.ledger.store_plan(run.key, DIGEST, made)
    assert shown_plan(run)[0] == as_text(made).splitlines()[0]
    assert shown_plan(run)[-1] == f"plan {DIGEST}"
