"""DAG tests: Airflow's settings have to stand in the environment before it is imported."""

import os
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))
os.environ["AIRFLOW__CORE__DAGS_FOLDER"] = str(CHECKOUT / "dags")
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(CHECKOUT / "plugins")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
