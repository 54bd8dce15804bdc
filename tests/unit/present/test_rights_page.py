"""docs/rights.md is printed from the rows; each row is whole, and every call of the clients has one."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.observe.kafka.clients import LIBRDKAFKA_READS, PYTHON_READS
from kstreams_runbooks.present.rights_page import rights_page
from kstreams_runbooks.rules import rights

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "rights.md"
# They end, forget or count, and ask no broker.
NO_CALLS = {"close", "known_brokers", "look_again", "requests", "poll"}


def test_the_page_is_up_to_date() -> None:
    """`make docs` prints it again."""
    assert PAGE.read_text(encoding="utf-8") == rights_page(rights()), "docs/rights.md is out of date: make docs"
    assert CliRunner().invoke(cli, ["rights"]).output == rights_page(rights())


@pytest.mark.parametrize("method", sorted((PYTHON_READS | LIBRDKAFKA_READS) - NO_CALLS))
def test_every_method_that_a_reader_may_call_has_a_row(method: str) -> None:
    calls = " ".join(row.call for row in rights())
    assert method in calls, f"{method}: no row of rights.yaml names it"


def test_each_row_is_whole() -> None:
    ids = [row.id for row in rights()]
    assert len(ids) == len(set(ids))
    for row in rights():
        assert all((row.call, row.request, row.used_by, row.broker, row.answer, row.source)), row.id
        assert (row.operation == "none") is (not row.resource) is (not row.scope), row.id


def test_every_dag_and_test_that_a_row_names_is_there() -> None:
    dags = {file.stem for file in (ROOT / "dags").glob("*.py")}
    commands = set(cli.commands)
    known = dags | commands | {"every runbook", "count_unread"}
    for row in rights():
        for user in row.used_by:
            assert user in known or user.split()[0] in commands or (ROOT / user).exists(), f"{row.id}: {user}"
        for part in row.source.replace(",", " ").replace(";", " ").split():
            assert not part.startswith("tests/") or (ROOT / part).exists(), row.source


def test_every_option_that_a_row_names_is_there() -> None:
    """A person looks for the row of what they type."""
    for row in rights():
        for command, *words in (user.split() for user in row.used_by if user != "every runbook"):
            known = {name for one in cli.commands[command].params for name in one.opts} if words else set()
            assert {word for word in words if word.startswith("--")} <= known, f"{row.id}: {command} {' '.join(words)}"


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "9. Accepting Warranty or Additional Liability" in text
