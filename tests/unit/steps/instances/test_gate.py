"""The guards at each reading of a gate; on a real SQLite ledger."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import Drifted
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.instances.gate_trigger import _guard
from kstreams_runbooks.steps.run.run import Run
from world.samples import BOUNCE_1, NEW, expectation, instance, reading

NOW = reading(instance("orders-1", release=NEW, settings=BOUNCE_1.settings), instance("orders-2"))
RECREATED = replace(NOW, topics=(TopicReading("orders", "id-2", 1),))


def test_a_world_that_drifts_while_a_gate_waits_shuts_it(run: Run, plan: Plan) -> None:
    """Two readings in a row, with the evidence: one may be a broker that restarts."""
    _guard(run, plan, expectation(), [NOW, NOW])
    _guard(run, plan, expectation(), [RECREATED])
    _guard(run, plan, expectation(), [RECREATED, NOW])
    assert run.ledger.evidence(run.key, name="nothing_drifted") == []
    with pytest.raises(Drifted, match="gate of orders-1: topic orders: recreated"):
        _guard(run, plan, expectation(), [RECREATED, RECREATED])
    [kept] = run.ledger.evidence(run.key, name="nothing_drifted")
    assert kept.payload["result"]["outcome"] == "refuse"


def test_the_task_tells_drift_from_a_gate_that_stays_shut(run: Run) -> None:
    """Who is told reads another sentence for each."""
    with pytest.raises(Drifted, match="recreated"):
        answered(run, {"outcome": "refuse", "reasons": ["recreated"], "drifted": True})
