"""The topics of the orders application: their roles, and the names that a command gives them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kstreams_runbooks.errors import BadInput


class TopicRole(StrEnum):
    """The role of a topic in the application; the value is its key in settings and documents."""

    ORDERS = "orders"
    CUSTOMERS = "customers"
    RUNNING = "running"
    WINDOWED = "windowed"
    ENRICHED = "enriched"
    PER_CUSTOMER = "per-customer"
    CUSTOMERS_COUNTED = "customers-counted"


INPUTS: Final = (TopicRole.ORDERS, TopicRole.CUSTOMERS)
OUTPUTS: Final = (TopicRole.RUNNING, TopicRole.WINDOWED, TopicRole.ENRICHED, TopicRole.PER_CUSTOMER)
"""Of every release; some have `CUSTOMERS_COUNTED` as well, which therefore has no default name."""

DEFAULT_NAMES: Final[Mapping[TopicRole, str]] = {
    TopicRole.ORDERS: "orders",
    TopicRole.CUSTOMERS: "customers",
    TopicRole.RUNNING: "orders-running",
    TopicRole.WINDOWED: "orders-windowed",
    TopicRole.ENRICHED: "orders-enriched",
    TopicRole.PER_CUSTOMER: "orders-per-customer",
}


def topic_names(prefix: str = "", overrides: tuple[str, ...] = ()) -> dict[TopicRole, str]:
    """Return the topic of each role: `prefix` + default name, unless `overrides` has `role=topic` for it.

    A role without a default name is there only if `overrides` names its topic.
    Raises BadInput for an override without `=`, with an unknown role or an empty topic, and for two roles on
    one topic.
    """
    names = {role: prefix + name for role, name in DEFAULT_NAMES.items()}
    for override in overrides:
        role, separator, topic = override.partition("=")
        if not separator or not topic or role not in set(TopicRole):
            roles = ", ".join(TopicRole)
            raise BadInput(f"topic override '{override}' is not ROLE=TOPIC; the roles are {roles}")
        names[TopicRole(role)] = topic
    taken: dict[str, TopicRole] = {}
    for role, topic in names.items():
        if topic in taken:
            raise BadInput(f"topic {topic} is given for both {taken[topic]} and {role}; each needs its own")
        taken[topic] = role
    return names
