"""`order=by-time`: records of all partitions in the order of their time, and not faster than the pace."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from lab import kafka
from lab.supervise import until
from lab.topic_copier import REFUSED
from world.copied import Begin, Copy, load, produce, until_setting

_ENDED = 0
_HOUR_MS = 3_600_000
# The copier's own: within one poll, records are in no order.
_SPAN_MS = 1_000
_STEP_MS = 500


@pytest.fixture(scope="module")
def at_once(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[None]]]:
    """What is waited for in real time, copies side by side; a test has the answer of its own."""
    made: list[Copy] = []

    def begin(*routes: str) -> Copy:
        made.append(Copy(broker, tmp_path_factory.mktemp("copy"), routes or ("a",)))
        return made[-1]

    with ThreadPoolExecutor() as workers:
        yield {work.__name__: workers.submit(work, begin) for work in (merged, paced, from_the_future, live)}
    for copy in made:
        copy.close()


def backlog(copy: Copy, count: int = 4_000, span_ms: int = _HOUR_MS, begin: int = 0) -> int:
    """An hour of records in partitions of very different sizes, times that go back a little; returns the first time."""
    chosen = random.Random(begin)
    producer = copy.producer(**{"linger.ms": 50})
    start = int(time.time() * 1000) - span_ms - begin
    for source in copy.routes:
        for number in range(count):
            at = start + number * span_ms // count - chosen.randrange(_STEP_MS)
            # Nine of ten are in the first partition: it would be copied last.
            partition = 0 if chosen.random() < 0.9 else chosen.randrange(1, 4)
            produce(producer, source, begin + number, partition, key=f"k{number % 300}", timestamp=at)
    assert producer.flush(60) == 0
    return start


def steps_back(copy: Copy, topic: str) -> dict[int, int]:
    """By how much, in milliseconds, a record is older than one before it in its partition, at most."""
    back: dict[int, int] = {}
    highest: dict[int, int] = {}
    for message in kafka.records(copy.bootstrap, topic):
        partition, at = message.partition() or 0, message.timestamp()[1]
        highest[partition] = max(highest.get(partition, 0), at)
        back[partition] = max(back.get(partition, 0), highest[partition] - at)
    return back


def merged(begin: Begin) -> None:
    """By key into six partitions, each from several: no step back is longer than the source's and one poll's span.

    As they are read, the same records have steps of minutes, so the merge is what prevents them. `until` ends it.
    """
    copy = begin("a", "b").create(4, 6).seed()
    backlog(copy)
    ends = {source: copy.ends(source) for source in copy.routes}
    setting = ", ".join(until_setting(each, source) for source, each in ends.items())
    copier = copy.copier(until=setting, mode="by-key", order="by-time")
    assert copier.start().end() == _ENDED, copier.last_line
    for source, target in copy.routes.items():
        assert copy.committed(source) == ends[source]
        assert max(steps_back(copy, target).values()) <= _STEP_MS + _SPAN_MS
        sent = sorted(record for records in copy.records(source).values() for record in records)
        assert sorted(record for records in copy.records(target).values() for record in records) == sent
    unmerged = begin().create(4, 6).seed()
    backlog(unmerged)
    as_read = unmerged.copier(until=until_setting(unmerged.ends(unmerged.source), unmerged.source), mode="by-key")
    assert as_read.start().end() == _ENDED, as_read.last_line
    assert max(steps_back(unmerged, unmerged.target).values()) > 60_000


def paced(begin: Begin) -> None:
    """A minute of records ten times as fast takes six seconds; the hours without a record behind it take 15 s."""
    copy = begin().create().seed()
    backlog(copy, 600, 60_000, 3 * _HOUR_MS)
    producer = copy.producer()
    produce(producer, copy.source, 600, 1, timestamp=int(time.time() * 1000))
    assert producer.flush(30) == 0
    began = time.monotonic()
    copier = copy.copier(order="by-time", pace="10").start().wait_running()
    copy.wait_copied()
    # A lower bound holds on a machine of any speed.
    assert time.monotonic() - began >= 6 + 15
    assert copy.require_equal() == 601
    assert copier.terminate() == 143


def from_the_future(begin: Begin) -> None:
    """It counts as of now: its partition goes on, while the others get live records."""
    copy = begin().create().seed()
    producer = copy.producer()
    produce(producer, copy.source, 0, 1, timestamp=int(time.time() * 1000) + _HOUR_MS)
    for number in range(1, 11):
        produce(producer, copy.source, number, number % 4)
    assert producer.flush(30) == 0
    copier = copy.copier(order="by-time", pace="2").start().wait_running()
    with load(copy, rate=200):
        time.sleep(5)
    copy.wait_copied()
    assert copy.require_equal() > 11
    assert copier.terminate() == 143


def live(begin: Begin) -> None:
    """Three of four partitions have never had a record; then each gets one."""
    copy = begin().create().seed()
    copy.send(5)
    copier = copy.copier(order="by-time", pace="2").start().wait_running()
    copy.wait_copied()
    for partition in range(4):
        copy.send(3, partition, begin=10)
    copy.wait_copied()
    assert copy.require_equal() == 17
    assert copier.terminate() == 143


def test_partitions_that_are_copied_into_others_are_merged_by_time(at_once: dict[str, Future[None]]) -> None:
    """No step back is longer than the source's and one poll's span."""
    at_once["merged"].result()


def test_the_pace_is_kept_and_a_gap_is_not_waited_out(at_once: dict[str, Future[None]]) -> None:
    """A part of the time that the records took, and seconds for hours without one."""
    at_once["paced"].result()


def test_a_record_from_the_future_holds_nothing_up(at_once: dict[str, Future[None]]) -> None:
    """It counts as of now."""
    at_once["from_the_future"].result()


def test_live_records_pass_and_empty_partitions_hold_nothing_back(at_once: dict[str, Future[None]]) -> None:
    """A partition that never had a record is read to its end."""
    at_once["live"].result()


@pytest.mark.long
def test_after_kills_every_record_is_copied_once(begin: Begin) -> None:
    """The broker keeps the member of a killed copier for its session: the next one waits for all partitions."""
    copy = begin("a", "b").create().seed()
    backlog(copy, 20_000)
    copier = copy.copier(order="by-time", pace="200").start()
    for number in range(4):
        copier.wait_running()
        time.sleep(random.Random(number).uniform(1, 5))
        copier.kill()
        copier.start()
    copier.wait_running()
    copy.wait_copied()
    assert copier.terminate() == 143
    # The open transaction of a killed one hides what is behind it.
    copy.require_left(after_kill=True)
    assert copy.require_equal() == 40_000


@pytest.mark.long
def test_a_second_instance_ends_it_with_a_reason(begin: Begin) -> None:
    """Each would merge its own partitions alone."""
    copy = begin().create().seed()
    backlog(copy, 2_000)
    first = copy.copier("first", order="by-time", pace="2").start().wait_running()
    second = copy.copier("second", order="by-time", pace="2").start()
    until(lambda: not (first.runs and second.runs), 150, "one of them has ended", poll_s=1)
    ended = next(one for one in (first, second) if not one.runs)
    assert ended.end() == REFUSED
    assert "order=by-time needs all 4 partitions in one instance, and this one has 2 of them." in ended.last_line


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"order": "by-key"}, "order: 'by-key' is not as-read or by-time."),
        ({"order": "by-time", "pace": "0.5"}, "pace: '0.5' is not a number above 1"),
        ({"order": "by-time", "pace": "1"}, "pace: '1' is not a number above 1"),
        ({"order": "by-time", "pace": "fast"}, "pace: 'fast' is not a number above 1"),
        ({"pace": "10"}, "pace is set, and order is as-read"),
        ({"order": "by-time", "num_stream_threads": "2"}, "order=by-time needs one thread"),
        ({"order": "by-time", "group_protocol": "streams"}, "order=by-time needs a classic group"),
    ],
)
def test_what_cannot_be_merged_is_refused(begin: Begin, settings: dict[str, str], sentence: str) -> None:
    """In one line, before a broker is asked."""
    copier = begin().copier(**settings)
    assert copier.start().end() == REFUSED
    assert sentence in copier.last_line
