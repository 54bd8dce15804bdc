"""The step that counts what `observe` found unread: at once, or by Airflow's operator with the zip alone."""

import json
import stat
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.drain import count_unread as step
from kstreams_runbooks.steps.drain.count_unread import count_unread
from kstreams_runbooks.watch.drain import counter
from lab import spark
from lab.settings import Lab, Ports
from spark.lag_check_runs import counted, counted_directly, unread
from world.eos import Log, logs, partly_deleted
from world.given import Kafka
from world.samples import CONF, CONF_DIGEST, DUE, partition, reading

RUN = "certify_drain/r"


@pytest.fixture
def ledger(made: list[Log], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A run of a fleet on the logs' broker, whose `observe` has found them unread."""
    port = int(made[0].config["bootstrap.servers"].rpartition(":")[2])
    for name, value in Lab(tmp_path, Ports(port)).fleet_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    partitions = tuple(
        partition(start, end, number, topic=topic) for (topic, number), (start, end) in unread(made).items()
    )
    return observed(tmp_path, partitions)


def observed(directory: Path, partitions: tuple[PartitionLag, ...]) -> Ledger:
    """A ledger in which `observe` has kept these."""
    ledger = Ledger.open(f"sqlite:///{directory / 'ledger.db'}")
    record = RunRecord(RUN, "certify_drain", "r", "orders", "demo", "oncall", True, "", {}, 1_000)
    ledger.start_run(replace(record, run_after=DUE.isoformat(), conf_digest=CONF_DIGEST))
    payload = encode(reading(partitions=partitions))
    ledger.record(RUN, "observe", 1, "reading", "application", payload, time.time_ns() // 1_000_000)
    return ledger


def context() -> Mapping[str, Any]:
    """What Airflow gives to a task."""
    ti = SimpleNamespace(
        dag_id="certify_drain", run_id="r", task_id="count_unread", try_number=1, xcom_push=lambda *_: None
    )
    params = {"application": "orders", "dry_run": True}
    dag = SimpleNamespace(dag_id="certify_drain", params=params)
    run = SimpleNamespace(run_after=DUE, conf=CONF, triggering_user_name="oncall")
    return {"ti": ti, "dag": dag, "dag_run": run, "params": params}


def kept(ledger: Ledger) -> dict[str, Any]:
    [evidence] = ledger.evidence(RUN, kind="reading", task_id="count_unread")
    document: dict[str, Any] = evidence.payload
    return document


def test_few_are_counted_at_once_and_kept(ledger: Ledger, made: list[Log]) -> None:
    """No job is submitted, though the connection is not even there."""
    found = count_unread().execute(context())
    assert found is not None
    direct = counted_directly(made, unread(made))
    assert found == {
        "records": sum(one.records for one in direct.values()),
        "at_least": False,
        "counted_by": "consumer",
    }
    rows = {(row["topic"], row["partition"]): row["readable_records"] for row in kept(ledger)["partitions"]}
    assert rows == {place: one.records for place, one in direct.items()}


def test_many_are_submitted_with_nothing_but_the_zip(
    ledger: Ledger, made: list[Log], jars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`local[2]` through the Airflow connection; its Python sees the standard library, Spark's own zips and ours."""
    assert jars
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    monkeypatch.setattr(step, "MOST_AT_ONCE", 10)
    conf = {**spark.LOOPBACK, **spark.SHORT, "spark.pyspark.driver.python": str(python)}
    found = count_unread(conf=conf).execute(context())
    assert found is not None
    direct = counted_directly(made, unread(made))
    assert (found["counted_by"], found["records"]) == ("spark-submit", sum(one.records for one in direct.values()))
    assert counted(kept(ledger)) == direct


def test_without_a_connection_a_consumer_counts_all_and_it_says_so(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """YARN, which the hook falls back to, is never asked."""
    monkeypatch.setattr(step, "MOST_AT_ONCE", 10)
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        found = count_unread().execute(context())
    assert found is not None
    assert found["counted_by"] == "consumer"
    assert "no Airflow connection spark_default (type spark): create it" in caplog.text
    assert kept(ledger)["counted_by"] == "consumer"


@pytest.mark.parametrize(
    ("connection", "jobs", "why"),
    [
        # It would look for this worker's files on another machine.
        (
            {"host": "spark://h", "port": 7077, "extra": {"deploy-mode": "cluster"}},
            None,
            "Airflow connection spark_default: deploy-mode cluster (expected client)",
        ),
        ({"host": "local[2]"}, "empty", "no jars in"),
        ({"host": "nowhere"}, None, "spark-submit ended without an answer"),
    ],
)
def test_where_no_job_counts_a_consumer_does_and_it_says_so(
    ledger: Ledger,
    made: list[Log],
    jars: str,
    connection: dict[str, Any],
    jobs: str | None,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A figure that comes later is better than none."""
    assert jars
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", **connection}))
    if jobs is not None:
        monkeypatch.setenv("KSTREAMS_RUNBOOKS_SPARK_JOBS", str(tmp_path / jobs))
    monkeypatch.setattr(step, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(counter, "MOST_AT_ONCE", 10)
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        found = count_unread().execute(context())
    direct = counted_directly(made, unread(made))
    assert found is not None
    assert (found["counted_by"], found["records"]) == ("consumer", sum(one.records for one in direct.values()))
    assert kept(ledger)["counted_by"] == "consumer"
    assert f"a consumer counts, no Spark job: {why}" in caplog.text
    assert "offsets are counted without Spark, which takes about" in caplog.text


@pytest.mark.long
def test_an_offset_that_is_gone_is_not_counted_by_either(
    ledger: Ledger, kafka: Kafka, jars: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The job says so, the consumer that is asked then as well, and no smaller number is kept."""
    assert jars
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    monkeypatch.setattr(step, "MOST_AT_ONCE", 1)
    with logs(kafka.bootstrap, [partly_deleted]) as [log]:
        # As it was before the records were deleted.
        payload = encode(reading(partitions=(partition(1, 5, log.place[1], topic=log.place[0]),)))
        ledger.record(RUN, "observe", 2, "reading", "application", payload, time.time_ns() // 1_000_000)
        with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
            assert count_unread(conf={**spark.LOOPBACK, **spark.SHORT}).execute(context()) is None
    assert "a consumer counts, no Spark job: an offset of the ranges does not exist" in caplog.text
    assert f"not counted: {log.topic}-0: an offset of the range is not there" in caplog.text
    assert not ledger.evidence(RUN, kind="reading", task_id="count_unread")


def test_what_observe_could_not_read_is_not_counted(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    """A part of the inputs is no sum."""
    partial = (partition(3, Missing("no leader")),)
    payload = encode(reading(partitions=partial))
    ledger.record(RUN, "observe", 2, "reading", "application", payload, time.time_ns() // 1_000_000)
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        assert count_unread().execute(context()) is None
    assert "not counted: orders-0: last stable offset no leader" in caplog.text
