"""What `lag` prints of a reading, and with which exit code."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.status.status import LagAnswer, LagSample, StatusLimits, status
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, LagState, PartitionLag
from kstreams_runbooks.present.lag import as_text, document, exit_code

AT_MS = 1_763_770_811_000
READ: dict[str, Any] = {
    "log_start_offset": 0,
    "committed": 10,
    "last_stable_offset": 10,
    "log_end_offset": 10,
    "records": 0,
}


def row(topic: str, number: int = 0, role: LagRole = "source", state: LagState = "ok", **more: Any) -> PartitionLag:
    return PartitionLag(topic, number, role, state, **{**READ, **more})


def answer(*rows: PartitionLag, problems: tuple[str, ...] = (), unseen: tuple[str, ...] = ()) -> LagAnswer:
    lag = ApplicationLag("orders", "orders", "classic", "Stable", rows, problems, unseen=unseen)
    return LagAnswer("demo", AT_MS, lag, status((LagSample(AT_MS, lag),), StatusLimits()))


def behind(topic: str, number: int, records: int, **more: Any) -> PartitionLag:
    return row(topic, number, last_stable_offset=10 + records, log_end_offset=10 + records, records=records, **more)


def test_totals_come_first_then_topics_then_remarks() -> None:
    """Read at night: aligned, the largest at the top, separators in the counts, one line for what many share."""
    rows = (
        behind("customers", 0, 5),
        behind("orders", 0, 12_000, oldest_unread_ms=AT_MS - 840_000),
        behind("orders", 1, 345, oldest_unread_ms=AT_MS - 60_000),
        row("orders", 2, log_end_offset=13),
        row(
            "orders-by-customer-repartition", 0, "repartition", "never_committed", committed=None, why="never committed"
        ),
        row(
            "orders-by-customer-repartition", 1, "repartition", "never_committed", committed=None, why="never committed"
        ),
        behind("old", 0, 7, role="orphaned", state="orphaned"),
    )
    assert as_text([answer(*rows)]) == (
        """\
