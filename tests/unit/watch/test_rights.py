"""The resources of an application: by its topology and its cluster, by the topics that were read, or one prefix."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet import Fleet, load_fleet
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, TopicReading
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.watch.rights import own_resources, with_release
from lab.fake_streams import FakeStreams
from world.samples import down, instance, reading

TOPOLOGY = (
    "Topologies:\n  Sub-topology: 0\n    Source: a (topics: [in])\n      --> k\n"
    "    Sink: k (topic: by-key-repartition)\n      <-- a\n"
    "  Sub-topology: 1\n    Source: b (topics: [by-key-repartition])\n      --> p\n"
    "    Processor: p (stores: [s, quiet])\n      --> o\n      <-- b\n    Sink: o (topic: more)\n      <-- p\n"
)
NAMES = ("in", "out", "app-by-key-repartition", "app-s-changelog", "app-v2-s-changelog")


class Cluster:
    """Of a reader the names of topics: nothing else is asked."""

    def __init__(self, names: TopicNames) -> None:
        self._names = names

    def names(self) -> TopicNames:
        """They."""
        return self._names


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """An application, another whose id begins with its id, and one that writes its input."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    FakeStreams(tmp_path, "app", TOPOLOGY, outputs=("out",)).declare()
    FakeStreams(tmp_path, "app-v2", TOPOLOGY, inputs=("other",)).declare()
    FakeStreams(tmp_path, "feeder", TOPOLOGY, inputs=("raw",), outputs=("in",)).declare()
    return load_fleet()


def of(fleet: Fleet, found: ApplicationReading, names: TopicNames | None = None, **given: bool) -> Any:
    cluster: Any = None if names is None else Cluster(names)
    return own_resources(fleet, fleet.application("app"), found, cluster, **given)


def test_topology_and_cluster_name_every_topic(fleet: Fleet) -> None:
    """A store without a changelog on the cluster has none; an output may be in the topology alone."""
    own = of(fleet, reading(instance("one", topology=TOPOLOGY)), TopicNames.of(NAMES))
    assert (own.inputs, own.outputs, own.sinks) == (("in",), ("out",), ("more",))
    assert (own.repartition, own.changelogs) == (("app-by-key-repartition",), ("app-s-changelog",))
    assert (own.writers, own.exactly_once) == (("feeder",), False)


def test_a_changelog_that_may_be_hidden_is_named(fleet: Fleet) -> None:
    names = TopicNames.of(NAMES, hidden=Missing("not known"))
    own = of(fleet, reading(instance("one", topology=TOPOLOGY)), names)
    assert own.changelogs == ("app-quiet-changelog", "app-s-changelog")


def test_without_a_topology_the_topics_that_were_read_count_or_one_prefix(fleet: Fleet) -> None:
    """While all instances are down; topics of a longer id are those of another application."""
    stopped = reading(down("one"), down("two"))
    read = ApplicationReading(
        **{name: getattr(stopped, name) for name in ApplicationReading.__slots__ if name != "topics"},
        topics=tuple(TopicReading(name, "id", 1) for name in NAMES),
    )
    own = of(fleet, read, TopicNames.of(NAMES), seen=True)
    assert (own.repartition, own.changelogs) == (("app-by-key-repartition",), ("app-s-changelog",))
    own = of(fleet, read, TopicNames.of(NAMES))
    assert isinstance(own.repartition, Missing)
    assert "topology not known" in own.repartition.missing


def test_a_cluster_that_is_away_leaves_one_prefix(fleet: Fleet) -> None:
    own = of(fleet, reading(instance("one", topology=TOPOLOGY)))
    assert own.changelogs == Missing("the cluster was not read")


def test_a_version_that_a_run_brings_adds_its_internal_topics(fleet: Fleet) -> None:
    """They are not on the cluster yet; those of the version that runs stay, and so does one prefix for all of them."""
    brought = parse_topology(TOPOLOGY.replace("by-key", "by-day").replace("quiet", "new").replace("more", "most"))
    own = of(fleet, reading(instance("one", topology=TOPOLOGY)), TopicNames.of(NAMES))
    cluster: Any = Cluster(TopicNames.of(NAMES))
    both = with_release(own, brought, cluster)
    assert both.repartition == ("app-by-day-repartition", "app-by-key-repartition")
    assert both.changelogs == ("app-new-changelog", "app-s-changelog")
    assert (both.inputs, both.outputs, both.sinks) == (("in",), ("out",), ("more", "most"))
    assert both.brought == ("app-by-day-repartition", "app-new-changelog", "app-s-changelog")
    assert both.running == own.running == ("app-by-key-repartition", "app-s-changelog")
    prefix = replace(own, repartition=Missing("not known"))
    assert with_release(prefix, brought, cluster) == replace(both, repartition=prefix.repartition)
    # A second version that the run brings joins the first.
    again = with_release(both, parse_topology(TOPOLOGY), cluster).brought
    assert again == tuple(sorted({*both.brought, *own.running, "app-quiet-changelog"}))


def test_topics_that_the_running_version_does_not_have_are_left(fleet: Fleet) -> None:
    """A longer id has its own."""
    names = TopicNames.of((*NAMES, "app-old-repartition", "app-v2-old-repartition"))
    assert of(fleet, reading(instance("one", topology=TOPOLOGY)), names).left == ("app-old-repartition",)
    assert of(fleet, reading(instance("one", topology=TOPOLOGY))).left == Missing("the cluster was not read")


def test_topics_that_are_left_and_hidden_are_named_if_the_run_retires_them(fleet: Fleet) -> None:
    """Without Describe on it a topic is not in the list, and its right would never be asked for."""
    names = TopicNames.of(NAMES, hidden=["app-old-repartition"])
    running = reading(instance("one", topology=TOPOLOGY))
    assert of(fleet, running, names).left == ("app-old-repartition",)
    assert of(fleet, running, names, seen=True).left == ()
    assert of(fleet, running, names, seen=True, retires=True).left == ("app-old-repartition",)


@pytest.mark.parametrize(("inputs", "loops"), [(("in",), ("back",)), (("in", "back"), ())])
def test_a_topic_that_it_writes_and_reads_is_a_loop_unless_the_entry_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: tuple[str, ...], loops: tuple[str, ...]
) -> None:
    """A loop is read and written like any other topic, and not swapped; nor is it in a version that a run brings."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    loop = TOPOLOGY.replace("[in]", "[in, back]").replace("topic: more", "topic: back")
    FakeStreams(tmp_path, "app", loop, inputs=inputs, outputs=("out",)).declare()
    own = of(load_fleet(), reading(instance("one", topology=loop)), TopicNames.of((*NAMES, "back")))
    assert (sorted(own.inputs), own.sinks, own.loops) == (["back", "in"], ("back",), loops)
    cluster: Any = Cluster(TopicNames.of((*NAMES, "back")))
    assert with_release(own, parse_topology(loop), cluster).loops == loops
