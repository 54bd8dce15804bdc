"""What the copier keeps of its last copy: the target that the records before an offset are in, and their time."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from lab.supervise import until
from lab.topic_copier import REFUSED, TopicCopier, jar, started
from world.copied import COMPACTED, Begin, Copy, load, produce, until_setting

pytestmark = pytest.mark.long

_ENDED = 0
_TAKEN_S = 90
_WEEK_MS = 7 * 24 * 3_600_000


def created_again(copy: Copy, partitions: int = 4) -> None:
    """The target, empty and under its old name."""
    copy.delete(copy.target)
    copy.topic(copy.target, partitions)


def refused(copier: TopicCopier) -> str:
    """The last line of a start that is refused."""
    assert copier.start().end() == REFUSED
    assert "REFUSED, nothing was copied: " in copier.last_line
    return copier.last_line


@pytest.mark.parametrize(("mode", "protocol"), [("same-partition", "classic"), ("by-key", "streams")])
def test_a_target_that_was_created_again_is_not_copied_into(begin: Begin, mode: str, protocol: str) -> None:
    """It would get half of a copy: empty, or with records of another writer; a person commits where it begins."""
    copy = begin("a", "b").create().seed()
    for source in copy.routes:
        copy.send(20, partition=1, topic=source)
    copier = copy.copier(mode=mode, group_protocol=protocol)
    with started(copier):
        copy.wait_copied()
    before = copy.committed()
    created_again(copy)
    copy.send(10, partition=1, begin=20)
    line = refused(copier)
    assert f"{copy.source}, 4 of 4 partitions (0 committed 0, for id " in line
    assert f"; 1 committed {before[1]}, for id " in line
    assert f"the records before the committed offsets are not in {copy.target} (id " in line
    assert (
        f"kstreams-runbooks copier seed COPIER --at {copy.source}:PARTITION:OFFSET --replace {copy.source} --execute"
        in line
    )
    assert copy.records(copy.target) == {}
    # A record of its own proves nothing.
    copy.send(1, partition=1, topic=copy.target)
    assert f"the records before the committed offsets are not in {copy.target}" in refused(copier)
    created_again(copy)
    copy.seed(dict.fromkeys(range(4), 0))
    with started(copier):
        copy.wait_copied()
    if mode == "same-partition":
        assert copy.require_equal() == 50
    assert sum(map(len, copy.records(copy.target).values())) == 30


def test_another_target_of_a_route_is_not_copied_into(begin: Begin) -> None:
    """Of the same source, with the offsets of the first target."""
    copy = begin("a", "b").create().seed()
    copy.send(5)
    first, second = copy.routes.values()
    with started(copy.copier(routes=f"{copy.source} -> {first}")):
        until(lambda: copy.committed()[0] == 5, 60, "it copies")
    assert f"not in {second} (id " in refused(copy.copier(routes=f"{copy.source} -> {second}"))


def test_a_seed_begins_with_its_target(begin: Begin) -> None:
    """At the end of a history, twice without a record; not with another target; and with one that is emptied."""
    copy = begin().create()
    copy.send(30)
    copy.aborted(3, partition=1)
    copy.seed({0: 30, 1: 4, 2: 0, 3: 0})
    copier = copy.copier()
    for _ in range(2):
        with started(copier):
            time.sleep(1)
    created_again(copy)
    assert f"the records before the committed offsets are not in {copy.target}" in refused(copier)
    copy.seed({0: 30, 1: 4, 2: 0, 3: 0})
    with started(copier):
        copy.send(2, begin=30)
        until(lambda: copy.committed()[0] == 32, 60, "it copies")
    assert len(copy.records(copy.target)[0]) == 2
    copy.delete_records(copy.target, {0: -1})
    assert copy.records(copy.target) == {}
    with started(copier):
        copy.send(1, begin=32)
        until(lambda: copy.committed()[0] == 33, 60, "it copies")
    assert len(copy.records(copy.target)[0]) == 1


def ended_by_rest(copy: Copy) -> None:
    """An end behind aborted records, which the copier commits itself."""
    copy.aborted(5)
    assert copy.copier("until", until=until_setting({0: 16, 1: 0, 2: 0, 3: 0}, copy.source)).start().end() == _ENDED
    assert copy.committed()[0] == 16


def killed(copy: Copy) -> None:
    """By a process that copies one more record."""
    with started(copy.copier("killed")) as copier:
        copy.send(1, begin=10)
        copy.wait_copied()
        copier.kill()


@pytest.mark.parametrize("end", [ended_by_rest, killed])
def test_every_commit_keeps_the_target(begin: Begin, end: Callable[[Copy], None]) -> None:
    """Also that of an end without a record, and the last one before a kill."""
    copy = begin().create().seed()
    copy.send(10)
    with started(copy.copier("first")):
        copy.wait_copied()
    end(copy)
    created_again(copy)
    assert f"not in {copy.target} (id " in refused(copy.copier("again"))


def test_a_copy_that_was_behind_longer_than_deletions_are_kept_says_so(begin: Begin) -> None:
    """A deletion may be compacted away before it is copied: the start names topic, time and remedy, and goes on."""
    copy = begin("a", "b").create(2, config={**COMPACTED, "delete.retention.ms": "20000"}).seed()
    copier = copy.copier()

    def remarks() -> list[str]:
        return [line for line in copier.lines if "WARNING: " in line]

    now = int(time.time() * 1000)
    produce(producer := copy.producer(), copy.source, 0, 0, timestamp=now - 3_600_000)
    produce(producer, copy.source, 1, 1, timestamp=now)
    assert producer.flush(30) == 0
    with started(copier):
        copy.wait_copied()
        # The first copy of a history is late, and lacks nothing.
        assert remarks() == []
    with started(copier):
        assert remarks() == []
    produce(producer, copy.source, 2, 1, timestamp=now + 1)
    produce(producer, copy.source, 3, 0, timestamp=now - 1_800_000)
    assert producer.flush(30) == 0
    with started(copier):
        copy.wait_copied()
        [line] = remarks()
    assert f"{copy.source} is compacted, and 1 of 2 partitions have, or had, records to copy from before " in line
    assert "longer ago than delete.retention.ms=20000 (0 committed 1, last copied record of " in line
    assert f"kstreams-runbooks compare-topics {copy.source} {copy.target} --mode latest" in line


def test_a_copier_that_was_suspended_for_longer_than_deletions_are_kept_says_so(begin: Begin) -> None:
    """Only if there were records meanwhile: a deletion among them may be compacted away before it goes on."""
    copy = begin().create(2, config={**COMPACTED, "delete.retention.ms": "12000"}).seed()
    copier = copy.copier()

    def warned() -> bool:
        return any("WARNING: " in line for line in copier.lines)

    with started(copier):
        copy.send(3, partition=1)
        copy.wait_copied()
        # The watch looks every ten seconds.
        time.sleep(11)
        copier.suspend()
        time.sleep(13)
        copier.resume()
        time.sleep(11)
        assert not warned()
        copier.suspend()
        copy.send(3, begin=3)
        time.sleep(13)
        copier.resume()
        until(warned, 30, "it says so")
        copy.wait_copied()
        [line] = [line for line in copier.lines if "WARNING: " in line]
    assert (
        f"{copy.source} is compacted, and 1 of 2 partitions ([0]) were not copied to their end for longer than" in line
    )
    assert f"kstreams-runbooks compare-topics {copy.source} {copy.target} --mode latest" in line


def test_copies_that_the_target_may_delete_at_once_are_named(begin: Begin) -> None:
    """The first old record of a route, wherever it is: the source keeps it with a newer one in one segment."""
    copy = begin().create(2, config={"retention.ms": str(_WEEK_MS)}).seed()
    now = int(time.time() * 1000)
    copier = copy.copier()
    with started(copier):
        produce(producer := copy.producer(), copy.source, 0, 1, timestamp=now)
        assert producer.flush(30) == 0
        copy.wait_copied()
        assert not any("WARNING: " in line for line in copier.lines)
        for number in (1, 2):
            produce(producer, copy.source, number, 1, timestamp=now - 2 * _WEEK_MS)
        assert producer.flush(30) == 0
        copy.wait_copied()
        [line] = [line for line in copier.lines if "WARNING: " in line]
    assert f"{copy.source}, partition 1, offset 1, is of " in line
    assert f"longer ago than retention.ms of {copy.target}: brokers may delete its copy at once" in line
    assert f"Set retention.ms=-1 on {copy.target} until its readers have read such records" in line


def test_an_offset_that_another_program_has_committed_is_refused(begin: Begin) -> None:
    """A person has looked at the source with the group id of the copier: what they saw would never be copied."""
    copy = begin().create(1).seed()
    copy.send(10)
    with started(copy.copier()):
        copy.wait_copied()
    copy.send(20, begin=10)
    reader = Consumer({"bootstrap.servers": copy.bootstrap, "group.id": copy.name, "auto.offset.reset": "earliest"})
    reader.subscribe([copy.source])
    seen = 0
    while seen < 20:
        seen += len(reader.consume(20, 10))
    reader.close()
    line = refused(copy.copier())
    assert f"1 of 1 partitions (0 committed 30): another program has committed as group {copy.name}" in line
    assert f"--at {copy.source}:PARTITION:OFFSET --replace {copy.source} --may-repeat {copy.target} --execute" in line
    copy.seed({0: 10})
    with started(copy.copier()):
        copy.wait_copied()
    assert copy.require_equal() == 30


def taken_by_another_program(copy: Copy, count: int, directory: Path) -> None:
    """It has read and committed so many records with the application.id of the copier, and keeps the metadata."""
    program = Path(__file__).parent / "java" / "TakesRecords.java"
    command = ["java", "-cp", str(jar()), str(program), copy.bootstrap, copy.name, copy.source, str(count)]
    subprocess.run([*command, str(directory / "state")], check=True, timeout=_TAKEN_S, capture_output=True)


@pytest.mark.parametrize("begin_at", ["copied", "seeded"])
def test_an_offset_that_another_kafka_streams_program_has_committed_is_refused(
    begin: Begin, begin_at: str, tmp_path: Path
) -> None:
    """It commits its own offset with the copier's metadata, which Kafka Streams keeps."""
    copy = begin().create(1).seed()
    if begin_at == "copied":
        copy.send(10)
        with started(copy.copier()):
            copy.wait_copied()
    before = copy.committed()
    copy.send(20, begin=10)
    taken_by_another_program(copy, 20, tmp_path)
    assert copy.committed() == copy.ends(copy.source) != before
    line = refused(copy.copier())
    assert f"1 of 1 partitions (0 committed {copy.committed()[0]}): another program has committed as group" in line
    copy.seed(before)
    with started(copy.copier()):
        copy.wait_copied()
    assert copy.require_equal() == copy.ends(copy.source)[0]


