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
from world.endings import NOTHING_CHANGED, begun_other
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


def admin(stack: Stack) -> AdminClient:
    """Of the cluster."""
    return AdminClient({"bootstrap.servers": stack.lab.bootstrap})


@contextmanager
def control_topic(stack: Stack) -> Iterator[None]:
    """A topic of the copier's routes exists; a person deletes it."""
    name = ROUTES["orders"]
    kafka.create_topics(stack.lab.bootstrap, [name], 4)
    yield
    admin(stack).delete_topics([name])[name].result(_CALL_S)


@contextmanager
def offsets(stack: Stack) -> Iterator[None]:
    """The copier's group has an offset; a person deletes the group."""
    asked = [ConsumerGroupTopicPartitions(COPIER, [TopicPartition("orders", 0, 0)])]
    admin(stack).alter_consumer_group_offsets(asked)[COPIER].result(_CALL_S)
    yield
    admin(stack).delete_consumer_groups([COPIER])[COPIER].result(_CALL_S)


@contextmanager
def nothing(_: Stack) -> Iterator[None]:
    """The form alone is wrong."""
    yield


@pytest.mark.parametrize(
    ("meanwhile", "form", "reason", "completes"),
    [
        (control_topic, _FORM, "control topic orders-control: it exists", True),
        (offsets, _FORM, "has offsets on orders-0", True),
        (nothing, {"copier": COPIER}, "whether the copy is complete would not be known", True),
        (nothing, {**_FORM, "mode": "adapt"}, "mode: adapt (expected adopt or abandon)", True),
        (nothing, {**_FORM, "mode": "abandon"}, "orders", True),
        (nothing, {**_FORM, "copier": "orders"}, "orders", False),
    ],
    ids=["topic", "offsets", "proof", "mode", "abandon", "copier"],
)
def test_the_command_of_go_on_helps(
    deployed: Stack, meanwhile: Callable[[Stack], Any], form: dict[str, Any], reason: str, completes: bool
) -> None:
    """The dry run is refused before any change; once its cause is gone, it completes."""
    with meanwhile(deployed):
        trial = begun_other(deployed, DAG, dry_run=True, **form)
        assert finished(deployed, trial.run_id) == "failed"
        run = evidence(deployed, trial.run_id)["run"]
        print(run["outcome_sentence"])
        assert run["outcome"] == NOTHING_CHANGED
        assert reason in run["outcome_sentence"]
    code, said = followed(deployed, trial.run_id)
    print(code, said)
    assert run["outcome_sentence"] not in said
    assert (code == 0) or not completes
