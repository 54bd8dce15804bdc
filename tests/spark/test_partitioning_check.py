"""Whether each key is in the partition of its state: topics of a real broker, compared by Spark over Connect."""

import json
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.cli import cli
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.frames.connect import MODE
from lab import kafka as lab_kafka
from lab.settings import Lab, Ports
from world.given import Kafka
from world.placed_keys import PARTITIONS, Placed, placed

KEYS = [f"customer-{number}".encode() for number in range(1_000)]
MURMUR2: dict[str, Any] = {"partitioner": "murmur2_random"}
# A window's start and number, a session's end and start.
OF_WINDOW, OF_SESSION = (
    struct.pack(">qi", 1_763_750_000_000, 0),
    struct.pack(">qq", 1_763_750_009_000, 1_763_750_000_000),
)


@pytest.fixture
def pair(kafka: Kafka, remote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placed]:
    """Two empty topics, a fleet that has their broker, and a Connect server."""
    fleet(kafka, tmp_path, monkeypatch)
    monkeypatch.setenv("SPARK_REMOTE", remote)
    with placed(kafka.bootstrap) as made:
        yield made


def fleet(kafka: Kafka, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application `orders` on this broker."""
    port = int(kafka.bootstrap.rpartition(":")[2])
    for name, value in Lab(directory, Ports(port)).fleet_environment().items():
        monkeypatch.setenv(name, value)


def check(made: Placed, *words: str, kind: str = "key_value") -> tuple[int, dict[str, Any]]:
    """Exit code and document of the command."""
    result = CliRunner().invoke(
        cli, ["partitioning", "orders", *made.options, "--kind", kind, "--format", "json", *words]
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def test_the_same_partitioner_on_both_sides_proceeds(pair: Placed) -> None:
    """Each key several times, and new keys where murmur2 puts them; a deleted key has no state."""
    pair.write(pair.input, [*KEYS, *KEYS[:100], b"new"], **MURMUR2)
    pair.as_kafka_puts(pair.state, [*KEYS, *KEYS[:10]])
    pair.as_kafka_puts(pair.state, [KEYS[0], b"never-read"], value=None)
    code, document = check(pair)
    keys = document["keys"]
    assert (code, document["verdict"]) == (0, "proceed"), document["reasons"]
    assert (keys["same"], keys["new"], keys["deleted"], keys["absent"]) == (999, 2, 2, 0)
    assert document["reasons"] == [
        f"999 of 999 keys of {pair.input} are in the partition of their state; 2 without state are where Kafka's "
        "default partitioner puts it"
    ]


def test_the_default_partitioner_of_librdkafka_is_refused_with_the_number(pair: Placed) -> None:
    """CRC-32 on the input, murmur2 in the changelog: counted by a consumer and Kafka's own client."""
    pair.write(pair.input, KEYS)
    pair.as_kafka_puts(pair.state, KEYS)
    read = {message.key(): message.partition() for message in lab_kafka.records(pair.bootstrap, pair.input)}
    elsewhere = {
        key: (partition, partition_of(key, PARTITIONS))
        for key, partition in read.items()
        if key is not None and partition_of(key, PARTITIONS) != partition
    }
    assert 700 < len(elsewhere) < 800
    code, document = check(pair)
    assert (code, document["verdict"]) == (1, "refuse")
    assert (document["keys"]["elsewhere"], document["keys"]["same"]) == (len(elsewhere), 1_000 - len(elsewhere))
    examples = document["keys"]["examples"]["elsewhere"]
    assert len(examples) == 3
    for one in examples:
        assert (one["input"], one["state"]) == tuple([number] for number in elsewhere[one["key"].encode()])
    [reason] = document["reasons"]
    assert reason.startswith(
        f"{len(elsewhere)} of 1,000 keys are in another partition than their state (limit 0): key "
    )
    assert "partitioner=murmur2_random" in reason


def test_another_serde_is_refused_if_the_input_has_all_of_its_records(pair: Placed) -> None:
    """Keys of the state with four bytes in front, as a schema registry's serde writes them."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, [b"\0\0\0\7" + key for key in KEYS])
    code, document = check(pair)
    assert (code, document["keys"]["absent"], document["keys"]["new"]) == (1, 1_000, 1_000)
    assert "1,000 of 1,000 keys" in document["reasons"][0]
    assert "another serde" in document["reasons"][0]
    assert document["keys"]["examples"]["absent"][0]["key"].startswith("0x00000007")


@pytest.mark.parametrize(("common", "reason"), [(KEYS, "do not occur in"), (KEYS[:300], "none of the 300 keys")])
def test_what_retention_deleted_is_not_taken_for_another_serde(pair: Placed, common: list[bytes], reason: str) -> None:
    """Nothing proves why a key with state is not in an input that has lost records."""
    pair.write(pair.input, KEYS[:500], **MURMUR2)
    admin = AdminClient({"bootstrap.servers": pair.bootstrap})
    gone = [TopicPartition(pair.input, number, -1) for number in range(PARTITIONS)]
    for future in admin.delete_records(gone).values():
        future.result(30)
    pair.write(pair.input, KEYS[500:], **MURMUR2)
    pair.as_kafka_puts(pair.state, common)
    code, document = check(pair)
    assert (code, document["verdict"]) == (3, "inconclusive")
    assert reason in document["reasons"][0]
    assert "500 offsets before its log start are deleted" in document["reasons"][0]


def test_null_keys_and_a_key_in_two_partitions_are_counted(pair: Placed) -> None:
    """The one is not proven, the other is refused."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, KEYS)
    pair.at(pair.input, [(None, 0), (None, 1), (None, 1)])
    code, document = check(pair)
    assert (code, document["keys"]["null_keys"]) == (3, 3)
    assert "3 records of" in document["reasons"][0]
    home = partition_of(KEYS[0], PARTITIONS)
    other = (home + 1) % PARTITIONS
    pair.at(pair.input, [(KEYS[0], other), (b"\xff\0", 0), (b"\xff\0", 3)])
    code, document = check(pair)
    keys = document["keys"]
    assert (code, keys["several"], keys["elsewhere"], keys["new_elsewhere"]) == (1, 2, 1, 1)
    assert {one["key"]: one["input"] for one in keys["examples"]["several"]} == {
        KEYS[0].decode(): sorted([home, other]),
        "0xff00": [0, 3],
    }


def test_a_sample_never_proceeds_but_it_refuses(pair: Placed) -> None:
    """It names how much it did not read; a key that it finds elsewhere is proof."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, KEYS)
    code, document = check(pair, "--sample", "50")
    unread = document["input"]["unread"] + document["state"]["unread"]
    assert (code, unread) == (3, 2_000 - 2 * PARTITIONS * 50)
    assert f"up to {unread:,} more keys" in document["reasons"][-1]
    home = partition_of(KEYS[-1], PARTITIONS)
    pair.at(pair.input, [(KEYS[-1], (home + 1) % PARTITIONS)])
    assert check(pair, "--sample", "400")[0] == 1
    assert check(pair, "--sample", "100000")[1]["input"]["unread"] == 0


@pytest.mark.parametrize(
    ("kind", "suffix"), [("window", OF_WINDOW), ("session", OF_SESSION), ("versioned", b""), ("key_value", b"")]
)
def test_each_kind_has_its_key(pair: Placed, kind: str, suffix: bytes) -> None:
    """Another kind finds no key, or keys that are too short."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, KEYS, suffix)
    code, document = check(pair, kind=kind)
    assert (code, document["keys"]["same"]) == (0, 1_000), document["reasons"]
    if suffix:
        assert check(pair, kind="key_value")[0] == 1
    else:
        code, document = check(pair, kind="session")
        assert (code, document["keys"]["short_keys"]) == (1, 1_000)
        assert "too short for a session store" in document["reasons"][0]


def test_a_window_that_is_deleted_does_not_end_the_state_of_its_key(pair: Placed) -> None:
    """And a versioned store keeps the values from before a deletion."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, KEYS, OF_WINDOW)
    pair.as_kafka_puts(pair.state, KEYS[:7], struct.pack(">qi", 1, 0))
    pair.as_kafka_puts(pair.state, KEYS[:7], OF_WINDOW, value=None)
    pair.as_kafka_puts(pair.state, KEYS[7:9], OF_WINDOW, value=None)
    _, document = check(pair, kind="window")
    assert (document["keys"]["same"], document["keys"]["new"], document["keys"]["deleted"]) == (998, 2, 2)


def test_a_repartition_topic_shows_where_a_key_is_read(pair: Placed) -> None:
    """Its records are no state: neither a null value nor a null key ends one."""
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.repartition, KEYS, value=None)
    pair.at(pair.repartition, [(None, 1)])
    code, document = check(replace(pair, state=pair.repartition), kind="repartition")
    keys = document["keys"]
    assert (code, keys["same"], keys["short_keys"]) == (0, 1_000, 0), document["reasons"]


def test_topics_that_cannot_be_compared(kafka: Kafka, pair: Placed) -> None:
    """Nothing to compare is not a pass, and Spark is not asked."""
    code, document = check(pair)
    assert (code, document["keys"]) == (3, None)
    assert "there is nothing to compare" in document["reasons"][0]
    pair.write(pair.input, KEYS, **MURMUR2)
    pair.as_kafka_puts(pair.state, KEYS, value=None)
    code, document = check(pair)
    assert (code, document["keys"]["deleted"]) == (3, 1_000)
    with placed(kafka.bootstrap, (3, 4)) as other:
        other.at(other.input, [(b"a", 0)])
        code, document = check(other)
        assert (code, document["keys"]) == (1, None)
        assert f"{other.input} has 3 partitions and {other.state} has 4" in document["reasons"][0]


def test_a_compacted_input_may_have_lost_the_keys_that_are_absent(kafka: Kafka, pair: Placed) -> None:
    """A deleted key is gone from it, without a trace."""
    assert pair
    with placed(kafka.bootstrap, config={"cleanup.policy": "compact"}) as other:
        other.write(other.input, KEYS[1:], **MURMUR2)
        other.as_kafka_puts(other.state, KEYS)
        code, document = check(other)
    assert (code, document["keys"]["absent"]) == (3, 1)
    assert "it is compacted" in document["reasons"][0]


@pytest.mark.long
def test_a_million_keys_fit_in_a_server_of_a_gigabyte(pair: Placed) -> None:
    """All in the input and in the state; the seconds are in the output of `pytest -s`."""
    many = [f"customer-{number}".encode() for number in range(1_000_000)]
    pair.write(pair.input, many, **MURMUR2)
    pair.write(pair.state, many, **MURMUR2)
    for _ in range(2):
        began = time.monotonic()
        code, document = check(pair)
        print(f"{time.monotonic() - began:.1f} s for 2,000,000 records, load {os.getloadavg()[0]:.0f}")
        assert (code, document["keys"]["same"]) == (0, 1_000_000)


@pytest.mark.long
def test_without_a_connect_server_a_job_compares(
    kafka: Kafka, jars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answer from a process of its own, which sees no login of this one."""
    assert jars
    fleet(kafka, tmp_path, monkeypatch)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    # As a thread leaves it whose count was given up.
    monkeypatch.setenv(MODE, "1")
    with placed(kafka.bootstrap) as made:
        made.write(made.input, KEYS, **MURMUR2)
        made.as_kafka_puts(made.state, [*KEYS[1:], b"\xc3\xa9t\xc3\xa9"])
        code, document = check(made)
    assert (code, document["keys"]["same"], document["keys"]["new"]) == (1, 999, 1)
    [absent] = document["keys"]["examples"]["absent"]
    assert absent["key"] == "été"


@pytest.mark.parametrize(
    ("words", "error", "sentence"),
    [
        (("--state", "input-x"), BadInput, "is not an internal topic of orders"),
        (("--input", "none-such"), BadInput, "topic none-such: does not exist on the cluster"),
        (("--state", "orders-none-such-changelog"), BadInput, "topic orders-none-such-changelog: does not exist"),
        (("--state", "orders-a-repartition", "--kind", "window"), BadInput, "is a repartition topic"),
        (("--kind", "repartition"), BadInput, "is the changelog of"),
        (
            ("--state", "orders-KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000012-changelog"),
            RunbookError,
            "the subscriptions of a foreign-key join",
        ),
    ],
)
def test_bad_input_is_one_sentence(
    pair: Placed, words: tuple[str, ...], error: type[RunbookError], sentence: str
) -> None:
    """Before Spark is asked."""
    with pytest.raises(error, match=sentence):
        check(pair, *words)
