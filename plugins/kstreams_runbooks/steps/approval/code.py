"""Content hash of the code of a run: a local DAG bundle has no version of its own."""

import hashlib
from functools import cache
from pathlib import Path

from airflow.sdk.configuration import conf

from kstreams_runbooks import CHECKOUT, PACKAGE


@cache
def code_digest(dag_id: str) -> str:
    """First 16 hex digits of the SHA-256 over the package's sources, its rules and the DAG file of `dag_id`."""
    digest = hashlib.sha256()
    own = CHECKOUT / "dags" / f"{dag_id}.py"
    # A DAG of a team's own, built from the steps of this package, is in Airflow's folder alone.
    dag_file = own if own.exists() else Path(conf.get_mandatory_value("core", "dags_folder"), own.name)
    for path in (*sorted(PACKAGE.rglob("*.py")), *sorted(PACKAGE.rglob("*.yaml")), dag_file):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
