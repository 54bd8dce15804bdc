"""Digests of code against changes whose truth is known by construction: each is one edit of one program's source.

`tests/facts/java/coded` has an operator of each kind. Each build of it is compiled and read in one JVM.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from kstreams_runbooks.decide.comparison.code import CodeChange, code_changes
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from lab import coded
from lab.coded import BASE, Edit, Pair, edits, pairs, read_code, read_sides, write_builds, write_pairs

CHANGES = [*edits("operators"), *edits("reached")]
HIDDEN = edits("hidden")
REBUILDS = [one.name for one in edits("rebuilds")]


@cache
def sides() -> Mapping[str, Side]:
    """Each build by its name; `base` is the one that the others are compared with."""
    with TemporaryDirectory() as name:
        place = Path(name)
        write_builds(place / "builds")
        write_pairs(place / "pairs")
        read_code(place)
        found = dict(read_sides(place / "builds"))
        for each in ("one", "other"):
            found |= read_sides(place / "pairs" / each / "built", f"{each} ")
        return found


def changes(name: str, before: str = BASE) -> dict[str, CodeChange]:
    """What became of each part of the code between the first build and another one."""
    return coded.changes(sides()[before], sides()[name])


def test_every_part_of_the_program_has_a_digest() -> None:
    """Nothing of it is not provable: the cases below compare digests."""
    found = sides()["base"].declared.code
    assert [where for where, one in found.items() if one.not_provable] == []
    assert len(found) > 45


@pytest.mark.parametrize("edit", CHANGES, ids=lambda edit: edit.name)
def test_changed_code_is_never_called_the_same(edit: Edit) -> None:
    """Each place that the edit reaches has other code, by the names of methods; one that it does not reach stays."""
    found = changes(edit.name)
    states = {where: found[where].state for where in edit.wherever}
    assert states == dict.fromkeys(edit.wherever, "other")
    assert not edit.as_is or found[edit.as_is].state == "same"


@pytest.mark.parametrize("edit", HIDDEN, ids=lambda edit: edit.name)
def test_code_that_reads_more_than_code_is_not_provable(edit: Edit) -> None:
    """With the method and what it reads; never the same as any other code, nor as itself."""
    code = sides()[edit.name].declared.code
    assert edit.wherever
    for where in edit.wherever:
        assert code[where].digest == ""
        assert edit.reason in code[where].not_provable
    itself = code_changes(Compared(sides()[edit.name], sides()[edit.name]))
    states = {f"{one.where}.{one.field}": one.state for one in itself}
    assert {states[where] for where in edit.wherever} == {"unknown"}


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_code_that_differs_in_what_is_hard_to_see_is_never_the_same(pair: Pair) -> None:
    """Values of objects, whether two are one, what runs before, what others change: other code, or a reason."""
    one, other = (sides()[f"{each} {pair.package}"] for each in ("one", "other"))
    assert pair.holds(one, other), coded.changes(one, other).get(pair.at)


@pytest.mark.parametrize("name", ["again", "class-beside", "without-debug", "with-debug", "parameters", *REBUILDS])
def test_a_rebuild_without_a_change_is_the_same(name: str) -> None:
    """In every part of the program."""
    found = changes(name)
    assert {where: one.state for where, one in found.items() if one.state != "same"} == {}


@pytest.mark.parametrize("release", [8, 11])
def test_a_build_for_another_release_of_java_is_never_other_code(release: int) -> None:
    """The compiler writes other instructions of some methods: those are not known, and the rest is the same."""
    states = [one.state for one in changes(f"release-{release}").values()]
    assert "other" not in states
    assert states.count("same") > 5


@pytest.mark.parametrize("release", [8, 11])
def test_a_build_for_an_older_release_of_java_has_no_numbers_of_its_compiler(release: int) -> None:
    """It makes methods for the access of inner classes, whose numbers are those of the source's order."""
    found = changes(f"release-{release}-moved", f"release-{release}")
    assert {where: one.state for where, one in found.items() if one.state != "same"} == {}
