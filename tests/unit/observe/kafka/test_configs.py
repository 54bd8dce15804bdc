"""Settings out of a broker's answer: what is set on the topic itself, what is hidden, what is not reported."""

from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.observe.kafka.configs import (
    own_settings,
    read_broker_config,
    read_topic_configs,
    reported_values,
)

_TOPIC = {
    "retention.ms": {"value": "1000", "config_source": "DYNAMIC_TOPIC_CONFIG"},
    "cleanup.policy": {"value": "compact", "config_source": "DYNAMIC_TOPIC_CONFIG"},
    "segment.bytes": {"value": "9", "config_source": "STATIC_BROKER_CONFIG"},
    "secret": {"value": None, "config_source": "DEFAULT_CONFIG"},
}


class _Admin:
    """Answers with the same settings, and keeps what it was asked."""

    def __init__(self, **answer: Any) -> None:
        self.answer, self.asked = answer, []  # type: Any, list[Any]

    def describe_configs(self, resources: Any, *, config_filter: str) -> Any:
        assert config_filter == "all"
        self.asked += [(one.name, None if one.configs is None else [*one.configs]) for one in resources]
        return self.answer


def test_only_what_is_set_on_the_topic_is_its_own() -> None:
    """Sorted, without what the brokers or Kafka set."""
    admin: Any = _Admin(topic={"orders": _TOPIC})
    found = read_topic_configs(admin, ["orders"])
    assert own_settings(found, ["orders"]) == {"orders": (("cleanup.policy", "compact"), ("retention.ms", "1000"))}
    assert [name for name, _ in admin.asked] == ["orders"]


@pytest.mark.parametrize("found", [{}, {"orders": {}}])
def test_a_topic_without_any_setting_is_hidden(found: dict[str, Any]) -> None:
    """A broker that refuses gives none; a topic that may be read has dozens."""
    with pytest.raises(Inconclusive, match="settings of Topic orders: not visible to this login; grant it Describe"):
        own_settings(found, ["orders"])


def test_values_that_are_not_reported_are_absent() -> None:
    """Defaults are values too."""
    admin: Any = _Admin(topic={"orders": _TOPIC})
    assert reported_values(read_topic_configs(admin, {"orders"}, ["retention.ms", "secret"])) == {
        "orders": {"retention.ms": "1000", "cleanup.policy": "compact", "segment.bytes": "9"}
    }
    assert admin.asked == [("orders", ["retention.ms", "secret"])]


def test_a_broker_that_does_not_report_a_setting_is_not_left_out() -> None:
    """None in its place, in the order of the brokers."""
    admin: Any = _Admin(broker={"2": {"auto.create.topics.enable": {"value": "false"}}})
    assert read_broker_config(admin, [1, 2], "auto.create.topics.enable") == [None, "false"]
