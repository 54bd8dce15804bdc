"""Windows that drop records because their application was stopped for longer than the grace allows: refused before.

The windowed count of the orders application is behind a repartition topic, so its tasks get the records of several
partitions, and stream time follows the foremost.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, begun_other, ended
from world.flushing import ACCEPTED, SHORT
from world.given import declared_as
from world.runs import approve, log_of

pytestmark = pytest.mark.long

DAG = "stop_and_restart"
_WARM_S = 20
_TWO_THREADS = {"settings": {"num.stream.threads": 2}}


@contextmanager
def under_traffic(stack: Stack, grace_ms: int) -> Iterator[Stack]:
    """Two instances that run and declare this grace, with traffic that is at most two seconds out of order."""
    declaration = stack.lab.config / "applications" / "orders" / f"{TO_RELEASE}.yaml"
    before = declaration.read_text(encoding="utf-8")
    declaration.write_text(before.replace("grace_ms: 120000", f"grace_ms: {grace_ms}"), encoding="utf-8")
    afresh(stack, Deployed(release=TO_RELEASE, settings={"window.grace.ms": str(grace_ms)}))
    try:
        with declared_as(stack, limits={**SHORT, "bake_s": 1}):
            stack.start_traffic()
            time.sleep(_WARM_S)
            yield stack
    finally:
        declaration.write_text(before, encoding="utf-8")


def test_a_stop_within_half_of_the_grace_asks_nothing_and_loses_nothing(stack: Stack) -> None:
    """14 s at most, with 120 s of grace; `verify` has nothing to compare."""
    with under_traffic(stack, 120_000):
        trial = begun_other(stack, DAG, **_TWO_THREADS)
        approve(stack, trial.run_id, "approve_plan")
        document = ended(trial, state="success", outcome=COMPLETED, restarted=((1, "orders-1"), (1, "orders-2")))
        assert "late-after-stop" not in str(document)
        assert judged(stack).faults() == {}


def test_a_stop_above_it_is_refused_and_goes_on_once_it_is_accepted(stack: Stack) -> None:
    """With 10 s of grace: the refusal has limit and bound, and what was dropped afterwards is within it."""
    with under_traffic(stack, 10_000):
        refused = begun_other(stack, DAG, **_TWO_THREADS)
        document = ended(refused, state="failed", outcome=NOTHING_CHANGED)
        sentence = document["run"]["outcome_sentence"]
        assert "drops records that come more than 10 s late, and it is stopped for up to" in sentence
        assert "give accept_late_loss a reason" in sentence
        bound = int(re.search(r"may drop up to ([\d,]+) records", sentence)[1].replace(",", ""))  # type: ignore[index]
        trial = begun_other(stack, DAG, **_TWO_THREADS, **ACCEPTED)
        approve(stack, trial.run_id, "approve_plan")
        ended(trial, state="success", outcome=COMPLETED, restarted=((1, "orders-1"), (1, "orders-2")))
        shown = re.search(r"have dropped since the start: ([\d,]+); forecast", log_of(stack, trial.run_id, "verify"))
        assert shown, "verify shows what the tasks of the store have dropped"
        assert 0 <= int(shown[1].replace(",", "")) <= bound
