"""Committed offsets as plain files, usable when the ledger and Airflow are gone: written before a run replaces them."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.files import create_file
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.writes import SavedFile, SavedOffsets
from kstreams_runbooks.observe.kafka.clients import bootstrap
from kstreams_runbooks.observe.kafka.partition_time import partition_time
from kstreams_runbooks.wording import outside, pasted

ENVIRONMENT = "KSTREAMS_RUNBOOKS_SAVED_OFFSETS"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60
_DIGITS = 8
# More saves of one group by one run than any rerun makes.
_MOST = 1_000
_TOOL = "kafka-consumer-groups.sh"
# The file with the login; this project never writes one that outlives a step.
_LOGIN = "client.properties"
_NO_LOGIN = {"", "PLAINTEXT"}


def saved_offsets_dir(given: str | None = None) -> Path:
    """The directory of saved offsets: `given`, else the environment's, else one in Airflow's home."""
    if named := given or os.environ.get(ENVIRONMENT):
        return Path(named).absolute()
    home = Path(os.environ.get("AIRFLOW_HOME") or Path.home() / "airflow")
    return home.absolute() / "saved_offsets"


def save_offsets(
    saved: SavedOffsets, *, run_key: str, cluster: str, config: Mapping[str, Any], directory: Path | None = None
) -> SavedFile:
    """Write the offsets as the CSV of Kafka's own tool, and notes with its command, metadata and leader epochs.

    An existing file is never replaced: the same offsets, saved again by a rerun, keep it, other offsets get the next
    number. WriteRefused if they cannot be written; then nothing may be changed.
    """
    where = saved_offsets_dir() if directory is None else directory
    data = _csv(saved)
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _written(where, _stem(saved.group_id, run_key, cluster), data)
        command = _command(saved.group_id, path, config) if saved.offsets else ""
        notes = path.with_suffix(".txt")
        create_file(notes, "\n".join((*_notes(saved, run_key, cluster, command), "")).encode())
    except OSError as error:
        raise WriteRefused(
            f"offsets of group {saved.group_id} are not saved: {where}: {error.strerror or error}; set {ENVIRONMENT} "
            "to a directory that every worker can write to; nothing was changed"
        ) from None
    return SavedFile(str(path), str(notes), command)


def _csv(saved: SavedOffsets) -> bytes:
    # The tool takes no comment and no heading. A topic's name has no comma and no quote.
    return "".join(f"{one.topic},{one.partition},{one.offset}\n" for one in saved.offsets).encode()


def _stem(group_id: str, run_key: str, cluster: str) -> str:
    """A name for a person, and a digest: two ids may differ only in characters that no file name should have."""
    digest = hashlib.sha256(json.dumps([cluster, run_key, group_id]).encode()).hexdigest()[:_DIGITS]
    shown = (_UNSAFE.sub("_", part)[:_LONGEST] for part in (cluster, group_id, run_key))
    return "-".join((*shown, digest)).lstrip(".-")


def _written(where: Path, stem: str, data: bytes) -> Path:
    """The file with this data: a new one, or the one that has it already."""
    for number in range(1, _MOST):
        path = where / (f"{stem}.csv" if number == 1 else f"{stem}.{number}.csv")
        if create_file(path, data) or (path.is_file() and not path.is_symlink() and path.read_bytes() == data):
            return path
    raise OSError(0, f"{_MOST:,} files of this run are there", str(where))


def _command(group_id: str, path: Path, config: Mapping[str, Any]) -> str:
    """The command with which Kafka's own tool restores the offsets."""
    secured = str(config.get("security.protocol", "")).upper() not in _NO_LOGIN
    login = ("--command-config", _LOGIN) if secured else ()
    group = ("--group", group_id, "--reset-offsets", "--from-file", str(path), "--execute")
    return pasted((_TOOL, "--bootstrap-server", bootstrap(config), *login, *group))


def _notes(saved: SavedOffsets, run_key: str, cluster: str, command: str) -> Iterator[str]:
    group = outside(saved.group_id)
    yield f"# Offsets of group {group} on cluster {cluster} at {utc_second(saved.at_ms)},"
    yield f"# before run {outside(run_key)} changed them."
    if not command:
        yield "# The group had committed none: to go back, delete what is committed now (--delete-offsets)."
        return
    yield "# Stop every member of the group, then restore them with Kafka's own tool:"
    yield command
    if _LOGIN in command:
        yield f"# {_LOGIN}: a file with the login (security.protocol, sasl.jaas.config, ...)."
    yield "# The tool exits with 0 even if it fails. It has worked if it prints a line for each partition."
    yield "# An offset that is no longer in the log is set to the nearest one that is; a warning names it."
    yield "# A partition that is not in the list had no offset: if it has one now, delete it (--delete-offsets)."
    yield "# The tool restores no metadata and no leader epoch. Kafka Streams keeps its stream time in the metadata:"
    yield "# without it, late records may be counted that it would have dropped."
    yield "topic,partition,offset,leader_epoch,stream_time,metadata"
    for one in saved.offsets:
        time = partition_time(one.metadata)
        shown = "" if time is None else utc_second(time)
        yield f"{one.topic},{one.partition},{one.offset},{one.leader_epoch},{shown},{json.dumps(one.metadata)}"
