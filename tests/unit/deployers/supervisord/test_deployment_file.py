"""What an instance is set to, from its two files, and what speaks against setting it."""

from pathlib import Path

import pytest
from kstreams_runbooks.deployers.settable import settable_keys
from kstreams_runbooks.deployers.supervisord.deployment_file import DeploymentFile, read_declared
from kstreams_runbooks.model.readings.readings import Missing


def written(directory: Path, deployment: str = "release=3.4.1\n", base: str = "application.id=orders\n") -> Path:
    """An instance's directory with these two files."""
    (directory / "deployment.properties").write_text(deployment)
    (directory / "base.properties").write_text(base)
    return directory


def declared_in(directory: Path, *settable: str) -> DeploymentFile:
    """What stands there, where the fleet entry lets these be set besides."""
    return read_declared(directory, settable_keys(settable))


def test_release_and_settings_of_a_runbook(tmp_path: Path) -> None:
    """Nothing speaks against setting them anew."""
    found = declared_in(written(tmp_path, "release=4.3.1\nupgrade.from=3.4\n"))
    assert (found.release, found.settings, found.obstacles) == ("4.3.1", (("upgrade.from", "3.4"),), ())


def test_user_settings_stay_out(tmp_path: Path) -> None:
    """Of base.properties not even the names are kept."""
    found = declared_in(written(tmp_path, base="ssl.key.password=secret\n"))
    assert found.settings == ()
    assert "ssl.key" not in repr(found)


@pytest.mark.parametrize("line", ["upgrade.from=3.4", "  upgrade.from : 3.4", "upgrade\\.from 3.4"])
def test_setting_of_a_runbook_in_the_user_settings_is_an_obstacle(tmp_path: Path, line: str) -> None:
    """However Java lets it be written: it is in effect, so it is shown, and unsetting it would unset nothing."""
    found = declared_in(written(tmp_path, base=f"{line}\n"))
    assert found.settings == (("upgrade.from", "3.4"),)
    [obstacle] = found.obstacles
    assert obstacle == (
        f"{tmp_path}/base.properties holds upgrade.from=3.4, and no runbook can unset it there (allowed: in "
        "deployment.properties alone); move it there and restart the instance"
    )


def test_other_settings_may_stand_beneath(tmp_path: Path) -> None:
    """The user's value is in effect where a runbook sets none: it is no obstacle, and it is not a runbook's."""
    base = "num.stream.threads=2\nprocessing.guarantee=exactly_once_v2\n"
    beneath = declared_in(written(tmp_path, base=base), "num.stream.threads")
    assert (beneath.settings, beneath.obstacles) == ((), ())
    over = declared_in(written(tmp_path, "release=3.4.1\nnum.stream.threads=4\n", base), "num.stream.threads")
    assert (over.settings, over.obstacles) == ((("num.stream.threads", "4"),), ())


def test_setting_that_the_fleet_entry_does_not_let_be_set(tmp_path: Path) -> None:
    """The same file, another declaration: hidden, and an obstacle that says the two ways out."""
    found = declared_in(written(tmp_path, "release=3.4.1\nnum.stream.threads=4\nprocessing.guarantee=x\n"))
    assert found.settings == (("num.stream.threads", "(hidden)"), ("processing.guarantee", "x"))
    [obstacle] = found.obstacles
    assert obstacle.endswith(
        "holds num.stream.threads, which no runbook sets and a write would drop (allowed: processing.guarantee, "
        "release, upgrade.from); move it to base.properties, or declare it under `settable`"
    )


def test_release_in_the_user_settings_is_an_obstacle(tmp_path: Path) -> None:
    """The launcher takes it where deployment.properties names none, and deployment.properties over it."""
    assert declared_in(written(tmp_path, "", "release=3.4.1\n")).release == "3.4.1"
    both = declared_in(written(tmp_path, "release=4.3.1\n", "release=3.4.1\n"))
    assert both.release == "4.3.1"
    assert "base.properties holds release=3.4.1" in both.obstacles[0]


def test_value_that_no_runbook_sets_is_hidden(tmp_path: Path) -> None:
    """It may be a secret: the name alone is kept, and it is an obstacle."""
    found = declared_in(written(tmp_path, "release=3.4.1\nsasl.jaas.config=secret\n"))
    assert found.settings == (("sasl.jaas.config", "(hidden)"),)
    [obstacle] = found.obstacles
    assert "deployment.properties holds sasl.jaas.config, which no runbook sets" in obstacle
    assert "secret" not in repr(found)


def test_files_that_are_not_there_set_nothing(tmp_path: Path) -> None:
    """No release is missing, never a guess; that alone is no obstacle to setting one."""
    found = declared_in(tmp_path)
    assert found.release == Missing(f"{tmp_path}/deployment.properties sets no release")
    assert (found.settings, found.obstacles) == ((), ())


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, and an obstacle: what stands there would be lost."""
    (tmp_path / "deployment.properties").mkdir()
    found = declared_in(tmp_path)
    assert isinstance(found.release, Missing)
    assert found.obstacles == (found.release.missing,)
    assert "deployment.properties: is a directory (expected a regular file)" in found.release.missing


def test_directory_that_is_not_there(tmp_path: Path) -> None:
    """The declaration names another machine's path, or a wrong one."""
    [obstacle] = declared_in(tmp_path / "gone").obstacles
    assert (
        obstacle == f"{tmp_path}/gone is not a directory here; correct the instance's `directory`, or its permissions"
    )


def test_directory_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen without writing anything into it."""
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path and bool(mode))
    [obstacle] = declared_in(written(tmp_path)).obstacles
    assert obstacle.startswith(f"{tmp_path} cannot be written from here")
