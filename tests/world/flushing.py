"""The application that control-topic flushes are tried on, under traffic, and the judgement of everything after it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.afresh import afresh
from lab.application import WITH_REPARTITION, Deployed
from lab.judge import judged
from lab.stack import Stack

from world.given import declared_as

DAG = "control_topic_flush"
SHORT = {"gate_interval_s": 0.5, "gate_good_readings": 2}
# No Spark here: tests/spark and tests/integration compare keys.
# The forecast of a hold is longer than half of the grace of the orders application; its real holds are shorter.
ACCEPTED = {"accept_late_loss": "the hold of a test is shorter than the grace"}
SWAP = {"switch": "swap", "without_key_check": True, **ACCEPTED}
EMPTIES = ("empty-of-orders-for-orders", "empty-of-customers-for-orders")
_COUNTING = Deployed(release=WITH_REPARTITION)
_WARM_S = 5


@contextmanager
def busy(stack: Stack, deployed: Deployed = _COUNTING, **entry: Any) -> Iterator[Stack]:
    """From nothing, under traffic while the body runs; `entry` are fields of its declaration."""
    afresh(stack, deployed)
    with declared_as(stack, limits=SHORT, **entry):
        stack.start_traffic()
        time.sleep(_WARM_S)
        yield stack
        judgement = judged(stack)
        assert (judgement.code, judgement.faults()) == (0, {})
