"""The code around the frames in every job's main: a session, one JSON document, and errors as one sentence.

Exit codes are those of every command here (errors.py). If Spark hides them, as a cluster that runs the driver does, the
document at `--result` has `exit_code` and `error`.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.files import replace_file
from kstreams_runbooks.frames.connect import MODE, configure, connect_mode, connected, disconnect
from kstreams_runbooks.frames.source import STARTED_WITH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA_VERSION = 1
REMOTE = "SPARK_REMOTE"


def run_job(name: str, work: Callable[[], Mapping[str, Any]], result: str | None) -> int:
    """Do the work and write its document to stdout and to `result`; returns the exit code.

    An error of our own tree is one sentence on stderr and a document with `error`; any other keeps its traceback.
    """
    try:
        target = None if result is None else result_path(result)
        if target is not None:
            # The result of an earlier try must not pass as the answer of one that dies.
            target.unlink(missing_ok=True)
    except BadInput as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    code = 0
    try:
        document = {"schema_version": SCHEMA_VERSION, **work()}
    except RunbookError as error:
        print(f"{name}: {error}", file=sys.stderr)
        code = error.exit_code
        document = {"schema_version": SCHEMA_VERSION, "exit_code": code, "error": str(error)}
    text = json.dumps(document)
    print(text, flush=True)
    if target is not None:
        _write(target, text)
    return code


def result_path(uri: str) -> Path:
    """A path or `file:` of this machine; BadInput for another scheme, or a directory, or one in no directory."""
    if not uri.strip():
        raise BadInput("--result: is empty (expected a path, or file:/path); give one, or leave it out")
    scheme, colon, rest = uri.partition(":")
    if colon and scheme.isalnum() and scheme != "file":
        raise BadInput(f"--result {uri}: {scheme} is not supported; give a path, or file:/path")
    path = Path("/" + rest.lstrip("/") if colon and scheme == "file" else uri)
    if not path.parent.is_dir():
        raise BadInput(f"--result {uri}: {path.parent} is not a directory here; create it, or give another path")
    if path.is_dir():
        raise BadInput(f"--result {uri}: is a directory; give the path of a file")
    return path


def _write(path: Path, text: str) -> None:
    """Write the file completely or not at all: a waiting reader never sees a part of it."""
    replace_file(path, f"{text}\n".encode())


@contextmanager
def opened(name: str, remote: str | None, tasks: int = 1) -> Iterator["SparkSession"]:
    """A session on the Connect server at `remote` or in SPARK_REMOTE, else the submitted one; it ends with the body.

    `tasks` merge what an aggregation leaves (`configure`).

    BadInput for a token among the arguments, where every process of the machine can read it; Unreachable if no
    server listens: pyspark would retry for ten minutes.
    """
    if remote and "token=" in remote:
        raise BadInput(f"--remote: a token is a secret; set {REMOTE} in the environment instead")
    address = remote or os.environ.get(REMOTE)
    if address:
        with connect_mode():
            session = connected(address, tasks)
            try:
                yield session
            finally:
                disconnect(session, address)
        return
    # Inherited from a process that counts over Connect: the presence of either makes pyspark ask for a server.
    for variable in (MODE, REMOTE):
        os.environ.pop(variable, None)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName(name).config(map=dict(STARTED_WITH)).getOrCreate()
    try:
        configure(session, tasks)
        yield session
    finally:
        session.stop()
