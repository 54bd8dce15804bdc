"""Settings that may change a topology, in a plan whose descriptions do not show them."""

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.undescribed import changed_settings, undescribed_settings
from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.rules import release_settings
from world.samples import declared, instance, reading

RUNS = (("num.stream.threads", "2"), ("topic.orders", "orders"))


def plan_of(settings: dict[str, str | None], *, at_once: bool = False) -> Plan:
    """A plan for instances that have RUNS."""
    now = reading(instance("orders-1", settings=RUNS), instance("orders-2", settings=RUNS))
    return restart_plan(now, declared(), None, settings, (), declared().limits, "code", at_once=at_once)


@pytest.mark.parametrize(
    ("name", "may"),
    [
        ("topic.orders", True),
        ("audit", True),
        ("topology.optimization", True),
        ("processor.wrapper.class", True),
        ("__enable.kstreams.outer.join.spurious.results.fix__", True),
        ("num.stream.threads", False),
        ("processing.guarantee", False),
        ("main.consumer.max.poll.records", False),
        ("topic.retention.ms", True),
    ],
)
def test_what_an_application_has_of_its_own_may_change_it(name: str, *, may: bool) -> None:
    """Of the settings of Kafka Streams and its clients, a few."""
    assert (may_change_the_topology([name], release_settings()) == (name,)) is may


def test_settings_that_change_are_those_with_another_value() -> None:
    """Set, unset and changed."""
    assert changed_settings(plan_of({"topic.orders": "control"})) == {"topic.orders"}
    assert changed_settings(plan_of({"topic.orders": None, "audit": "true"})) == {"topic.orders", "audit"}
    assert changed_settings(plan_of({}, at_once=True)) == set()


@pytest.mark.parametrize(
    ("settings", "at_once", "answer"),
    [
        ({"num.stream.threads": "3"}, False, "use stop_and_restart if they do"),
        ({"topic.orders": None}, True, "check that the topics exist that it then reads and writes"),
    ],
)
def test_a_command_without_settings_is_named(settings: dict[str, str | None], *, at_once: bool, answer: str) -> None:
    """Also about a setting that stays or goes: the description shows none."""
    made = plan_of(settings, at_once=at_once)
    (found,) = undescribed_settings(made, release_settings(), topology_settings=False)
    assert (found.id, found.severity) == ("settings-may-change-the-topology", "warning")
    assert found.message.startswith("topic.orders: may change what the application reads and writes")
    assert found.message.endswith(f"add their placeholder (docs/deployers.md), or {answer}")


def test_a_command_with_settings_leaves_what_a_text_does_not_show() -> None:
    """Only if the text stayed the same: another text is compared."""
    made = plan_of({"window.grace.ms": "5000", "num.stream.threads": "3"})
    assert undescribed_settings(made, release_settings(), topology_settings=True) == ()
    (found,) = undescribed_settings(made, release_settings(), topology_settings=True, same_text=True)
    assert (found.severity, found.message.partition(":")[0]) == ("info", "window.grace.ms")
    unchanged = plan_of({"num.stream.threads": "3"})
    assert undescribed_settings(unchanged, release_settings(), topology_settings=True, same_text=True) == ()
