"""The look right before a certificate is given: a broker may be restarting at that very moment."""

from collections.abc import Callable

import pytest
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.drain.certify import last_look

GIVEN = Verdict(Outcome.PROCEED, ("no offset has moved",))
VOID = Verdict(Outcome.REFUSE, ("offsets have moved",))
UNKNOWN = Verdict(Outcome.INCONCLUSIVE, ("no leader",))


def quiet(_: str) -> None:
    """Takes the lines of a test that is about something else."""


def looks(*results: Verdict | Exception) -> Callable[[], Verdict]:
    """A look that comes to these, one after the other, and fails the test where there is one too many."""
    left = list(results)

    def look() -> Verdict:
        result = left.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    return look


@pytest.mark.parametrize("failed", [UNKNOWN, Unreachable("no broker"), Inconclusive("no topics")])
def test_a_look_that_cannot_be_taken_is_taken_again_twice(failed: Verdict | Exception) -> None:
    """An hour's proof is not lost by one."""
    assert last_look(looks(failed, failed, GIVEN), 0, quiet) is GIVEN
    assert last_look(looks(failed, VOID, GIVEN), 0, quiet) is VOID


def test_the_third_has_the_last_word() -> None:
    """What is not known by then is no certificate."""
    assert last_look(looks(UNKNOWN, UNKNOWN, UNKNOWN, GIVEN), 0, quiet) is UNKNOWN
    with pytest.raises(Unreachable, match="still away"):
        last_look(looks(UNKNOWN, Unreachable("away"), Unreachable("still away"), GIVEN), 0, quiet)


@pytest.mark.parametrize("answer", [GIVEN, VOID])
def test_an_answer_is_taken_at_once(answer: Verdict) -> None:
    """An offset that has moved does not move back."""
    assert last_look(looks(answer), 0, quiet) is answer


def test_each_repetition_has_its_reason() -> None:
    """It was silent for two intervals."""
    said: list[str] = []
    last_look(looks(UNKNOWN, Unreachable("no broker answers"), GIVEN), 0.01, said.append)
    assert said == [
        "reads again in 0.01 s (1 of 3 readings failed): no leader",
        "reads again in 0.01 s (2 of 3 readings failed): no broker answers",
    ]
