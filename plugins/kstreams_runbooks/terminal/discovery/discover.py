"""`discover` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import sentence

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Fleet
    from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Found
    from kstreams_runbooks.present.discovery import DraftedEntry, Report

# Longest file name without `.yaml`; an application.id may be nearly as long.
_LONGEST = 250


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
    help="Properties of a Java client with the login, as for Kafka's own tools.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder `applications` of a fleet, which may be new; one of another name gets an `applications` and a "
    "`clusters` of its own, to be moved into a fleet.  [default: applications of the fleet]",
)
@click.option(
    "--cluster",
    metavar="NAME",
    help="The cluster's name in the fleet.  [default: the one with this bootstrap; in a new fleet, the first server's "
    "host]",
)
@click.option(
    "--jolokia-port",
    "ports",
    type=click.IntRange(1, 65535),
    multiple=True,
    default=(8778,),
    show_default=True,
    help="Port of Jolokia on the hosts of a group's members; repeatable.",
)
@click.option("--owner", help="Team that owns the applications.")
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
    """Write a declaration of every Kafka Streams application of a cluster, as far as it can be observed.

    Reads groups, topics, offsets and Jolokia and changes nothing on the cluster; no file is ever overwritten. Each
    field of a declaration is marked observed, guessed or unknown; docs/discover.md explains how each is found.

    Exit codes: 0 every application found has a declaration that loads; 1 a person must check (a group that may be an
    application, a file that was kept or is incomplete); 2 bad input; 3 a group could not be read, or this
    login may not see every group; 4 the broker does not answer, and nothing was written.
    """
    from kstreams_runbooks.fleet import fleet_dir
    from kstreams_runbooks.model.discovery.discovery import DiscoverOptions
    from kstreams_runbooks.present.discovery import as_text, document, notices
    from kstreams_runbooks.rules import upgrade_path_rules
    from kstreams_runbooks.terminal.discovery.where import cluster_of, fleet_of, unread_by

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, force=True)
    config = _config(bootstrap, command_config)
    folder = (out or fleet_dir() / "applications").absolute()
    fleet = fleet_of(folder)
    newest = str(upgrade_path_rules().releases[-1])
    name, mark = cluster_of(fleet, config["bootstrap.servers"], cluster)
    if mark == "guessed":
        click.echo(f"cluster: named {name} after its first bootstrap server; --cluster gives it another name", err=True)
    report = _discovered(config, fleet, DiscoverOptions(name, newest, ports, owner, operators, approvers, mark))
    for line in notices(report):
        click.echo(sentence(line), err=True)
    if report.applications and (what_to_do := unread_by(fleet, folder)):
        click.echo(sentence(what_to_do), err=True)
    click.echo(json.dumps(document(report), indent=2) if form == "json" else "\n".join(map(sentence, as_text(report))))
    sys.exit(report.exit_code)


def _config(bootstrap: str | None, command_config: Path | None) -> dict[str, Any]:
    from kstreams_runbooks.model.address import kafka_servers
    from kstreams_runbooks.observe.login.command_config import read_command_config

    config: dict[str, Any] = {} if command_config is None else read_command_config(command_config)
    if bootstrap is not None:
        config["bootstrap.servers"] = bootstrap
    if not config.get("bootstrap.servers"):
        raise BadInput("no bootstrap.servers; give --bootstrap, or set it in the file of --command-config")
    where = f"--command-config {command_config}: bootstrap.servers" if bootstrap is None else "--bootstrap"
    kafka_servers(config["bootstrap.servers"], where)
    return config


def _discovered(config: dict[str, Any], fleet: "Fleet", given: "DiscoverOptions") -> "Report":
    """Read everything, then write."""
    from kstreams_runbooks.decide.discovery.sighting import sighted
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.application.discovered import read_found, read_not_seen, read_signs
    from kstreams_runbooks.present.discovery import Report
    from kstreams_runbooks.terminal.discovery.where import declare_cluster

    with ClusterReader(config) as reader:
        not_seen = read_not_seen(reader)
        sightings = [sighted(one) for one in read_signs(reader)]
        found = read_found(reader, [one.signs for one in sightings if one.kind == "application"], given.ports)
    if new := declare_cluster(fleet, given.cluster) if found else None:
        click.echo(f"{new}: written; create the Airflow connection that it names", err=True)
    declared = tuple(declared_in(one, fleet, given) for one in found)
    others = tuple(one for one in sightings if one.kind != "application")
    return Report(given.cluster, _checked(declared, fleet), others, not_seen)


def declared_in(found: "Found", fleet: "Fleet", given: "DiscoverOptions") -> "DraftedEntry":
    """The outcome for one application: declared already, written, or kept with the reason."""
    from kstreams_runbooks.decide.discovery.draft import draft
    from kstreams_runbooks.present.discovery import DraftedEntry, declaration_text
    from kstreams_runbooks.terminal.discovery.new_file import create

    made = draft(found, given)
    folder = fleet.directory / "applications"
    for one in fleet.entries.values():
        if (one.application_id, one.cluster) == (found.signs.group_id, given.cluster):
            return DraftedEntry(found, made, folder / f"{one.name}.yaml", "declared already")
    text = declaration_text(made, f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    # The same application.id may be on several clusters.
    names = [one for one in (made.name, f"{made.name}-{given.cluster}") if len(one) <= _LONGEST]
    for name in names:
        file = folder / f"{name}.yaml"
        if create(file, text):
            return DraftedEntry(found, made, file, "written", declarations=_releases_in(found, file.with_suffix("")))
        if name in fleet.disabled:
            # The file may be this application's and only incomplete: a second one would be a duplicate.
            return DraftedEntry(found, made, file, "left alone", "the fleet cannot load it")
    return DraftedEntry(found, made, file, "left alone", f"{' and '.join(names)} declare other applications")


def _releases_in(found: "Found", folder: Path) -> tuple[Path, ...]:
    """The declarations that were written for the releases whose facts were read."""
    from kstreams_runbooks.decide.discovery.found_facts import found_facts
    from kstreams_runbooks.present.read_declaration import read_declaration
    from kstreams_runbooks.terminal.discovery.new_file import create

    texts = {
        folder / f"{release}.yaml": read_declaration(found.signs.group_id, release, read)
        for release, read in found_facts(found).items()
    }
    return tuple(file for file, text in texts.items() if create(file, text))


def _checked(declared: tuple["DraftedEntry", ...], fleet: "Fleet") -> tuple["DraftedEntry", ...]:
    """The same with the problems of each file, as the fleet reports them."""
    from dataclasses import replace

    from kstreams_runbooks.fleet import load_fleet

    problems = load_fleet(fleet.directory).problems
    return tuple(
        replace(one, problems=tuple(str(each) for each in problems if each.file in {one.file, *one.declarations}))
        for one in declared
    )
