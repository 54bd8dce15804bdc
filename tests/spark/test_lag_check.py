"""The Spark lag check beside a read_committed consumer on the same offsets, over Connect and submitted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.frames.counting import ConnectCounter
from kstreams_runbooks.frames.failures import meaning
from kstreams_runbooks.frames.job import run_job as run_job_here
from kstreams_runbooks.frames.ranges import OffsetRange
from spark.lag_check_runs import (
    Ended,
    as_ranges,
    check_here,
    counted,
    counted_directly,
    run_job,
    unread,
)
from world.eos import SCENARIOS, Log, between_aborted, empty, logs, open_transaction
from world.given import Kafka


def test_over_connect_it_counts_what_a_consumer_gets(made: list[Log], remote: str, tmp_path: Path) -> None:
    """The same records, bytes and oldest timestamps in every scenario; the file holds what stdout says."""
    result, ranges = tmp_path / "result.json", unread(made)
    words = ("--bootstrap", made[0].config["bootstrap.servers"], "--remote", remote, "--result", f"file://{result}")
    ended = run_job(as_ranges(ranges), *words)
    assert ended.code == 0, ended.err
    assert counted(ended.document) == counted_directly(made, ranges)
    assert ended.document["scanned_offsets"] == sum(end - start for start, end in ranges.values())
    assert not any(row["at_least"] for row in ended.document["partitions"])
    assert json.loads(result.read_text(encoding="utf-8")) == ended.document


def ninety(log: Log) -> None:
    """Ninety records."""
    log.write(90)


def ten(log: Log) -> None:
    """Ten records."""
    log.write(10)


def test_past_the_limit_a_part_is_counted_and_it_says_so(
    capsys: pytest.CaptureFixture[str], kafka: Kafka, remote: str, tmp_path: Path
) -> None:
    """Which part, and that there is at least so much. The file of settings is one that other tools use as well."""
    settings = tmp_path / "client.properties"
    settings.write_text(
        f"bootstrap.servers={kafka.bootstrap}\ngroup.id=orders\nisolation.level=read_uncommitted\n"
        "auto.offset.reset=earliest\nmax.poll.records=7\n",
        encoding="utf-8",
    )
    with logs(kafka.bootstrap, [ninety, ten, empty]) as made:
        ranges = unread(made)
        words = ("--command-config", str(settings), "--remote", remote, "--max-scan-records", "50")
        ended = check_here(capsys, as_ranges(ranges), *words)
    assert ended.code == 0, ended.err
    rows = ended.document["partitions"]
    assert [(row["scanned_to"], row["readable_records"], row["at_least"]) for row in rows] == [
        (44, 44, True),
        (5, 5, True),
        (0, 0, False),
    ]
    assert ended.document["scanned_offsets"] == 49


def test_a_large_partition_is_read_in_pieces_that_meet(
    kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the pieces begin among aborted records and markers."""
    from kstreams_runbooks.frames import source

    monkeypatch.setattr(source, "_OFFSETS_PER_TASK", 2)
    with logs(kafka.bootstrap, [between_aborted]) as made:
        [(start, end)] = unread(made).values()
        ranges = [OffsetRange(made[0].topic, 0, start, end)]
        count = ConnectCounter(remote)
        [found] = count.count({"bootstrap.servers": kafka.bootstrap}, ranges, 60).values()
        count.close()
    assert found.records == SCENARIOS[between_aborted]


