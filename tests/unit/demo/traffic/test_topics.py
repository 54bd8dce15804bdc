"""Names of topics: defaults, a prefix, single overrides, and the mistakes one can make with them."""

import pytest
from kstreams_runbooks.demo.traffic.topics import TopicRole, topic_names
from kstreams_runbooks.errors import BadInput


def test_names_come_from_prefix_and_overrides() -> None:
    """An override is taken as it stands, without the prefix."""
    names = topic_names("t-", ("running=other",))
    assert names[TopicRole.ORDERS] == "t-orders"
    assert names[TopicRole.RUNNING] == "other"
    assert names[TopicRole.PER_CUSTOMER] == "t-orders-per-customer"


def test_the_fifth_output_is_there_where_its_topic_is_named() -> None:
    """Most releases do not have it."""
    assert TopicRole.CUSTOMERS_COUNTED not in topic_names("t-")
    assert topic_names("t-", ("customers-counted=counted",))[TopicRole.CUSTOMERS_COUNTED] == "counted"


@pytest.mark.parametrize("override", ["running", "running=", "=x", "walking=x", "running=orders"])
def test_a_wrong_override_is_refused(override: str) -> None:
    """No `=`, no topic, an unknown role, a topic that another role has."""
    with pytest.raises(BadInput):
        topic_names(overrides=(override,))
