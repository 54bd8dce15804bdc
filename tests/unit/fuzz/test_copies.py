"""Copies of stores in random changes: what the truth is with them, in both directions."""

from fuzz.copies import REUSE, with_copies
from fuzz.grading import Truth
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore

_TEXT = """Topologies:
   Sub-topology: {number}
    Source: read (topics: [in])
      --> keep
    Processor: keep (stores: [table])
      --> none
      <-- read
"""
_DECLARED = Declaration({"table": DeclaredStore("key_value", source_table=True)}, config={"application.id": "app"})
_KEPT = Truth("stop", kept=frozenset({"table"}))
_TABLES = {"table": "in"}


def _all(*, moved: bool, back: bool = False) -> list[tuple[tuple[Declaration, Declaration], Truth]]:
    texts = (_TEXT.format(number=0), _TEXT.format(number=1 if moved else 0))
    return [
        with_copies(number, texts, (_DECLARED, _DECLARED), (_TABLES, _TABLES), _KEPT, back=back)
        for number in range(300)
    ]


def _logging(side: Declaration) -> tuple[bool | None, str | None, bool]:
    store = side.stores["table"]
    return store.logging, store.changelog, REUSE in (side.config or {}).get("topology.optimization", "")


def test_every_kind_of_copy_is_drawn() -> None:
    """A changelog, local disks, a topic that is declared, and a topic by the optimization."""
    drawn = {_logging(side) for sides, _ in _all(moved=False) for side in sides}
    assert drawn == {(True, None, False), (False, None, False), (True, "in", False), (True, None, True)}


def test_the_way_back_has_the_copies_exchanged() -> None:
    """One number is one program at either end."""
    there, back = _all(moved=False), _all(moved=False, back=True)
    assert [sides for sides, _ in back] == [sides[::-1] for sides, _ in there]


def test_what_only_disks_have_is_lost_where_its_files_are_left() -> None:
    """A store that stays where it is keeps them."""
    for moved, answer in ((True, "state"), (False, "stop")):
        found = {
            truth.answer
            for sides, truth in _all(moved=moved)
            if [_logging(side)[0] for side in sides] == [False, False]
        }
        assert found == {answer}


def test_a_topic_that_takes_the_place_of_a_changelog_is_warned_of_and_not_left_without_loss() -> None:
    """By the name of the store, or of the optimization."""
    for sides, truth in _all(moved=False):
        has_topic = [logging[1] is not None or logging[2] for logging in map(_logging, sides)]
        if has_topic == [False, True]:
            assert truth.warned in ({"table"}, {REUSE})
        if has_topic == [True, False]:
            assert (truth.answer, "reset" in truth.needs) == ("state", True)
