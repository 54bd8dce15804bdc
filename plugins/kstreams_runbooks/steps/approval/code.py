"""Content hash of the code of a run: a local DAG bundle has no version of its own."""

import hashlib
from functools import cache

from kstreams_runbooks import CHECKOUT, PACKAGE


@cache
def code_digest(dag_id: str) -> str:
    """First 16 hex digits of the SHA-256 over the package's sources, its rules and the DAG file of `dag_id`."""
    digest = hashlib.sha256()
    dag_file = CHECKOUT / "dags" / f"{dag_id}.py"
    for path in (*sorted(PACKAGE.rglob("*.py")), *sorted(PACKAGE.rglob("*.yaml")), dag_file):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
