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
from lab.coded import (
    BASE,
    Edit,
    Pair,
    edits,
    lasting,
    pairs,
    read_code,
    read_sides,
    write_builds,
    write_libraries,
    write_pairs,
)

CHANGES = [*edits("operators"), *edits("reached")]
HIDDEN = edits("hidden")
REBUILDS = [one.name for one in edits("rebuilds")]


def sides() -> Mapping[str, Side]:
    """Each build by its name; `base` is the one that the others are compared with."""
    return built()[0]


@cache
def built() -> tuple[Mapping[str, Side], Mapping[str, str]]:
    """Each build by its name, and the texts of the documents."""
    with TemporaryDirectory() as name:
        place = Path(name)
        write_builds(place / "builds")
        write_libraries(place / "jars", place / "builds")
        write_pairs(place / "pairs")
        read_code(place)
        found = dict(read_sides(place / "builds"))
        for each in ("one", "other"):
            found |= read_sides(place / "pairs" / each / "built", f"{each} ")
        return found, {file.parent.name: lasting(file) for file in (place / "builds").glob("*/facts.yaml")}


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


@pytest.mark.parametrize("name", ["again", "class-beside", "without-debug", "with-debug", "parameters", "comment"])
def test_equal_programs_give_equal_documents(name: str) -> None:
    """Every byte of them, not the digests alone."""
    _, texts = built()
    assert texts[name] == texts[BASE]


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


@pytest.mark.parametrize(("build", "names"), [("class", {"jackson-databind"}), ("resource", set())])
def test_a_library_counts_with_the_contents_of_its_classes(build: str, names: set[str]) -> None:
    """Below equal code; not with the order, the times and other files."""
    found = changes(f"library-{build}")
    assert {one.state for one in found.values()} == {"same"}
    assert {name for one in found.values() for name, _, _ in one.libraries} == names


def test_a_library_that_only_another_one_refers_to_is_below_the_code_too() -> None:
    """A build of the library refers to a store that no code of the program uses."""
    reasons = {one.reason for one in changes("library-refers").values() if one.state == "unknown"}
    assert any("rocksdbjni none → " in reason for reason in reasons), reasons


def test_records_of_a_library_count_with_its_contents() -> None:
    """Another release of it writes other records of equal code."""
    assert changes("library-records", "records")["operators.unnoded.code"].state == "other"


def test_names_of_parameters_count_if_a_library_asks_for_them() -> None:
    """The compiler has kept them in one of two builds."""
    found = changes("library-parameters", "library-asks")
    assert "other" in {one.state for one in found.values()}


def test_a_class_that_a_library_finds_as_a_service_counts() -> None:
    """No code names it."""
    found = changes("service-second", "service-first")
    assert {one.methods for one in found.values() if one.state == "other"} == {("shop.Beside.getModuleName",)}


def test_classes_of_kafka_in_the_folder_of_the_program_are_a_library() -> None:
    """Nothing tells them from classes that a build put there."""
    reasons = {one.reason for one in changes("kafka-inside").values() if one.state == "unknown"}
    assert any("kafka-inside none → unknown" in reason for reason in reasons), reasons


@pytest.mark.parametrize("name", REBUILDS)
def test_each_method_of_a_rebuild_has_the_digest_that_it_had(name: str) -> None:
    """A reviewer sees no method that did not change."""
    base, built = (sides()[one].declared.code for one in (BASE, name))
    assert [where for where, code in base.items() if code.methods != built[where].methods] == []
