"""State that the application deletes itself as it starts: seen by its age, and kept if it is not seen."""

import pytest
from kstreams_runbooks.decide.reset.cleaned_up import has_begun, is_untouched, may_clean_up, state_is_new
from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import instance

UNSEEN = LocalTimes("orders-1", Missing("state_sizes prints no times"))
EMPTY = LocalTimes("orders-1", {})
STOPPED_MS = 2_000


def local(oldest_ms: int, newest_ms: int = 9_000, directory: str = "0_1") -> LocalTimes:
    """One task directory."""
    return LocalTimes("orders-1", {directory: FileTimes(oldest_ms, newest_ms)})


NOTED = (local(1_000, STOPPED_MS),)


@pytest.mark.parametrize(
    ("now", "noted", "outcome", "said"),
    [
        (local(STOPPED_MS + 1), NOTED, Outcome.PROCEED, "newer than the stop on orders-1"),
        (EMPTY, NOTED, Outcome.PROCEED, "newer"),
        (local(5_000), (EMPTY,), Outcome.PROCEED, "newer"),
        # Of the same millisecond is not newer.
        (local(STOPPED_MS), NOTED, Outcome.REFUSE, "orders-1: still has 0_1 from before the stop (expected: deleted"),
        # A segment of its oldest window is gone, the others are from before; so is another task directory.
        (local(1_500), NOTED, Outcome.REFUSE, "still has 0_1"),
        (local(1_999, directory="1_0"), NOTED, Outcome.REFUSE, "still has 1_0"),
        (UNSEEN, NOTED, Outcome.INCONCLUSIVE, "whether it kept local state is not known: state_sizes prints no times"),
        (local(5_000), (UNSEEN,), Outcome.INCONCLUSIVE, "what it had before the stop was not noted"),
        (local(5_000), (), Outcome.INCONCLUSIVE, "was not noted"),
    ],
)
def test_all_of_it_has_to_be_newer(now: LocalTimes, noted: tuple[LocalTimes, ...], outcome: Outcome, said: str) -> None:
    """Than the newest of what was there; only before the Streams client has begun may it still be deleted."""
    verdict = state_is_new((now,), noted)
    assert verdict.outcome is outcome
    assert said in verdict.sentence
    early = state_is_new((now,), noted, began=False)
    assert early.outcome is (Outcome.PROCEED if outcome is Outcome.PROCEED else Outcome.WAIT)


def test_no_instance_is_no_proof() -> None:
    assert state_is_new((), NOTED).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("of", "outcome", "said"),
    [
        (local(1), Outcome.PROCEED, "the age of the local state is seen on orders-1"),
        (local(1, directory="name__0_12"), Outcome.PROCEED, "is seen"),
        (local(1, directory="global"), Outcome.PROCEED, "is seen"),
        (EMPTY, Outcome.PROCEED, "is seen"),
        (local(1, directory="lost+found"), Outcome.REFUSE, "orders-1: its local state has lost+found, which Kafka"),
        (UNSEEN, Outcome.INCONCLUSIVE, "nothing would show that it has deleted its local state at its start: state_s"),
    ],
)
def test_before_anything_is_deleted_its_age_has_to_be_seen(of: LocalTimes, outcome: Outcome, said: str) -> None:
    """And all of it has to be what the library deletes."""
    verdict = may_clean_up((of,))
    assert verdict.outcome is outcome
    assert said in verdict.sentence
    assert may_clean_up(()).outcome is Outcome.INCONCLUSIVE


def test_a_client_deletes_nothing_once_it_has_begun() -> None:
    """Created is not begun; a client that is not seen may not have begun either."""
    streams = [instance("orders-1", state=state).streams for state in ("CREATED", "REBALANCING", "RUNNING", "ERROR")]
    assert [has_begun(one) for one in streams] == [False, True, True, True]
    assert not has_begun(Missing("nothing listens"))


def test_state_that_nothing_has_used_since_is_untouched() -> None:
    """What it has now is what was noted; without a note, or unread, that is not known."""
    assert is_untouched(NOTED[0], NOTED)
    assert not is_untouched(local(1_000, 2_001), NOTED)
    assert not is_untouched(EMPTY, NOTED)
    assert not is_untouched(UNSEEN, (UNSEEN,))
    assert not is_untouched(NOTED[0], ())
