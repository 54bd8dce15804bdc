"""The progress of `drain`: it fits the terminal, and a pipe gets a line for another state. Covers present/drain."""

import re
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.drain.findings import drain_findings
from kstreams_runbooks.model.readings.drain import DrainAnswer, DrainQuestion, DrainReading, OpenTransaction
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present.drain import grouped, shape
from kstreams_runbooks.terminal.drain_display import Display

READ: dict[str, Any] = {
    "log_start_offset": 0,
    "committed": 0,
    "last_stable_offset": 12_345_678,
    "log_end_offset": 12_345_678,
    "records": 12_345_678,
}


def transactions(seconds: int) -> tuple[str, ...]:
    return tuple(
        f"orders-{number}: a transaction of app-{number} (producer id {number}), open for {seconds} s; records "
        "behind it cannot be read"
        for number in range(8)
    )


def waiting(left: int, taken: int) -> DrainAnswer:
    counted = f"{left:,} records left to read on source topics (limit 0): orders-{taken % 8} ({left:,})"
    verdict = Verdict(Outcome.WAIT, (counted, *transactions(taken)))
    return DrainAnswer(DrainQuestion(3, None, ()), (), taken, verdict, unreachable=False)


def test_reasons_that_differ_in_numbers_are_one_line() -> None:
    """Eight open transactions are one fact; another sentence stays."""
    lines = grouped(("12 records left to read on source topics (limit 0): orders-0 (12)", *transactions(3), "group: x"))
    assert lines == [
        "12 records left to read on source topics (limit 0): orders-0 (12)",
        "orders-0, orders-1, orders-2 and 5 more: a transaction of app-0 to 7 (producer id 0 to 7), open for 3 s; "
        "records behind it cannot be read",
        "group: x",
    ]
    assert shape(lines) == shape(grouped(("9 records left to read on source topics (limit 0): x-1 (9)", *lines[1:])))
    assert shape(lines) != shape(lines[1:])


def test_a_number_that_differs_is_a_range() -> None:
    """The age of the first one alone hid that another has been open for a minute."""
    hung = "RUNNING with {} failed threads (expected RUNNING with none)"
    lines = grouped((f"a1: {hung.format(1)}", f"a2: {hung.format('1,007')}", "x: of 4.3.1", "y: of 4.10.1"))
    assert lines == [f"a1, a2: {hung.format('1 to 1,007')}", "x, y: of 4.3.1 to 4.10.1"]
    assert shape(transactions(2)) == shape((transactions(2)[0], transactions(55)[1]))


def test_each_hanging_transaction_keeps_its_command() -> None:
    """The command of the first one, under the names of both, left the second open."""
    hanging = tuple(
        OpenTransaction(f"orders-{number}", None, 7, 90_000, 60_000, start_offset=offset, seen_ms=90_000)
        for number, offset in ((3, 12_345), (5, 99))
    )
    reading = DrainReading(Taken(1, "demo"), (), {}, {}, {}, open_transactions=hanging)
    found = drain_findings((reading,), DrainQuestion(3, None, ()))
    lines = grouped([f"{one.object}: {one.message}" for one in found if one.id == "transaction-hangs"])
    assert [line.rpartition("abort --topic ")[2] for line in lines] == [
        "orders --partition 3 --start-offset 12345",
        "orders --partition 5 --start-offset 99",
    ]


def test_a_pipe_gets_a_line_for_another_state(capsys: pytest.CaptureFixture[str]) -> None:
    """Under traffic forty readings were forty lines of nine sentences."""
    with Display("orders @ demo", 300) as display:
        for taken in range(1, 41):
            display.show(waiting(1_000 - taken, taken))
        calm = Verdict(Outcome.WAIT, ("reading 1 of 3 in a row with nothing left",))
        display.show(DrainAnswer(DrainQuestion(3, None, ()), (), 41, calm, unreachable=False))
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith(
        "0 of 300 s, reading 1: 999 records left to read on source topics (limit 0): orders-1 (999); "
    )
    assert "orders-2 and 5 more: a transaction of app-0 to 7" in first
    assert last == "0 of 300 s, reading 41, 39 alike before: reading 1 of 3 in a row with nothing left"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_display_fits(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Long names are broken, counts stay whole, brackets are text."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    name = "orders-customers-[/red]-KSTREAM-AGGREGATE-STATE-STORE-0000000012-repartition"
    rows = (PartitionLag(name, 0, "repartition", "ok", **READ), PartitionLag("orders", 0, "source", "ok", **READ))
    last = DrainReading(Taken(1, "demo"), rows, {}, {}, {})
    with Display("orders @ demo", 300) as display:
        display.show(replace(waiting(12_345_678, 1), readings=(last,)))
    lines = [re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", line) for line in capsys.readouterr().err.splitlines()]
    assert max(map(len, lines)) <= width
    head = next(line for line in lines if line.startswith("topic"))
    # A long name is broken within its column.
    assert name in "".join(line[: head.index("role")].strip() for line in lines)
    assert sum(line.rstrip().endswith(" 12,345,678") for line in lines) >= len(rows)
    assert lines[0].startswith("orders @ demo: reading 1, 0 of 300 s")
