"""`internal-topics` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
from pathlib import Path

import click

from kstreams_runbooks.errors import BadInput

_EPILOG = """\b
Examples:
  kstreams-runbooks internal-topics orders                          the version that runs
  kstreams-runbooks internal-topics orders --release 4.3.1 --create a release, with the commands that create its topics
  kstreams-runbooks internal-topics orders --topology app.facts.yaml
  kstreams-runbooks internal-topics --cluster demo --topology app.facts.yaml
"""
_FILE = click.Path(dir_okay=False, path_type=Path, allow_dash=True)


@click.command("internal-topics", epilog=_EPILOG)
@click.argument("application", required=False)
@click.option("--release", metavar="NAME", help="A declared release, as its topology command prints it.")
@click.option("--topology", type=_FILE, metavar="FILE", help="Topology#describe of a version, or its facts.")
@click.option("--declaration", type=_FILE, metavar="FILE", help="Its declaration: what its description leaves out.")
@click.option("--config", type=_FILE, metavar="FILE", help="Its settings: a Java properties file.")
@click.option("--version", "library", metavar="RELEASE", help="Its Kafka Streams release, such as 4.3.1.")
@click.option("--cluster", metavar="NAME", help="Without APPLICATION: the cluster; its id is that of the settings.")
@click.option("--create", is_flag=True, help="Print what to create, checked by the controller; it creates nothing.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def internal_topics_command(
    application: str | None,
    release: str | None,
    topology: Path | None,
    declaration: Path | None,
    config: Path | None,
    library: str | None,
    cluster: str | None,
    create: bool,
    form: str,
) -> None:
    """Show the internal topics of APPLICATION as Kafka Streams makes them, next to those of the cluster.

    Names, numbers of partitions, replicas and settings follow from the topology, its facts and the inputs on the
    cluster. Without --release and --topology it is the version that runs. It changes nothing.

    Exit codes: 0 all are there, 1 a topic is missing or differs, 2 bad input, 3 a fact or a topic is not known, 4
    unreachable.
    """
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.internal_topics import as_text, document, exit_code
    from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.internal_topics import (
        judged_internal_topics,
        owner_of,
        released_side,
        running_side,
        undeclared,
    )

    _check(application, release, topology, cluster, {"--declaration": declaration, "--config": config})
    if topology is None and library is not None:
        raise BadInput("--version: belongs to --topology; give the file, or leave it out")
    log_to_stderr()
    fleet = load_fleet()
    entry = None if application is None else fleet.application(application)
    if topology is not None:
        side = read_side(SideFiles(topology, declaration, config, library))
    elif entry is not None and release is not None:
        side = released_side(entry, release)
    elif entry is not None:
        side = running_side(fleet, entry)
    else:
        raise BadInput("internal-topics: give APPLICATION, or --cluster with --topology")
    whose = undeclared(side, cluster or "") if entry is None else owner_of(entry, side)
    found = judged_internal_topics(fleet, whose, side, check=create)
    about = {"application": whose.name, "cluster": whose.cluster}
    asked = found.create if create else None
    parts = (about, found.wanted, found.answer, asked, found.refused)
    click.echo(json.dumps(document(*parts), indent=2) if form == "json" else as_text(*parts))
    sys.exit(exit_code(found.answer, found.refused))


def _check(
    application: str | None,
    release: str | None,
    topology: Path | None,
    cluster: str | None,
    of_a_file: dict[str, Path | None],
) -> None:
    if application is None and (cluster is None or topology is None):
        raise BadInput("internal-topics: give APPLICATION, or --cluster with --topology")
    if application is not None and cluster is not None:
        raise BadInput(f"--cluster {cluster}: the cluster is that of {application}; leave one of them out")
    if release is not None and (topology is not None or application is None):
        raise BadInput(f"--release {release}: belongs to APPLICATION without --topology; leave one of them out")
    for name, file in of_a_file.items():
        if file is not None and topology is None:
            raise BadInput(f"{name}: belongs to --topology; give that file, or leave it out")
    if topology is not None and [str(topology), *map(str, of_a_file.values())].count("-") > 1:
        raise BadInput("stdin: cannot be two of the files; give a file for one of them")
