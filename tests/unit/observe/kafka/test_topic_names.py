"""Which topics exist besides those that a login may see, and what follows where nobody can say."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.application.application import _topics
from kstreams_runbooks.observe.kafka.log_dirs import read_every_topic
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import read_by, readable_topics, topology_topics

WITH_PATTERN = (
    "Topologies:\n  Sub-topology: 0\n    Source: s (topics: zones-.*)\n      --> k\n"
    "    Sink: k (topic: by-zone-repartition)\n      <-- s\n  Sub-topology: 1\n"
    "    Source: t (topics: [by-zone-repartition])\n      --> none\n"
)
UNKNOWN = Missing("grant it")
OWN = "app-by-zone-repartition"


def test_a_pattern_takes_hidden_topics_too() -> None:
    """They are among what is read, so that their lag is asked for and found to be hidden."""
    names = TopicNames.of({"zones-a", OWN}, {"zones-b", "others"})
    assert topology_topics(parse_topology(WITH_PATTERN), "app", names).read_on(names) == (
        frozenset({"zones-a", "zones-b", OWN}),
        "",
    )
    assert read_by(parse_topology(WITH_PATTERN), "app", names) == {"zones-a": "0", "zones-b": "0", OWN: "1"}


def test_without_proof_a_pattern_is_not_known() -> None:
    """What is visible is read all the same, and the sentence names what would prove that it is all."""
    names = TopicNames.of({"zones-a", OWN}, UNKNOWN)
    found, why = topology_topics(parse_topology(WITH_PATTERN), "app", names).read_on(names)
    assert found == {"zones-a", OWN}
    assert why == (
        "source pattern zones-.*: whether it matches a topic that is not visible to this login is not known; grant it"
    )


def test_a_pattern_that_becomes_too_slow_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was tried, and has used its time up since: not known for this application, and no error for the others."""
    names = TopicNames.of({"zones-a", OWN})
    topics = topology_topics(parse_topology(WITH_PATTERN.replace("zones-", "(zones)-")), "app", names)
    monkeypatch.setattr("kstreams_runbooks.matching.MANY_NAMES_S", -1.0)
    found, why = topics.read_on(names)
    assert found == {OWN}
    assert why.startswith("source pattern (zones)-.*: takes longer than")
    application: Any = SimpleNamespace(inputs=(), outputs=(), control=(), rule_topics=(), application_id="app")
    read: Any = _topics(application, None, topics, names, ())  # type: ignore[arg-type] # no cluster is asked
    assert isinstance(read, Missing)
    assert "takes longer than" in read.missing


def test_without_a_pattern_nothing_is_asked() -> None:
    """The log directories of every broker are not read for what names its topics."""

    def never(*_: object) -> Any:
        raise AssertionError

    names = TopicNames({"in"}, never, never)
    text = "Topologies:\n  Sub-topology: 0\n    Source: s (topics: [in])\n      --> none\n"
    topics, why = readable_topics(parse_topology(text), "app", names)
    assert topics.read_on(names) == (frozenset({"in"}), "")
    assert not why
    assert names.unseen({"in"}) == {}


@pytest.mark.parametrize(("hidden", "internal"), [((), False), ((OWN,), True), (UNKNOWN, True)])
def test_a_hidden_internal_topic_is_not_the_users_own(hidden: Any, internal: bool) -> None:
    """Where a topic of the plain name is visible, the internal one may be hidden."""
    names = TopicNames.of({"zones-a", "by-zone-repartition"}, hidden)
    assert (OWN in topology_topics(parse_topology(WITH_PATTERN), "app", names).internal) is internal


def test_what_is_refused_by_name_may_not_exist() -> None:
    """A broker refuses both; what the log directories do not have is not there."""
    known = TopicNames({"in"}, lambda: frozenset({"there"}), lambda names: dict.fromkeys(names, 29))
    assert known.unseen({"in", "there", "not"}) == {
        "there": "topic there is not visible to this login; grant it Describe on Topic there"
    }
    unknown = TopicNames({"in"}, lambda: UNKNOWN, lambda names: dict.fromkeys(names, 29))
    [why] = unknown.unseen({"there"}).values()
    assert "whether it exists is not known" in why


def test_another_error_by_name_is_told_as_it_is() -> None:
    """And what the broker does not answer at all stands against every name."""
    odd = TopicNames((), frozenset, lambda names: dict.fromkeys(names, 5))
    assert odd.unseen({"in"}) == {"in": "topic in: broker error 5"}
    silent = TopicNames((), frozenset, lambda _: Missing("no answer"))
    assert silent.unseen({"in"}) == {"in": "no answer"}


def admin(
    answers: list[dict[str, Any]], *, fenced: tuple[int, ...] = (), replicas: tuple[int, ...] = ()
) -> SimpleNamespace:
    """What a cluster would answer; it is not connected to any."""
    brokers = [{"broker_id": answer["broker"], "is_fenced": False} for answer in answers]
    brokers += [{"broker_id": one, "is_fenced": True} for one in fenced]
    return SimpleNamespace(
        describe_cluster=lambda: {"brokers": brokers},
        describe_topics=lambda: [{"partitions": [{"replica_nodes": list(replicas)}]}],
        describe_every_log_dir=lambda _: answers,
    )


def answered(broker: int, *topics: str, error: int = 0, directory: int = 0, failure: str = "") -> dict[str, Any]:
    """One broker's log directories."""
    found = [{"error_code": directory, "log_dir": "/data", "topics": [{"name": name} for name in topics]}]
    return {"broker": broker, "error_code": error, "failure": failure, "log_dirs": [] if error or failure else found}


def test_every_broker_has_to_list_its_topics() -> None:
    """The union of all; a topic may be on one of them alone."""
    client: Any = admin([answered(1, "a", "b"), answered(2, "b", "c")], replicas=(1, 2))
    assert read_every_topic(client) == frozenset({"a", "b", "c"})


@pytest.mark.parametrize(
    ("client", "why"),
    [
        (admin([answered(1, error=31)]), "grant this login Describe on Cluster"),
        (admin([{**answered(1), "log_dirs": []}]), "grant this login Describe on Cluster"),
        (admin([answered(1, "a"), answered(2, failure="KafkaTimeoutError")]), "broker 2 did not list its topics"),
        (admin([answered(1, "a"), answered(2, error=7)]), "broker 2 did not list its topics (broker error 7)"),
        (admin([answered(1, "a", directory=56)]), "broker 1 cannot read /data (broker error 56)"),
        (admin([answered(1, "a")], fenced=(3,)), "broker 3 is down and may hold topics that are on no other"),
        (admin([answered(1, "a")], replicas=(1, 4)), "broker 4 is down"),
    ],
)
def test_a_list_that_is_not_whole_proves_nothing(client: Any, why: str) -> None:
    """A right that is missing, a broker that is silent or down, a directory that is broken."""
    found = read_every_topic(client)
    assert isinstance(found, Missing)
    assert why in found.missing
