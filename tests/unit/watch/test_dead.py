"""A process that its deployer calls failed makes its application failed, for `lag` and for the scheduled check."""

from types import SimpleNamespace
from typing import Any

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.observe.application.topics_read import PolledTopics
from kstreams_runbooks.watch.dead import with_dead
from world.samples import declared


def entry(name: str) -> Any:
    return SimpleNamespace(name=name, declared=lambda: declared(processing_guarantee="exactly_once_v2"))


def deployer(*processes: tuple[str, str]) -> Any:
    found = [
        SimpleNamespace(instance=name, process=process, ended_cleanly=False, release="3.4.1")
        for name, process in processes
    ]
    return SimpleNamespace(instances=lambda: found)


def test_a_silent_instance_whose_process_failed_is_dead() -> None:
    """One that answers is judged by its client, and one that was stopped is not dead."""
    polled = {"orders": PolledTopics({}, failed=("orders-4 (ERROR)",), silent=("orders-1", "orders-2"))}
    states = deployer(("orders-1", "failed"), ("orders-2", "stopped"), ("orders-3", "failed"))
    [found] = with_dead(polled, [entry("orders")], lambda _: states).values()
    assert found.failed == ("orders-4 (ERROR)", "orders-1 (DEAD: its process has failed)")


def test_a_deployer_is_asked_only_about_silent_instances_and_may_be_away() -> None:
    """A cluster's check does not end because one deployer does not answer."""
    polled = {"a": PolledTopics({}), "b": PolledTopics(None, silent=("b-1",))}
    asked = []

    def away(one: Any) -> Any:
        asked.append(one.name)
        raise Unreachable("no answer")

    assert with_dead(polled, [entry("a"), entry("b"), entry("not polled")], away) == polled
    assert asked == ["b"]


def test_a_dead_instance_on_a_release_that_keeps_uncommitted_writes_is_named() -> None:
    """Unless it ended cleanly: whoever starts it next has to delete its task directories first."""
    polled = {"orders": PolledTopics({}, silent=("orders-1", "orders-2"))}
    states = deployer(("orders-1", "failed"), ("orders-2", "failed"))
    first, second = states.instances()
    first.release = second.release = "3.9.1"
    second.ended_cleanly = True
    [found] = with_dead(polled, [entry("orders")], lambda _: states).values()
    assert found.failed == (
        "orders-1 (DEAD: its process has failed; delete its task directories before it starts (KAFKA-20685), as a run "
        "does)",
        "orders-2 (DEAD: its process has failed)",
    )