def test_a_kafka_streams_program_that_joins_a_copier_takes_no_record_in_silence(begin: Begin, tmp_path: Path) -> None:
    """The copier ends when it gets the partitions back, or while the other program is a member."""
    copy = begin().create(2).seed()
    copier = copy.copier()
    with started(copier):
        copier.wait_running()
        with load(copy, partitions=2):
            taken_by_another_program(copy, 20, tmp_path)
            assert copier.end() == REFUSED
    assert "another program has committed as group" in copier.last_line or "has a member with other" in copier.last_line
    assert "another program has committed as group" in refused(copy.copier())


def test_another_mode_is_refused_until_a_person_has_decided(begin: Begin) -> None:
    """Keys would go on in other partitions, while the counts are equal."""
    copy = begin().create().seed()
    copy.send(10, partition=1)
    with started(copy.copier()):
        copy.wait_copied()
    line = refused(copy.copier(mode="by-key"))
    assert f"{copy.target} had 4 partitions when a record of {copy.source} was last copied, in mode same-part" in line
    with started(copy.copier(mode="by-key", partitions=f"{copy.target}:4")):
        copy.send(10, partition=1, begin=10)
        copy.wait_copied()
    assert "Then commit the same offsets again (kstreams-runbooks copier seed" in refused(copy.copier())
    copy.seed({**copy.committed()})
    with started(copy.copier()):
        copy.send(1, partition=2)
        copy.wait_copied()
