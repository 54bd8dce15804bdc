"""`upgrade.from` among the settings of a new side: refused, misread by the running release, or left in."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.releases.guard import judged_value, with_value
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()


def asked(running: str, target: str, *, aggregations: bool = True, joins: bool = False) -> PathQuestion:
    """A question in which everything is known."""
    return PathQuestion(
        running=Release(running),
        target=Release(target),
        broker=Release("4.3"),
        guarantee="at_least_once",
        foreign_key_joins="yes" if joins else "no",
        table_aggregations="yes" if aggregations else "no",
        group_protocol="classic",
    )


def judged(value: str, question: PathQuestion) -> PathFinding:
    """The one finding about a value."""
    [found] = judged_value(value, question, upgrade_path(question, RULES), RULES)
    return found


@pytest.mark.parametrize(
    ("value", "running", "target", "joins"),
    [
        ("3.5", "3.4.1", "4.3.1", False),
        ("3.9", "3.4.1", "4.3.1", False),
        ("3.5", "2.8.2", "3.9.1", False),
        ("3.6", "3.3.2", "3.7.2", True),
        ("3.3", "3.3.2", "4.3.1", True),
        ("3.3", "2.8.2", "3.9.1", True),
    ],
)
def test_a_value_whose_formats_the_running_release_misreads(value: str, running: str, target: str, joins: bool) -> None:
    """Newer formats of table aggregations and of foreign-key joins, and the older one of which 3.3 dies."""
    found = judged(value, asked(running, target, joins=joins))
    assert (found.id, found.severity, found.object) == ("upgrade-from-misread", "danger", "upgrade.from")
    assert f"upgrade.from={value}: instances of {target} write the formats of {value}, which {running} misreads" in (
        found.message
    )
    assert "library_bump sets what the path needs" in found.message


@pytest.mark.parametrize(
    ("value", "running", "target", "aggregations", "joins"),
    [
        ("3.4", "3.4.1", "4.3.1", True, False),
        ("3.4", "3.3.2", "4.3.1", True, True),
        ("3.5", "3.4.1", "4.3.1", False, False),
        ("3.4", "3.3.2", "3.9.1", True, False),
        ("3.2", "3.4.1", "4.3.1", True, True),
        ("3.6", "3.5.2", "4.3.1", True, True),
        ("3.9", "3.9.1", "4.0.1", True, True),
        ("3.2", "2.8.2", "3.9.1", True, True),
    ],
)
def test_a_value_that_the_running_release_reads_is_left_in(
    value: str, running: str, target: str, aggregations: bool, joins: bool
) -> None:
    """The right one too: it has to go after the bounce that needs it."""
    found = judged(value, asked(running, target, aggregations=aggregations, joins=joins))
    assert (found.id, found.severity) == ("upgrade-from-left-behind", "warning")


@pytest.mark.parametrize(
    ("value", "running", "target"),
    [("2.3", "3.4.1", "4.3.1"), ("4.3", "3.4.1", "4.3.1"), ("3.4", "3.4.1", "3.5.0"), ("2.3", "2.4.1", "4.1.2")],
)
def test_a_value_that_the_target_does_not_run_with_is_refused(value: str, running: str, target: str) -> None:
    """By its configuration, or by its assignor."""
    found = judged(value, asked(running, target))
    assert (found.id, found.severity) == ("setting-refused", "danger")
    assert f"{target} does not run with upgrade.from={value} (it runs with " in found.message


def test_going_back_a_value_is_left_in() -> None:
    """The way back sets it on the running release, and stops all before the old one starts."""
    assert judged("2.8", asked("3.9.1", "3.4.1")).id == "upgrade-from-left-behind"


def test_the_path_with_a_dangerous_value_is_refused() -> None:
    """And one with a value that is left in is the path, with the finding first."""
    question = asked("3.4.1", "4.3.1")
    path = upgrade_path(question, RULES)
    wrong = with_value(path, "3.5", question, RULES)
    assert (wrong.verdict, wrong.bounces, wrong.findings[0].id) == (Outcome.REFUSE, (), "upgrade-from-misread")
    right = with_value(path, "3.4", question, RULES)
    assert right == replace(path, findings=(right.findings[0], *path.findings))
    assert right.findings[0].id == "upgrade-from-left-behind"


def test_the_terminal_judges_it() -> None:
    """`version-path --upgrade-from`."""
    known = ("--broker", "4.3", "--processing-guarantee", "at_least_once", "--group-protocol", "classic")
    ends = ("version-path", "--from", "3.4.1", "--to", "4.3.1", *known)
    wrong = CliRunner().invoke(cli, [*ends, "--upgrade-from", "3.5"])
    assert wrong.exit_code == 1
    assert "upgrade-from-misread" in wrong.stdout
    assert "upgrade-from-misread" not in CliRunner().invoke(cli, [*ends, "--upgrade-from", "3.4"]).stdout
