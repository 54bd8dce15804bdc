"""What a supervisord deployer refuses before it stops anything; no supervisord is asked for it."""

import subprocess
from pathlib import Path

import pytest
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.deployers.supervisord.process_info import ProcessInfo
from kstreams_runbooks.errors import BadInput, Inconclusive, WriteRefused
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.properties import parse


def settings(directory: Path, **given: object) -> SupervisordSettings:
    """As a fleet entry declares a supervisord deployer of one instance, o1."""
    instance = {"name": "o1", "program": "o1", "directory": directory, "metrics": "http://127.0.0.1:9/jolokia"}
    if "state_dir" in given:
        instance["state_dir"] = given.pop("state_dir")
    declared = {
        "kind": "supervisord",
        "url": "http://127.0.0.1:9",
        "instances": [instance],
        "releases": {"3.4.1": "/old", "4.3.1": "/new"},
        "topology": ["describe"],
    }
    return SupervisordSettings.model_validate(declared | given)


@pytest.fixture
def deployer(tmp_path: Path) -> SupervisordDeployer:
    """One instance on 3.4.1, for real."""
    (tmp_path / "deployment.properties").write_text("release=3.4.1\n")
    return SupervisordDeployer(settings(tmp_path), application_id="orders", dry_run=False)


def test_what_can_be_applied_passes_and_writes_nothing(deployer: SupervisordDeployer, tmp_path: Path) -> None:
    """A look; the file stays as it is."""
    deployer.check_apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    assert [path.name for path in tmp_path.iterdir()] == ["deployment.properties"]
    assert (tmp_path / "deployment.properties").read_text() == "release=3.4.1\n"


def refused(deployer: SupervisordDeployer, why: str, release: str = "4.3.1", **settings: str) -> None:
    """By the check and by the write, with the same sentence."""
    said = []
    for call in (deployer.check_apply, deployer.apply):
        with pytest.raises((BadInput, WriteRefused), match=why) as raised:
            call("o1", Target.of(release, settings))
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_each_guard_of_the_write_speaks_before_the_stop(deployer: SupervisordDeployer, tmp_path: Path) -> None:
    """An unknown release, a setting that no runbook sets, a key in either file, all of it in one sentence."""
    refused(deployer, r"'9\.9' is not declared", release="9.9")
    refused(
        deployer,
        r"^o1: no runbook sets num_threads \(allowed: processing\.guarantee, upgrade\.from; more",
        num_threads="9",
    )
    (tmp_path / "deployment.properties").write_text("release=3.4.1\nnum.stream.threads=2\n")
    refused(deployer, r"^o1: .*deployment\.properties holds num\.stream\.threads, which")
    (tmp_path / "base.properties").write_text("upgrade.from=3.4\n")
    refused(deployer, r"^o1: .*base\.properties holds upgrade\.from=3\.4.*; .*holds num\.stream\.threads")
    assert (tmp_path / "deployment.properties").read_text() == "release=3.4.1\nnum.stream.threads=2\n"


