"""One missed reading ends nothing."""

import re
import threading
import time

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.patience import going_on, pause, read_again, repeated


class Answers:
    """What a system answers, one after another; the last one for ever."""

    def __init__(self, *answers: int | RunbookError) -> None:
        self.answers, self.asked = list(answers), 0

    def __call__(self) -> int:
        """The next one."""
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, RunbookError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.02)


def after(line: str) -> str:
    """The line without how long it took, which a busy machine decides."""
    return re.sub(r" \(\d+ of 30 s\)", "", line)


def test_a_missed_reading_is_taken_again_and_said() -> None:
    """With the reason, and the time of its limit."""
    said: list[str] = []
    answers = Answers(Unreachable("no broker answers"), Inconclusive("no metrics"), 3, 4)
    assert read_again(answers, said.append) == 3
    assert [after(line) for line in said] == ["reads again: no broker answers", "reads again: no metrics"]


def test_a_part_that_is_missing_is_a_missed_reading() -> None:
    """Until it is there."""
    said: list[str] = []
    assert read_again(Answers(1, 2), said.append, lambda value: ["orders-1: silent"] if value == 1 else []) == 2
    assert [after(line) for line in said] == ["reads again: orders-1: silent"]


def test_after_its_time_the_last_answer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value with its gap, or the error."""
    monkeypatch.setattr(patience, "READ_AGAIN_S", 0.3)
    assert read_again(Answers(1), lambda _: None, lambda _: ["silent"]) == 1
    gone = Answers(Unreachable("no broker answers"))
    with pytest.raises(Unreachable, match="no broker answers"):
        read_again(gone, lambda _: None)
    assert gone.asked > 1


def test_what_another_reading_does_not_mend_is_not_read_again() -> None:
    """A wrong declaration stays wrong."""
    wrong = Answers(BadInput("no such instance"))
    with pytest.raises(BadInput):
        read_again(wrong, lambda _: None)
    assert wrong.asked == 1


def test_each_reading_has_a_line_and_each_ten_seconds_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait of 25 s is three sleeps."""
    said: list[str] = []
    slept: list[float] = []
    monkeypatch.setattr("kstreams_runbooks.patience.time.sleep", slept.append)
    assert repeated(Answers(1, 2), 2, 25.0, said.append) == (1, 2)
    assert slept == [10, 10, 5]
    assert said == ["reading 1 of 2", "reading 2 of 2 in 15 s", "reading 2 of 2 in 5 s", "reading 2 of 2"]
    slept.clear()
    pause(10.0, lambda left: said.append(f"{left}"))
    assert (slept, said[4:]) == ([10], [])


def test_what_takes_long_has_a_line_each_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop of two minutes was silent; no line comes after its error."""
    monkeypatch.setattr(patience, "LINE_EVERY_S", 0.05)
    said: list[str] = []
    second = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) > 1:
            second.set()

    def stops() -> None:
        with going_on("orders-1: stops", say):
            assert second.wait(10)
            raise BadInput("it does not stop")

    with pytest.raises(BadInput):
        stops()
    ended = list(said)
    time.sleep(0.2)
    assert said == ended
    assert re.fullmatch(r"orders-1: stops \(\d+ s\)", said[0])
