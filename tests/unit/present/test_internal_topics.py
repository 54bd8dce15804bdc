"""The answer about internal topics as text, as a document and as an exit code."""

import pytest
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.internal_topics import (
    Difference,
    InternalAnswer,
    InternalRow,
    InternalState,
    InternalThere,
    InternalTopics,
    MadeTopic,
    MissingSource,
)
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.present.internal_topics import as_text, command, document, exit_code

ABOUT = {"application": "orders", "cluster": "demo"}
TOPIC = MadeTopic("orders-counts-changelog", "changelog", "counts", 4, (("cleanup.policy", "compact,delete"),))
WANTED = InternalTopics((TOPIC,), 3)
THERE = InternalThere(TOPIC.name, "id", 4, 3, {"cleanup.policy": "compact"})


def answer(state: InternalState = "present", **more: tuple[object, ...]) -> InternalAnswer:
    """One topic in a state."""
    row = InternalRow(
        TOPIC.name, "changelog", state, TOPIC, THERE, (Difference("cleanup.policy", "compact", "compact,delete"),)
    )
    return InternalAnswer((row,), more.get("sources", ()), more.get("unknown", ()))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (answer(), 0),
        (answer("missing"), 1),
        (answer("partitions"), 1),
        (answer("settings"), 1),
        (answer("orphaned"), 1),
        (answer("unknown"), 3),
        (answer(unknown=("library",)), 3),
        (answer("missing", unknown=("library",)), 3),
        (answer(sources=(MissingSource("orders", "", "its producer"),)), 1),
    ],
)
def test_the_exit_code(found: InternalAnswer, code: int) -> None:
    """What is not known is never 0, and comes before what deviates."""
    assert exit_code(found) == code


def test_what_the_controller_refuses_is_not_ok() -> None:
    """Also if nothing else deviates."""
    assert exit_code(answer(), {TOPIC.name: "no right"}) == 1


def test_the_text_has_both_values_and_the_owner_of_a_source() -> None:
    """One line for each topic, one for each difference."""
    found = answer("settings", sources=(MissingSource("orders", "shop", "team-shop"),), unknown=("library",))
    assert as_text(ABOUT, WANTED, found).splitlines() == [
        "orders @ demo: 1 internal topic: 1 settings",
        "  settings   orders-counts-changelog: changelog of counts, 4 partitions, 3 replicas, "
        "cleanup.policy=compact,delete",
        "             cleanup.policy: compact there → compact,delete by Kafka Streams",
        "  source     orders: does not exist, and is not created here (team-shop, entry shop)",
        "  ! not known: library",
    ]


def test_what_to_create_is_printed_as_commands() -> None:
    """Kafka's own tool makes exactly these topics; a default factor is left to the brokers."""
    shape = TopicShape("orders-a b-changelog", 4, 3, TOPIC.settings or ())
    assert command(shape) == (
        "kafka-topics.sh --bootstrap-server … --create --topic 'orders-a b-changelog' --partitions 4 "
        "--replication-factor 3 --config cleanup.policy=compact,delete"
    )
    assert "--replication-factor" not in command(TopicShape("x", 1))
    text = as_text(ABOUT, WANTED, answer("missing"), (shape,), {shape.name: "no right"})
    assert "to create: 1 topic (a dry run: this command creates none)" in text
    assert "    ! no right" in text
    assert "nothing to create: not known" in as_text(ABOUT, WANTED, answer(), Missing("not known"))


def test_the_document_has_the_same() -> None:
    """`create` is null unless it is asked for."""
    shape = TopicShape(TOPIC.name, 4, 3, TOPIC.settings or ())
    found = document(ABOUT, WANTED, answer("settings"), (shape,), {TOPIC.name: "no right"})
    [topic] = found["topics"]
    assert (topic["state"], topic["partitions"], topic["there"]["settings"]) == (
        "settings",
        4,
        {"cleanup.policy": "compact"},
    )
    [created] = found["create"]["topics"]
    assert (created["topic"], created["refused"], created["settings"]) == (
        TOPIC.name,
        "no right",
        {"cleanup.policy": "compact,delete"},
    )
    assert document(ABOUT, WANTED, answer())["create"] is None
    assert document(ABOUT, WANTED, answer(), Missing("why"))["create"] == {"missing": "why"}
