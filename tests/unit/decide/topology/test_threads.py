"""Tasks next to stream threads."""

from collections.abc import Mapping

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.decide.topology.threads import IDLE, parallelism, threads_of
from kstreams_runbooks.model.topology.topology import Topology
from world.sides import COUNTS

TOPOLOGY = parse_topology(COUNTS)
FOUR = {"orders": 4, "by-customer-repartition": 4}


@pytest.mark.parametrize(
    ("counts", "threads", "tasks", "idle"),
    [
        (FOUR, 8, 8, 0),
        (FOUR, 9, 8, 1),
        (FOUR, 0, 8, 0),
        # A program may give its repartition topic another number.
        (FOUR | {"by-customer-repartition": 2}, 8, 6, 2),
    ],
)
def test_each_subtopology_has_a_task_for_each_partition(
    counts: Mapping[str, int], threads: int, tasks: int, idle: int
) -> None:
    """A thread more than there are tasks has nothing to do."""
    found = parallelism(TOPOLOGY, counts, threads)
    assert found is not None
    assert (found.all_tasks, found.idle) == (tasks, idle)
    assert bool(found.finding("orders")) is (idle > 0)


def test_the_finding_has_what_there_is_and_the_limit() -> None:
    """And what helps."""
    found = parallelism(TOPOLOGY, FOUR, 12)
    assert found is not None
    [one] = found.finding("orders")
    assert (one.id, one.severity, one.object) == (IDLE, "info", "orders")
    assert one.message == (
        "orders has 12 stream threads for 8 tasks (subtopology 0: 4, subtopology 1: 4): 4 of them process nothing; "
        "more instances or threads add nothing until the inputs get more partitions"
    )


def test_an_input_of_unknown_size_makes_it_unknown() -> None:
    """A pattern may match any number of topics, and a global store has no tasks."""
    assert parallelism(TOPOLOGY, {"orders": 4}, 9) is None
    pattern = parse_topology(COUNTS.replace("(topics: [orders])", "(topics: orders.*)"))
    assert parallelism(pattern, FOUR, 9) is None
    assert parallelism(Topology(()), FOUR, 9) is None


@pytest.mark.parametrize(
    ("config", "instances", "threads"),
    [
        ({"num.stream.threads": "3"}, 4, 12),
        ({}, 4, 4),
        (None, 4, None),
        ({"num.stream.threads": "3"}, None, None),
        ({"num.stream.threads": "${THREADS}"}, 4, None),
    ],
)
def test_threads_by_the_settings(config: Mapping[str, str] | None, instances: int | None, threads: int | None) -> None:
    """One for an instance without the setting; settings that nobody gave are unknown."""
    assert threads_of(config, instances) == threads