@pytest.mark.parametrize("known", [True, False])
def test_description_hides_values_and_names_obstacles(
    deployer: SupervisordDeployer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    """The same for a program that supervisord does not know."""
    info = ProcessInfo(
        group="o1", name="o1", state=0, statename="STOPPED", start=0, now=0, pid=0, spawnerr="", description=""
    )
    monkeypatch.setattr(deployer._supervisord, "processes", lambda: {"o1": info} if known else {})
    (tmp_path / "deployment.properties").write_text("release=3.4.1\nsasl.jaas.config=secret\n")
    [found] = deployer.instances()
    assert found.process == ("stopped" if known else "unknown")
    assert found.settings == (("sasl.jaas.config", "(hidden)"),)
    assert len(found.obstacles) == 1
    assert "secret" not in repr(found)


def test_hidden_value_is_never_a_command(deployer: SupervisordDeployer) -> None:
    """Pasted, it would write the word `(hidden)` over a secret."""
    with pytest.raises(WriteRefused, match=r"no runbook sets sasl\.jaas\.config"):
        deployer.manual_commands("o1", Target.of("3.4.1", {"sasl.jaas.config": "(hidden)"}))


def test_settings_that_the_fleet_entry_names_can_be_set(tmp_path: Path) -> None:
    """Written beside the release, over what the user has for them; unset, the user's are in effect again."""
    (tmp_path / "deployment.properties").write_text("release=3.4.1\n")
    (tmp_path / "base.properties").write_text("num.stream.threads=1\n")
    declared = settings(tmp_path, settable=("num.stream.threads",))
    control = SupervisordDeployer(declared, application_id="orders", dry_run=False)
    wanted = {"num.stream.threads": "4", "processing.guarantee": "exactly_once_v2"}
    control.apply("o1", Target.of("3.4.1", wanted))
    assert parse((tmp_path / "deployment.properties").read_text()) == {"release": "3.4.1", **wanted}
    control.apply("o1", Target("3.4.1"))
    assert parse((tmp_path / "deployment.properties").read_text()) == {"release": "3.4.1"}
    assert (tmp_path / "base.properties").read_text() == "num.stream.threads=1\n"


def test_state_that_cannot_be_cleared_is_told_before_a_stop(tmp_path: Path) -> None:
    """A state.dir without the application's directory; no supervisord is asked for it."""
    control = SupervisordDeployer(settings(tmp_path, state_dir=tmp_path), application_id="orders")
    with pytest.raises(BadInput, match="has no directory orders"):
        control.check_clear_state("o1")
    (tmp_path / "orders").mkdir()
    control.check_clear_state("o1")


def test_a_command_without_settings_describes_each_release_once(tmp_path: Path) -> None:
    """It gets the release alone."""
    (tmp_path / "4.3.1").mkdir()
    printed = tmp_path / "printed"
    text = f'echo "$1" >> {printed}; echo Topologies: of "$1"'
    declared = settings(tmp_path).model_copy(
        update={"topology": ("bash", "-c", text, "topology", "{release}"), "releases": {"4.3.1": tmp_path / "4.3.1"}}
    )
    control = SupervisordDeployer(declared, application_id="orders")
    plain, threads = Target("4.3.1"), Target("4.3.1", (("num.stream.threads", "2"),))
    assert {control.topology(one) for one in (plain, threads, plain, threads)} == {"Topologies: of 4.3.1\n"}
    assert printed.read_text() == "4.3.1\n", "printed once: settings change nothing in it"
    assert not control.abilities.topology_settings
    assert control.topology_target(threads) == plain


def test_a_release_is_described_with_the_settings_of_its_target(tmp_path: Path) -> None:
    """In a properties file that is gone afterwards; without `upgrade.from`, on which no topology depends."""
    (tmp_path / "4.3.1").mkdir()
    kept = tmp_path / "kept"
    text = f'echo "$2" >> {kept}; echo "Topologies: of $1"; grep -v "^#" "$2"; true'
    declared = settings(tmp_path).model_copy(
        update={
            "topology": ("bash", "-c", text, "topology", "{release}", "{settings_file}"),
            "releases": {"4.3.1": tmp_path / "4.3.1"},
        }
    )
    control = SupervisordDeployer(declared, application_id="orders")
    assert control.abilities.topology_settings
    assert control.topology(Target("4.3.1")) == "Topologies: of 4.3.1\n"
    for bump in ({}, {"upgrade.from": "3.4"}):
        set_to = Target.of("4.3.1", {"topic.orders": "orders = control", **bump})
        assert parse(control.topology(set_to).partition("\n")[2]) == {"topic.orders": "orders = control"}
    files = kept.read_text().split()
    assert len(files) == 2
    assert not any(Path(file).exists() for file in files)
    hidden = Target.of("4.3.1", {"sasl.jaas.config": "(hidden)"})
    with pytest.raises(Inconclusive, match=r"the value of sasl\.jaas\.config is hidden, because no runbook sets it"):
        control.topology(hidden)


def test_command_that_a_person_pastes_writes_any_value(tmp_path: Path) -> None:
    """Quotes, percent signs and dollars are no syntax of a shell on the way."""
    declared = settings(tmp_path, settable=("a.b",))
    odd = "100% 'x' \"$(y)\" \\ z"
    _, write, _ = SupervisordDeployer(declared, application_id="orders").manual_commands(
        "o1", Target.of("4.3.1", {"a.b": odd})
    )
    subprocess.run(["bash", "-c", write], check=True)
    assert parse((tmp_path / "deployment.properties").read_text()) == {"release": "4.3.1", "a.b": odd}
