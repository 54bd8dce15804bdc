"""The shares of a run's time: every moment counts once."""

from kstreams_runbooks.decide.runs.time_shares import Share, Span, time_shares


def test_every_moment_counts_once_for_what_tells_most() -> None:
    """People first, then what stops processing, then gates; the rest is work of the steps."""
    spans = (
        Span(Share.AIRFLOW, 0, 10_000),
        Span(Share.PERSON, 5_000, 20_000),
        Span(Share.DOWN, 20_000, 26_000),
        Span(Share.GATE, 25_000, 60_000),
        Span(Share.BAKE, 60_000, 90_000),
    )
    found = time_shares(0, 100_000, spans)
    assert dict(found.ms) == {
        Share.PERSON: 15_000,
        Share.DOWN: 6_000,
        Share.GATE: 34_000,
        Share.BAKE: 30_000,
        Share.AIRFLOW: 5_000,
        Share.WORK: 10_000,
    }
    assert sum(ms for _, ms in found.ms) == found.whole_ms
    assert found.sentence == (
        "of 100 s: waiting for people 15 s, stopped until running 6 s, gates 34 s, bake 30 s, Airflow between tasks "
        "5 s, readings and writes of the steps 10 s"
    )


def test_several_restarts_are_counted_and_spans_end_with_the_run() -> None:
    """A span that began before or ends after the run counts inside it only; a clock that went back counts nothing."""
    spans = (Span(Share.DOWN, -5_000, 2_000), Span(Share.DOWN, 4_000, 99_000), Span(Share.GATE, 9_000, 8_000))
    found = time_shares(0, 10_000, spans)
    assert dict(found.ms)[Share.DOWN] == 8_000
    assert "stopped until running (2 restarts) 8 s" in found.sentence


def test_a_run_without_time() -> None:
    """It has begun, and nothing else."""
    assert time_shares(5, 5, ()).sentence == "of 0 s: nothing that takes a second"
