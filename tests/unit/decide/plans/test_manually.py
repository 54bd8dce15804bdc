"""What takes back each kind of undo card manually: its object in a sentence, and a command or why there is none."""

from typing import get_args

import pytest
from kstreams_runbooks.decide.plans.manually import manually
from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    InputsPaused,
    InputsResumed,
    OffsetsDeleted,
    OffsetsSet,
    OtherFacts,
    PersonAsked,
    RecordsDeleted,
    StateCleared,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
)
from kstreams_runbooks.model.writes import SavedOffsets, TopicShape

SHAPE = TopicShape("orders-x-changelog", 4, 3, (("cleanup.policy", "compact"),))
BEFORE = SavedOffsets("orders", 1, ())
AT = "--bootstrap-server b:9092 --command-config ADMIN.properties"
CASES: tuple[tuple[OtherFacts, str, str], ...] = (
    (
        TopicCreated(SHAPE),
        "delete topic orders-x-changelog, with the records that it has by then",
        f"kafka-topics.sh {AT} --delete --topic orders-x-changelog",
    ),
    (
        TopicDeleted(SHAPE, "id-1"),
        "create topic orders-x-changelog again, empty: its records do not come back",
        f"kafka-topics.sh {AT} --create --topic orders-x-changelog --partitions 4 --replication-factor 3 "
        "--config cleanup.policy=compact",
    ),
    (
        TopicDeleted(SHAPE, "id-1", again=True),
        "let the application create topic orders-x-changelog again at its next start",
        "# no command: the next start does it",
    ),
    (
        TopicGrown("orders", "id-1", 4, 8),
        "topic orders keeps its 8 partitions: no way back",
        "# no command: Kafka cannot reduce the partitions of a topic",
    ),
    (
        RecordsDeleted("orders", "id-1", ()),
        "the deleted records of topic orders: no way back",
        "# no command: deleted records do not come back",
    ),
    (
        OffsetsSet(BEFORE, (), "/runs/orders.csv"),
        "set the offsets of group orders back, with their metadata",
        f"kafka-consumer-groups.sh {AT} --group orders --reset-offsets --from-file /runs/orders.csv --execute",
    ),
    (
        OffsetsSet(BEFORE, (), holds=True),
        "commit the offsets of group orders again where they were held",
        "# no command: they are as they were, and brokers keep them for offsets.retention.minutes",
    ),
    (
        OffsetsDeleted(BEFORE, ("orders",)),
        "commit the offsets of group orders back, with their metadata",
        "# no command: the run wrote no file of these offsets; `kstreams-runbooks evidence` has them",
    ),
    (
        GroupDeleted(BEFORE, "/runs/orders.csv"),
        "commit the offsets of group orders back, with their metadata, which creates it",
        f"kafka-consumer-groups.sh {AT} --group orders --reset-offsets --from-file /runs/orders.csv --execute",
    ),
    (
        StateCleared("orders-1", lost=("totals",)),
        "the local state of orders-1 is restored at its next start, but not totals",
        "# no command: the next start does it",
    ),
    (
        InputsPaused(("orders", "customers"), "by a person"),
        "resume inputs orders, customers",
        "# start the producers of orders, customers again",
    ),
    (InputsResumed(("orders",), "by a person"), "pause inputs orders again", "# stop the producers of orders"),
    (
        PersonAsked("switch the route of orders", "switch the route of orders back"),
        "ask a person: switch the route of orders back",
        "# switch the route of orders back",
    ),
)


@pytest.mark.parametrize(("facts", "undo", "command"), CASES, ids=[type(one[0]).__name__ for one in CASES])
def test_each_kind_of_card(facts: OtherFacts, undo: str, command: str) -> None:
    """The object is in the sentence, and a shell can run each line."""
    found = manually(facts, "b:9092")
    assert (found.undo, found.command) == (undo, command)


def test_no_kind_is_left_out() -> None:
    """A new kind needs its way back."""
    assert {type(one[0]) for one in CASES} == set(get_args(OtherFacts))
