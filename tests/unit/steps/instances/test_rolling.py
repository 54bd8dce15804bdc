"""A person deployed, or did not in time: the task goes on with the application that it asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.steps.instances.rolling import RollingOperator
from kstreams_runbooks.steps.run.run import Run
from world.samples import BOUNCE_2, NEW, OLD


def test_a_deployed_instance_is_gated_as_one_of_its_side(run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that begins again is about its own application; the answer is about another one."""
    there = replace(plan.facts, instances=("green-1",), at_start=(DeployedInstance("green-1", OLD, (), OLD),))
    bounce = replace(BOUNCE_2, side="green", release=NEW)
    both = replace(plan, stages=(bounce,), sides=(SidePart("green", "green", "demo", there, ()),))
    run.ledger.store_plan(run.key, both.digest, encode(both))
    gated: list[str] = []

    @contextmanager
    def reported(*_: object) -> Iterator[Run]:
        yield run

    def gate(_: RollingOperator, run: Run, *__: Any) -> None:
        gated.append(run.record.application)

    monkeypatch.setattr("kstreams_runbooks.steps.instances.rolling.reported", reported)
    monkeypatch.setattr(RollingOperator, "_gate", gate)
    event = {"outcome": "proceed", "reasons": ["green-1 was started"]}
    awaited = encode(Awaited("green-1", bounce, None))
    RollingOperator(task_id="undo", approval="approve_undo").deployed({}, event, awaited)
    assert gated == ["green"]
