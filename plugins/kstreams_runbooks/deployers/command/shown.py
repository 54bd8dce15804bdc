"""What a team's commands show: its instances, and the topology of a release. Each answer is checked."""

import json
import time
from collections.abc import Mapping

from kstreams_runbooks.deployers.command.contract import (
    DescribedTopology,
    InstancesDocument,
    deployment_of,
    parsed,
)
from kstreams_runbooks.deployers.printed import PrintedTopology, printed_topology
from kstreams_runbooks.deployers.scripts import end_of_log, run_script
from kstreams_runbooks.deployers.settable import require_shown
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError
from kstreams_runbooks.fleet.deployers.command import Command
from kstreams_runbooks.fleet.deployers.environment import CommandEnvironment
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.readings.readings import Deployment, Taken
from kstreams_runbooks.model.target import RunbookSettings, Target


def look(
    command: Command,
    instances: tuple[str, ...],
    application_id: str,
    settable: frozenset[str],
    source: str,
    environment: CommandEnvironment,
) -> tuple[Deployment, ...]:
    """The `instances` in the output of an instances command, in their order; Inconclusive if it breaks the contract."""
    text = run_script(application_id, "instances", command, {"application_id": application_id}, environment)
    document = parsed(text, InstancesDocument, f"{application_id}: instances ({printable(command.run[0])})")
    printed, taken = {one.instance: one for one in document.instances}, taken_now(source, command)
    return tuple(deployment_of(printed[name], taken, settable) for name in instances if name in printed)


def topology_of(
    command: Command | None,
    target: Target,
    releases: Mapping[str, str],
    application_id: str,
    environment: CommandEnvironment,
) -> PrintedTopology:
    """The topology that a command prints; BadInput if none is declared or the release is unknown.

    The command gets the release, and the settings if it has the placeholder for them.
    """
    release = target.release
    known_release(release, releases)
    if command is None:
        raise BadInput(
            f"topology of {release} cannot be read: no topology command is declared; declare deployer.commands.topology"
        )
    require_shown(target)
    values = {
        "application_id": application_id,
        "release": release,
        "artifact": releases[release],
        "settings": as_json(target.settings),
    }
    text = run_script(application_id, "topology", command, values, environment)
    who = f"{application_id}: topology ({printable(command.run[0])})"
    document = parsed(text, DescribedTopology, who)
    if document.release != release:
        raise Inconclusive(f"topology of {release}: the command printed that of {document.release}; correct it")
    printed = printed_topology(document.topology, who)
    if printed is None:
        raise Inconclusive(f"{who} printed neither a description nor facts; correct it")
    return printed


def log_end_of(command: Command | None, instance: str, application_id: str, environment: CommandEnvironment) -> str:
    """What the log that a command prints ends with; empty if none is declared or it fails."""
    if command is None:
        return ""
    try:
        values = {"application_id": application_id, "instance": instance}
        return end_of_log(run_script(instance, "log", command, values, environment))
    except RunbookError:
        return ""


def takes_settings(topology: Command | None) -> bool:
    """Whether a topology command gets the settings that a runbook sets."""
    return topology is not None and topology.takes("settings")


def known_release(release: str, releases: Mapping[str, str]) -> None:
    """BadInput if the release is not declared."""
    if release not in releases:
        raise BadInput(f"release {release!r} is not declared (declared: {', '.join(releases)})")


def as_json(settings: RunbookSettings) -> str:
    """Settings as a command gets them."""
    return json.dumps(dict(settings), sort_keys=True, separators=(",", ":"))


def taken_now(source: str, command: Command) -> Taken:
    """The time of a reading, and the command that it is of."""
    return Taken(time.time_ns() // 1_000_000, f"{source} {printable(command.run[0])}")
