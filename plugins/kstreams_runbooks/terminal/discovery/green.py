"""`declare-green`: the fleet entry of an application that starts next to another one."""

import sys
from typing import Any

import click
import yaml

from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.wording import sentence


@click.command(
    "declare-green", epilog="Example: kstreams-runbooks declare-green orders --application-id orders-v2 --write"
)
@click.argument("blue")
@click.option("--name", default="", help="Name of its file.  [default: BLUE-green, or the next free one]")
@click.option("--application-id", default="", help="Its application.id.  [default: that of BLUE with -green]")
@click.option("--write", is_flag=True, help="Write the file into the fleet; without it the entry is only printed.")
def declare_green_command(blue: str, name: str, application_id: str, *, write: bool) -> None:
    """Print the fleet entry of an application that starts next to BLUE and writes outputs of its own.

    Each field is marked observed (as in the entry of BLUE), guessed or unknown (docs/blue_green_start.md). With --write
    what BLUE declares of its releases is written for it too. No file is ever overwritten.

    Exit codes: 0 printed or written, 1 refused, 2 bad input.
    """
    from kstreams_runbooks.decide.discovery.green_entry import TakenNames, green_entry, green_release
    from kstreams_runbooks.decide.plans.green import start_command
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.discovery import green_text
    from kstreams_runbooks.terminal.discovery.new_file import create

    fleet = load_fleet()
    entry = fleet.application(blue)
    if entry.copies:
        raise BadInput(f"application {blue}: is a copier (expected an application behind one); name that")
    near = [one for one in fleet.entries.values() if one.cluster == entry.cluster]
    topics = {topic for one in near for topic in (*one.inputs, *one.outputs, *one.control, *one.rule_topics)}
    taken = TakenNames(
        {*fleet.entries, *fleet.disabled},
        {one.application_id for one in near},
        topics,
        [one.name for one in near if one.green_of == blue],
    )
    folder = fleet.directory / "applications"
    draft = green_entry(_written(folder / f"{blue}.yaml"), entry.declared(), taken, name, application_id)
    text = green_text(draft, blue)
    if not write:
        click.echo(text, nl=False)
    else:
        file = folder / f"{draft.name}.yaml"
        if not create(file, text):
            raise Refused(f"{file}: exists (expected a new file); give another --name")
        click.echo(str(file))
        for release in sorted((folder / blue).glob("*.yaml")):
            own = folder / draft.name / release.name
            made = green_release(_written(release), entry.application_id, draft)
            if create(own, yaml.safe_dump(made, sort_keys=False)):
                click.echo(str(own))
    click.echo(
        sentence(
            "correct what is guessed or unknown, deploy it without starting it, then look at a dry run: "
            f"{start_command(draft.name)}"
        ),
        err=True,
    )
    sys.exit(0)


def _written(file: Any) -> dict[str, Any]:
    """The file as it is written: names of the environment stay names."""
    from kstreams_runbooks.documents.text import read_text
    from kstreams_runbooks.documents.yaml_document import yaml_document

    found = yaml_document(read_text(file))
    if not isinstance(found, dict):
        raise BadInput(f"{file}: is not a mapping (expected a declaration); correct it")
    return found
