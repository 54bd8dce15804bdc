"""When it is worth looking again, and how long the rest takes."""

from kstreams_runbooks.decide.drain.pace import LONGEST_S, enough, eta_ms, is_final, pause_s
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict


def left(at_s: int, records: int | None, *problems: str) -> DrainReading:
    row = PartitionLag("orders", 0, "source", "ok", records=records)
    return DrainReading(Taken(at_s * 1000, "test"), (row,), {}, {}, {}, problems=problems)


def test_a_pause_grows_only_while_nothing_can_be_read() -> None:
    """Twice as long each time, up to the longest; the first reading that can be taken ends it."""
    bad = left(0, None, "no broker")
    assert pause_s((), 5) == 5
    assert pause_s((left(0, 1_000_000), left(5, 999_999)), 5) == 5
    assert [pause_s((bad,) * number, 5) for number in (1, 2, 3, 99)] == [10, 20, LONGEST_S, LONGEST_S]
    assert pause_s((bad, bad, left(9, 7)), 5) == 5
    assert pause_s((bad,), 60) == 60


def test_an_estimate_needs_a_pace() -> None:
    """Nothing to compare with, nothing that gets less, a clock that jumps back: none."""
    assert eta_ms((left(0, 200), left(10, 100))) == 10_000
    assert eta_ms((left(0, 200), left(5, None), left(10, 100))) == 10_000
    assert eta_ms((left(0, 200),)) is None
    assert eta_ms((left(0, 200), left(10, 200))) is None
    assert eta_ms((left(10, 200), left(0, 100))) is None
    assert eta_ms((left(0, None),)) is None


def test_a_first_reading_that_has_offsets_for_nothing_costs_one_more() -> None:
    """Many offsets are looked through once they rest; a backlog that is none then is proven by those that follow."""
    many, none = left(0, 20_000), left(5, 0)
    assert enough((many, none, none), 3) == 4
    assert enough((many,), 1) == 2
    assert enough((none, none, none), 3) == enough((), 3) == 3


def test_what_still_has_records_is_not_looked_at_longer() -> None:
    """Neither a backlog, nor what is not known, is proven by one reading more."""
    many = left(0, 20_000)
    for rest in (left(5, 20_000), left(5, 7), left(5, None), left(5, 0, "no broker")):
        assert enough((many, rest, left(10, 0)), 3) == 3


def test_what_no_reading_changes_is_final() -> None:
    """Proven, or a person is needed; what is only not known may be known in a moment."""
    finding = Finding("topic-recreated", "danger", "orders", "was created again", "KIP-516")
    assert is_final(Verdict(Outcome.PROCEED, ()))
    assert is_final(Verdict(Outcome.INCONCLUSIVE, (), (finding,)))
    assert not is_final(Verdict(Outcome.INCONCLUSIVE, ()))
    assert not is_final(Verdict(Outcome.WAIT, ()))
