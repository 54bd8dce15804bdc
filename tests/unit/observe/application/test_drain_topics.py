"""The topics of one pass of a drain: whose ends have to stop, and what is hidden or gone."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.observe.application.drain_topics import DrainTopics, drain_topics
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics

TOPOLOGY = TopologyTopics(
    external=frozenset({"orders"}),
    internal=frozenset({"app-x-repartition"}),
    patterns=frozenset(),
    changelogs=frozenset({"app-store-changelog", "app-none-changelog"}),
    outputs=frozenset({"counts"}),
)
NAMES = ("app-store-changelog", "app-x-repartition", "counts", "orders")


@dataclass
class _Reader:
    """Describes every topic with two partitions."""

    def topics(self, names: Collection[str]) -> tuple[TopicReading, ...]:
        return tuple(TopicReading(name, f"id-{name}", 2) for name in sorted(names))


def found(
    topology: TopologyTopics = TOPOLOGY,
    outputs: tuple[str, ...] = (),
    visible: tuple[str, ...] = NAMES,
    hidden: tuple[str, ...] = (),
    kept: tuple[str, ...] = (),
) -> DrainTopics:
    reader: Any = _Reader()
    return drain_topics(reader, topology, outputs, TopicNames.of(visible, hidden), kept)


def test_inputs_and_outputs_have_to_stop_and_changelogs_are_looked_for() -> None:
    """The ends of a changelog move with every restore; that it is there is asked for by its id."""
    topics = found()
    assert topics.roles == {"orders": "source", "app-x-repartition": "repartition"}
    assert topics.counts == {"app-x-repartition": 2, "counts": 2, "orders": 2}
    assert topics.other_ids == {"app-store-changelog": "id-app-store-changelog", "counts": "id-counts"}
    assert topics.sinks({"counts-0": 3, "orders-0": 5}) == {"counts-0": 3}
    assert list(topics.problems()) == []


def test_an_output_that_is_absent_and_one_that_is_hidden_are_named() -> None:
    """An output that was not looked at is not taken for unchanged."""
    visible = tuple(name for name in NAMES if name != "counts")
    assert list(found(visible=visible).problems()) == ["output counts: the topic does not exist on the cluster"]
    [hidden] = found(visible=visible, hidden=("counts",)).problems()
    assert hidden.startswith("output counts: topic counts is not visible to this login")


def test_a_sink_whose_topics_its_records_name_needs_declared_outputs() -> None:
    """With them they are known."""
    topology = replace(TOPOLOGY, extractors=frozenset({"KSTREAM-SINK-2", "KSTREAM-SINK-1"}))
    assert list(found(topology).problems()) == [
        "sink KSTREAM-SINK-1 writes to topics that its records name; declare them as outputs"
    ]
    assert list(found(topology, outputs=("counts",)).problems()) == []


def test_a_changelog_that_an_earlier_pass_saw_and_that_is_gone_is_named() -> None:
    """One that was never there may have no topic at all; one that is hidden is not gone."""
    kept = ("app-old-changelog", "app-store-changelog")
    assert list(found(kept=kept).problems()) == [
        "app-old-changelog: this changelog existed and is gone: the state in it is lost; find out what deleted it"
    ]
    topology = replace(TOPOLOGY, changelogs=frozenset({"app-old-changelog"}))
    [hidden] = found(topology, kept=kept, hidden=("app-old-changelog",)).problems()
    assert hidden.startswith("topic app-old-changelog is not visible to this login")
