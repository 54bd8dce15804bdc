"""`lint`, `diagram`, `declare` and the page of rules: the answer on stdout alone, everything else on stderr."""

import json
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.terminal.change.plan import side_options, stated_options
from kstreams_runbooks.terminal.columns import columns
from kstreams_runbooks.wording import sentence

SCHEMA_VERSION: Final = 1
_WIDTH = 110
_FILE = click.Path(dir_okay=False, path_type=Path, allow_dash=True)


@click.command("lint", epilog="Example: kstreams-runbooks lint topology.txt --declaration declared.yaml")
@click.argument("topology", type=_FILE)
@click.option("--optimization", metavar="VALUE", help="Value of topology.optimization, such as all.")
@click.option("--declaration", type=_FILE, metavar="FILE", help="Its declaration: value formats are checked as well.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def lint_command(topology: Path, optimization: str | None, declaration: Path | None, form: str) -> None:
    """List the names in TOPOLOGY (the text of Topology#describe or its facts, - for stdin) that a change can shift.

    With --declaration it also lists the value formats of stores and topics that have no version, and whether there are
    more stream threads than tasks.

    Exit codes: 0 everything persistent has a chosen name, 1 something has a generated one or a format has no version, 2
    bad input.
    """
    from kstreams_runbooks.decide.topology.lint import lint, unversioned
    from kstreams_runbooks.terminal.change.inputs import SideFiles, read_given, side_of

    if str(topology) == str(declaration) == "-":
        raise BadInput("stdin: cannot be both topology and declaration; give a file for one of them")
    given = read_given(topology)
    side = side_of(given, SideFiles(topology, declaration))
    read = None if given.facts is None else given.facts.read
    declared = (side.declared.config or {}).get("topology.optimization")
    idle = () if side.parallelism is None else side.parallelism.finding("the application")
    findings = (*unversioned(side.topology, side.declared, read), *lint(side.topology, optimization or declared), *idle)
    warned = any(finding.severity == "warning" for finding in findings)
    if form == "json":
        document = {
            "schema_version": SCHEMA_VERSION,
            "ok": not warned,
            "findings": [asdict(one) for one in findings],
        }
        click.echo(json.dumps(document, indent=2))
    else:
        for finding in findings:
            text = sentence(f"{finding.severity:8} {finding.id}: {finding.message} [{finding.source}]")
            click.echo(textwrap.fill(text, min(_WIDTH, columns() or _WIDTH), subsequent_indent=" " * 9))
        if not warned:
            click.echo("ok       everything persistent has a chosen name")
    sys.exit(1 if warned else 0)


@click.command("diagram", epilog="Example: kstreams-runbooks diagram old.txt --compare new.txt > change.mmd")
@click.argument("topology", type=_FILE)
@click.option("--compare", "other", type=_FILE, metavar="NEW", help="Another description; changes are marked.")
def diagram_command(topology: Path, other: Path | None) -> None:
    """Print TOPOLOGY (the text of Topology#describe or its facts, - for stdin) as Mermaid text.

    Subtopologies are groups; stores, internal topics and topics of others look different. With --compare additions are
    green, removals are red, and a part that is only renamed has both colours.
    """
    from kstreams_runbooks.present.diagram import mermaid
    from kstreams_runbooks.terminal.change.inputs import read_topology

    if str(topology) == str(other) == "-":
        raise BadInput("stdin: cannot be both topologies; give a file for one of them")
    click.echo(mermaid(read_topology(topology), None if other is None else read_topology(other)), nl=False)


@click.command(
    "declare", epilog="Example: kstreams-runbooks declare topology.txt > config/applications/orders/4.3.1.yaml"
)
@click.argument("topology", type=_FILE, required=False)
@click.option("--from-topology", type=_FILE, metavar="FILE", help="Topology#describe of the old version, or its facts.")
@click.option("--to-topology", type=_FILE, metavar="FILE", help="Topology#describe of the new version, or its facts.")
@side_options
@stated_options
@click.option("--side", type=click.Choice(["old", "new"]), help="Print one version's file alone.")
def declare_command(topology: Path | None, side: str | None, **given: Any) -> None:
    """Print what TOPOLOGY (a description or facts, - for stdin) leaves out, as a YAML file to fill in.

    Of topology facts it prints only what they leave open. With --from-topology and --to-topology it prints only the
    fields on which the plan of that change depends, without those that a given declaration or facts have. `plan` takes
    the files with --from-declaration and --to-declaration.
    """
    from kstreams_runbooks.decide.comparison.compared import Side
    from kstreams_runbooks.present.skeleton import skeleton
    from kstreams_runbooks.present.skeleton_asked import asked_of
    from kstreams_runbooks.present.skeleton_left import left_of
    from kstreams_runbooks.terminal.change.inputs import read_both, read_given

    both = given["from_topology"] is not None and given["to_topology"] is not None
    if topology is not None and not any(given.values()) and side is None:
        one = read_given(topology)
        left = None if one.facts is None else left_of(Side(one.topology, one.facts.read))
        click.echo(left or skeleton(one.topology), nl=False)
    elif topology is None and both:
        change = read_both(given)
        texts = [asked_of(change.reading, change.compared, one) for one in ([side] if side else ["old", "new"])]
        click.echo("---\n".join(texts), nl=False)
    else:
        raise BadInput("declare: give one description, or --from-topology and --to-topology")


@click.command("change-rules")
def change_rules_command() -> None:
    """The page of all change rules as Markdown: every row with its source (docs/change_rules.md)."""
    from kstreams_runbooks.present.rules_page import rules_page
    from kstreams_runbooks.rules import procedures, release_settings, topology_change_rules

    click.echo(rules_page(topology_change_rules(), procedures(), release_settings().refusals), nl=False)
