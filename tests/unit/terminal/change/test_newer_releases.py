"""A release that came after the rules: no command guesses its path, and what keeps it is still judged."""

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.releases.defects import NEWER_THAN_RULES
from kstreams_runbooks.errors import Inconclusive
from world.pairs import PAIRS

TOPOLOGY = PAIRS / "filter-before-named-count" / "before.txt"
SAME = ("--from-topology", str(TOPOLOGY), "--to-topology", str(TOPOLOGY))
LEARN = "`make new-release RELEASE={}` in a checkout prints the rows to add (docs/new_release.md)"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize(
    ("release", "newest"),
    [
        ("9.9.9", "4.4.0, the newest release"),
        ("4.5.0", "4.4.0, the newest release"),
        ("4.3.9", "4.3.1, the newest 4.3"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("version-path", "--from", "3.4.1", "--to", "{}"),
        ("version-path", "--from", "{}", "--to", "4.3.1"),
        ("defects", "--from", "{}"),
        ("defects", "--from", "3.9.1", "--to", "{}"),
        (
            "plan",
            "--from-topology",
            str(TOPOLOGY),
            "--to-topology",
            str(TOPOLOGY),
            "--from-version",
            "3.9.1",
            "--to-version",
            "{}",
        ),
    ],
    ids=lambda command: f"{command[0]} {command[-1]}",
)
def test_a_newer_release_is_not_known(release: str, newest: str, command: tuple[str, ...]) -> None:
    """One sentence with the newest that the rules know, and the command that prints the rows."""
    result = run(*(word.format(release) for word in command))
    assert isinstance(result.exception, Inconclusive), result.output
    assert result.stdout == ""
    sentence = f"release {release}: newer than {newest} that the rules know: its paths, settings and defects are"
    assert f"{sentence} not known; {LEARN.format(release)}" in str(result.exception)


def test_a_change_that_keeps_a_newer_release_is_judged() -> None:
    """With a warning that nothing of the release itself is known; a known release has none."""
    for release, warned in (("4.5.0", True), ("4.4.0", False)):
        versions = ("--from-version", release, "--to-version", release)
        result = run("plan", *SAME, "--same-program", *versions)
        assert result.exit_code == 0, result.output
        assert (f"warning {NEWER_THAN_RULES} on {release}: It is newer than" in result.stdout) is warned
        assert "SAFE: rolling_bounce" in result.stdout


def test_the_warning_is_explained() -> None:
    result = run("plan", "--explain", NEWER_THAN_RULES)
    assert result.exit_code == 0, result.output
    assert "make new-release RELEASE=x" in result.stdout
