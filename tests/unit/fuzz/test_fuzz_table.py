"""What the harness prints, and when it passes."""

from dataclasses import replace

from fuzz.changes import Known
from fuzz.grading import Answer, Grade, Truth
from fuzz.table import Row, document, markdown, passed
from kstreams_runbooks.model.verdicts import Outcome

TRUTH = Truth("state", frozenset({"reset"}), facts={"store sums": "holds counts", "subtopology 1": "a -> b"})
GOOD = Row(
    7,
    ("store renamed",),
    ("store renamed: aggregate #3",),
    Known.DECLARED,
    TRUTH,
    Answer(Outcome.PROCEED, ("reset_and_cleanup",)),
    Grade.EXACT,
    900,
    visible=True,
)
BAD = replace(GOOD, number=8, grade=Grade.UNSAFE, answer=Answer(Outcome.PROCEED, ("rolling_bounce",)), length=300)
SHORT = replace(GOOD, number=9, grade=Grade.SHORT, known=Known.CLUSTER, length=100, visible=False)


def test_one_bad_answer_fails_the_whole() -> None:
    """So does none at all; an answer that is heavy or not known does not."""
    assert passed([GOOD, replace(GOOD, grade=Grade.HEAVY), replace(GOOD, grade=Grade.UNKNOWN)])
    assert not passed([GOOD, BAD])
    assert not passed([GOOD, SHORT])
    assert not passed([])


def test_each_kind_of_edit_has_a_row_in_the_table_of_what_was_known() -> None:
    """Several edits of one change are counted as such."""
    several = replace(GOOD, kinds=("store renamed", "key changed"))
    text = markdown(5, [GOOD, BAD, SHORT, several])
    declared, cluster = text.split("## With cluster\n")[0], text.split("## With cluster\n")[1].split("## With ")[0]
    assert "| store renamed | 2 | 1 | 0 | 0 | 0 | 1 | 50% |" in declared
    assert "| several edits | 1 | 1 | 0 | 0 | 0 | 0 | 100% |" in declared
    assert "| **all** | 3 | 2 | 0 | 0 | 0 | 1 | 67% |" in declared
    assert "| **all** | 1 | 0 | 0 | 0 | 1 | 0 | 0% |" in cluster
    assert "SEED=5 COUNT=3`" in text


def test_bad_answers_are_listed_with_the_smallest_first() -> None:
    """The number of the change repeats it with ONLY; subtopologies are no reason."""
    text = markdown(5, [GOOD, BAD, SHORT])
    assert "## Bad answers: 2" in text
    assert text.index("- 9, with cluster: short.") < text.index("- 8, with declarations: unsafe.")
    assert "Truth: state reset (store sums holds counts). Answer: proceed rolling_bounce" in text
    assert text.count("same input before and after") == 1


def test_declarations_that_the_planner_rejects_are_listed_once() -> None:
    """Once for each change, with the planner's sentence."""
    rejected = Answer(Outcome.INCONCLUSIVE, rejected="stores.a: no such store")
    rows = [replace(GOOD, answer=rejected, grade=Grade.UNKNOWN, known=known) for known in Known]
    text = markdown(5, rows)
    assert "## Declarations taken for bad input: 1" in text
    assert text.count("- 7: stores.a: no such store") == 1


def test_the_document_counts_grades_and_keeps_every_bad_answer() -> None:
    """Machine-readable, with the same verdict."""
    made = document(5, [GOOD, BAD, SHORT])
    assert made["ok"] is False
    assert made["grades"]["declarations"] == {"exact": 1, "unsafe": 1}
    assert made["grades"]["cluster"] == {"short": 1}
    assert [(one["number"], one["known"], one["grade"]) for one in made["bad"]] == [
        (8, "declarations", "unsafe"),
        (9, "cluster", "short"),
    ]
