"""GO ON of refused adoptions, followed: what a person is asked to do is done, and the same command completes then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from lab import kafka
from lab.adopted import COPIER, ROUTES
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack
from world.adopting import DAG, copier_deployed
from world.endings import INCONCLUSIVE, NOTHING_CHANGED, begun_other
from world.going_on import followed
from world.runs import evidence, finished

pytestmark = pytest.mark.long
_REASON = "no Spark in these tests"
_FORM = {"copier": COPIER, "without_copy_proof": _REASON}
_CALL_S = 30


@pytest.fixture(scope="module")
def deployed(stack: Stack) -> Iterator[Stack]:
    """Two instances without traffic, and a copier that has never run."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with copier_deployed(stack):
        yield stack


@contextmanager
def control_topic(stack: Stack) -> Iterator[None]:
    """A topic of the copier's routes exists; a person deletes it."""
    admin, name = AdminClient({"bootstrap.servers": stack.lab.bootstrap}), ROUTES["orders"]
    kafka.create_topics(stack.lab.bootstrap, [name], 4)
    yield
    admin.delete_topics([name])[name].result(_CALL_S)


@contextmanager
def offsets(stack: Stack) -> Iterator[None]:
    """The copier's group has an offset; a person deletes the group."""
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    asked = [ConsumerGroupTopicPartitions(COPIER, [TopicPartition("orders", 0, 0)])]
    admin.alter_consumer_group_offsets(asked)[COPIER].result(_CALL_S)
    yield
    admin.delete_consumer_groups([COPIER])[COPIER].result(_CALL_S)


@contextmanager
def nothing(_: Stack) -> Iterator[None]:
    """The form alone is wrong."""
    yield


@pytest.mark.parametrize(
    ("meanwhile", "form", "reason", "outcome", "completes"),
    [
        (control_topic, _FORM, "control topic orders-control: it exists", NOTHING_CHANGED, True),
        (offsets, _FORM, "has offsets on orders", NOTHING_CHANGED, True),
        (nothing, {"copier": COPIER}, "whether the copy is complete would not be known", INCONCLUSIVE, True),
        (nothing, {**_FORM, "copier": "orders"}, "copier: orders (expected another", NOTHING_CHANGED, False),
    ],
    ids=["topic", "offsets", "proof", "copier"],
)
def test_the_command_of_go_on_helps(
    deployed: Stack,
    meanwhile: Callable[[Stack], Any],
    form: dict[str, Any],
    reason: str,
    outcome: str,
    completes: bool,
) -> None:
    """The dry run ends before any change; once its cause is gone, the last command of GO ON completes."""
    with meanwhile(deployed):
        trial = begun_other(deployed, DAG, dry_run=True, **form)
        assert finished(deployed, trial.run_id) == "failed"
        run = evidence(deployed, trial.run_id)["run"]
        assert run["outcome"] == outcome
        assert reason in run["outcome_sentence"]
    code, said = followed(deployed, trial.run_id, which=-1)
    assert run["outcome_sentence"] not in said
    assert (code == 0) or not completes, said
