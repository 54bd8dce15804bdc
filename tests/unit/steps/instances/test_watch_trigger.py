"""What all waits in the triggerer share, on a real SQLite ledger."""

import asyncio
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run

WAITS = 30
LOG = ContextVar("LOG", default="")
DONE = Verdict(Outcome.PROCEED, ("all of them read at the same time",))


class Meeting(WatchTrigger):
    """Each of its readings blocks until every other wait reads too."""

    meeting = threading.Barrier(WAITS)
    seen: list[tuple[str, str]]

    async def watch(self, run: Run) -> Verdict:  # noqa: ARG002 - it reads nothing
        """Three readings."""
        LOG.set(self.step)
        for _ in range(3):
            await self.aside(self.read)
        return DONE

    def read(self) -> None:
        """Blocks, as a client of a broker that is away."""
        self.seen.append((LOG.get(), threading.current_thread().name))
        self.meeting.wait(20)


def left(prefix: str) -> list[str]:
    """The threads of waits that have ended; each ends by itself in a moment."""
    for _ in range(100):
        if not (names := [one.name for one in threading.enumerate() if one.name.startswith(prefix)]):
            break
        time.sleep(0.05)
    return names


async def _event(trigger: WatchTrigger) -> dict[str, Any]:
    async for event in trigger.run():
        return dict(event.payload)
    raise AssertionError("no event")


def test_thirty_waits_that_block_do_not_wait_for_each_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop's own threads are six on two processors; each wait logs to its own task from its own thread."""
    monkeypatch.setattr(Run, "again", classmethod(lambda *_: run))
    monkeypatch.setattr(Meeting, "seen", [], raising=False)
    triggers = [Meeting(run_key=run.key, task_id=f"wait_{number}", try_number=1) for number in range(WAITS)]

    async def all_of_them() -> list[dict[str, Any]]:
        return await asyncio.gather(*map(_event, triggers))

    assert asyncio.run(all_of_them()) == [{"outcome": "proceed", "reasons": list(DONE.reasons), "drifted": False}] * 30
    assert len(Meeting.seen) == 3 * WAITS
    assert {(task, f"{task} of {run.key}_0") for task, _ in Meeting.seen} == set(Meeting.seen)
    assert not left("wait_")


def test_a_wait_that_breaks_leaves_no_thread(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with one sentence all the same."""
    monkeypatch.setattr(Run, "again", classmethod(lambda *_: run))

    class Broken(WatchTrigger):
        async def watch(self, run: Run) -> Verdict:
            await self.aside(self.tell, run, "orders-1: wait: lag 7")
            raise ValueError("no such thing")

    event = asyncio.run(_event(Broken(run_key=run.key, task_id="broken", try_number=1)))
    assert event["outcome"] == "inconclusive"
    assert event["reasons"][0] == "the watch broke: ValueError: no such thing"
    assert event["reasons"][1] == "the last that was seen before: orders-1: wait: lag 7"
    assert not left("broken")
