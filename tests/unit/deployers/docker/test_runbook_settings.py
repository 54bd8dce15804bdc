"""Settings of a runbook in a container: variables of a prefix, and a file with the one that takes its place."""

from pathlib import Path

from kstreams_runbooks.deployers.docker.runbook_settings import SettingsFile, Variables
from kstreams_runbooks.model.readings.readings import Missing

KEYS = frozenset({"upgrade.from", "num.stream.threads"})


def test_variables_are_those_of_the_container_and_not_of_its_image() -> None:
    """What the image has itself was set by no runbook; other variables of the prefix are the team's own."""
    names = Variables("S_", KEYS)
    assert names.names == {"S_UPGRADE_FROM", "S_NUM_STREAM_THREADS"}
    there = {"S_UPGRADE_FROM": "3.4", "S_NUM_STREAM_THREADS": "2", "S_OTHER": "x", "PATH": "/bin"}
    assert names.read(there, {"S_NUM_STREAM_THREADS": "2"}) == (("upgrade.from", "3.4"),)
    assert names.read(there, {"S_NUM_STREAM_THREADS": "1"}) == (("num.stream.threads", "2"), ("upgrade.from", "3.4"))
    assert names.of((("upgrade.from", "3.4"),)) == {"S_UPGRADE_FROM": "3.4"}


def test_a_file_changes_at_the_start_and_not_before(tmp_path: Path) -> None:
    """The next one is read for the next container alone; taken twice is taken once."""
    file = SettingsFile(tmp_path / "deployment.properties", KEYS)
    assert (file.read(next_=False), file.read(next_=True)) == ((), ())
    file.write_next((("upgrade.from", "3.4"),))
    assert (file.read(next_=False), file.read(next_=True)) == ((), (("upgrade.from", "3.4"),))
    file.take_next()
    file.take_next()
    assert file.read(next_=False) == (("upgrade.from", "3.4"),)
    file.write_next(())
    file.drop_next()
    assert file.read(next_=True) == (("upgrade.from", "3.4"),)
    assert [one.name for one in tmp_path.iterdir()] == ["deployment.properties"]


def test_a_file_that_a_write_would_harm(tmp_path: Path) -> None:
    """Keys that no runbook sets are hidden and in the way; a file that is no text is not read."""
    file = SettingsFile(tmp_path / "deployment.properties", KEYS)
    file.path.write_text("upgrade.from=3.4\nsasl.password=x\n")
    assert file.read(next_=False) == (("sasl.password", "(hidden)"), ("upgrade.from", "3.4"))
    [why] = file.obstacles()
    assert "holds sasl.password, which no runbook sets and a write would drop" in why
    file.path.unlink()
    file.path.mkdir()
    assert isinstance(file.read(next_=False), Missing)
    assert len([*file.obstacles()]) == 1
