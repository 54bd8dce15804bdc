"""The settings with which the clients of a copier really run, as they print them themselves."""

import re
from collections import defaultdict

import pytest
from lab.topic_copier import TERMINATED, TopicCopier
from world.copied import Begin

pytestmark = pytest.mark.long

_PRINTED = "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config.AbstractConfig=info"
# Settings of a file that Kafka Streams or the copier's topology have an answer of their own to.
HARMLESS = {
    "consumer.enable.auto.commit": "true",
    "consumer.allow.auto.create.topics": "true",
    "consumer.group.id": "another",
    "producer.transactional.id": "another",
    "producer.partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner",
    "producer.partitioner.ignore.keys": "true",
    "default.timestamp.extractor": "org.apache.kafka.streams.processor.WallclockTimestampExtractor",
    "default.key.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde",
    "max.task.idle.ms": "-1",
    "topology.optimization": "all",
    "errors.dead.letter.queue.topic.name": "letters",
}


def printed(copier: TopicCopier) -> dict[str, dict[str, set[str]]]:
    """Of each kind of client, the values that its instances have of each setting."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    kind = ""
    for line in copier.lines:
        if begun := re.search(r"(Consumer|Producer|AdminClient|Streams)Config values", line):
            kind = begun[1].removesuffix("Client").lower()
        elif setting := re.fullmatch(r"\t([\w.]+) = (.*)", line):
            found[kind][setting[1]].add(setting[2])
    return found


def test_a_killed_copier_is_missed_soon_and_new_partitions_are_seen_soon(begin: Begin) -> None:
    """Ten seconds for metadata; a transaction of five, a session of six, a heartbeat of one and a half."""
    copy = begin().create().seed()
    copier = copy.copier("printed", _PRINTED).start().wait_running()
    copy.send(5)
    copy.wait_copied()
    assert copier.terminate() == TERMINATED
    found = printed(copier)
    for kind in ("consumer", "producer", "admin"):
        assert found[kind]["metadata.max.age.ms"] == {"10000"}, kind
    assert found["producer"]["transaction.timeout.ms"] == {"5000"}
    # Those of other clients than the stream threads' have no group.
    assert "6000" in found["consumer"]["session.timeout.ms"]
    assert "1500" in found["consumer"]["heartbeat.interval.ms"]
    assert found["streams"]["commit.interval.ms"] == {"100"}


def test_settings_of_a_file_do_not_change_what_is_copied(begin: Begin) -> None:
    """Clients commit nothing themselves, read committed records, and write with acknowledgements, once."""
    copy = begin().create().seed()
    copier = copy.copier("printed", _PRINTED)
    copier.settings |= HARMLESS
    copier.start().wait_running()
    for partition in range(4):
        copy.send(50, partition)
        copy.aborted(5, partition)
    copy.send(10, begin=50)
    copy.wait_copied()
    assert copier.terminate() == TERMINATED
    assert copy.require_equal() == 210
    assert "letters" not in copy.admin.list_topics(timeout=30).topics
    found = printed(copier)
    for setting, value in {
        "enable.auto.commit": "false",
        "allow.auto.create.topics": "false",
        "isolation.level": "read_committed",
        "check.crcs": "true",
    }.items():
        assert found["consumer"][setting] == {value}
    for setting, value in {
        "acks": "-1",
        "enable.idempotence": "true",
        "max.in.flight.requests.per.connection": "5",
    }.items():
        assert found["producer"][setting] == {value}
    for part, value in {"processing": "LogAndFailProcessing", "deserialization": "LogAndFail"}.items():
        assert found["streams"][f"{part}.exception.handler"] == {
            f"class org.apache.kafka.streams.errors.{value}ExceptionHandler"
        }
