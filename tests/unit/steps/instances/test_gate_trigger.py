"""The log of a gate that waits: how long, what for, at which pace, and what to do if it stays shut."""

import asyncio
import logging
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.gate import Patience
from kstreams_runbooks.steps.instances import gate_trigger as module
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger
from kstreams_runbooks.steps.run.run import Run
from world.samples import BOUNCE_1, NEW, expectation, instance, partition, reading

Waits = Callable[..., tuple[dict[str, Any], list[str]]]
_PREFIX = "[orders @ demo] "


def at(second: int, lag: int) -> ApplicationReading:
    """The restarted instance a second later, with less lag: it has committed up to it."""
    now = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
    committed = second * 10_000
    return reading(now, instance("orders-2"), at_ms=second * 1_000, partitions=(partition(committed, committed + lag),))


@pytest.fixture
def waits(run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Waits:
    """What a gate with these readings answers, and its log."""
    vars(run)["application"] = SimpleNamespace(as_deployed=False)
    monkeypatch.setattr(Run, "again", classmethod(lambda *_: run))

    def wait(*readings: ApplicationReading, ceiling_s: float = 300.0) -> tuple[dict[str, Any], list[str]]:
        left = list(readings)

        def read(_: Run) -> ApplicationReading:
            if not left:
                raise Refused("enough")
            return left.pop(0)

        monkeypatch.setattr(module, "reading_of", read)
        patience = Patience(interval_s=0.01, ceiling_s=ceiling_s, bake_s=0.0)
        with caplog.at_level(logging.INFO):
            event = asyncio.run(_event(gate_trigger(run, expectation(), patience, last=False)))
        said = [one.removeprefix(_PREFIX) for one in caplog.messages if one.startswith(_PREFIX)]
        return event, said

    return wait


async def _event(trigger: module.GateTrigger) -> dict[str, Any]:
    async for event in trigger.run():
        return dict(event.payload)
    raise AssertionError("no event")


def test_each_line_has_its_time_the_good_readings_and_the_pace_of_the_lag(waits: Waits) -> None:
    """A line for each new sentence; other numbers alone are no new one. The last one opens the gate."""
    event, said = waits(at(1, 5_000), at(2, 4_000), at(3, 500), at(4, 400), at(5, 300))
    assert event["outcome"] == "proceed"
    # A busy machine takes a second for what it does here.
    assert [re.sub(r"\(\d+ of", "(0 of", line) for line in said[:-1]] == [
        "orders-1: wait: first reading: progress shows from the second on (0 of 300 s)",
        "orders-1: wait: lag 4,000 records (limit 1,000); lag falls by 1,000.0 records/s: under its limit in about 3 s "
        "(0 of 300 s)",
        "orders-1: wait: good reading 1 of 3 in a row (0 of 300 s)",
    ]
    assert said[-1].startswith(f"orders-1: proceed: orders-1 runs {NEW}, RUNNING, group stable")


def test_the_same_sentence_is_no_line_for_each_reading(waits: Waits) -> None:
    """That a wait goes on is a line each ten seconds (test_each_ten_seconds.py)."""
    _, said = waits(*(at(second, 5_000) for second in range(1, 21)))
    line = "orders-1: wait: lag 5,000 records (limit 1,000); lag neither falls nor grows ("
    assert [one.startswith(line) for one in said[1:]] == [True]


def test_a_gate_that_stays_shut_names_what_to_do(waits: Waits) -> None:
    """Its limit, the cause, and the task to clear."""
    event, _ = waits(at(1, 5_000), at(2, 5_000), ceiling_s=0.0)
    assert event["outcome"] == "refuse"
    [why] = event["reasons"]
    assert why.startswith("gate of orders-1 still shut after 0 s (gate_ceiling_s 0, bake_s 0): ")
    assert why.endswith("; undo this run, or clear bounce_1_first to wait again")
