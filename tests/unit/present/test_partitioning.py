"""The answer about a pair as text, as a document and as an exit code."""

import pytest
from kstreams_runbooks.decide.fitting.partitioning import keys_are_with_their_state
from kstreams_runbooks.model.readings.partitioning import ComparedTopic, KeyCounts, PartitioningReading, PlacedKey
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.present.partitioning import as_text, document, exit_code
from world.samples import declared

INPUT = ComparedTopic("customers", "i", 4, 1_000, 0, 0, 0, compacted=False)
STATE = ComparedTopic("orders-a-changelog", "s", 4, 900, 0, 0, 0, compacted=True)


def reading(keys: KeyCounts | None) -> PartitioningReading:
    return PartitioningReading(Taken(1, "kafka b:1"), "key_value", INPUT, STATE, keys)


@pytest.mark.parametrize(
    ("keys", "code"),
    [(KeyCounts(same=1), 0), (KeyCounts(elsewhere=1), 1), (KeyCounts(same=1, null_keys=1), 3), (KeyCounts(), 3)],
)
def test_the_exit_code(keys: KeyCounts, code: int) -> None:
    assert exit_code(keys_are_with_their_state(reading(keys))) == code


def test_the_text_and_the_document_have_the_counts_and_the_examples() -> None:
    found = reading(KeyCounts(same=2, elsewhere=1, examples={"elsewhere": (PlacedKey("c-1\x1b", (3,), (0, 1)),)}))
    verdict = keys_are_with_their_state(found)
    text = as_text(declared(), found, verdict)
    assert "REFUSE: customers → orders-a-changelog" in text
    assert "read: 1,000 of 1,000 offsets of customers; 900 of 900 offsets of orders-a-changelog (key_value)" in text
    assert r"elsewhere: c-1\x1b: input 3, state 0 and 1" in text
    shown = document(declared(), found, verdict)
    assert (shown["verdict"], shown["keys"]["elsewhere"], shown["input"]["partitions"]) == ("refuse", 1, 4)


def test_topics_that_were_not_compared_have_no_counts() -> None:
    verdict = keys_are_with_their_state(reading(None))
    assert document(declared(), reading(None), verdict)["keys"] is None
    assert "keys:" not in as_text(declared(), reading(None), verdict)
