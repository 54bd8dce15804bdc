"""What `rights` refuses, and what it prints while no cluster can be read."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.model.runs.ledger import RunRecord
from lab.fake_streams import FakeStreams
from world.new_ledger import new_ledger

TOPOLOGY = "Topologies:\n  Sub-topology: 0\n    Source: a (topics: [in])\n      --> none\n"
RESET = ("reset_and_cleanup", "--application", "app")
RESTART = ("stop_and_restart", "--application", "app")


@pytest.fixture(autouse=True)
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    FakeStreams(tmp_path, "app", TOPOLOGY).declare()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RESTART, "--release", "9.9"), "release 9.9 is not declared for app (it has 4.3.1); give one of them"),
        ((*RESTART, "--setting", "threads"), "--setting threads: is not NAME=VALUE; correct it"),
        ((*RESTART, "--setting", "=2"), "is not NAME=VALUE; correct it"),
        (
            (*RESET, "--param", "mode"),
            "--param mode: is not NAME=VALUE; correct it",
        ),
        (
            (*RESET, "--param", "mode=restart"),
            "--param mode: restart (expected reset or offsets or state or retire); choose one",
        ),
        (
            (*RESET, "--param", "targets=out"),
            "--param targets: is not valid JSON",
        ),
        (
            (*RESET, "--param", 'clean_outputs={"a": 1}'),
            'is not a list such as ["a"]; correct it',
        ),
        ((*RESTART, "--param", "mod=x"), "--param mod: no right depends on it (expected one of clean_outputs, copier"),
        (("--param", "mode=reset"), "belong to a runbook; name one"),
        (("--setting", "a=1"), "belong to a runbook; name one"),
        (("--release", "4.3.1"), "belong to a runbook; name one"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    """Before anything is read."""
    found = CliRunner().invoke(cli, ["rights", *words])
    assert said in str(found.exception)


def test_without_a_cluster_internal_topics_are_one_prefix() -> None:
    """A release changes nothing in that: its internal topics begin with it too."""
    for more in ((), ("--release", "4.3.1")):
        found = CliRunner().invoke(cli, ["rights", *RESTART, *more])
        assert found.exit_code == 0
        assert "--topic app- --resource-pattern-type prefixed" in found.stdout


def test_without_an_application_it_is_each_of_the_fleet(tmp_path: Path) -> None:
    """In turn; as a document they are a list, and one alone is none."""
    words = ["rights", "stop_and_restart", "--format", "json"]
    assert json.loads(CliRunner().invoke(cli, words).stdout)["application"] == "app"
    FakeStreams(tmp_path, "other", TOPOLOGY).declare()
    (tmp_path / "applications" / "broken.yaml").write_text("cluster: [", encoding="utf-8")
    found = CliRunner().invoke(cli, words)
    assert [one["application"] for one in json.loads(found.stdout)] == ["app", "other"]
    assert "broken is not checked: its declaration is bad" in found.stderr
    said = CliRunner().invoke(cli, words[:2]).stdout
    assert "--topic app- " in said
    assert "--topic other- " in said
    for file in (tmp_path / "applications").glob("*.yaml"):
        file.unlink()
    assert "declares no application" in str(CliRunner().invoke(cli, words).exception)


def test_the_form_decides() -> None:
    """A reset of offsets deletes nothing."""
    for mode, deletes in (("reset", True), ("offsets", False)):
        words = ["rights", "reset_and_cleanup", "--application", "app", "--param", f"mode={mode}"]
        found = CliRunner().invoke(cli, [*words, "--principal", "User:runbooks", "--principal", "application=User:app"])
        assert found.exit_code == 0
        line = "--allow-principal User:runbooks --operation Delete --topic app- --resource-pattern-type prefixed"
        assert (line in found.stdout) is deletes


def test_a_list_of_outputs_is_taken_as_words_too() -> None:
    """As `trigger` takes it."""
    said = {
        CliRunner().invoke(cli, ["rights", *RESET, "--param", f"clean_outputs={given}"]).stdout
        for given in ("out,counted", '["out", "counted"]')
    }
    assert len(said) == 1
    assert "--operation Delete --topic counted" in said.pop()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copier in front of the application, each with a login of its own; the file of the copier."""
    (file,) = (tmp_path / "applications").glob("*.yaml")
    entry = json.loads(file.read_text(encoding="utf-8")) | {"control": ["in"], "principal": "User:app"}
    file.write_text(json.dumps(entry), encoding="utf-8")
    copier = {
        "kind": "copier",
        "application_id": "mirror-group",
        "cluster": entry["cluster"],
        "inputs": ["sent"],
        "outputs": ["in"],
        "delivery": "exactly_once",
        "principal": "User:mirror",
        "deployer": {"kind": "supervisord", "url": "http://127.0.0.1:1", "instances": [{"name": "m", "program": "m"}]},
        "owner": "team",
        "approvers": ["ada"],
    }
    file = tmp_path / "applications" / "mirror.yaml"
    file.write_text(yaml.safe_dump(copier), encoding="utf-8")
    return file


