"""The one loop of short waits."""

import logging

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run

AT_ONCE = Pace(0.0, 60.0)


def proceeds(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.PROCEED


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which a busy machine takes no time."""
    monkeypatch.setattr("kstreams_runbooks.steps.run.poll.time.monotonic", lambda: 0.0)


def waiting(*reasons: str) -> list[Verdict]:
    return [Verdict(Outcome.WAIT, (reason,)) for reason in reasons]


@pytest.mark.usefixtures("still")
def test_it_ends_with_what_was_seen_then_and_says_each_sentence_once(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """A log of a hundred equal lines hides the one that differs."""
    verdicts = [*waiting("3 left", "3 left", "1 left"), Verdict(Outcome.PROCEED, ("none left",))]
    looks = iter(enumerate(verdicts))
    with caplog.at_level(logging.INFO):
        assert poll(run, AT_ONCE, lambda: next(looks), proceeds) == 3
    said = [record.getMessage() for record in caplog.records if "left" in record.getMessage()]
    assert [line.rsplit("wait: ", 1)[-1] for line in said] == ["3 left (0 of 60 s)", "1 left (0 of 60 s)"]


def test_a_wait_in_which_nothing_changes_says_that_it_goes_on(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once in ten seconds, with its time."""
    clock = iter(range(0, 1_000, 4))
    monkeypatch.setattr("kstreams_runbooks.steps.run.poll.time.monotonic", lambda: next(clock))
    looks = iter(enumerate([*waiting(*["3 left"] * 5), Verdict(Outcome.PROCEED, ("none left",))]))
    with caplog.at_level(logging.INFO):
        poll(run, AT_ONCE, lambda: next(looks), proceeds)
    said = [record.getMessage().rsplit("wait: ", 1)[-1] for record in caplog.records]
    assert said == ["3 left (8 of 60 s)", "3 left (24 of 60 s)", "3 left (40 of 60 s)"]


def test_between_two_readings_it_says_that_it_goes_on(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`verify` reads each 30 s, and its log was silent as long."""
    now = [0.0]
    monkeypatch.setattr("kstreams_runbooks.steps.run.poll.time.monotonic", lambda: now[0])
    monkeypatch.setattr("kstreams_runbooks.patience.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    looks = iter(enumerate([*waiting("3 left", "1 left"), Verdict(Outcome.PROCEED, ("none left",))]))
    with caplog.at_level(logging.INFO):
        poll(run, Pace(25.0, 60.0), lambda: next(looks), proceeds)
    said = [record.getMessage().rsplit("wait: ", 1)[-1] for record in caplog.records]
    assert said == [f"{left} left ({at} of 60 s)" for left, at in ((3, 0), (3, 10), (3, 20), (1, 25), (1, 35), (1, 45))]


@pytest.mark.usefixtures("still")
def test_a_line_has_the_trend_of_what_it_waits_for(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """None yet at the first look."""
    looks, trends = (
        iter(enumerate([*waiting("3 left", "2 left"), Verdict(Outcome.PROCEED, ("none left",))])),
        ["", "in 7 s"],
    )
    with caplog.at_level(logging.INFO):
        poll(run, AT_ONCE, lambda: next(looks), proceeds, trend=lambda: trends.pop(0))
    said = [record.getMessage().rsplit("wait: ", 1)[-1] for record in caplog.records]
    assert said == ["3 left (0 of 60 s)", "2 left; in 7 s (0 of 60 s)"]


def test_after_the_ceiling_the_next_look_is_the_last(run: Run) -> None:
    """Also where nothing was ever well; at least one look is taken."""
    looks = iter(enumerate(waiting(*"abc")))
    assert poll(run, Pace(0.0, 0.0), lambda: next(looks), proceeds) == 0


def test_an_error_of_a_look_ends_the_wait(run: Run) -> None:
    """It is not waited for what cannot be read."""

    def look() -> tuple[int, Verdict]:
        raise Inconclusive("offsets of orders: hidden")

    with pytest.raises(Inconclusive, match="hidden"):
        poll(run, AT_ONCE, look, proceeds)
