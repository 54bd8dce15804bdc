"""The wait for records that an older release misreads ends once no instance reads them any more."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances import read_to_end as module
from kstreams_runbooks.steps.instances.read_to_end import read_to_end
from kstreams_runbooks.steps.run.run import Run
from world.samples import down, instance, partition, reading

LEFT = (partition(50, 100, topic="orders-by-customer-repartition"),)


def failed() -> InstanceReading:
    """Its process ended by itself."""
    found = down("orders-1")
    assert isinstance(found.deployment, Deployment)
    return replace(found, deployment=replace(found.deployment, process="failed"))


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (failed(), "orders-1 is DEAD (its process has failed)"),
        (down("orders-1"), "orders-1 is DOWN (its process is stopped)"),
        (instance("orders-1", state="ERROR"), "orders-1 does not run any more"),
    ],
)
def test_an_instance_that_ended_is_named_by_what_it_is(
    run: Run, monkeypatch: pytest.MonkeyPatch, ended: InstanceReading, words: str
) -> None:
    """In two readings in a row: it may have been restarting in one."""
    now = reading(ended, instance("orders-2"), partitions=LEFT)
    vars(run).update(application=SimpleNamespace(application_id="orders", inputs=("orders",)), kafka={})
    monkeypatch.setattr(module, "UnreadRecords", lambda *_: SimpleNamespace(of=lambda rows: rows, why=""))
    monkeypatch.setattr(Plan, "limit", lambda _, name: {"gate_interval_s": 0.0, "gate_ceiling_s": 60.0}[name])
    monkeypatch.setattr(Run, "read", lambda _: now)
    with pytest.raises(Refused) as raised:
        read_to_end(run, 2, now, "clear bounce_2_first", past=lambda _: False)
    assert str(raised.value).endswith(
        f", and {words} (expected RUNNING), so no instance reads its partitions; clear bounce_2_first"
    )
