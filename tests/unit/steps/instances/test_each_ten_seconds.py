"""The log of each wait in the triggerer while nothing changes: a line each ten seconds, however seldom it reads."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any, Self

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.readings.readings import Start, Taken
from kstreams_runbooks.model.runs.gate import Awaited, Patience
from kstreams_runbooks.steps.drain import trigger as drain_module
from kstreams_runbooks.steps.instances import deploy_trigger as deploy_module
from kstreams_runbooks.steps.instances import gate_trigger as gate_module
from kstreams_runbooks.steps.instances import watch_trigger
from kstreams_runbooks.steps.instances.watch_trigger import SAW, WatchTrigger
from kstreams_runbooks.steps.reset import gone_trigger as gone_module
from kstreams_runbooks.steps.run import until
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.drain import drain
from world.samples import BOUNCE_1, expectation, reading

EVERY_S = 30.0
READINGS = 3


class Clock:
    """A clock that only sleeps move."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.read_at: list[float] = []

    def monotonic(self) -> float:
        """Seconds so far."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Pass them."""
        self.now += seconds

    def read(self, value: Any) -> Any:
        """A reading; the fourth ends the wait."""
        self.read_at.append(self.now)
        if len(self.read_at) > READINGS:
            raise Refused("enough")
        return value


@pytest.fixture
def clock(run: Run, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every wait of this run."""
    clock = Clock()
    clocks = SimpleNamespace(monotonic=clock.monotonic, time_ns=time.time_ns)
    for module in (watch_trigger, gate_module, deploy_module, drain_module, drain, until):
        monkeypatch.setattr(module, "time", clocks)
    loops = SimpleNamespace(sleep=clock.sleep, get_running_loop=asyncio.get_running_loop)
    monkeypatch.setattr(watch_trigger, "asyncio", loops)
    vars(run)["application"] = SimpleNamespace(as_deployed=False)
    vars(run)["deployer"], vars(run)["kafka"] = SimpleNamespace(), {}
    monkeypatch.setattr(Run, "again", classmethod(lambda *_: run))
    return clock


def of_a_gate(run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> WatchTrigger:
    """The restarted instance does not come back."""
    monkeypatch.setattr(gate_module, "reading_of", lambda _: clock.read(reading()))
    return gate_module.gate_trigger(run, expectation(), Patience(EVERY_S, 300.0, 0.0), last=False)


def of_a_person(run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> WatchTrigger:
    """Nobody deploys."""
    monkeypatch.setattr(deploy_module, "reading_of", lambda _: clock.read(reading()))
    awaited = Awaited("orders-1", BOUNCE_1, Start(500, 41))
    arguments = {"awaited": asdict(awaited), "interval_s": EVERY_S, "wait_h": 8.0}
    return deploy_module.DeployTrigger(run_key=run.key, task_id=run.task_id, try_number=1, **arguments)


def of_a_drain(run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> WatchTrigger:
    """No broker answers."""
    monkeypatch.setattr(drain_module, "drain_reader", lambda *_: None)
    away = DrainReading(Taken(0, "a test"), (), {}, {}, {}, problems=("no answer",))
    monkeypatch.setattr(drain.DrainWatch, "read", lambda _: clock.read(away))
    arguments = {"question": {"readings": 2, "pause": None}, "interval_s": EVERY_S, "ceiling_s": 300.0}
    return drain_module.DrainTrigger(run_key=run.key, task_id=run.task_id, try_number=1, **arguments)


def of_what_is_gone(run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> WatchTrigger:
    """Deleted topics stay gone."""

    class Reader:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def topics(self, _: list[str]) -> dict[str, str]:
            return dict(clock.read({}))

    monkeypatch.setattr(Run, "reader", lambda _: Reader())
    arguments = {"deleted": {"t": "id"}, "length_s": 300.0, "interval_s": EVERY_S}
    return gone_module.GoneTrigger(run_key=run.key, task_id=run.task_id, try_number=1, **arguments)


Kind = Callable[[Run, Clock, pytest.MonkeyPatch], WatchTrigger]


@pytest.mark.parametrize("kind", [of_a_gate, of_a_person, of_a_drain, of_what_is_gone])
def test_a_wait_that_reads_seldom_has_a_line_each_ten_seconds(
    kind: Kind, run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its time, and nothing more in the ledger than before."""
    said: list[tuple[float, str]] = []
    trigger = kind(run, clock, monkeypatch)
    monkeypatch.setattr(Run, "say", lambda _, line: said.append((clock.now, line)))

    async def event() -> Any:
        async for one in trigger.run():
            return one.payload
        raise AssertionError("no event")

    assert asyncio.run(event())["reasons"][0] == "enough"
    assert [at - 1_000 for at in clock.read_at] == [0, 30, 60, 90]
    assert [at - 1_000 for at, _ in said] == list(range(0, 90, 10))
    waited = [int(line.rsplit(" (", 1)[1].split(" of ")[0]) for _, line in said]
    # A busy machine takes seconds until the wait begins.
    assert [one - waited[0] for one in waited] == list(range(0, 90, 10))
    # The first reading of a gate shows no progress yet.
    assert len({line.rsplit(" (", 1)[0] for _, line in said}) <= 2
    assert len(run.ledger.evidence(run.key, kind="note", name=SAW)) <= READINGS
