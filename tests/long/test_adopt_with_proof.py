"""A copier comes in front of the orders application and leaves again, and Spark compares each copy under traffic."""

import os
from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from lab.adopted import COPIER, ROUTES
from lab.application import TO_RELEASE, Deployed
from lab.stack import DEFAULT_RATE, Parts, Stack
from world.adopting import DAG, copier_deployed, entry_changed
from world.endings import completed
from world.flushing import ACCEPTED, SHORT, busy
from world.given import declared_as
from world.own_stack import own_stack
from world.ports import STACK
from world.runs import approved_by_both, log_of, reached, trigger_other

pytestmark = pytest.mark.long

_LIMITS = {**SHORT, "max_reading_age_s": 120}
_DELETED = 40


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with Spark."""
    rate = int(os.environ.get("TEST_TRAFFIC_RATE") or DEFAULT_RATE)
    parts = Parts(spark=True, traffic_rate=rate, built=bool(os.environ.get("TEST_BUILT")))
    with own_stack(tmp_path_factory, parts, STACK) as made:
        yield made


def begun(stack: Stack, **conf: object) -> str:
    """A run that both teams have approved."""
    run_id = trigger_other(stack, DAG, copier=COPIER, **ACCEPTED, **conf)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def test_a_copy_is_proven_although_its_front_is_deleted_meanwhile(stack: Stack) -> None:
    """The entry is changed once the application has started; the proof names what is gone; then the way back."""
    with (
        busy(stack, Deployed(release=TO_RELEASE)),
        declared_as(stack, limits=_LIMITS),
        copier_deployed(stack),
    ):
        run_id = begun(stack)
        reached(stack, run_id, "start_application", "success")
        control = ROUTES["orders"]
        admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
        for future in admin.delete_records([TopicPartition(control, 0, _DELETED)]).values():
            future.result(30)
        with entry_changed(stack, **_LIMITS):
            completed(stack, run_id)
            planned = log_of(stack, run_id, "plan")
            assert "changes once start_application has succeeded" in planned
            assert "offsets of the inputs and their copies" in planned
            proof = log_of(stack, run_id, "prove_copy")
            print(proof)
            assert f"{_DELETED} offsets of {control} ({control}-0) are deleted since the copy began" in proof
            assert proof.count(": proceed: ") == len(ROUTES)
            completed(stack, begun(stack, mode="abandon"))
