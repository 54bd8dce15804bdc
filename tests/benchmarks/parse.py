"""How long every DAG takes to parse in a new process, with 500 declared applications."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.settings import CHECKOUT

APPLICATIONS = 500
_PARSE = """
import time
import airflow.sdk
from airflow.dag_processing.dagbag import DagBag
began = time.perf_counter()
bag = DagBag({dags!r}, bundle_name="dags")
assert bag.dags and not bag.import_errors, bag.import_errors
print("seconds", time.perf_counter() - began)
"""


def parse_seconds() -> float:
    """Seconds that a fresh dag processor spends on all files, Airflow's own start not counted."""
    with tempfile.TemporaryDirectory() as home:
        entries = Path(home) / "config" / "applications"
        entries.mkdir(parents=True)
        example = (CHECKOUT / "config" / "applications" / "orders.yaml").read_text(encoding="utf-8")
        for number in range(APPLICATIONS):
            (entries / f"application-{number}.yaml").write_text(example, encoding="utf-8")
        environment = {
            **os.environ,
            "AIRFLOW_HOME": home,
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "KSTREAMS_RUNBOOKS_CONFIG": str(Path(home) / "config"),
        }
        # A DAG processor compiles the package once, not at every parse.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", _PARSE.format(dags=str(CHECKOUT / "dags"))],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return float(next(line for line in done.stdout.splitlines() if line.startswith("seconds ")).split()[1])
