"""Tasks of an application, and those that a member holds whole."""

from kstreams_runbooks.decide.topology.partitions import all_tasks, tasks_of
from kstreams_runbooks.model.readings.readings import MemberReading

READ_BY = {"orders": "0", "app-by-customer-repartition": "1", "customers": "1"}
PARTITIONS = {"orders": 2, "app-by-customer-repartition": 3, "customers": 3, "out": 9}


def member(*partitions: str, tasks: tuple[str, ...] = ()) -> MemberReading:
    return MemberReading("m", "c", "h", partitions=partitions, tasks=tasks)


def test_a_subtopology_has_a_task_for_each_partition_of_its_largest_topic() -> None:
    """Outputs make none."""
    assert all_tasks(READ_BY, PARTITIONS) == frozenset({"0_0", "0_1", "1_0", "1_1", "1_2"})


def test_without_the_partitions_of_a_source_nobody_knows_the_tasks() -> None:
    """A topic that does not exist, and a topology that nobody tells."""
    assert all_tasks(READ_BY, {"orders": 2}) is None
    assert all_tasks({}, PARTITIONS) is None


def test_a_task_is_held_only_with_all_of_its_partitions() -> None:
    """A member that kept an assignment from before its subtopology got another topic lacks one."""
    held = member("orders-0", "customers-1", "app-by-customer-repartition-1", "customers-2")
    assert tasks_of([held], READ_BY, PARTITIONS) == {"0_0", "1_1"}


def test_a_streams_group_tells_its_tasks() -> None:
    """No partition of it is asked for."""
    assert tasks_of([member(tasks=("0_0", "1_2"))], READ_BY, PARTITIONS) == {"0_0", "1_2"}
