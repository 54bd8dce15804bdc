"""Whether a repartition may go: by counts of keys, and by how much of the topics was read."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.fitting.partitioning import keys_are_with_their_state
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.partitioning import ComparedTopic, KeyCounts, PartitioningReading, PlacedKey
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome

INPUT = ComparedTopic("customers", "i", 4, 1_000, 0, 0, 0, compacted=False)
STATE = ComparedTopic("orders-by-customer-changelog", "s", 4, 1_000, 0, 0, 0, compacted=True)
SAME = KeyCounts(same=1_000)
EXAMPLE = {"elsewhere": (PlacedKey("customer-1", (3,), (1,)),)}


def reading(
    keys: KeyCounts | None = SAME, given: ComparedTopic = INPUT, state: ComparedTopic = STATE
) -> PartitioningReading:
    return PartitioningReading(Taken(1, "kafka b:1"), "key_value", given, state, keys)


def test_all_keys_with_their_state_proceed_with_their_number() -> None:
    verdict = keys_are_with_their_state(reading(KeyCounts(same=900, new=7, deleted=3)))
    assert verdict.sentence == (
        "proceed: 900 of 900 keys of customers are in the partition of their state; 7 without state are where Kafka's "
        "default partitioner puts it"
    )


def test_a_key_elsewhere_is_refused_with_an_example_and_the_way_out() -> None:
    keys = KeyCounts(same=276, elsewhere=724, examples=EXAMPLE)  # type: ignore[arg-type]
    verdict = keys_are_with_their_state(reading(keys))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0] == (
        "724 of 1,000 keys are in another partition than their state (limit 0): key customer-1 is on customers-3, its "
        "state on partition 1; keep the repartition, or give the producers of customers Kafka's default partitioner "
        "(murmur2; librdkafka: partitioner=murmur2_random), and read a topic in which they have written every record "
        "with it"
    )


def test_where_the_state_follows_another_partitioner_that_one_is_the_way_out() -> None:
    verdict = keys_are_with_their_state(reading(KeyCounts(same=1, elsewhere=9, other_state=10)))
    assert "the partitioner that the application writes its repartition topic with" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("keys", "given", "state", "outcome", "words"),
    [
        (None, replace(INPUT, partitions=3), STATE, "refuse", "customers has 3 partitions and"),
        (None, replace(INPUT, offsets=0), STATE, "inconclusive", "customers has no record to read"),
        (None, INPUT, replace(STATE, offsets=0), "inconclusive", "changelog has no record to read"),
        (KeyCounts(), INPUT, STATE, "inconclusive", "customers has no record with a key"),
        (KeyCounts(new=5, deleted=9), INPUT, STATE, "inconclusive", "no key with state (expected some; 9 are deleted)"),
        (replace(SAME, short_keys=2), INPUT, STATE, "refuse", "2 records of orders-by-customer-changelog have a key"),
        (replace(SAME, several=2), INPUT, STATE, "refuse", "2 of 1,000 keys are in more than one partition"),
        (replace(SAME, null_keys=2), INPUT, STATE, "inconclusive", "2 records of customers have no key (limit 0)"),
        (
            replace(SAME, absent=2),
            INPUT,
            STATE,
            "refuse",
            "2 of 1,002 keys of orders-by-customer-changelog never occur",
        ),
        (replace(SAME, absent=2), replace(INPUT, deleted=9), STATE, "inconclusive", "9 offsets before its log start"),
        (replace(SAME, absent=2), replace(INPUT, open=9), STATE, "inconclusive", "9 offsets are behind an open"),
        (replace(SAME, absent=2), replace(INPUT, compacted=True), STATE, "inconclusive", "it is compacted"),
        (replace(SAME, absent=2), replace(INPUT, compacted=None), STATE, "inconclusive", "compacted is not known"),
        (KeyCounts(absent=2, new=9), replace(INPUT, deleted=9), STATE, "inconclusive", "none of the 2 keys"),
        (replace(SAME, new=4, new_elsewhere=3), INPUT, STATE, "refuse", "3 of 4 keys of customers without state"),
        (replace(SAME, new=4, other_state=1), INPUT, STATE, "inconclusive", "where new keys will be is not known"),
        (SAME, replace(INPUT, deleted=9), STATE, "proceed", "1,000 of 1,000"),
        (SAME, INPUT, replace(STATE, deleted=9), "inconclusive", "begins 9 offsets after its start"),
        (SAME, replace(INPUT, unread=900), STATE, "inconclusive", "a sample: 900 of 1,000 offsets of customers and 0"),
        (SAME, INPUT, replace(STATE, unread=5), "inconclusive", "up to 5 more keys may be in another partition"),
        (replace(SAME, new=4, new_elsewhere=3), replace(INPUT, unread=9), STATE, "inconclusive", "a sample"),
    ],
)
def test_each_cause_has_one_sentence(
    keys: KeyCounts | None, given: ComparedTopic, state: ComparedTopic, outcome: str, words: str
) -> None:
    verdict = keys_are_with_their_state(reading(keys, given, state))
    assert (verdict.outcome.value, len(verdict.reasons)) == (outcome, 1)
    assert words in verdict.reasons[0]


def test_a_window_store_may_have_lost_its_oldest_windows() -> None:
    """Retention deletes them there as in the store."""
    one = replace(reading(state=replace(STATE, deleted=9)), kind="window")
    assert keys_are_with_their_state(one).outcome is Outcome.PROCEED


def test_proof_stays_proof_in_a_sample_and_the_rest_is_named_too() -> None:
    keys = KeyCounts(same=9, elsewhere=1, null_keys=4)
    verdict = keys_are_with_their_state(reading(keys, replace(INPUT, unread=5)))
    assert verdict.outcome is Outcome.REFUSE
    assert len(verdict.reasons) == 3


def test_the_evidence_gives_the_same_verdict_again() -> None:
    keys = KeyCounts(same=276, elsewhere=724, examples=EXAMPLE)  # type: ignore[arg-type]
    inputs = {"reading": reading(keys)}
    payload = encode_call(keys_are_with_their_state, inputs, keys_are_with_their_state(**inputs))
    assert call_again(keys_are_with_their_state, payload) == payload["result"]
    assert encode(inputs["reading"])["keys"]["examples"]["elsewhere"][0]["key"] == "customer-1"