orders @ demo: 12,350 unread offsets; BEHIND
  classic group, Stable; 2025-11-22 00:20:11 UTC

  topic                           role         unread           partitions  oldest unread
  orders                          source       12,345  offsets  2 of 3      14 min ago
  customers                       source            5  offsets  1 of 1
  orders-by-customer-repartition  repartition       0  offsets  2
  old                             orphaned          7  offsets  1 of 1

  ! orders partition 2: a transaction is open; the records behind it are unknown
  ! orders-by-customer-repartition partitions 0–1: never committed
  ! old: the application no longer reads it; no total counts its records"""
    )


def test_how_long_a_group_stands_still_is_told_where_it_has_something_to_read() -> None:
    """Of its slowest partition, and no shorter than it is."""
    rows = (
        behind("orders", 0, 5, committed_since_ms=AT_MS - 840_000),
        behind("orders", 1, 5, committed_since_ms=AT_MS),
        row("customers", 0, committed_since_ms=AT_MS - 9_000_000),
    )
    text = as_text([answer(*rows)])
    assert "partitions  not committed for" in text
    assert "  orders     source      10  offsets  2 of 2      ≥ 14 min" in text
    assert "2 h" not in text


def test_what_is_not_known_is_no_sum() -> None:
    """A part of the inputs is told as a part; a reason that all share is told once."""
    why = "group orders is known to no broker"
    rows = (behind("customers", 0, 5), row("orders", 0, state="unknown", records=None, why=why))
    text = as_text([answer(*rows, problems=(why,))])
    assert text.startswith("orders @ demo: unread is not known (5 that are); UNKNOWN\n")
    unread = ApplicationLag("orders", "orders", None, None, (), ("cluster demo: no broker answers",))
    text_of_none = as_text([LagAnswer("demo", AT_MS, unread, status((LagSample(AT_MS, unread),), StatusLimits()))])
    # A group that could not be read is not one that does not exist.
    assert "  its group was not seen; " in text_of_none
    assert text.count(why) == 1
    assert "  orders     source       ?  offsets  1" in text


def test_records_of_a_part_are_at_least_so_many() -> None:
    """Past what is ever scanned."""
    text = as_text([answer(behind("orders", 0, 9, exact=True, at_least=True))])
    assert "orders @ demo: at least 9 unread records" in text
    assert "≥ 9  records" in text


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ((row("orders"),), 0),
        ((behind("orders", 0, 1),), 1),
        ((row("orders", log_end_offset=12),), 3),
        ((row("orders", log_end_offset=12), behind("orders", 1, 1)), 1),
        ((behind("orders", 0, 1), row("customers", state="missing", records=None)), 3),
        ((row("orders", perhaps_lost=True),), 3),
        ((row("orders"), behind("old", 0, 4, role="orphaned", state="orphaned")), 0),
        ((), 3),
    ],
)
def test_exit_codes(rows: tuple[PartitionLag, ...], code: int) -> None:
    """What is not known outweighs what is unread; what is behind an open transaction is not known either."""
    assert exit_code([answer(*rows)]) == code


def test_a_changelog_that_is_not_visible_is_not_known() -> None:
    """The status says unknown, and so does the exit code; what is unread outweighs it."""
    hidden = "topic orders-store-changelog is not visible to this login"
    assert exit_code([answer(row("orders"), unseen=(hidden,))]) == 3
    assert exit_code([answer(behind("orders", 0, 1), unseen=(hidden,))]) == 1


def test_a_value_that_is_not_known_is_null() -> None:
    """Never 0; records are told where they were counted, offsets where they are known."""
    missing = PartitionLag("nowhere", 0, "source", "missing")
    uncounted, empty = behind("customers", 0, 9), row("customers", 1)
    counted = replace(behind("orders", 0, 9), records=4, exact=True, oldest_unread_ms=AT_MS)
    [application] = document([answer(missing, counted, uncounted, empty)])["applications"]
    assert application["application_id"] == "orders"
    assert (application["group_type"], application["status"]) == ("classic", "unknown")
    nowhere, orders, *others = application["partitions"]
    known = {name for name, value in nowhere.items() if value is not None}
    assert known == {"topic", "partition", "role", "state", "at_least"}
    assert (orders["readable_records"], orders["unread_offsets"], orders["oldest_unread_ms"]) == (4, 9, AT_MS)
    assert orders["open_transaction"] is False
    # Where there is no offset to read, there is no record either, whether or not somebody counted.
    assert [(one["readable_records"], one["unread_offsets"]) for one in others] == [(None, 9), (0, 0)]


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_lag_fits_the_terminal(columns: int) -> None:
    """Long names get a line of their own, above their numbers; every other line is broken at a blank."""
    name = "orders-customers-by-region-and-day-KSTREAM-AGGREGATE-STATE-STORE-0000000012-changelog"
    long = {"oldest_unread_ms": AT_MS - 840_000, "committed_since_ms": AT_MS - 180_000}
    rows = (
        behind("orders", 0, 12_345_678, at_least=True, **long),
        behind(name[:76], 0, 7, role="repartition", **long),
        row("customers", 0, state="unknown", records=None, why=" ".join(["the broker did not answer"] * 8)),
    )
    lines = as_text([answer(*rows, problems=("group orders: " + "its offsets are not known " * 5,))], columns).split(
        "\n"
    )
    assert max(map(len, lines)) <= columns
    assert as_text([answer(*rows)]) == as_text([answer(*rows)], 1000)
    text = " ".join(" ".join(lines).split())
    assert text.count("no commit for") + text.count("not committed for") == 1
    for whole in (
        "≥ 12,345,678 offsets 1 of 1 14 min ago ≥ 3 min",
        name[:76],
        "did not answer the broker did not answer",
    ):
        assert whole in text
