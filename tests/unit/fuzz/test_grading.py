"""An answer that asks for less than the truth is unsafe, however it is worded."""

import pytest
from fuzz.grading import Answer, Class, Grade, Truth, cared_for, grade
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome

ROLL: tuple[ChangeRunbook, ...] = ("rolling_bounce",)
STOP: tuple[ChangeRunbook, ...] = ("stop_and_restart",)
RESET: tuple[ChangeRunbook, ...] = ("reset_and_cleanup",)
NEEDS_RESET = Truth("state", frozenset({"reset"}))


def proceeds(runbooks: tuple[ChangeRunbook, ...], *warned: str) -> Answer:
    return Answer(Outcome.PROCEED, runbooks, frozenset(warned))


@pytest.mark.parametrize(
    ("truth", "runbooks", "expected"),
    [
        ("roll", ROLL, Grade.EXACT),
        ("roll", ("library_bump",), Grade.EXACT),
        ("roll", STOP, Grade.HEAVY),
        ("roll", RESET, Grade.HEAVY),
        ("stop", ROLL, Grade.UNSAFE),
        ("stop", STOP, Grade.EXACT),
        ("stop", RESET, Grade.HEAVY),
        ("state", ROLL, Grade.UNSAFE),
        ("state", STOP, Grade.UNSAFE),
        ("state", RESET, Grade.EXACT),
    ],
)
def test_the_class_of_the_answer_against_that_of_the_truth(
    truth: Class, runbooks: tuple[ChangeRunbook, ...], expected: Grade
) -> None:
    """Less is unsafe, more is heavy."""
    assert grade(Truth(truth), proceeds(runbooks)) is expected


def test_a_runbook_that_leaves_out_what_is_lost_is_short() -> None:
    """A flush saves records on their way, and leaves wrong data in a store."""
    assert grade(NEEDS_RESET, proceeds(("control_topic_flush",))) is Grade.SHORT
    assert grade(NEEDS_RESET, proceeds(RESET)) is Grade.EXACT
    flushed = Truth("state", frozenset({"flush"}))
    assert grade(flushed, proceeds(("control_topic_flush",))) is Grade.EXACT
    assert grade(flushed, proceeds(("suppress_removal",))) is Grade.SHORT


def test_what_several_runbooks_take_care_of_counts_together() -> None:
    """A plan of two runbooks is graded as a whole."""
    both: tuple[ChangeRunbook, ...] = ("suppress_removal", "store_migration")
    assert cared_for(both) == {"suppress", "buffer", "migrate", "flush"}
    assert grade(Truth("state", frozenset({"suppress", "migrate"})), proceeds(both)) is Grade.EXACT
    assert not cared_for((*ROLL, *STOP))


def test_a_program_that_does_not_start_needs_a_refusal() -> None:
    """A reset loses everything, and it still does not start."""
    refused = Truth("state", frozenset({"refuse"}))
    assert grade(refused, Answer(Outcome.REFUSE)) is Grade.EXACT
    assert grade(refused, proceeds(RESET)) is Grade.SHORT


def test_a_refusal_of_what_can_be_rolled_is_heavy() -> None:
    """It is safe, and it is in the way."""
    assert grade(Truth("roll"), Answer(Outcome.REFUSE)) is Grade.HEAVY
    assert grade(Truth("stop"), Answer(Outcome.REFUSE)) is Grade.HEAVY


@pytest.mark.parametrize("truth", ["roll", "stop", "state"])
def test_an_inconclusive_answer_is_not_known(truth: Class) -> None:
    """It is never unsafe and never exact."""
    assert grade(Truth(truth), Answer(Outcome.INCONCLUSIVE)) is Grade.UNKNOWN


def test_a_missing_warning_is_unsafe_until_the_state_is_given_up() -> None:
    """Windows of two sizes mix while instances roll; a reset leaves none of them."""
    mixed = Truth("roll", warned=frozenset({"hourly"}))
    assert grade(mixed, proceeds(ROLL)) is Grade.UNSAFE
    assert grade(mixed, proceeds(ROLL, "another")) is Grade.UNSAFE
    assert grade(mixed, proceeds(ROLL, "hourly", "another")) is Grade.EXACT
    assert grade(mixed, proceeds(STOP)) is Grade.UNSAFE
    assert grade(mixed, proceeds(RESET)) is Grade.HEAVY
