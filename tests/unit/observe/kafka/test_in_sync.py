"""A partition with too few replicas in sync: its visible end proves nothing."""

from typing import Any

import pytest
from kstreams_runbooks.observe.kafka.in_sync import uncertain_ends


class _Admin:
    """Reports one value of min.insync.replicas for every topic, or none; counts its calls."""

    def __init__(self, minimum: str | None) -> None:
        self.minimum, self.asked = minimum, 0

    def describe_configs(self, resources: Any, **_: Any) -> Any:
        self.asked += 1
        value = {"min.insync.replicas": {"value": self.minimum}} if self.minimum else {}
        return {"topic": {resource.name: value for resource in resources}}


def topic(*in_sync: int) -> dict[str, Any]:
    """A topic of three replicas, with so many in sync in each partition."""
    partitions = [
        {"partition_index": number, "isr_nodes": [*range(count)], "replica_nodes": [1, 2, 3]}
        for number, count in enumerate(in_sync)
    ]
    return {"name": "in", "partitions": partitions}


@pytest.mark.parametrize(("in_sync", "uncertain"), [((3, 3), ()), ((2, 3), ()), ((1, 2), (0,)), ((0, 1), (0, 1))])
def test_fewer_in_sync_than_the_minimum_is_uncertain(in_sync: tuple[int, ...], uncertain: tuple[int, ...]) -> None:
    """As many as the minimum are enough: each replica in sync has every record that was acknowledged."""
    admin: Any = _Admin("2")
    found = uncertain_ends(admin, [topic(*in_sync)]).get("in", ())
    assert tuple(number for number, _ in found) == uncertain
    assert admin.asked == (0 if in_sync == (3, 3) else 1)


def test_the_sentence_names_what_was_seen_and_the_limit() -> None:
    """And a right that is missing."""
    admins: list[Any] = [_Admin("2"), _Admin(None)]
    found = [uncertain_ends(admin, [topic(1)])["in"][0][1] for admin in admins]
    assert found == [
        "1 of 3 replicas in sync (min.insync.replicas 2): its end is not certain; start its brokers",
        "1 of 3 replicas in sync, and min.insync.replicas is not visible; grant this login DescribeConfigs on Topic in",
    ]
