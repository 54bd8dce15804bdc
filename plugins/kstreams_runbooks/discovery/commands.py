"""`discover` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.errors import BadInput

if TYPE_CHECKING:
    from kstreams_runbooks.discovery.report import Declared, Report
    from kstreams_runbooks.fleet import Fleet
    from kstreams_runbooks.model.discovery import Found, Given


@click.command(
    "discover",
    epilog="Example: kstreams-runbooks discover --bootstrap kafka-1:9092 --cluster production --owner team-orders "
    "--approver ada --approver linus",
)
@click.option("--bootstrap", metavar="HOST:PORT,…", help="Brokers to start from, unless --command-config has them.")
@click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Properties of a Java client: how to log in, as Kafka's own tools take it.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of declarations.  [default: applications of the fleet]"
)
@click.option(
    "--cluster", metavar="NAME", help="The cluster's name in the fleet.  [default: the one with this bootstrap]"
)
@click.option(
    "--jolokia-port",
    "ports",
    type=click.IntRange(1, 65535),
    multiple=True,
    default=(8778,),
    show_default=True,
    help="Where Jolokia is tried on the hosts of a group's members; repeatable.",
)
@click.option("--owner", help="Team that answers for what is found.")
@click.option("--operator", "operators", multiple=True, help="Login that may trigger runs; repeatable.")
@click.option("--approver", "approvers", multiple=True, help="Login that may approve; repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def discover_command(
    bootstrap: str | None,
    command_config: Path | None,
    out: Path | None,
    cluster: str | None,
    ports: tuple[int, ...],
    owner: str | None,
    operators: tuple[str, ...],
    approvers: tuple[str, ...],
    form: str,
) -> None:
    """Write a declaration of every Kafka Streams application that a cluster has, as far as it can be seen.

    Reads groups, topics, offsets and Jolokia and changes nothing on the cluster; no file is ever overwritten. Each
    field of a declaration is marked observed, guessed or unknown; docs/discover.md says how each is found.

    Exit codes: 0 every application found has a declaration that loads; 1 a person has to look (a group that is perhaps
    an application, a file that was left alone or lacks something); 2 bad input; 3 a group could not be read; 4 the
    broker does not answer, and nothing was written.
    """
    from kstreams_runbooks.discovery.report import as_text, document, told
    from kstreams_runbooks.discovery.where import cluster_of, fleet_of
    from kstreams_runbooks.fleet import fleet_dir
    from kstreams_runbooks.model.discovery import Given
    from kstreams_runbooks.rules import upgrade_path_rules

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, force=True)
    config = _config(bootstrap, command_config)
    fleet = fleet_of((out or fleet_dir() / "applications").absolute())
    newest = str(upgrade_path_rules().releases[-1])
    name = cluster_of(fleet, config["bootstrap.servers"], cluster)
    report = _discovered(config, fleet, Given(name, newest, ports, owner, operators, approvers))
    for line in told(report):
        click.echo(line, err=True)
    click.echo(json.dumps(document(report), indent=2) if form == "json" else "\n".join(as_text(report)))
    sys.exit(report.exit_code)


def _config(bootstrap: str | None, command_config: Path | None) -> dict[str, Any]:
    from kstreams_runbooks.observe.command_config import read_command_config

    config: dict[str, Any] = {} if command_config is None else read_command_config(command_config)
    if bootstrap:
        config["bootstrap.servers"] = bootstrap
    if not config.get("bootstrap.servers"):
        raise BadInput("no bootstrap.servers; give --bootstrap, or set it in the file of --command-config")
    return config


def _discovered(config: dict[str, Any], fleet: "Fleet", given: "Given") -> "Report":
    """Read all of it, and only then write."""
    from kstreams_runbooks.decide.sighting import sighted
    from kstreams_runbooks.discovery.report import Report
    from kstreams_runbooks.discovery.where import declare_cluster
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.discovered import read_found, read_signs

    with ClusterReader(config) as reader:
        sightings = [sighted(one) for one in read_signs(reader)]
        found = read_found(reader, [one.signs for one in sightings if one.kind == "application"], given.ports)
    if new := declare_cluster(fleet, given.cluster) if found else None:
        click.echo(f"{new}: written; create the Airflow connection that it names", err=True)
    declared = tuple(_declared(one, fleet, given) for one in found)
    return Report(
        given.cluster, _checked(declared, fleet), tuple(one for one in sightings if one.kind != "application")
    )


def _declared(found: "Found", fleet: "Fleet", given: "Given") -> "Declared":
    from kstreams_runbooks.decide.draft import draft
    from kstreams_runbooks.discovery.declaration_text import declaration_text
    from kstreams_runbooks.discovery.new_file import create
    from kstreams_runbooks.discovery.report import Declared

    made = draft(found, given)
    folder = fleet.directory / "applications"
    for one in fleet.applications.values():
        if (one.application_id, one.cluster) == (found.signs.group_id, given.cluster):
            return Declared(found, made, folder / f"{one.name}.yaml", "declared already")
    file = folder / f"{made.name}.yaml"
    if create(file, declaration_text(made, f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")):
        return Declared(found, made, file, "written")
    bad = made.name in fleet.disabled
    why = "the fleet cannot load it" if bad else "a file of that name declares another application"
    return Declared(found, made, file, "left alone", why)


def _checked(declared: tuple["Declared", ...], fleet: "Fleet") -> tuple["Declared", ...]:
    """The same with what is wrong with each file, as the fleet says it."""
    from dataclasses import replace

    from kstreams_runbooks.fleet import load_fleet

    problems = load_fleet(fleet.directory).problems
    return tuple(
        replace(one, problems=tuple(str(each) for each in problems if each.file == one.file)) for one in declared
    )