FLUSH = ("rights", "control_topic_flush", "--application", "app")
COPIER = ("--param", "switch=copier", "--param", "copier=mirror")
ITS_IDS = "--operation Write --transactional-id mirror-group- --resource-pattern-type prefixed"


@pytest.mark.parametrize("given", [(), ("--principal", "application=User:other")])
@pytest.mark.usefixtures("copied")
def test_the_acls_of_a_copier_are_those_of_its_own_login(given: tuple[str, ...]) -> None:
    """Also if the login of the application is given: it is not the copier's."""
    found = CliRunner().invoke(cli, [*FLUSH, *COPIER, *given])
    assert found.exit_code == 0, found.exception
    of_application = "User:other" if given else "User:app"
    for principal, own, others in ((of_application, "app", "mirror-group"), ("User:mirror", "mirror-group", "app")):
        lines = [line for line in found.stdout.splitlines() if f"--allow-principal {principal} " in line]
        assert any(line.endswith(f"--operation Read --group {own}") for line in lines)
        assert not any(line.endswith(f"--group {others}") for line in lines)
    assert f"--allow-principal User:mirror {ITS_IDS}" in found.stdout
    assert "processing_guarantee is not declared" not in found.stdout


def test_a_copier_without_transactions_needs_no_transactional_id(copied: Path) -> None:
    """It declares that by its delivery."""
    entry = yaml.safe_load(copied.read_text(encoding="utf-8")) | {"delivery": "at_least_once"}
    copied.write_text(yaml.safe_dump(entry), encoding="utf-8")
    found = CliRunner().invoke(cli, [*FLUSH, *COPIER])
    assert "--allow-principal User:mirror" in found.stdout
    assert ITS_IDS not in found.stdout
    assert "processing_guarantee is not declared" not in found.stdout


def test_a_copier_of_another_application_is_refused(copied: Path) -> None:
    """As the run itself would refuse it."""
    entry = yaml.safe_load(copied.read_text(encoding="utf-8")) | {"outputs": ["elsewhere"]}
    copied.write_text(yaml.safe_dump(entry), encoding="utf-8")
    found = CliRunner().invoke(cli, [*FLUSH, *COPIER])
    assert "copier mirror: writes no control topic of app" in str(found.exception)


@pytest.mark.usefixtures("copied")
def test_an_undo_of_a_run_with_a_copier_has_the_acls_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of the undone run names the copier."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    form = {"application": "app", "switch": "copier", "copier": "mirror"}
    run = RunRecord("", "control_topic_flush", "r", "app", "demo", "oncall", False, "test", form, 1)
    new_ledger(tmp_path / "ledger.db").start_run(run)
    found = CliRunner().invoke(cli, ["rights", "undo", "--application", "app", "--param", "run=r"])
    assert found.exit_code == 0, found.exception
    for principal in ("User:app", "User:mirror"):
        assert f"--allow-principal {principal} " in found.stdout


def test_an_undo_takes_a_run_of_the_same_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its form is that of the run that it takes back."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", url)
    words = ["rights", "undo", "--application", "app", "--param", "run=r"]
    assert "no ledger exists yet" in str(CliRunner().invoke(cli, words).exception)
    ledger = new_ledger(tmp_path / "ledger.db")
    form = {"application": "app", "mode": "offsets"}
    ledger.start_run(RunRecord("", "reset_and_cleanup", "r", "app", "demo", "oncall", False, "test", form, 1))
    found = CliRunner().invoke(cli, words)
    assert found.exit_code == 0
    assert "undo of a run of" not in found.stdout
    FakeStreams(tmp_path, "other", TOPOLOGY).declare()
    found = CliRunner().invoke(cli, ["rights", "undo", "--application", "other", "--param", "run=r"])
    assert "is one of app (asked for: other)" in str(found.exception)
