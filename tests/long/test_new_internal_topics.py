"""A repartition topic that a change brings: where it begins, what brokers refuse, and whose rows it cuts off."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from confluent_kafka import Producer
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import Begin, Trial

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, "3.9.1", TO_RELEASE])]

PAIR, TOPICS = "repartition-added", {"events": 8, "event-counts": 1}
KEYS = [f"{number:03}" for number in range(100)]


def events(keys: Iterable[str] = KEYS) -> dict[str, list[tuple[str, bytes]]]:
    """One event of each key."""
    return {"events": [(key, b"1") for key in keys]}


def with_settings(trial: Trial, **settings: str) -> Trial:
    """The same application with more settings."""
    more = {name.replace("_", "."): value for name, value in settings.items()}
    return replace(trial, topics={}, settings={**trial.settings, **more})


def test_a_new_repartition_topic_has_no_beginning(begin: Begin, release: str) -> None:
    """The inputs have offsets, so the old version runs with `none`; the new one ends until it is `earliest`."""
    trial = begin(PAIR, TOPICS, release)
    trial.run(events(), "before")
    nowhere = with_settings(trial, auto_offset_reset="none")
    nowhere.run(events(), "before")
    assert "spread-repartition" in nowhere.run_into_failure()
    trial.run(events(), "after")
    assert trial.longs("event-counts") == dict.fromkeys(KEYS, 3)


def test_brokers_create_no_topic_with_an_unknown_setting(begin: Begin, release: str) -> None:
    """The old version runs with it as long as its topics are there."""
    trial = begin(PAIR, TOPICS, release)
    trial.run(events(), "before")
    misspelt = with_settings(trial, topic_retention_mss="1000")
    misspelt.run(events(), "before")
    assert "retention.mss" in misspelt.run_into_failure()


def test_a_row_stays_in_the_partition_of_its_input(begin: Begin, release: str) -> None:
    """Keys that a producer puts where Kafka's default partitioner does not begin from nothing; the others go on."""
    trial = begin(PAIR, TOPICS, release)
    trial.run(events(), "before")
    elsewhere = [f"{key}-elsewhere" for key in KEYS]
    # Where each of these keys is by the default partitioner shows once it has been written so.
    trial.run(events(elsewhere), "before")
    at = {message.key(): message.partition() or 0 for message in trial.records("events")}
    producer = Producer({"bootstrap.servers": trial.bootstrap})
    for key in elsewhere:
        for _ in range(2):
            producer.produce("events", key=key, value=b"1", partition=(at[key.encode()] + 1) % TOPICS["events"])
    assert producer.flush(60) == 0
    trial.run({"events": []}, "before")
    trial.run(events([*KEYS, *elsewhere]), "after")
    counts = trial.longs("event-counts")
    # Before: 1 where the default partitioner puts it, and 2 in the other task. The new task has the first of them.
    assert {counts[key] for key in KEYS} == {2}
    assert {counts[key] for key in elsewhere} == {2}
