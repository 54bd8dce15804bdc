"""`defects` for the terminal: JSON on stdout alone, everything else on stderr."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.release import Release

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    "defects", epilog="Example: kstreams-runbooks defects --from 3.4.1 --to 4.4.0 --topology facts.yaml --broker 4.3"
)
@click.option("--from", "running", metavar="V", help="Running Kafka Streams release, such as 3.4.1.")
@click.option("--to", "target", metavar="V", help="Target release, newer or older; without it the answer is for V.")
@click.option("--broker", metavar="V", help="Release of the brokers, such as 4.3.")
@click.option("--topology", type=_FILE, metavar="FILE", help="Topology#describe of the application, or its facts.")
@click.option("--declaration", type=_FILE, metavar="FILE", help="Its declaration, next to its description: YAML.")
@click.option("--config", type=_FILE, metavar="FILE", help="Its settings: a Java properties file.")
@click.option("--page", is_flag=True, help="Print every row as Markdown (docs/defects.md) and nothing else.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def defects_command(running: str | None, target: str | None, form: str, *, page: bool, **given: Any) -> None:
    """Show the known defects of one release, or of the way to another one, that bite an application.

    What is not known of the application keeps a defect, as one that may apply: the files show it (docs/facts.md).

    Exit codes: 0 no known defect bites, 1 at least one does, 2 bad input, 3 none is certain, and some may apply.
    """
    from kstreams_runbooks.decide.releases.defects import defect_findings
    from kstreams_runbooks.decide.releases.rules import check_release
    from kstreams_runbooks.present.defects import as_text, document, exit_code, whole_page
    from kstreams_runbooks.rules import upgrade_path_rules
    from kstreams_runbooks.terminal.columns import columns

    rules = upgrade_path_rules()
    if page:
        click.echo(whole_page(rules), nl=False)
        return
    if running is None:
        raise BadInput("--from: is not given (expected: the running Kafka Streams release, such as 3.4.1); give it")
    runs, wanted = Release.parse(running), None if target is None else Release.parse(target)
    for release in filter(None, (runs, wanted)):
        check_release(release, rules)
    broker = None if given["broker"] is None else Release.parse(given["broker"])
    found = tuple(defect_findings(runs, wanted, _facts(given), rules, broker))
    if form == "json":
        click.echo(json.dumps(document(runs, wanted, found), indent=2))
    else:
        click.echo(as_text(runs, wanted, found, columns()))
    sys.exit(exit_code(found))


def _facts(given: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """What the files show of the application; nothing without one."""
    from kstreams_runbooks.decide.change.defects import program_facts
    from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side

    files = {name: given[name] for name in ("topology", "declaration", "config")}
    if files["topology"] is None:
        if named := [f"--{name}" for name, path in files.items() if path is not None]:
            raise BadInput(f"{', '.join(named)}: belongs to a topology, and none is given; add --topology")
        return {}
    return program_facts(read_side(SideFiles(**files)))
