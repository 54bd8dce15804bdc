"""What has to hold before a bump is planned."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import (
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    Start,
    TopicReading,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared, down, instance, member, reading
from world.sides import COUNTS


def checked(*instances: InstanceReading) -> Verdict:
    """The verdict on these instances (two healthy ones by default)."""
    return ready_for_change(reading(*instances), declared(), 0, 60_000)


def deployed(one: InstanceReading, pid: int | None, *, obstacles: tuple[str, ...] = ()) -> InstanceReading:
    """The same instance, whose process the deployer started as `pid`."""
    assert isinstance(one.deployment, Deployment)
    return replace(one, deployment=replace(one.deployment, pid=pid, obstacles=obstacles))


def jvm(name: str, pid: int | None, deployment_pid: int) -> InstanceReading:
    """A healthy instance whose metrics come from the JVM `pid`."""
    return deployed(instance(name, start=Start(500, pid)), deployment_pid)


def test_a_healthy_application_proceeds() -> None:
    """The plain case."""
    assert checked().outcome is Outcome.PROCEED


@pytest.mark.parametrize("streams", [None, Missing("timed out")])
def test_an_obstacle_to_setting_an_instance_refuses(streams: Missing | None) -> None:
    """Before anything is planned, in the deployer's own words, also where the metrics are silent."""
    one = deployed(instance("orders-1"), 41, obstacles=("/o1/base.properties holds upgrade.from=3.4",))
    one = one if streams is None else replace(one, streams=streams)
    verdict = checked(one, instance("orders-2"))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == ("orders-1: /o1/base.properties holds upgrade.from=3.4",)


def test_obstacles_are_kept_as_evidence() -> None:
    """What was refused is refused again from what the ledger kept."""
    one = deployed(instance("orders-1"), 41, obstacles=("first", "second"))
    assert decode(InstanceReading, encode(one)) == one


def test_exchanged_metrics_refuse() -> None:
    """Each instance's metrics come from the process that the deployer started as the other."""
    verdict = checked(jvm("orders-1", 42, 41), jvm("orders-2", 41, 42))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (
        "orders-1: its metrics come from process 42, which is orders-2 (expected 41); correct `metrics` of both in the "
        "declaration",
        "orders-2: its metrics come from process 41, which is orders-1 (expected 42); correct `metrics` of both in the "
        "declaration",
    )


def test_metrics_of_another_instance_refuse_where_its_client_is_gone() -> None:
    """A JVM without a Streams client still tells whose process it is."""
    blind = replace(jvm("orders-1", 0, 41), streams=Missing("no Kafka Streams client in the JVM", Start(500, 42)))
    verdict = checked(blind, jvm("orders-2", 42, 42))
    assert verdict.outcome is Outcome.REFUSE
    assert "orders-1: its metrics come from process 42, which is orders-2" in verdict.reasons[0]


@pytest.mark.parametrize("pids", [(141, 142), (None, None)], ids=str)
def test_wrappers_around_the_jvm_are_no_exchange(pids: tuple[int | None, int | None]) -> None:
    """The deployer's process is the wrapper; the JVM is a child that it does not know, or tells no process id."""
    assert checked(jvm("orders-1", pids[0], 41), jvm("orders-2", pids[1], 42)).outcome is Outcome.PROCEED


def test_own_process_is_never_an_exchange() -> None:
    """Two machines may give the same process id twice."""
    assert checked(jvm("orders-1", 41, 41), jvm("orders-2", 41, 41)).outcome is Outcome.PROCEED


def test_an_instance_that_is_down_refuses() -> None:
    """It has no process to compare."""
    verdict = checked(down("orders-1"), jvm("orders-2", 42, 42))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == ("orders-1 is DOWN (its process is stopped): expected running; start it first",)


