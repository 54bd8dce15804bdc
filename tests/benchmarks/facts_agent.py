"""`python -m benchmarks.facts_agent`: starts of the orders application with the agent of topology_facts and without it.

A broker of its own; the two kinds of starts alternate, so that a machine whose speed drifts hits both. Each start is
that of an application of its own, from the launch to RUNNING; processor seconds and memory are those of the process 3 s
later, when the agent has read. PORT_BASE and RUN_DIR as everywhere, STARTS for another number.
"""

import json
import os
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.observe.application.metrics import read_streams
from lab.beside import beside
from lab.kafka import create_topics
from lab.settings import Lab
from lab.stack import Parts, stack
from lab.topology_facts import jar

SCHEMA_VERSION = 1
STARTS, RELEASE = 10, "4.3.1"
_BEAN = "kstreams.runbooks:type=topology-facts,*"
_SETTLED_S, _READY_S, _LOOK_S = 3, 90, 0.02
_MIB = 2**20


def main() -> None:
    """Print the document."""
    lab, starts = Lab.of(), int(os.environ.get("STARTS") or STARTS)
    kinds: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    options = {"without": "", "with": f"-javaagent:{jar()}"}
    with stack(lab, Parts(deployed=None, airflow=False, built=True)), TemporaryDirectory() as folder:
        create_topics(lab.bootstrap)
        for number in range(starts):
            for kind, option in options.items():
                os.environ["JAVA_TOOL_OPTIONS"] = option
                kinds[kind].append(started(lab.bootstrap, Path(folder) / f"{kind}-{number}"))
    print(json.dumps({"schema_version": SCHEMA_VERSION, "release": RELEASE, "starts": starts, **measured(kinds)}))


def started(bootstrap: str, directory: Path) -> dict[str, float]:
    """One start: seconds to RUNNING, processor seconds, and resident memory in MiB."""
    began = time.monotonic()
    with beside(bootstrap, directory, f"orders-{directory.name}", RELEASE) as instance:
        url = f"http://127.0.0.1:{instance.port}/jolokia"
        while not _is_running(url, instance.application_id):
            assert time.monotonic() - began < _READY_S, f"{directory.name} is not RUNNING after {_READY_S} s"
            time.sleep(_LOOK_S)
        running = time.monotonic() - began
        time.sleep(_SETTLED_S)
        process = psutil.Process(instance.pid)
        used = process.cpu_times()
        figures = {"start_s": running, "cpu_s": used.user + used.system, "memory_mib": process.memory_info().rss / _MIB}
        beans = httpx.get(f"{url}/read/{_BEAN}", trust_env=False).json().get("value") or {}
        for bean in beans.values():
            figures["read_ms"] = bean["ReadMs"]
        return figures


def measured(kinds: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Median, least and most of each figure, by kind of start."""
    return {
        kind: {
            figure: {
                "median": round(statistics.median(one[figure] for one in runs), 2),
                "least": round(min(one[figure] for one in runs), 2),
                "most": round(max(one[figure] for one in runs), 2),
            }
            for figure in runs[0]
        }
        for kind, runs in kinds.items()
    }


def _is_running(url: str, application_id: str) -> bool:
    reading = read_streams(url, application_id=application_id)
    return isinstance(reading, StreamsReading) and reading.state == "RUNNING"


if __name__ == "__main__":
    main()
