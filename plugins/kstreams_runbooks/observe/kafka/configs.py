"""Settings of topics, brokers and groups, from DescribeConfigs. Each function raises kafka-python's errors."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.observe.kafka.read_only import ReadOnly

# Sources of a topic's setting other than the topic itself.
_NOT_ITS_OWN = {"DEFAULT_CONFIG", "STATIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"}

Settings = dict[str, dict[str, Any]]


def read_topic_configs(admin: ReadOnly, topics: Collection[str], names: Collection[str] | None = None) -> Settings:
    """Settings of each topic in one call, only those in `names` if given; one that is refused has none."""
    from kafka.admin import ConfigResource, ConfigResourceType

    wanted = None if names is None else dict.fromkeys(names)
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, wanted) for topic in sorted(topics)]
    found: Settings = admin.describe_configs(resources, config_filter="all").get("topic", {})
    return found


def read_group_config(admin: ReadOnly, group: str, name: str) -> str | None:
    """One setting that brokers keep for a group, the default included; None if it is not reported.

    Source: KIP-848, KIP-1071 (group configurations). Only kafka-python knows this type of resource.
    """
    from kafka.admin import ConfigResource, ConfigResourceType

    resources = [ConfigResource(ConfigResourceType.GROUP, group, {name: None})]
    found = admin.describe_configs(resources, config_filter="all").get("group", {})
    value = found.get(group, {}).get(name, {}).get("value")
    return None if value is None else str(value)


def read_broker_config(admin: ReadOnly, brokers: Sequence[int], name: str) -> list[str | None]:
    """One setting of each broker, None if it is not reported."""
    from kafka.admin import ConfigResource, ConfigResourceType

    resources = [ConfigResource(ConfigResourceType.BROKER, str(broker), {name: None}) for broker in brokers]
    found = admin.describe_configs(resources, config_filter="all").get("broker", {})
    return [found.get(str(broker), {}).get(name, {}).get("value") for broker in brokers]


def broker_down(nodes: Iterable[Mapping[str, Any]]) -> str:
    """A registered broker that is down, as the end of a sentence; empty if all are up."""
    # Listed as fenced (KIP-1073). The clients do not know its address, so it cannot be asked for anything.
    down = sorted(int(node["broker_id"]) for node in nodes if node.get("is_fenced"))
    return f"broker {down[0]} is down; start it or unregister it" if down else ""


def own_settings(found: Settings, topics: Collection[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The settings of each topic itself, sorted; Inconclusive if a topic's settings are hidden from this login."""
    # A topic has dozens of settings, defaults included: kafka-python turns a broker's refusal into none.
    if hidden := [name for name in topics if not found.get(name)]:
        which = f"Topic {hidden[0]}"
        raise Inconclusive(f"settings of {which}: not visible to this login; grant it DescribeConfigs on {which}")
    return {name: tuple(sorted(_own(settings))) for name, settings in found.items()}


def _own(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, str(one["value"])) for key, one in settings.items() if one["config_source"] not in _NOT_ITS_OWN]


def reported_values(found: Settings) -> dict[str, dict[str, str]]:
    """Value of each setting by topic; one that is not reported is absent."""
    return {
        topic: {name: str(config["value"]) for name, config in settings.items() if config["value"] is not None}
        for topic, settings in found.items()
    }
