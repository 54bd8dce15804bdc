"""A process that its deployer calls failed makes its application failed, for `lag` and for the scheduled check."""

from types import SimpleNamespace
from typing import Any

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.observe.application.topics_read import PolledTopics
from kstreams_runbooks.watch.dead import with_dead


def entry(name: str) -> Any:
    return SimpleNamespace(name=name)


def deployer(*processes: tuple[str, str]) -> Any:
    found = [SimpleNamespace(instance=name, process=process) for name, process in processes]
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
