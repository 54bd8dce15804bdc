"""Tasks of an application, and those that a member holds whole."""

from kstreams_runbooks.decide.topology.partitions import (
    all_tasks,
    partition_counts,
    repartition_topics,
    tasks_of,
    uncountable,
)
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.readings import MemberReading
from kstreams_runbooks.model.topology.topology import Sink, Source, Subtopology, Topology
from world.large_programs import large_program

_REPARTITIONED = "500 repartition topics, 500 stores"

# A table that is suppressed, joined with another one.
SUPPRESSED = """Topologies:
   Sub-topology: 0
    Source: in (topics: [in2])
      --> sink
    Sink: sink (topic: by-repartition)
      <-- in

  Sub-topology: 1
    Source: by-source (topics: [by-repartition])
      --> count
    Source: in4-source (topics: [in4])
      --> table
    Processor: count (stores: [counts])
      --> held
      <-- by-source
    Processor: held (stores: [held-store])
      --> this
      <-- count
    Processor: table (stores: [rows])
      --> other
      <-- in4-source
    Processor: other (stores: [held-store, counts])
      --> merge
      <-- table
    Processor: this (stores: [rows])
      --> merge
      <-- held
    Processor: merge (stores: [])
      --> none
      <-- this, other
"""

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


def test_repartition_topics_that_nobody_declares_follow_the_input() -> None:
    """Five hundred of them, written by one subtopology, and the changelogs behind them."""
    topology = parse_topology(large_program(_REPARTITIONED, generated=False, longer=False).described())
    counts = partition_counts(topology, {"input-0": 8})
    topics = repartition_topics(topology)
    assert len(topics) == 500
    assert {counts[topic] for topic in topics} == {counts["count-7-store-changelog"]} == {8}


def test_repartition_topics_behind_each_other_get_one_number_or_none() -> None:
    """Behind two inputs of different numbers the turn decides; behind what is not declared nothing is known."""

    def sub(number: int, read: str, written: str) -> Subtopology:
        read_by = Source(f"r{number}", frozenset(read.split()), None, frozenset({f"w{number}"}))
        return Subtopology(number, (read_by, Sink(f"w{number}", f"{written}-repartition", None)))

    last = sub(3, "z-repartition", "out")
    same = Topology((sub(0, "a", "x"), sub(1, "x-repartition", "y"), sub(2, "y-repartition", "z"), last))
    assert partition_counts(same, {"a": 3})["z-repartition"] == 3
    assert "z-repartition" not in partition_counts(same, {})
    other = Topology((sub(0, "a", "x"), sub(1, "b", "y"), sub(2, "x-repartition y-repartition", "z"), last))
    assert "z-repartition" not in partition_counts(other, {"a": 3, "b": 4})
    assert partition_counts(other, {"a": 3, "b": 3})["z-repartition"] == 3
    circle = Topology((sub(0, "a z-repartition", "x"), sub(1, "x-repartition", "z")))
    assert partition_counts(circle, {"a": 5})["z-repartition"] == 5
    assert uncountable(circle, set()) == {"x-repartition", "z-repartition"}
    assert uncountable(circle, {"a"}) == set()


def test_a_join_behind_a_suppression_leaves_out_the_topics_before_it() -> None:
    """As the library counts: the repartition topic keeps the 8 of its input, and without the suppression it gets 4."""
    behind = parse_topology(SUPPRESSED)
    assert partition_counts(behind, {"in2": 8, "in4": 4}, {"held"})["by-repartition"] == 8
    joined = parse_topology(
        SUPPRESSED.replace("    Processor: held (stores: [held-store])\n      --> this\n      <-- count\n", "")
        .replace("--> held", "--> this")
        .replace("<-- held", "<-- count")
        .replace("held-store, ", "")
    )
    assert partition_counts(joined, {"in2": 8, "in4": 4}, {"held"})["by-repartition"] == 4
