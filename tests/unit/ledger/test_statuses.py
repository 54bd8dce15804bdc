"""Lag readings and statuses in a real SQLite ledger."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.tables import Base
from kstreams_runbooks.model.readings.buffers import BufferFill
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.status import KeptReading, KeptStatus, KnownTopology
from world.samples import card

ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
TOPOLOGY = KnownTopology({"orders": "source"}, ("orders-store-changelog",), 900, "digest")
STANDS = KeptStatus("demo", "orders", "stopped", "no member", 1_000, 2_000, read=True, told="healthy", told_read=True)


def at(at_ms: int) -> KeptReading:
    """A reading of that time."""
    fill = BufferFill("closed", at_ms, "task 1_0 of orders-1", 5, 500, None, 1_000)
    return KeptReading(at_ms, LAG, ("orders-1",), TOPOLOGY, buffers=(fill,))


def test_the_last_readings_come_back_oldest_first(ledger: Ledger) -> None:
    """As they were kept, of one application of one cluster; of a name without any there are none."""
    for at_ms in (3_000, 1_000, 2_000, 4_000):
        ledger.keep_lag("demo", {"orders": at(at_ms), "other": at(at_ms + 1)})
    ledger.keep_lag("elsewhere", {"orders": at(9_000)})
    found = ledger.lag_readings("demo", ("orders", "never"), most=3)
    assert found == {"orders": (at(2_000), at(3_000), at(4_000)), "never": ()}


def test_readings_that_are_far_enough_apart_come_with_the_last_ones(ledger: Ledger) -> None:
    """Chosen from the newest of those that are wanted."""
    for at_ms in (500, 1_000, 2_000, 2_500, 4_500, 5_000, 9_000):
        ledger.keep_lag("demo", {"orders": at(at_ms)})
    [found] = ledger.lag_readings("demo", ("orders",), most=3, until_ms=5_000, apart_ms=1_500).values()
    assert [one.at_ms for one in found] == [1_000, 2_500, 4_500, 5_000]
    [found] = ledger.lag_readings("demo", ("orders",), most=2, until_ms=4_999).values()
    assert [one.at_ms for one in found] == [2_500, 4_500]


def test_a_check_that_is_repeated_replaces_its_reading(ledger: Ledger) -> None:
    """The same time of the same application is one row."""
    ledger.keep_lag("demo", {"orders": at(1_000)})
    other = replace(at(1_000), failed=None)
    ledger.keep_lag("demo", {"orders": other})
    assert ledger.lag_readings("demo", ("orders",), most=5) == {"orders": (other,)}


def test_what_is_older_than_the_set_time_is_forgotten(ledger: Ledger) -> None:
    """Readings and the statuses of applications that nobody judges any more; the rest stays."""
    for at_ms in (1_000, 2_000, 3_000):
        ledger.keep_lag("demo", {"orders": at(at_ms)})
    gone = replace(STANDS, application="gone", at_ms=1_500)
    ledger.keep_lag_statuses((STANDS, gone))
    assert ledger.forget_lag(before_ms=2_000) == 1
    assert [one.at_ms for one in ledger.lag_readings("demo", ("orders",), most=5)["orders"]] == [2_000, 3_000]
    assert ledger.lag_statuses() == (STANDS,)


def test_a_status_is_one_row_for_each_application(ledger: Ledger) -> None:
    """The last one stays."""
    ledger.keep_lag_statuses((STANDS,))
    well = replace(STANDS, word="healthy", told=None)
    ledger.keep_lag_statuses((well, replace(STANDS, cluster="elsewhere")))
    assert ledger.lag_statuses() == (well, replace(STANDS, cluster="elsewhere"))


def test_no_row_is_kept_for_a_partition() -> None:
    """An application with a thousand partitions is one document: nothing in the tables is named after a partition."""
    columns = {column.name for table in Base.metadata.sorted_tables for column in table.columns}
    assert not {name for name in columns if "partition" in name or "offset" in name}


def test_when_a_run_last_changed_each_application(ledger: Ledger, start: Callable[..., str]) -> None:
    """By its newest undo card, which is written before the write; of one cluster."""
    assert ledger.last_changes("demo") == {}
    for run_id, at_ms in (("first", 3_000), ("second", 2_000)):
        ledger.write_card(card(run_key=start(run_id), at_ms=at_ms))
    newest = ledger.cards("library_bump/second")[-1].entry
    assert ledger.last_changes("demo") == {"orders": newest}
    assert ledger.last_changes("elsewhere") == {}


def test_only_a_ledger_that_is_there_is_opened_by_somebody_who_reads(ledger: Ledger, url: str, tmp_path: Path) -> None:
    """Looking makes no file."""
    found = Ledger.existing(url)
    assert found is not None
    assert found.database.name == ledger.database.name
    assert Ledger.existing(f"sqlite:///{tmp_path / 'other.db'}") is None
    assert not (tmp_path / "other.db").exists()
