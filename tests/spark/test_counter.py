"""The counter that chooses: which way it counts, that all ways say the same, and what it says of the way."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import grpc  # type: ignore[import-untyped]
import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.watch.drain import counter
from kstreams_runbooks.watch.drain.counter import Counter
from lab.forward import forward
from spark.lag_check_runs import unread
from world.eos import SCENARIOS, Log, empty, logs, open_transaction, partly_deleted
from world.given import Kafka

NOBODY = "sc://127.0.0.1:1/;token=hush-hush"


def ninety(log: Log) -> None:
    """Ninety records."""
    log.write(90)


def test_both_ways_count_the_same(made: list[Log], remote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few at once by a consumer, though Spark is there; more by Spark; and each session serves again."""
    ranges = unread(made)
    with Counter(made[0].config, remote) as count:
        few = count(ranges)
        monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
        many, again = count(ranges), count(ranges)
    assert (few.by, many.by, again.by) == ("consumer", "spark", "spark")
    assert [few.readable[one.place].records for one in made][: len(SCENARIOS)] == list(SCENARIOS.values())
    assert few.readable == many.readable == again.readable
    assert not few.remarks + many.remarks


@pytest.mark.parametrize(
    ("remote", "why"),
    [("", "no SPARK_REMOTE is set"), (NOBODY, "127.0.0.1:1: no answer"), ("http://h", "not an address")],
)
def test_without_spark_all_is_counted_directly_and_it_says_so(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch, remote: str, why: str
) -> None:
    """Before it begins, with how long such a thing takes, and without the token in the address."""
    said: list[str] = []
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
    with logs(kafka.bootstrap, [ninety]) as [log], Counter(log.config, remote, say=said.append) as count:
        counted = count(unread([log]))
    assert (counted.by, counted.records, counted.at_least) == ("consumer", 90, False)
    assert list(counted.remarks) == said
    assert "90 offsets are counted without Spark, which takes about 1 s" in said[0]
    assert why in said[0]
    assert "hush" not in said[0]


def test_what_fails_instead_of_being_silent_stops_no_count(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gRPC server of something else is on the port: it answers, and counts nothing."""
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
    with ThreadPoolExecutor(1) as threads, logs(kafka.bootstrap, [ninety]) as [log]:
        other = grpc.server(threads)
        taken = other.add_insecure_port("127.0.0.1:0")
        other.start()
        try:
            with Counter(log.config, f"sc://127.0.0.1:{taken}") as count:
                counted = count(unread([log]))
        finally:
            other.stop(None).wait()
    assert (counted.by, counted.records) == ("consumer", 90)
    assert "(the server at the address is not a Spark Connect server; check SPARK_REMOTE)" in counted.remarks[0]


def test_a_server_that_goes_between_two_counts_costs_seconds(
    kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session is given up, a consumer counts the same, and nothing waits for it at the end."""
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
    with logs(kafka.bootstrap, [ninety]) as [log], forward(int(remote.rpartition(":")[2])) as way:
        ranges = unread([log])
        with Counter(log.config, f"sc://127.0.0.1:{way.port}") as count:
            before = count(ranges)
            way.cut()
            after = count(ranges)
    assert (before.by, after.by) == ("spark", "consumer")
    assert before.readable == after.readable
    assert f"127.0.0.1:{way.port}: no answer" in after.remarks[0]


def test_a_server_that_takes_longer_than_the_consumer_would_is_not_waited_for(
    made: list[Log], remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job is interrupted, later counts of the same process do not try it, and the figures are the same."""
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
    ranges = unread(made)
    with Counter(made[0].config, remote) as count:
        expected = count(ranges)
        monkeypatch.setattr(counter, "_SPARK_S", 0.0)
        monkeypatch.setattr(counter, "_SPARK_TIMES", 0)
        first, second = count(ranges), count(ranges)
    assert (expected.by, first.by, second.by) == ("spark", "consumer", "consumer")
    assert expected.readable == first.readable == second.readable
    for one in (first, second):
        assert "(Spark has not counted them within 0 s)" in one.remarks[0]
    with Counter(made[0].config, remote) as count:
        monkeypatch.undo()
        monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
        assert count(ranges).by == "spark"


def test_past_the_limit_there_is_at_least_so_much(kafka: Kafka) -> None:
    """Of the partition that was not read whole, and of that one alone."""
    with logs(kafka.bootstrap, [ninety, empty]) as made, Counter(made[0].config, "", most=50) as count:
        counted = count(unread(made))
    assert [(one.records, one.at_least) for one in counted.readable.values()] == [(50, True), (0, False)]
    assert counted.remarks == ("50 of 90 offsets are scanned: there is at least as much as is counted",)


def test_nothing_to_read_asks_nobody() -> None:
    """Neither of these addresses has anybody."""
    counted = Counter({"bootstrap.servers": "127.0.0.1:1"}, NOBODY)({("orders", 0): (7, 7)})
    assert (counted.by, counted.records) == ("nothing", 0)


def past_open_transaction(log: Log) -> None:
    """An end that no consumer reaches yet."""
    open_transaction(log)


@pytest.mark.parametrize(
    ("scenario", "said"),
    [(past_open_transaction, "past an open transaction"), (partly_deleted, "an offset of the range is not there")],
)
def test_a_consumer_never_says_a_smaller_number(kafka: Kafka, scenario: Callable[[Log], None], said: str) -> None:
    """What Spark calls inconclusive is so for a consumer."""
    with logs(kafka.bootstrap, [scenario]) as [log], pytest.raises(Inconclusive, match=said):
        Counter(log.config, "")({log.place: (1, 5)})


def test_an_offset_that_is_gone_is_so_for_both(kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Spark does not find it, the consumer that is asked then does not either."""
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 1)
    said: list[str] = []
    with (
        logs(kafka.bootstrap, [partly_deleted]) as [log],
        Counter(log.config, remote, say=said.append) as count,
        pytest.raises(Inconclusive, match="an offset of the range is not there"),
    ):
        count({log.place: (1, 5)})
    assert "an offset of the ranges does not exist" in said[0]
