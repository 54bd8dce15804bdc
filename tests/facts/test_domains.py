"""Changes of programs that no rule was written for: `plan` with two descriptions, next to the truth of each."""

import json
from collections import Counter
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.model.verdicts import Outcome
from world.domains import Grade, Truth, built, declared, grade, truths

RELEASE = "4.3.1"
# What the command is given: descriptions, facts, or facts with a declaration of what no code shows.
Kind = Literal["text", "facts", "declared"]


def plan(pair: str, kind: Kind) -> dict[str, Any]:
    """The answer of the command for both sides of a pair."""
    folder = built(RELEASE) / pair
    given = []
    for option, side in (("from", "before"), ("to", "after")):
        given += [f"--{option}-topology", str(folder / f"{side}.{'txt' if kind == 'text' else 'yaml'}")]
        if kind == "declared":
            file = folder / f"{side}.declaration.yaml"
            file.write_text(json.dumps(declared(pair, side, RELEASE)), "utf-8")
            given += [f"--{option}-declaration", str(file)]
    ran = CliRunner().invoke(cli, ["plan", *given, "--format", "json"])
    assert ran.stdout, (pair, kind, ran.exception)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def graded(truth: Truth, kind: Kind) -> Grade:
    """The answer compared with the truth."""
    answer = plan(truth.pair, kind)
    return grade(truth.least, Outcome(answer["verdict"]), answer["runbooks"])


def test_every_pair_has_a_truth() -> None:
    """And every truth a pair that is built."""
    assert {folder.name for folder in built(RELEASE).iterdir()} == truths().keys()
    assert len(truths()) == 60


@pytest.mark.parametrize("release", ["3.4.1"])
def test_the_programs_are_those_of_an_older_release_too(release: str) -> None:
    """All but those with versioned stores, which came with 3.5."""
    assert truths().keys() - {folder.name for folder in built(release).iterdir()} == {
        "routes-versioned",
        "route-history-lengthened",
    }


def test_no_answer_to_descriptions_is_unsafe() -> None:
    """A description omits most of what changes here: nearly all of it is not known."""
    grades = {pair: graded(truth, "text") for pair, truth in truths().items()}
    assert [pair for pair, one in grades.items() if one is Grade.UNSAFE] == []
    assert Counter(grades.values())[Grade.RIGHT] >= 1
