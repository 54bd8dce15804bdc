"""Internal topics next to those of the cluster, and the ones to create: never one that is hidden or not known."""

from dataclasses import replace

from kstreams_runbooks.decide.internal_topics.compared import compared_topics, sources_of, topics_to_create
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.internal_topics import (
    Difference,
    InternalAnswer,
    InternalSeen,
    InternalThere,
    InternalTopics,
    MadeTopic,
)
from kstreams_runbooks.model.writes import TopicShape
from world.sides import COUNTS

POLICY = (("cleanup.policy", "compact,delete"), ("retention.ms", "5"))
CHANGELOG = MadeTopic("app-counts-changelog", "changelog", "counts", 4, POLICY)
REPARTITION = MadeTopic("app-by-customer-repartition", "repartition", "by-customer-repartition", 4, ())
WANTED = InternalTopics((REPARTITION, CHANGELOG), -1)
EXISTING = InternalThere(CHANGELOG.name, "id", 4, 3, dict(POLICY), dict(POLICY))
INPUTS = {"orders": (("orders", 4),)}
BOTH = {CHANGELOG.name: EXISTING, REPARTITION.name: InternalThere(REPARTITION.name, "id", 4, 3)}


def answer(seen: InternalSeen, wanted: InternalTopics = WANTED) -> InternalAnswer:
    """The comparison; another team writes the input."""
    return compared_topics(parse_topology(COUNTS), wanted, seen, "team-counts", {"orders": ("shop", "team-shop")})


def states(found: InternalAnswer) -> dict[str, str]:
    """The state of each topic."""
    return {row.name: row.state for row in found.rows}


def test_all_are_there() -> None:
    """The brokers' default of replicas is not compared, nor is the order of policies."""
    turned = replace(EXISTING, effective={**dict(POLICY), "cleanup.policy": "delete, compact"})
    found = answer(InternalSeen(INPUTS, {**BOTH, CHANGELOG.name: turned}))
    assert set(states(found).values()) == {"present"}
    assert (found.findings, found.unknown, found.sources) == ((), (), ())


def test_a_value_of_the_brokers_is_as_good_as_an_own_one() -> None:
    """A topic may have the wanted value without a setting of its own."""
    without = replace(EXISTING, own={"cleanup.policy": "compact,delete"})
    assert states(answer(InternalSeen(INPUTS, {**BOTH, CHANGELOG.name: without})))[CHANGELOG.name] == "present"


def test_a_missing_internal_topic_is_told_from_a_missing_source() -> None:
    """Each to its owner: the library makes the first, and another team has to make the second."""
    found = answer(InternalSeen({}, {REPARTITION.name: BOTH[REPARTITION.name]}))
    assert states(found) == {CHANGELOG.name: "missing", REPARTITION.name: "present"}
    assert [(one.name, one.writer, one.owner) for one in found.sources] == [("orders", "shop", "team-shop")]
    source, internal = found.findings
    assert (source.id, internal.id) == ("source-topic-missing", "internal-topic-missing")
    assert (
        source.message == "source topic orders does not exist; it is not created here, ask team-shop (shop writes it)"
    )
    assert internal.message.endswith("with the same settings (team-counts)")
    alone = compared_topics(parse_topology(COUNTS), WANTED, InternalSeen({}, {}), "team-counts", {})
    assert alone.findings[0].message.endswith("ask its producer: no entry of the fleet writes it")


def test_another_number_of_partitions_is_a_danger() -> None:
    """Also next to another setting: both are shown, and the number decides."""
    other = replace(EXISTING, partitions=3, effective={**dict(POLICY), "retention.ms": "9"})
    found = answer(InternalSeen(INPUTS, {**BOTH, CHANGELOG.name: other}))
    [row] = (row for row in found.rows if row.name == CHANGELOG.name)
    assert (row.state, row.differences) == (
        "partitions",
        (Difference("partitions", "3", "4"), Difference("retention.ms", "9", "5")),
    )
    [finding] = found.findings
    assert (finding.id, finding.severity) == ("internal-topic-partitions", "danger")


def test_another_setting_shows_both_values() -> None:
    """The value there, and the one that Kafka Streams sets; also one that it would not set, and other replicas."""
    other = replace(EXISTING, own={**dict(POLICY), "max.message.bytes": "9"}, effective={"cleanup.policy": "compact"})
    found = answer(InternalSeen(INPUTS, {**BOTH, CHANGELOG.name: other}), replace(WANTED, replication=1))
    [row] = (row for row in found.rows if row.name == CHANGELOG.name)
    assert row.state == "settings"
    assert row.differences == (
        Difference("replication", "3", "1"),
        Difference("cleanup.policy", "compact", "compact,delete"),
        Difference("max.message.bytes", "9", None),
    )
    [message] = (one.message for one in found.findings if one.object == CHANGELOG.name)
    assert "cleanup.policy compact (Kafka Streams: compact,delete)" in message


def test_one_of_no_topology_and_hidden_ones() -> None:
    """A hidden topic is not taken for a missing one, and everything that is not known is named."""
    gone = InternalThere("app-gone-changelog", "id", 1, 1)
    hidden = {CHANGELOG.name: "not visible", "orders": "orders is not visible"}
    found = answer(InternalSeen({}, {REPARTITION.name: BOTH[REPARTITION.name], gone.name: gone}, hidden))
    assert states(found) == {
        REPARTITION.name: "present",
        CHANGELOG.name: "unknown",
        gone.name: "orphaned",
    }
    assert found.unknown == ("not visible", "orders is not visible")
    assert (found.sources, [one.id for one in found.findings]) == ((), ["internal-topic-unread"])


def test_a_fact_that_is_not_known_is_never_ok() -> None:
    """Neither for a topic that may not be needed, nor for one whose settings are not known."""
    perhaps = replace(CHANGELOG, partitions=None, settings=None, certain=False)
    asked = Undeclared("stores.counts", "logging", reason="a reason")
    wanted = InternalTopics((perhaps,), -1, (asked,))
    absent = answer(InternalSeen(INPUTS, {}), wanted)
    present = answer(InternalSeen(INPUTS, {CHANGELOG.name: EXISTING}), wanted)
    assert states(absent) == states(present) == {CHANGELOG.name: "unknown"}
    assert absent.unknown == ("stores.counts.logging (a reason)",)


def test_topics_to_create() -> None:
    """All but those that are kept; nothing at all while a fact is not known, and every fact is named."""
    shapes = (TopicShape(REPARTITION.name, 4), TopicShape(CHANGELOG.name, 4, -1, POLICY))
    assert topics_to_create(WANTED) == shapes
    assert topics_to_create(WANTED, {REPARTITION.name}) == shapes[1:]
    lacking = replace(WANTED, unknown=(Undeclared("stores.counts", "retention_ms"), Undeclared("library")))
    missing = topics_to_create(lacking)
    assert isinstance(missing, Missing)
    assert "stores.counts.retention_ms; library; declare them" in missing.missing


def test_sources_are_what_a_version_does_not_make() -> None:
    """Not its own repartition topics."""
    assert sources_of(parse_topology(COUNTS)) == {"orders"}
