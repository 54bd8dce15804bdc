"""The same count on every kind of Spark that a test can start: `make spark-matrix`.

The name keeps it out of the other runs: a cluster of its own takes half a minute and a gigabyte.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import spark
from lab.supervise import until
from spark.lag_check_runs import as_ranges, counted, counted_directly, submit_job, unread
from world.eos import Log
from world.given import Kafka
from world.ports import MASTER, MASTER_PAGE, WORKER, WORKER_PAGE, port

_READY_S = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A standalone cluster of one worker on the loopback: `spark://…`."""
    directory = tmp_path_factory.mktemp("cluster")
    run_class = str(spark.spark_home() / "bin" / "spark-class")
    here = ("--host", "127.0.0.1")
    master = f"spark://127.0.0.1:{port(MASTER)}"
    deploy = "org.apache.spark.deploy"
    commands = (
        (f"{deploy}.master.Master", *here, "--port", str(port(MASTER)), "--webui-port", str(port(MASTER_PAGE))),
        (
            f"{deploy}.worker.Worker",
            *here,
            *("--port", str(port(WORKER)), "--webui-port", str(port(WORKER_PAGE)), "--work-dir", str(directory)),
            *("--cores", "2", "--memory", "1g", master),
        ),
    )
    started: list[subprocess.Popen[bytes]] = []
    environment = {**spark.environment(), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1"}
    try:
        for command, listening in zip(commands, (MASTER, WORKER), strict=True):
            log = (directory / f"{listening}.log").open("wb")
            started.append(subprocess.Popen((run_class, *command), stdout=log, stderr=log, env=environment))
            wait(port(listening), f"{command[0]} listens; {directory}")
        yield master
    finally:
        for one in reversed(started):
            one.terminate()
            one.wait(30)


def wait(listening: int, what: str) -> None:
    """Until somebody listens."""
    until(lambda: spark.listens(listening), _READY_S, what)


def check(master: str, made: list[Log], jars: str, bundle: Path, given: Path, **settings: str) -> None:
    """The job on this master beside a consumer."""
    ranges = unread(made)
    given.write_text(json.dumps(as_ranges(ranges)), encoding="utf-8")
    words = ("--ranges", str(given), "--bootstrap", made[0].config["bootstrap.servers"])
    ended = submit_job(master, jars, bundle, words, **settings)
    assert ended.code == 0, ended.err
    assert counted(ended.document) == counted_directly(made, ranges)


def test_every_core_of_this_machine(made: list[Log], jars: str, bundle: Path, tmp_path: Path) -> None:
    """`local[*]`."""
    check("local[*]", made, jars, bundle, tmp_path / "ranges.json")


def test_a_standalone_cluster(cluster: str, made: list[Log], jars: str, bundle: Path, tmp_path: Path) -> None:
    """Executors in processes of their own, which get the jars from the driver."""
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2"}
    check(cluster, made, jars, bundle, tmp_path / "ranges.json", **settings)


def test_a_failed_check_on_a_cluster_has_the_same_exit_code(
    cluster: str, kafka: Kafka, jars: str, bundle: Path, tmp_path: Path
) -> None:
    """Passed on by spark-submit, which prints messages to stdout too: the file holds the document alone."""
    result = tmp_path / "result.json"
    ranges = json.dumps(as_ranges({("nowhere", 0): (0, 5)}))
    words = ("--ranges", ranges, "--bootstrap", kafka.bootstrap, "--result", str(result))
    ended = submit_job(cluster, jars, bundle, words)
    assert ended.code == 3, ended.err
    document = json.loads(result.read_text(encoding="utf-8"))
    assert document["exit_code"] == 3
    assert "not on the cluster any more" in document["error"]
    assert ended.out.splitlines() == [f"lag_check: {document['error']}", json.dumps(document)]
