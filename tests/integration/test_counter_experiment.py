"""Why this project exists: the same roll without `upgrade.from` goes wrong, and nothing says so but the judge."""

import time

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.model.target import Target
from lab import report
from lab.application import streams, wait_running
from lab.judge import judged
from world.given import Orders


@pytest.mark.long
def test_a_roll_without_upgrade_from_corrupts_table_counts_in_silence(orders: Orders) -> None:
    """Every instance RUNNING, no exception in any log, and wrong counts per customer (KIP-904)."""
    stack = orders.stack
    deployer = make_deployer(orders.application, dry_run=False)
    stack.start_traffic()
    time.sleep(10)
    # Two instances that start at once both create the internal topics, and one says so: that is before the roll.
    logs = {name: stack.lab.logs / f"{name}.log" for name in ("orders-1", "orders-2")}
    before = {name: len(log.read_text(encoding="utf-8")) for name, log in logs.items()}
    for name in ("orders-1", "orders-2"):
        restart(deployer, name, Target("4.3.1"), remove_members=None, log=print)
        wait_running(stack.lab, stack.supervisor, ("orders-1", "orders-2"))
        time.sleep(15)
    readings = [streams(stack.lab, number) for number in (1, 2)]
    assert [one.state for one in readings if isinstance(one, StreamsReading)] == ["RUNNING", "RUNNING"]
    judgement = judged(stack)
    print("without upgrade.from:", judgement.faults(), "of", judgement.document["orders_seen"], "orders")
    assert judgement.code == 1
    assert set(judgement.faults()) == {"per-customer"}
    for name, log in logs.items():
        said = log.read_text(encoding="utf-8")[before[name] :]
        assert [line for line in said.splitlines() if report.COMPLAINT.search(line)] == []
