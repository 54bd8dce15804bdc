"""Content hash of what a run executes: a local DAG bundle has no version of its own."""

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def code_digest(dag_id: str) -> str:
    """First 16 hex digits of the SHA-256 over the package's sources, its rules and the DAG file of `dag_id`."""
    digest = hashlib.sha256()
    dag_file = _PACKAGE.parents[1] / "dags" / f"{dag_id}.py"
    for path in (*sorted(_PACKAGE.rglob("*.py")), *sorted(_PACKAGE.rglob("*.yaml")), dag_file):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
