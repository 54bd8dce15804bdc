"""The step that compares pairs of topics: over Connect, or by a job that has the zip alone."""

import json
import stat
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.partitioning import KeyPair
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.change.partitioning import check_partitioning
from kstreams_runbooks.steps.run.ending import StepFailed
from lab import spark
from lab.settings import Lab, Ports
from world.given import Kafka
from world.placed_keys import Placed, placed
from world.samples import CONF, CONF_DIGEST, DUE

RUN = "stop_and_restart/r"
KEYS = [f"customer-{number}".encode() for number in range(200)]


@pytest.fixture
def ledger(kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A dry run of an application on the broker."""
    for name, value in Lab(tmp_path, Ports(int(kafka.bootstrap.rpartition(":")[2]))).fleet_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    record = RunRecord(RUN, "stop_and_restart", "r", "orders", "demo", "oncall", True, "", {}, 1_000)
    opened.start_run(replace(record, run_after=DUE.isoformat(), conf_digest=CONF_DIGEST))
    return opened


def context() -> Mapping[str, Any]:
    """What Airflow gives to a task."""
    ti = SimpleNamespace(
        dag_id="stop_and_restart", run_id="r", task_id="check_partitioning", try_number=1, xcom_push=lambda *_: None
    )
    params = {"application": "orders", "dry_run": True}
    dag = SimpleNamespace(dag_id="stop_and_restart", params=params)
    run = SimpleNamespace(run_after=DUE, conf=CONF, triggering_user_name="oncall")
    return {"ti": ti, "dag": dag, "dag_run": run, "params": params}


def pair(made: Placed) -> KeyPair:
    """The pair of a test, with the kind that no declaration has."""
    return KeyPair(made.input, made.state, "key_value")


def test_each_pair_is_compared_and_one_that_is_elsewhere_ends_the_task(
    ledger: Ledger, kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Both verdicts are evidence, though the first refuses."""
    monkeypatch.setenv("SPARK_REMOTE", remote)
    with placed(kafka.bootstrap) as one, placed(kafka.bootstrap) as other, caplog.at_level("INFO"):
        one.write(one.input, KEYS)
        other.write(other.input, KEYS, partitioner="murmur2_random")
        for made in (one, other):
            made.as_kafka_puts(made.state, KEYS)
        with pytest.raises(StepFailed) as ended:
            check_partitioning(lambda _: (pair(one), pair(other))).execute(context())
        check_partitioning(lambda _: (pair(other),)).execute(context())
    assert ended.value.code == 1
    assert "keys are in another partition than their state (limit 0)" in caplog.text
    verdicts = ledger.evidence(RUN, kind="verdict", name="keys_are_with_their_state")
    assert [one.payload["result"]["outcome"] for one in verdicts] == ["refuse", "proceed", "proceed"]
    readings = ledger.evidence(RUN, kind="reading", name="partitioning")
    assert [one.payload["keys"]["same"] for one in readings[1:]] == [200, 200]


@pytest.mark.long
def test_a_job_compares_with_nothing_but_the_zip(
    ledger: Ledger, kafka: Kafka, jars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`local[2]` through the Airflow connection; its Python sees the standard library, Spark's own zips and ours."""
    assert jars
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    conf = {**spark.LOOPBACK, **spark.SHORT, "spark.pyspark.driver.python": str(python)}
    with placed(kafka.bootstrap) as made:
        made.write(made.input, KEYS, partitioner="murmur2_random")
        made.as_kafka_puts(made.state, KEYS)
        check_partitioning(lambda _: (pair(made),), conf=conf).execute(context())
    [verdict] = ledger.evidence(RUN, kind="verdict", name="keys_are_with_their_state")
    assert verdict.payload["result"]["outcome"] == "proceed"


def test_without_pairs_it_ends_at_once_and_without_spark_it_is_not_known(
    ledger: Ledger, kafka: Kafka, caplog: pytest.LogCaptureFixture
) -> None:
    """Missing data is never a pass."""
    assert ledger
    with caplog.at_level("INFO"):
        check_partitioning(lambda _: ()).execute(context())
        assert "nothing to compare" in caplog.text
        with placed(kafka.bootstrap) as made, pytest.raises(StepFailed) as ended:
            check_partitioning(lambda _: (pair(made),)).execute(context())
    assert ended.value.code == 3
    assert "no Airflow connection spark_default (type spark)" in caplog.text
