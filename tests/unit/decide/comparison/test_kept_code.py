"""The code that is kept next to the present code: what differs, what it reaches, and what says nothing."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.kept_code import KeptCode, kept_code
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import Declaration

TEXT = """\
Topologies:
   Sub-topology: 0
    Source: in-source (topics: [in])
      --> cleaned
    Processor: cleaned (stores: [])
      --> sum
      <-- in-source
    Processor: sum (stores: [totals])
      --> none
      <-- cleaned
"""
WHERE = "operators.cleaned.code"
KEPT = Code(
    "1", frozenset({"App.cleaned 1"}), frozenset({("jackson", "2.15.2", "a")}), frozenset({61}), rules=2, jvm=17
)
HIDDEN = Code(not_provable="method App.cleaned uses java.lang.System.getenv")


def side(code: Code) -> Side:
    return Side(parse_topology(TEXT), Declaration(code={WHERE: code}))


def found(old: Code, new: Code) -> KeptCode:
    return kept_code(Compared(side(old), side(new)))


def test_equal_code_is_no_line() -> None:
    """Nor is code that is not provable for the same reason, as in every build."""
    assert found(KEPT, KEPT) == found(HIDDEN, HIDDEN) == KeptCode()
    assert kept_code(Compared(side(KEPT), Side(parse_topology(TEXT)))) == KeptCode()


def test_changed_code_is_a_line_with_the_stores_that_it_reaches() -> None:
    """A reviewer sees its methods."""
    changed = found(KEPT, replace(KEPT, digest="2", methods=frozenset({"App.cleaned 2"})))
    assert (changed.old, changed.new) == ((f"code.{WHERE}: 1",), (f"code.{WHERE}: 2",))
    [reviewed] = changed.changed
    assert (reviewed.stores, reviewed.change.altered, reviewed.subtopology) == (("totals",), ("App.cleaned",), "0")
    assert changed.not_compared == ()


@pytest.mark.parametrize(("old", "new"), [(KEPT, HIDDEN), (HIDDEN, KEPT), (HIDDEN, Code(not_provable="it is native"))])
def test_code_that_is_provable_on_one_side_alone_has_changed(old: Code, new: Code) -> None:
    """So has code that is not provable for another reason."""
    changed = found(old, new)
    assert len(changed.old) == len(changed.new) == 1
    assert [one.change.where for one in changed.changed] == ["operators.cleaned"]


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (replace(KEPT, rules=3), "digests of other rules"),
        (replace(KEPT, digest="2", java=frozenset({65})), "other releases of Java"),
        (replace(KEPT, digest="2", jvm=21), "printed on Java 17 and 21"),
        (replace(KEPT, libraries=frozenset()), "other libraries below it: jackson 2.15.2 → none"),
    ],
)
def test_digests_that_do_not_compare_are_not_equal(new: Code, reason: str) -> None:
    """Neither is a line of the difference: nothing shows that the program changed."""
    changed = found(KEPT, new)
    assert (changed.old, changed.new, changed.changed) == ((), (), ())
    [why] = changed.not_compared
    assert why.startswith("1 part of the program: ")
    assert reason in why


def test_another_library_below_equal_code_is_a_line() -> None:
    """Once, by its versions."""
    changed = found(KEPT, replace(KEPT, libraries=frozenset({("jackson", "2.17.0", "b")})))
    assert (changed.old, changed.new) == (("library jackson: 2.15.2",), ("library jackson: 2.17.0",))
