"""A part of a reading that is missed is read again, unless the run has begun without it: on a real ledger."""

import logging
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.decide.instances.missed import missed
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.steps.run import run as module
from kstreams_runbooks.steps.run.run import Run
from world.samples import instance, reading

SILENT = Missing("http: no answer within 3 s")


def without(name: str) -> ApplicationReading:
    """A reading in which the agent of this instance was silent; its process has run for an hour."""
    now = reading(at_ms=4_000_000)

    def of(one: str) -> Any:
        whole = instance(one)
        assert isinstance(whole.deployment, Deployment)
        return replace(whole, streams=SILENT) if one == name else whole

    return replace(now, instances=(of("orders-1"), of("orders-2")))


WHOLE, GAP, OTHER_GAP = without(""), without("orders-1"), without("orders-2")


@pytest.fixture
def reads(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[ApplicationReading, int]]:
    """One reading of a step of this task while the application answers so; and how often it was read."""
    monkeypatch.setattr(patience, "READ_AGAIN_S", 0.5)
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(module, "ClusterReader", lambda *_, **__: nullcontext())

    def read(task_id: str, *answers: ApplicationReading) -> tuple[ApplicationReading, int]:
        left, taken = list(answers), 0

        def answer(*_: Any, **__: Any) -> ApplicationReading:
            nonlocal taken
            taken += 1
            return left.pop(0) if len(left) > 1 else left[0]

        monkeypatch.setattr(module, "read_application", answer)
        step = replace(run, task_id=task_id, patient=True)
        vars(step).update(application=SimpleNamespace(), kafka={}, deployer=None)
        return step.read(), taken

    return read


def observed(run: Run, found: ApplicationReading) -> None:
    """What `observe` kept, perhaps in another try."""
    replace(run, task_id="observe").keep("reading", "application", found)


def test_a_silent_agent_is_read_again_and_said(
    run: Run, reads: Callable[..., tuple[ApplicationReading, int]], caplog: pytest.LogCaptureFixture
) -> None:
    """Once, if it answers then."""
    assert missed(GAP) == ("orders-1: http: no answer within 3 s",)
    observed(run, WHOLE)
    with caplog.at_level(logging.INFO):
        assert reads("bounce_1_first", GAP, WHOLE) == (WHOLE, 2)
    [message] = caplog.messages
    # How long it has read already is that of this machine.
    assert re.fullmatch(
        r"\[orders @ demo\] reads again \(\d+ of 0\.5 s\): orders-1: http: no answer within 3 s", message
    )


def test_what_hangs_from_the_beginning_delays_no_later_step(
    run: Run, reads: Callable[..., tuple[ApplicationReading, int]]
) -> None:
    """Another gap does; so does every one of the first step, which a person clears to read it again."""
    observed(run, GAP)
    assert reads("stop_application", GAP) == (GAP, 1)
    assert reads("stop_application", OTHER_GAP, GAP) == (GAP, 2)
    assert reads("observe", GAP, WHOLE) == (WHOLE, 2)


def test_a_gap_of_an_earlier_try_of_the_first_step_is_no_excuse(
    run: Run, reads: Callable[..., tuple[ApplicationReading, int]]
) -> None:
    """The instance answered once the step was cleared: a second miss, later, is a missed reading like any other."""
    observed(run, GAP)
    observed(run, WHOLE)
    assert reads("bounce_2_rest", GAP, WHOLE) == (WHOLE, 2)
