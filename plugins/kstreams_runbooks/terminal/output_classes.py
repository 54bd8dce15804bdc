"""`outputs` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kstreams_runbooks.errors import BadInput

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Application, Fleet
    from kstreams_runbooks.model.output_classes import OutputClass

_EPILOG = """\b
Examples:
  kstreams-runbooks outputs orders                                 the version that runs
  kstreams-runbooks outputs orders --release 4.3.1
  kstreams-runbooks outputs orders --topology app.facts.yaml --format markdown
"""
FILE = click.Path(dir_okay=False, path_type=Path, allow_dash=True)


@click.command("outputs", epilog=_EPILOG)
@click.argument("application")
@click.option("--release", metavar="NAME", help="A declared release, as its topology command prints it.")
@click.option("--topology", type=FILE, metavar="FILE", help="Topology#describe of a version, or its facts.")
@click.option("--declaration", type=FILE, metavar="FILE", help="Its declaration: what its description leaves out.")
@click.option("--config", type=FILE, metavar="FILE", help="Its settings: a Java properties file.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def outputs_command(
    application: str,
    release: str | None,
    topology: Path | None,
    declaration: Path | None,
    config: Path | None,
    form: str,
) -> None:
    """Show the class of each output of APPLICATION: what two sides that read the same inputs have in common in it.

    exact: the last value of each key is the same. exact without fields: all but the fields that the last writer decides
    (output_semantics in the fleet entry). late-sensitive: windows, graces and joins of a stream with a table. paced by
    wall clock: left and outer joins of streams, results on window close, punctuators. not comparable: code of the
    program that is not declared. It changes nothing.

    Exit codes: 0 all are known, 1 a declaration contradicts the facts, 2 bad input, 3 a class is not known: the output
    names the fields, 4 unreachable.
    """
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.output_classes import as_markdown, as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr

    for name, file in {"--declaration": declaration, "--config": config}.items():
        if file is not None and topology is None:
            raise BadInput(f"{name}: belongs to --topology; give that file, or leave it out")
    if release is not None and topology is not None:
        raise BadInput("--release: --topology has the version; leave one of them out")
    log_to_stderr()
    fleet = load_fleet()
    files = None if topology is None else (topology, declaration, config)
    classes = classes_of(fleet, fleet.application(application), files, release)
    if form == "json":
        click.echo(json.dumps(document(application, classes), indent=2))
    else:
        click.echo(as_markdown(classes) if form == "markdown" else as_text(application, classes), nl=form == "text")
    sys.exit(exit_code(classes))


def classes_of(
    fleet: "Fleet",
    entry: "Application",
    files: "tuple[Path, Path | None, Path | None] | None" = None,
    release: str | None = None,
) -> "tuple[OutputClass, ...]":
    """The classes of a version, by its files (topology, declaration, settings), its release, or as it runs."""
    from kstreams_runbooks.decide.outputs.classes import output_classes
    from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
    from kstreams_runbooks.watch.internal_topics import released_side, running_side

    if files is not None:
        side = read_side(SideFiles(*files))
    elif release is not None:
        side = released_side(entry, release)
    else:
        side = running_side(fleet, entry)
    declared = entry.declared()
    return output_classes(side, {one.topic: one for one in declared.output_semantics}, declared.punctuators)
