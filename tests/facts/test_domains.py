"""Changes of programs that no rule was written for: `plan` next to the truth of each, by what it is given."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.model.verdicts import Outcome
from world.domains import Grade, built, declared, grade, truths, unchanged

NEWEST = "4.3.1"
RELEASES = ["3.4.1", NEWEST]
# What the command is given: descriptions, facts, facts with the line `unchanged` for what the change does not touch, or
# facts with a declaration of all that no code shows.
Kind = Literal["text", "facts", "line", "declared"]
KINDS: tuple[Kind, ...] = ("text", "facts", "line", "declared")
# Versioned stores came with 3.5.
SINCE_3_5 = {"routes-versioned", "route-history-lengthened"}


def plan(pair: str, kind: Kind, release: str = NEWEST) -> dict[str, Any]:
    """The answer of the command for both sides of a pair."""
    folder = built(release) / pair
    given = []
    for option, side in (("from", "before"), ("to", "after")):
        given += [f"--{option}-topology", str(folder / f"{side}.{'txt' if kind == 'text' else 'yaml'}")]
        if kind == "declared" or (kind == "line" and side == "after"):
            file = folder / f"{side}.{kind}.yaml"
            known = declared(pair, side, release) if kind == "declared" else {"unchanged": unchanged(pair)}
            file.write_text(json.dumps(known), "utf-8")
            given += [f"--{option}-declaration", str(file)]
    ran = CliRunner().invoke(cli, ["plan", *given, "--format", "json"])
    assert ran.stdout, (pair, kind, ran.exception)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@cache
def grades(kind: Kind, release: str = NEWEST) -> Mapping[str, Grade]:
    """Each pair's answer compared with its truth."""
    found = {}
    for pair in sorted(truths().keys() - (set() if release == NEWEST else SINCE_3_5)):
        answer = plan(pair, kind, release)
        found[pair] = grade(truths()[pair].least, Outcome(answer["verdict"]), answer["runbooks"])
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_every_pair_has_a_truth(release: str) -> None:
    """And every truth a pair that is built."""
    there = {folder.name for folder in built(release).iterdir()}
    assert there == truths().keys() - (set() if release == NEWEST else SINCE_3_5)
    assert len(truths()) == 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("release", RELEASES)
def test_no_answer_is_unsafe(kind: Kind, release: str) -> None:
    """An answer that is milder than the truth loses data, or mixes it up."""
    assert [pair for pair, one in grades(kind, release).items() if one is Grade.UNSAFE] == []


@pytest.mark.parametrize(("kind", "right", "unknown"), [("text", 4, 49), ("facts", 23, 33), ("line", 54, 5)])
def test_facts_answer_what_descriptions_leave_open(kind: Kind, right: int, unknown: int) -> None:
    """No fewer right answers, and no more unknown ones, than docs/measured.md has."""
    found = Counter(grades(kind).values())
    assert found[Grade.RIGHT] >= right
    assert found[Grade.NOT_KNOWN] <= unknown


def test_what_no_code_shows_is_never_answered_by_facts_alone() -> None:
    """A lambda may compute anything: a mild answer would rest on a guess."""
    hidden = {pair for pair, truth in truths().items() if truth.changed}
    assert {grades("facts")[pair] for pair in hidden} == {Grade.NOT_KNOWN}
