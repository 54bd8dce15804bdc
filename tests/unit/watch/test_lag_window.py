"""`lag` judges by the window that the scheduled check has kept, where there is one."""

from dataclasses import replace
from pathlib import Path

import pytest
from kstreams_runbooks.decide.status.status import LagAnswer
from kstreams_runbooks.model.readings.buffers import PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.readings.status import KeptReading, Standing
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression
from kstreams_runbooks.present.lag import as_text, document
from kstreams_runbooks.watch.buffers import BufferLimits
from kstreams_runbooks.watch.lag import ClusterLag
from kstreams_runbooks.watch.lag_window import LagWindow
from world.new_ledger import new_ledger

ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
NOW = LagSnapshot(Taken(180_000, "test"), "demo", (LAG,))


def answer(snapshot: LagSnapshot, **failed: tuple[str, ...]) -> LagAnswer:
    ids = {lag.application: lag.application_id for lag in snapshot.applications}
    window = LagWindow.before(snapshot.taken.at_ms, snapshot.cluster, ids)
    [found] = window.answers(ClusterLag(snapshot, failed))
    return found


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the ledger would be, with nothing declared."""
    file = tmp_path / "ledger.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{file}")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    return file


def test_without_a_ledger_one_reading_is_all_there_is(ledger: Path) -> None:
    """And looking makes none."""
    assert answer(NOW).status.word == "healthy"
    assert not ledger.exists()


def test_what_the_check_has_kept_counts(ledger: Path) -> None:
    """The present reading is the last of the window; text and JSON say the same."""
    kept = new_ledger(ledger)
    for at_ms in (60_000, 120_000):
        looked = replace(LAG, partitions=(replace(ROW, none_until=10, oldest_unread_ms=500),))
        kept.keep_lag("demo", {"orders": KeptReading(at_ms, looked)})
    assert answer(NOW).status.word == "stalled"
    assert document([answer(NOW)])["applications"][0]["status"] == "stalled"
    text = as_text([answer(NOW)])
    assert text.startswith("orders @ demo: 10 unread offsets; STALLED\n")
    assert "  ! committed offsets unchanged over 3 readings" in text
    assert answer(replace(NOW, cluster="elsewhere")).status.word == "healthy"
    assert answer(replace(NOW, applications=(replace(LAG, application_id="orders-v2"),))).status.word == "healthy"


def test_a_stopped_application_keeps_its_offsets_as_the_check_found(ledger: Path) -> None:
    """`lag` does not ask brokers how long: the check has, or the message reports that it has not."""
    stopped = replace(LAG, group_state="Empty")
    assert (
        "is not known: offsets.retention.minutes: fleet_check reads it"
        in answer(replace(NOW, applications=(stopped,))).status.sentence
    )
    new_ledger(ledger).keep_lag(
        "demo", {"orders": KeptReading(60_000, stopped, standing=Standing(30_000, 7 * 86_400_000))}
    )
    found = answer(replace(NOW, applications=(stopped,))).status
    assert found.word == "stopped"
    assert found.sentence.endswith("; brokers keep its offsets until 1970-01-08 00:00 UTC at least")


def test_a_ledger_that_does_not_answer_costs_the_window_and_is_said(
    ledger: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not the reading."""
    ledger.write_text("these are notes, not a database, and long enough to look like a header of one\n" * 20)
    assert answer(NOW).status.word == "healthy"
    assert "orders: judged by this reading alone: ledger sqlite:///" in caplog.messages[-1]


def test_a_reading_that_was_kept_while_this_one_was_counted_is_not_before_it(ledger: Path) -> None:
    """A count takes minutes: what a check found meanwhile is no earlier offset that this one fell behind."""
    kept = new_ledger(ledger)
    further = replace(LAG, partitions=(replace(ROW, committed=20, records=0),))
    kept.keep_lag("demo", {"orders": KeptReading(190_000, further)})
    assert answer(NOW).status.word == "healthy"


@pytest.mark.usefixtures("ledger")
def test_an_instance_in_error_is_told_at_once() -> None:
    """By this reading: nothing is kept yet."""
    found = answer(NOW, orders=("orders-1 (ERROR)",))
    assert (found.status.word, "orders-1 (ERROR)" in found.status.sentence) == ("failed", True)


def test_suppress_buffers_of_the_polled_instances_are_judged(ledger: Path) -> None:
    """By the limits that are given; of an application that was not polled nothing is unknown."""
    assert not ledger.exists()
    window = LagWindow.before(180_000, "demo", {"orders": "orders"})
    strict = DeclaredSuppression("until_window_closes", max_bytes=100)
    limits = {"orders": BufferLimits({"4.3.1": {"closed": strict}})}
    polled = (PolledBuffers("orders-1", "4.3.1", (SuppressBuffer("closed-store", "1_0", 1, 90),)),)
    read = ClusterLag(NOW, {}, {"orders": polled})
    [found] = window.answers(read, limits)
    assert found.status.word == "filling"
    assert "90 of 100 bytes" in as_text([found])
    assert [one.status.word for one in window.answers(read)] == ["healthy"]
    assert [one.status.word for one in window.answers(ClusterLag(NOW), limits)] == ["healthy"]
