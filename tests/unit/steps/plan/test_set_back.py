"""What a clock that is wrong must not open: a stale reading, a shut gate, a message that never goes."""

import time
from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.message import Kind, Notification
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances import gate_trigger
from kstreams_runbooks.steps.instances.bring import let_it_start
from kstreams_runbooks.steps.plan.plan import require_fresh
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import declared, expectation, reading

HOUR = 3_600_000


def test_a_reading_from_the_future_is_not_fresh(run: Run) -> None:
    """It may be an hour old by a clock that was set back: its age is not known."""
    vars(run)["limit"] = lambda _: 30.0
    late = reading(at_ms=now_ms() + HOUR)
    with pytest.raises(Inconclusive, match=r"taken 3,\d+ s after this worker's clock \(tolerance 60 s\)"):
        require_fresh(run, late, "observe")
    require_fresh(run, reading(at_ms=now_ms() + 1_000), "observe")
    verdict = ready_for_change(late, declared(), -HOUR, 30_000)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "its age is not known" in verdict.sentence


def test_a_reading_that_is_older_than_the_one_before_it_is_not_good() -> None:
    """The clock was set back between them: their distance says nothing."""
    samples = (reading(at_ms=2 * HOUR), reading(at_ms=HOUR))
    verdict = gate(samples, expectation())
    assert verdict.outcome is not Outcome.PROCEED
    assert "3600 s newer: the clock was set back" in verdict.sentence


def test_a_start_is_not_watched_for_an_hour_because_the_clock_was_set_back(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task holds a worker meanwhile."""
    instances = [SimpleNamespace(name="orders-1", metrics="http://127.0.0.1:1/jolokia")]
    deployer = SimpleNamespace(instances=instances)
    vars(run)["application"] = SimpleNamespace(application_id="orders", deployer=deployer, as_deployed=False)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        assert len(slept) < 100

    clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=sleep)
    monkeypatch.setattr("kstreams_runbooks.steps.instances.bring.time", clock)
    monkeypatch.setattr("time.time_ns", lambda: 1_790_000_000_000 * 10**6 - len(slept) * 10**9)
    monkeypatch.setattr("kstreams_runbooks.steps.instances.bring.read_streams", lambda *_, **__: Missing("no answer"))
    assert let_it_start(run, "orders-1") is None
    assert sum(slept) == 15


def test_a_bake_is_not_over_because_the_clock_was_set_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured by a clock that nobody sets."""
    bake = gate_trigger._Bake(60.0)
    assert bake.waited == ""
    assert bake.begins(Verdict(Outcome.PROCEED, ("well",)))
    assert bake.waited == "good for 0 of 60 s"
    monkeypatch.setattr("time.time_ns", lambda: 2_000_000_000 * 10**9)
    assert not bake.is_over()
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 61)
    assert bake.is_over()


def test_a_claim_by_a_wild_clock_does_not_keep_a_message_for_ever(run: Run) -> None:
    """A sender whose clock was a year ahead died with it."""
    ledger: Ledger = run.ledger
    message = Notification(
        run.key, Kind.NEEDS_YOU, "t/1", "orders", "demo", "team", False, "s", ("x",), "", "", None, HOUR
    )
    ledger.queue_notification(message, ("chat",))
    (delivery,) = ledger.due_notifications(("chat",), HOUR)
    assert ledger.claim_notification(delivery, HOUR + 10 * 365 * 24 * HOUR)
    assert ledger.due_notifications(("chat",), HOUR)
    assert ledger.claim_notification(delivery, HOUR)
    assert ledger.due_notifications(("chat",), HOUR + 1) == ()
