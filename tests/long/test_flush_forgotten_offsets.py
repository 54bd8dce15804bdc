"""Flushes on a broker that forgets offsets after a minute, of an application with an input that is idle for longer.

A stack of its own: the broker's settings are no topic's and no test's. The runs are planned while the broker keeps
offsets for an hour, because a hold may take half of that at most, and go on once it keeps them for a minute.
"""

import time
from collections.abc import Callable, Iterator, Mapping

import pytest
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from lab import application, kafka
from lab.afresh import afresh, empty_group
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.judge import judged
from lab.stack import Parts, Stack
from lab.supervise import until
from world.endings import COMPLETED, NOTHING_CHANGED, begun_other, ended, held_by
from world.flushing import DAG, SHORT, SWAP
from world.given import declared_as
from world.own_stack import own_stack
from world.ports import FORGETFUL
from world.runs import approve, evidence, finished, question

pytestmark = pytest.mark.long

_ORPHAN = "orders-customers-counted-repartition"
_MINUTE, _HOUR = (
    {"offsets.retention.check.interval.ms": "2000", "offsets.retention.minutes": minutes} for minutes in ("1", "60")
)
_IDLE_S = 65
_FORGOTTEN_S = 120
_SETTLED_S = 60


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack whose customers are sent once, at the beginning, and never again."""
    parts = Parts(traffic_rate=520, customers=200, customer_every=10**9, broker=_MINUTE)
    with own_stack(tmp_path_factory, parts, FORGETFUL) as made, declared_as(made, limits=SHORT):
        yield made


def keeps(stack: Stack, settings: Mapping[str, str]) -> None:
    """Restart the broker with other settings, and wait for the application."""
    kafka.restart_broker(stack.lab, stack.supervisor, settings)
    application.wait_running(stack.lab, stack.supervisor, Deployed().names)


def idle(stack: Stack, **settings: str) -> None:
    """The application from nothing under traffic, until its customers have been idle for more than a minute."""
    afresh(stack, Deployed(release=WITH_REPARTITION, settings=settings))
    stack.start_traffic()
    time.sleep(_IDLE_S)


def flushed(stack: Stack, release: str) -> None:
    """A flush by swapped inputs: from its first stop on the broker keeps offsets for a minute."""
    keeps(stack, _HOUR)
    # Tasks that have caught up move once more after a start, and `check` refuses a group in a rebalance.
    until(settled(stack), _SETTLED_S, "the group is Stable", poll_s=1)
    trial = begun_other(stack, DAG, release=release, **SWAP)
    question(stack, trial.run_id)
    keeps(stack, _MINUTE)
    approve(stack, trial.run_id, "approve_plan")
    state, document = finished(stack, trial.run_id), evidence(stack, trial.run_id)
    assert state == "success", document["run"]["outcome_sentence"]
    assert document["run"]["outcome"] == COMPLETED
    assert held_by(stack) == ()


def settled(stack: Stack) -> Callable[[], bool]:
    """Whether the group is in no rebalance."""

    def look() -> bool:
        with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
            group = reader.group("orders")
        return not isinstance(group, Missing) and group.state == "Stable"

    return look


def forgotten(stack: Stack, topic: str) -> Callable[[], bool]:
    """Whether the group has no committed offset on a topic any more."""

    def gone() -> bool:
        with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
            offsets = reader.committed(["orders"])["orders"]
        assert isinstance(offsets, dict)
        return all(place[0] != topic for place in offsets)

    return gone


def test_a_hold_that_offsets_may_not_outlast_is_refused(forgetful: Stack) -> None:
    """In a dry run, with the broker's limit."""
    afresh(forgetful, Deployed(release=WITH_REPARTITION))
    trial = begun_other(forgetful, DAG, release=WITHOUT_REPARTITION, dry_run=True, **SWAP)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "offsets.retention.minutes" in document["run"]["outcome_sentence"]


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_nothing_is_read_twice_or_skipped_there_and_back(forgetful: Stack, reset: str) -> None:
    """There; the way back once the orphan's offsets are forgotten."""
    idle(forgetful, **{"auto.offset.reset": reset})
    flushed(forgetful, WITHOUT_REPARTITION)
    until(forgotten(forgetful, _ORPHAN), _FORGOTTEN_S, "the orphan's offsets are forgotten", poll_s=2)
    flushed(forgetful, WITH_REPARTITION)
    judgement = judged(forgetful)
    assert (judgement.code, judgement.faults()) == (0, {})


def test_a_swap_by_hand_that_does_not_commit_again_reads_twice(forgetful: Stack) -> None:
    """The counter-experiment: the same without the stage that commits the input offsets again."""
    idle(forgetful)
    forgetful.stop_traffic()
    kafka.wait_drained(forgetful.lab.bootstrap, "orders")
    kafka.create_topics(forgetful.lab.bootstrap, ("no-orders", "no-customers"))
    started_with(forgetful, {"topic.orders": "no-orders", "topic.customers": "no-customers"})
    until(forgotten(forgetful, "customers"), _FORGOTTEN_S, "the offsets of customers are forgotten", poll_s=2)
    started_with(forgetful, {})
    customers = sum(1 for _ in kafka.records(forgetful.lab.bootstrap, "customers"))
    judgement = judged(forgetful)
    assert judgement.code == 1
    assert judgement.faults()[kafka.COUNTED]["duplicate"] >= customers


def started_with(stack: Stack, settings: Mapping[str, str]) -> None:
    """Stop every instance, empty the group, start all with these settings of their own."""
    deployed = Deployed(release=WITH_REPARTITION, settings=settings)
    stack.supervisor.stop(*deployed.names)
    empty_group(stack.lab.bootstrap, deployed.application_id)
    application.write_instances(stack.lab, deployed)
    stack.supervisor.start(*deployed.names)
    application.wait_running(stack.lab, stack.supervisor, deployed.names)