def test_nothing_unread_starts_no_job(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither Kafka nor Spark is asked: neither of these addresses has anybody."""
    ranges = [{"topic": "orders", "partition": 0, "start": 7, "end": 7}]
    ended = check_here(capsys, ranges, "--bootstrap", "127.0.0.1:1", "--remote", "sc://127.0.0.1:1")
    assert ended.code == 0, ended.err
    [row] = ended.document["partitions"]
    assert (row["readable_records"], row["oldest_unread_ms"], row["at_least"]) == (0, None, False)
    assert ended.document["scanned_offsets"] == 0


def one_sentence(ended: Ended) -> str:
    """What it said: one line, and no traceback."""
    line: str
    [line] = ended.err.splitlines()
    assert ended.document == {"schema_version": 1, "exit_code": ended.code, "error": line.partition(": ")[2]}
    return line


def past_open_transaction(log: Log) -> None:
    """An end that no consumer reaches yet."""
    open_transaction(log)


def partly_deleted(log: Log) -> None:
    """The first records of the range are not there any more."""
    log.write(5)
    admin = AdminClient(log.config)
    for future in admin.delete_records([TopicPartition(log.topic, 0, 3)]).values():
        future.result()


@pytest.mark.parametrize(("scenario", "end"), [(past_open_transaction, 5), (partly_deleted, 5)])
def test_an_offset_that_is_not_there_is_inconclusive(
    capsys: pytest.CaptureFixture[str], kafka: Kafka, remote: str, scenario: Callable[[Log], None], end: int
) -> None:
    """Never a smaller number: past an open transaction, or deleted."""
    with logs(kafka.bootstrap, [scenario]) as [log]:
        ended = check_here(capsys, as_ranges({log.place: (1, end)}), "--bootstrap", kafka.bootstrap, "--remote", remote)
    assert ended.code == 3
    assert "an offset of the ranges does not exist" in one_sentence(ended)


def test_a_topic_that_is_gone_is_inconclusive(capsys: pytest.CaptureFixture[str], kafka: Kafka, remote: str) -> None:
    """Deleted between the reading of the lag and its check."""
    ended = check_here(capsys, as_ranges({("nowhere", 0): (0, 5)}), "--bootstrap", kafka.bootstrap, "--remote", remote)
    assert ended.code == 3
    assert "not on the cluster any more" in one_sentence(ended)


def test_a_broker_that_does_not_answer_is_unreachable(
    capsys: pytest.CaptureFixture[str], remote: str, tmp_path: Path
) -> None:
    """Told by its address, in seconds and not in the minutes of the defaults; how many, a person may say."""
    settings = tmp_path / "client.properties"
    settings.write_text("request.timeout.ms=2000\ndefault.api.timeout.ms=2000\n", encoding="utf-8")
    words = ("--bootstrap", "127.0.0.1:1", "--command-config", str(settings), "--remote", remote)
    ended = check_here(capsys, as_ranges({("orders", 0): (0, 5)}), *words)
    assert ended.code == 4
    assert "Kafka at 127.0.0.1:1: no answer to Spark" in one_sentence(ended)


def test_a_connect_server_that_is_not_there_is_unreachable_at_once() -> None:
    """SPARK_REMOTE is asked where there is no --remote."""
    ranges = as_ranges({("orders", 0): (0, 5)})
    ended = run_job(ranges, "--bootstrap", "127.0.0.1:1", environ={"SPARK_REMOTE": "sc://127.0.0.1:1/;token=hush-hush"})
    assert ended.code == 4
    assert "Spark Connect at 127.0.0.1:1: no answer" in one_sentence(ended)
    assert "hush-hush" not in ended.err + ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bootstrap", "b:1", "--remote", "sc://h:1/;token=hush-hush"), "set SPARK_REMOTE in the environment"),
        (("--bootstrap", "b:1", "--remote", "http://h:1"), "give sc://host:port"),
        (("--bootstrap", "b:1", "--max-scan-records", "0"), "too few to read one of each"),
        (("--command-config", "/nowhere"), "--command-config /nowhere: cannot be read"),
        ((), "no bootstrap.servers; give --bootstrap"),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    """Before any session is opened, and without the secret that it may hold."""
    ended = check_here(capsys, as_ranges({("orders", 0): (0, 5)}), *words)
    assert ended.code == 2
    assert said in one_sentence(ended)
    assert "hush-hush" not in ended.err + ended.out


@pytest.mark.parametrize("result", ["s3://bucket/one.json", "/nowhere/one.json"])
def test_a_result_that_cannot_be_written_is_told_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], result: str
) -> None:
    """A count that nobody can fetch is not begun."""
    ended = check_here(capsys, "[]", "--bootstrap", "b:1", "--result", result)
    assert (ended.code, ended.out) == (2, "")
    assert f"--result {result}" in ended.err


HANDSHAKE = "SslAuthenticationException: SSL handshake failed\nCaused by: javax.net.ssl.SSLHandshakeException:"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("Failed to find data source: kafka. Please deploy the application as per …", 2, "no Kafka connector"),
        ("java.lang.NoClassDefFoundError: org/apache/spark/kafka010/KafkaConfigUpdater", 2, "of another release"),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: failed", 4, "does not accept the login"),
        (
            "UnsupportedSaslMechanismException: Client SASL mechanism 'SCRAM-SHA-256' not enabled in the server, "
            "enabled mechanisms are [PLAIN, SCRAM-SHA-512]",
            4,
            "is not enabled on this port (PLAIN, SCRAM-SHA-512); set sasl.mechanism",
        ),
        ("TimeoutException: The AdminClient thread has exited. Call: describeTopics", 4, "speaks another protocol"),
        (f"{HANDSHAKE} PKIX path building failed: sun.security", 4, "is not signed by a CA of the truststore"),
        (f"{HANDSHAKE} No subject alternative names matching IP address 127.0.0.1 found", 4, "is for another host"),
        (f"{HANDSHAKE} No name matching b found", 4, "is for another host"),
        (f"{HANDSHAKE} PKIX path validation failed\nCaused by: … NotAfter: Sat Nov 21", 4, "certificate has expired"),
        (HANDSHAKE, 4, "no TLS connection: the broker's certificate"),
        (
            "InvalidConfigurationException: Failed to load PEM SSL keystore /nowhere/trust.pem",
            2,
            "cannot be read where Spark runs (/nowhere/trust.pem)",
        ),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: [orders]", 3, "the topics; allow Read on them"),
        ("ConfigException: No resolvable bootstrap urls given in bootstrap.servers", 2, "bootstrap servers b:1"),
        ("TimeoutException: Cannot fetch record for offset 7 in 5000 milliseconds", 3, "that they advertise"),
        ("OffsetOutOfRangeException: … with no configured reset policy for partitions: {o-0=0}", 3, "(o-0=0)"),
        ("java.lang.OutOfMemoryError: Java heap space", 4, "settings of docs/spark.md"),
        ("status = StatusCode.UNIMPLEMENTED", 4, "is not a Spark Connect server"),
        ("status = StatusCode.UNAVAILABLE", 4, "Spark does not answer any more"),
    ],
)
def test_what_spark_says_is_one_sentence(text: str, code: int, said: str) -> None:
    """The cases that cost too much to bring about each time."""
    error = meaning(f"Job aborted due to stage failure: {text}\n\tat a.b.c", "b:1")
    assert error.exit_code == code
    assert said in str(error)


def test_a_run_that_dies_leaves_no_older_answer(tmp_path: Path) -> None:
    """The file of an earlier try is gone before anything is read."""
    result = tmp_path / "one.json"
    result.write_text("{}", encoding="utf-8")

    def dies() -> dict[str, int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_job_here("lag_check", dies, str(result))
    assert not result.exists()


def test_a_failure_that_no_row_knows_is_inconclusive_with_sparks_first_line() -> None:
    """Nothing was counted, and somebody has to look."""
    error = meaning("[SOMETHING_NEW] of Spark\n\tat a.b.c", "b:1")
    assert (error.exit_code, str(error)) == (3, "Spark could not count: [SOMETHING_NEW] of Spark")
