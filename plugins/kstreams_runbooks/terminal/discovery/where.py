"""Finds the fleet that the declarations are for, and the cluster in it."""

import re
from collections.abc import Mapping
from pathlib import Path

from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import Fleet, fleet_dir, load_fleet
from kstreams_runbooks.fleet.reading import STEM
from kstreams_runbooks.model.discovery.discovery import Mark
from kstreams_runbooks.present.discovery import cluster_text
from kstreams_runbooks.terminal.discovery.new_file import create

_FOLDER = "applications"


def fleet_of(out: Path) -> Fleet:
    """The fleet whose folder of applications is `out`; a folder with another name is that of a fleet itself.

    BadInput if it is a file, or cannot be read.
    """
    try:
        is_file = out.exists() and not out.is_dir()
    except OSError as error:
        raise BadInput(f"--out {out}: cannot be read ({error.strerror}); give another folder") from None
    if is_file:
        raise BadInput(f"--out {out}: is a file (expected a folder of declarations); give a folder, it may be new")
    return load_fleet(out.parent if out.name == _FOLDER else out)


def unread_by(fleet: Fleet, out: Path) -> str:
    """What to do with declarations in a folder that no fleet loads, empty if one does."""
    used = fleet_dir().absolute()
    if out.name == _FOLDER or fleet.directory == used:
        return ""
    return (
        f"{out}: is not called {_FOLDER}, so the declarations are in {out / _FOLDER}, and no fleet loads them there; "
        f"move them to {used / _FOLDER}, and the files of {out / 'clusters'} to {used / 'clusters'}"
    )


def cluster_of(fleet: Fleet, bootstrap: str, name: str | None) -> tuple[str, Mark]:
    """The name of the cluster that has these bootstrap servers, or `name`, and its origin.

    In a fleet without a cluster the name comes from the first bootstrap server, and finds the cluster again as long
    as its connection does not exist. BadInput if the cluster is ambiguous or unknown.
    """
    if name is not None:
        if not STEM.fullmatch(name):
            raise BadInput(f"--cluster {name!r}: is not a cluster name; use letters, digits, dots, _ and -")
        return name, "given"
    servers, host = _servers(bootstrap), named_after(bootstrap)
    if not _has_clusters(fleet):
        return host, "guessed"
    found, silent = [], {}
    for cluster in sorted(fleet.clusters):
        try:
            known = _servers_of(fleet, cluster)
        except RunbookError as error:
            silent[cluster] = str(error)
            continue
        if known & servers:
            found.append(cluster)
    if len(found) == 1:
        return found[0], "given"
    if found:
        raise BadInput(f"--bootstrap {bootstrap}: {' and '.join(found)} have it; name one with --cluster")
    if host in silent:
        return host, "guessed"
    why = "".join(f"; {sentence}" for sentence in silent.values())
    raise BadInput(
        f"--bootstrap {bootstrap}: no cluster of {fleet.directory / 'clusters'} has it{why}; name one with --cluster, "
        "a new name is declared"
    )


def named_after(bootstrap: str) -> str:
    """A name for a cluster that has none: the host of its first bootstrap server."""
    first = next((server.strip() for server in bootstrap.split(",") if server.strip()), "")
    host = first.rpartition(":")[0] or first
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", host).strip("._-") or "cluster"


def declare_cluster(fleet: Fleet, name: str) -> Path | None:
    """Write the declaration of a cluster that has none; None if it has one. BadInput for a declaration with errors."""
    file = fleet.directory / "clusters" / f"{name}.yaml"
    if name not in fleet.clusters and not file.exists() and create(file, cluster_text(name)):
        return file
    load_fleet(fleet.directory).cluster(name)
    return None


def _has_clusters(fleet: Fleet) -> bool:
    """An unreadable file counts as one: its cluster is unknown."""
    folder = fleet.directory / "clusters"
    return bool(fleet.clusters) or any(problem.file.parent == folder for problem in fleet.problems)


def _servers_of(fleet: Fleet, cluster: str) -> set[str]:
    from kstreams_runbooks.terminal.logs import log_to_stderr

    log_to_stderr()
    from kstreams_runbooks.connections import kafka_config

    config: Mapping[str, object] = kafka_config(fleet.cluster(cluster).connection)
    return _servers(str(config["bootstrap.servers"]))


def _servers(text: str) -> set[str]:
    return {server.strip() for server in text.split(",") if server.strip()}