def test_an_application_out_of_use_needs_no_instance_and_no_group() -> None:
    """The plan decides whether it is; what names its topics has to be read all the same."""
    unused = replace(
        reading(down("orders-1"), down("orders-2")),
        group=Missing("no broker knows group orders"),
        partitions=Missing("no broker knows group orders"),
    )
    verdict = ready_for_change(unused, declared(), 0, 60_000, at_once=True, out_of_use=True)
    assert verdict.outcome is Outcome.PROCEED, verdict.reasons
    assert "restarted-while-unwell" not in {one.id for one in verdict.findings}
    assert ready_for_change(unused, declared(), 0, 60_000, at_once=True).outcome is Outcome.INCONCLUSIVE
    hidden = replace(unused, topics=Missing("timed out"))
    verdict = ready_for_change(hidden, declared(), 0, 60_000, at_once=True, out_of_use=True)
    assert (verdict.outcome, verdict.reasons) == (Outcome.INCONCLUSIVE, ("topics of orders: timed out",))


def test_what_somebody_states_is_planned_with_and_said() -> None:
    """Only a dry run has such a reading; whoever reads its plan is told that nobody looked."""
    one = instance("orders-1")
    assert isinstance(one.deployment, Deployment)
    stated = replace(one, deployment=replace(one.deployment, stated=True, process="unknown", pid=None))
    verdict = checked(stated, jvm("orders-2", 42, 42))
    assert verdict.outcome is Outcome.PROCEED
    assert [(found.id, found.severity, found.object) for found in verdict.findings] == [
        ("deployment-not-seen", "warning", "orders-1")
    ]
    assert "a real run needs deployer.commands.instances" in verdict.findings[0].message


def idle(*threads: int | Missing, text: str = COUNTS, partitions: int = 2, **changes: Any) -> list[str]:
    """The messages about idle threads of instances with so many threads; internal topics have their full names."""
    instances = [instance(f"orders-{at}", alive_threads=one, topology=text) for at, one in enumerate(threads, 1)]
    topics = (
        TopicReading("orders", "id-1", partitions),
        TopicReading("orders-by-customer-repartition", "id-2", partitions),
    )
    now = replace(reading(*instances), **{"topics": topics, **changes})
    return [one.message for one in ready_for_change(now, declared(), 0, 60_000).findings if one.id == "idle-threads"]


def test_more_threads_than_tasks_are_an_info() -> None:
    """It refuses nothing; as many threads as tasks have work."""
    assert idle(2, 2) == []
    [message] = idle(3, 2)
    assert message.startswith("orders has 5 stream threads for 4 tasks (subtopology 0: 2, subtopology 1: 2): 1 of them")


def test_threads_that_are_not_all_known_are_not_judged() -> None:
    """Nor topologies that differ, as in a roll, nor partitions that were not read."""
    assert idle(9, Missing("none")) == []
    assert idle(9, 9, topics=Missing("timed out")) == []
    assert idle(9, 9, text="not a description") == []
    other = replace(reading(), instances=(instance("orders-1", alive_threads=9, topology=COUNTS), instance("orders-2")))
    assert not [one for one in ready_for_change(other, declared(), 0, 60_000).findings if one.id == "idle-threads"]


def test_a_topic_that_has_the_prefix_itself_counts_under_its_own_name() -> None:
    """`orders` is both the application.id and an input."""
    topics = (
        TopicReading("orders", "id-1", 2),
        TopicReading("orders-orders", "id-3", 50),
        TopicReading("orders-by-customer-repartition", "id-2", 2),
    )
    assert len(idle(3, 2, topics=topics)) == 1


def test_a_streams_group_is_accepted_by_a_reset_alone() -> None:
    """Everything else about it is checked: its members, and that none of them is static."""
    dynamic = declared(static_membership=False)
    members = tuple(replace(member(name), instance_id=None) for name in ("orders-1", "orders-2"))
    group = GroupReading(reading().taken, "orders", "streams", "Stable", members)
    now = reading(group=group)
    refused = ready_for_change(now, dynamic, 0, 60_000, at_once=True)
    assert refused.outcome is Outcome.REFUSE
    assert "is a streams group (KIP-1071)" in refused.reasons[0]
    assert ready_for_change(now, dynamic, 0, 60_000, at_once=True, streams_group=True).outcome is Outcome.PROCEED
    static = ready_for_change(now, declared(), 0, 60_000, at_once=True, streams_group=True)
    assert "group.instance.id is not set" in static.reasons[0]
    rogue = replace(group, members=(*members, member("stranger")))
    strange = ready_for_change(reading(group=rogue), dynamic, 0, 60_000, at_once=True, streams_group=True)
    assert "belongs to no declared instance" in strange.reasons[0]
