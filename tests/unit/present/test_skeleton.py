"""The file to fill in: what a description leaves out, or only what one change depends on.

Covers present/skeleton_asked
"""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.present.skeleton import skeleton
from world.pairs import DECLARED, PAIRS, described

NOT_DECLARED = "count-becomes-sum/not-declared"
PAIR = "count-becomes-sum"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def both(pair: str) -> list[object]:
    return ["--from-topology", PAIRS / pair / "before.txt", "--to-topology", PAIRS / pair / "after.txt"]


def test_only_an_operator_that_may_suppress_is_asked_about() -> None:
    """Not the two sides of a join, nor a table right behind its topic."""
    text = skeleton(described("named-suppress-added")[1])
    assert text.count("a suppression? Then declare it below") == 1
    assert "is final-only a suppression?" in text
    for pair in ("join-stores-renamed", "filter-before-named-join", PAIR):
        assert "a suppression?" not in skeleton(described(pair)[1])


def test_every_field_of_a_store_that_changes_depend_on_is_there() -> None:
    """Also the newer ones; a join's store keeps records, so its aggregate is not a question."""
    made = yaml.safe_load(skeleton(described(PAIR)[1]))
    assert made["unchanged"] == []
    assert {"kind", "key", "aggregate", "logging"} <= set(made["stores"]["totals"])
    assert "versioned" in skeleton(described(PAIR)[1])
    joined = yaml.safe_load(skeleton(described("join-stores-renamed")[1]))["stores"]
    assert all("aggregate" not in store for store in joined.values())


def test_a_change_asks_for_nothing_but_what_it_hangs_on(tmp_path: Path) -> None:
    """Filled in, the plan has an answer."""
    given = [*both(PAIR)]
    for option, side in (("from", "before"), ("to", "after")):
        given += [f"--{option}-declaration", DECLARED / NOT_DECLARED / f"{side}.yaml"]
    asked = run("declare", *given, "--side", "new")
    assert yaml.safe_load(asked.stdout) == {"stores": {"totals": {"aggregate": None}}}
    assert "# unchanged: [aggregate, other_code]" in asked.stdout
    filled = tmp_path / "after.yaml"
    kept = (DECLARED / NOT_DECLARED / "after.yaml").read_text(encoding="utf-8")
    filled.write_text("\n".join(line for line in kept.splitlines() if "unchanged" not in line), encoding="utf-8")
    with filled.open("a", encoding="utf-8") as file:
        file.write("\nunchanged: [aggregate, join, logging, other_code]\n")
    again = [*both(PAIR), "--from-declaration", DECLARED / NOT_DECLARED / "before.yaml", "--to-declaration", filled]
    assert run("plan", *again).exit_code == 0
    nothing = run("declare", *again, "--side", "new")
    assert "depends on no undeclared fact of the new version" in nothing.stdout


@pytest.mark.parametrize("pair", ["join-stores-renamed", "named-suppress-added", "filter-before-unnamed-count"])
def test_an_empty_answer_is_read_as_no_answer(pair: str, tmp_path: Path) -> None:
    """Every line of it is valid, with the names of its own side, and nothing in it is taken for a fact."""
    given = both(pair)
    for option, side in (("from", "old"), ("to", "new")):
        file = tmp_path / f"{side}.yaml"
        file.write_text(run("declare", *both(pair), "--side", side).stdout, encoding="utf-8")
        given += [f"--{option}-declaration", file]
    before, after = run("plan", "--format", "json", *both(pair)), run("plan", "--format", "json", *given)
    assert after.exit_code == before.exit_code, after.output
    assert run("declare", *both(pair)).stdout.count("\n---\n") == 1


def test_one_description_or_both() -> None:
    """Anything else is bad input."""
    for arguments in ([], both(PAIR)[:2], [PAIRS / PAIR / "after.txt", *both(PAIR)]):
        assert isinstance(run("declare", *arguments).exception, BadInput)
