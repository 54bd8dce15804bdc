"""A library bump in one bounce, of an application without static membership."""

import re
import time

import pytest
from lab import kafka, report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, begun, ended
from world.given import declared_as
from world.runs import finished, log_of, states

pytestmark = pytest.mark.long

# Well under the session timeout (45 s); how short a restart is by itself, test_dynamic_membership.py holds.
_NOBODY_WAITED_S = 30


def test_one_bounce_and_no_static_membership(stack: Stack) -> None:
    """Declared without formats that changed, one bounce suffices; the second half of the run says so and succeeds.

    Without static membership each stopped instance's members are removed from the group: nobody waits for a session
    timeout, which is Kafka's default here, and no task of the other instance is closed dirty for it. What is declared
    decides: this application does aggregate a table, so its table counts are not looked at.
    """
    afresh(stack, Deployed(static_membership=False))
    with declared_as(stack, static_membership=False, table_aggregations="no", foreign_key_joins="no"):
        stack.start_traffic()
        time.sleep(10)
        trial = begun(stack)
        run_id = trial.run_id
        assert finished(stack, run_id) == "success"
        assert set(states(stack, run_id).values()) == {"success"}
        assert "nothing to ask: bounce 2 is not needed" in log_of(stack, run_id, "approve_bounce_2")
        for task_id in ("bounce_2_first", "bounce_2_rest"):
            assert "bounce 2 is not needed" in log_of(stack, run_id, task_id)
        document = ended(trial, state="success", outcome=COMPLETED, restarted=((1, "orders-1"), (1, "orders-2")))
    judgement = judged(stack)
    assert "running" not in judgement.faults()
    assert "members of the stopped instance removed" in log_of(stack, run_id, "bounce_1_first")
    outputs = kafka.appended(stack.lab.bootstrap, "orders-running")
    for rolled in report.rolled_in(document):
        gap = report.gap(outputs, rolled)
        assert gap is not None
        assert gap <= _NOBODY_WAITED_S, rolled
    for name in Deployed().names:
        log = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
        assert [start.version for start in report.starts_in(log)] == [FROM_RELEASE, "4.3.1"]
        assert [start.upgrade_from for start in report.starts_in(log)] == [None, None]
        assert closed_dirty(log) <= without_offsets(log)


def closed_dirty(log: str) -> set[str]:
    """Tasks that an instance closed without a commit."""
    return set(re.findall(r"task \[(\d+_\d+)\] Closed dirty", log))


def without_offsets(log: str) -> set[str]:
    """Tasks that an instance found on its disk from an earlier assignment, without the offsets of their stores.

    4.3 closes them dirty and restores them before it takes them over: nothing that was processed is lost with them.
    """
    return set(re.findall(r"stream-task \[(\d+_\d+)\] State store \S+ did not find checkpoint offsets while", log))
