"""The limits of suppress buffers in a fleet's declarations."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.readings.buffers import BufferFill, PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.watch.buffers import BufferLimits, buffer_limits
from kstreams_runbooks.watch.settings import CheckSettings

ROW = PartitionLag("orders", 0, "source", "ok", committed=10, last_stable_offset=10, records=0)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
LIBRARIES = {"blue": "4.3.1", "green": "4.3.1", "old": "3.4.1"}
ENTRY: Any = SimpleNamespace(
    name="orders", declared=lambda: SimpleNamespace(releases=tuple(LIBRARIES), library=LIBRARIES.get)
)
SETTINGS = CheckSettings()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the releases of the application are declared."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    (made := tmp_path / "applications" / "orders").mkdir(parents=True)
    return made


def declare(folder: Path, release: str, **limits: object) -> None:
    lines = [f"    {name}: {value}\n" for name, value in limits.items()]
    text = f"suppressions:\n  closed:\n    mode: until_window_closes\n{''.join(lines)}"
    (folder / f"{release}.yaml").write_text(text, encoding="utf-8")


def limits(polled: int | None) -> tuple[PolledBuffers, ...]:
    return (PolledBuffers("orders-1", "4.3.1", (SuppressBuffer("closed-store", "1_0", polled, polled),)),)


def test_an_application_without_limits_is_left_alone(folder: Path) -> None:
    """Without a declaration, and with a suppression that has no limit."""
    assert not buffer_limits(ENTRY, SETTINGS)
    declare(folder, "blue")
    assert not buffer_limits(ENTRY, SETTINGS)


def test_the_smallest_limit_of_one_library_counts(folder: Path) -> None:
    """An instance reports its library, and not which of two releases it is."""
    declare(folder, "blue", max_bytes=30)
    declare(folder, "green", max_bytes=20)
    declare(folder, "old", max_records=7)
    found = buffer_limits(ENTRY, SETTINGS)
    assert found.limited["4.3.1"]["closed"].max_bytes == 20
    assert (found.limited["3.4.1"]["closed"].max_bytes, found.limited["3.4.1"]["closed"].max_records) == (None, 7)
    assert not buffer_limits(ENTRY, CheckSettings(buffer_percent=0))


def test_a_declaration_that_is_not_valid_makes_it_unknown(folder: Path) -> None:
    """It is not taken for one without limits, and the other applications are checked."""
    declare(folder, "blue", max_bytes="much")
    found = buffer_limits(ENTRY, SETTINGS)
    assert found
    [fill] = found.fills(limits(1), LAG, (), 7)
    assert fill.why.startswith("its limit is not known: ")
    assert "max_bytes" in fill.why


def test_the_last_measurement_is_in_the_kept_reading(folder: Path) -> None:
    """An application that has committed nothing since holds what it held."""
    declare(folder, "blue", max_bytes=30)
    found = buffer_limits(ENTRY, SETTINGS)
    fills = found.fills(limits(25), LAG, (), 7)
    assert fills == (BufferFill("closed", 7, "task 1_0 of orders-1", 25, 25, None, 30),)
    kept = KeptReading(7, LAG, buffers=fills)
    assert found.fills(limits(None), LAG, (kept,), 9) == fills
    [unknown] = found.fills(limits(None), LAG, (), 9)
    assert unknown.why


def test_instances_that_report_nothing_are_not_empty_buffers(folder: Path) -> None:
    """Only they measure them."""
    declare(folder, "blue", max_bytes=30)
    [fill] = buffer_limits(ENTRY, SETTINGS).fills((), LAG, (), 7)
    assert fill.why == "no instance reports its metrics"
    assert BufferLimits() == buffer_limits(ENTRY, CheckSettings(buffer_percent=0))
