"""The decisions on a terminal: only JSON on stdout, messages on stderr, the exit codes of the error tree."""

import gc
import json
import os
import sys
from typing import Any, NoReturn

import click

from kstreams_runbooks.demo.commands import generate_traffic, verify_traffic
from kstreams_runbooks.demo.environment import load_demo_environment
from kstreams_runbooks.errors import EXIT_CODES, BadInput, Inconclusive, RunbookError
from kstreams_runbooks.free_text import is_whole
from kstreams_runbooks.terminal.airflow.answer import approve, reject
from kstreams_runbooks.terminal.airflow.clear import clear
from kstreams_runbooks.terminal.airflow.runs import runs
from kstreams_runbooks.terminal.airflow.trigger import trigger
from kstreams_runbooks.terminal.blast_radius import blast_radius_command
from kstreams_runbooks.terminal.change.defects import defects_command
from kstreams_runbooks.terminal.change.path import version_path_command, version_paths_command
from kstreams_runbooks.terminal.change.plan import plan_command, verify_command
from kstreams_runbooks.terminal.change.topology import (
    change_rules_command,
    declare_command,
    diagram_command,
    lint_command,
)
from kstreams_runbooks.terminal.compare_outputs import compare_outputs_command
from kstreams_runbooks.terminal.compare_topics import compare_topics_command
from kstreams_runbooks.terminal.copier import copier_command
from kstreams_runbooks.terminal.discovery.discover import discover_command
from kstreams_runbooks.terminal.discovery.green import declare_green_command
from kstreams_runbooks.terminal.discovery.readiness import readiness_command
from kstreams_runbooks.terminal.drain import drain_command
from kstreams_runbooks.terminal.evidence import evidence_command, prune_ledger_command
from kstreams_runbooks.terminal.forecast_partitions import forecast_partitions_command
from kstreams_runbooks.terminal.internal_topics import internal_topics_command
from kstreams_runbooks.terminal.lag import lag_command
from kstreams_runbooks.terminal.mixed_windows import mixed_windows_command
from kstreams_runbooks.terminal.orphans import orphans_command
from kstreams_runbooks.terminal.output_classes import outputs_command
from kstreams_runbooks.terminal.partitioning import partitioning_command
from kstreams_runbooks.terminal.rights import rights_command
from kstreams_runbooks.wording import outside, sentence

SCHEMA_VERSION = 1

# New objects before Python looks for unused ones that refer to each other. Topologies and plans hold many objects and
# few such circles: at Python's own 700 the search took a fifth of a plan, at 100,000 a twentieth. A plan for 3,000
# operators has up to 450,000 objects; a command that runs for hours keeps some 50 MB of unused ones at most.
_OBJECTS_PER_SEARCH = 500_000

_EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."


class _Text(click.Group):
    """A group whose arguments are text: bytes that are not valid UTF-8 would break every output that quotes them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Click's own, after BadInput for the first argument that is not text."""
        for argument in args:
            if not is_whole(argument):
                raise BadInput(
                    f"argument {outside(argument, 80)}: has bytes that are not UTF-8, or half a character; write it "
                    "again (a file: under another name)"
                )
        return super().parse_args(ctx, args)


@click.group(
    cls=_Text, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
def cli() -> None:
    """Kafka Streams upgrade runbooks: plan a change, read lag and drain, run and audit the DAGs, check the fleet."""


@cli.command()
@click.argument("application")
@click.option("--format", "form", type=click.Choice(["json"]), default="json", show_default=True)
@click.option(
    "--quiesced", is_flag=True, help="Include committed offsets: they are constant only with traffic stopped."
)
def snapshot(application: str, form: str, quiesced: bool) -> None:  # noqa: ARG001 - only one format so far
    """Show everything of APPLICATION that a dry run must not change; inconclusive if a part of it cannot be read."""
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.application.snapshot import missing_in
    from kstreams_runbooks.observe.application.snapshot import snapshot as take
    from kstreams_runbooks.terminal.logs import log_to_stderr

    fleet = load_fleet()
    entry = fleet.application(application)
    log_to_stderr()
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    with ClusterReader(config) as reader:
        document = take(entry, reader, make_deployer(entry, dry_run=True), quiesced=quiesced)
    _print(document)
    if missing := tuple(missing_in(document)):
        raise Inconclusive(
            f"snapshot of {application}: {len(missing)} readings missing (limit 0), so an equal one proves nothing; "
            "correct them and take it again:",
            *missing,
        )


@cli.command()
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
@click.option("--graph", is_flag=True, help="Draw applications, copiers and the topics between them: Mermaid, or JSON.")
def fleet(form: str, *, graph: bool) -> None:
    """List declared applications and clusters, and every problem of their files (exit 2 if there is one)."""
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.fleet.topology_declaration import declaration_problems
    from kstreams_runbooks.terminal.fleet_graph import drawn_fleet
    from kstreams_runbooks.terminal.settings_problems import settings_problems

    loaded = load_fleet()
    declared = declaration_problems(loaded.applications, loaded.directory)
    problems = [*map(str, (*loaded.problems, *declared)), *settings_problems()]
    document = {
        "applications": {
            name: {"cluster": entry.cluster, "owner": entry.owner} for name, entry in loaded.applications.items()
        },
        "copiers": {name: {"cluster": entry.cluster, "owner": entry.owner} for name, entry in loaded.copiers.items()},
        "consumers": {
            name: {"cluster": entry.cluster, "owner": entry.owner} for name, entry in loaded.consumers.items()
        },
        "clusters": sorted(loaded.clusters),
        "problems": problems,
    }
    if graph:
        click.echo(drawn_fleet(loaded, as_json=form == "json"))
    elif form == "json":
        _print(document)
    else:
        for name, entry in loaded.entries.items():
            kind = ", a copier" if entry.copies else ", a consumer" if entry.consumes else ""
            click.echo(sentence(f"{name} @ {entry.cluster}{kind}, owner {entry.owner}"))
    for problem in (*problems, *loaded.warnings):
        click.echo(sentence(problem), err=True)
    if problems:
        sys.exit(2)


@cli.command()
def migrate_ledger() -> None:
    """Bring the ledger's schema up to date (SQLite does it by itself)."""
    from kstreams_runbooks.ledger import migrate

    click.echo(migrate(), err=True)


cli.add_command(evidence_command)
cli.add_command(prune_ledger_command)
cli.add_command(trigger)
cli.add_command(runs)
cli.add_command(clear)
cli.add_command(approve)
cli.add_command(reject)
cli.add_command(verify_traffic)
cli.add_command(generate_traffic)
cli.add_command(lag_command)
cli.add_command(drain_command)
cli.add_command(orphans_command)
cli.add_command(internal_topics_command)
cli.add_command(blast_radius_command)
cli.add_command(mixed_windows_command)
cli.add_command(partitioning_command)
cli.add_command(compare_topics_command)
cli.add_command(outputs_command)
cli.add_command(compare_outputs_command)
cli.add_command(forecast_partitions_command)
cli.add_command(copier_command)
cli.add_command(discover_command)
cli.add_command(declare_green_command)
cli.add_command(readiness_command)
cli.add_command(rights_command)
cli.add_command(lint_command)
cli.add_command(diagram_command)
cli.add_command(declare_command)
cli.add_command(change_rules_command)
cli.add_command(plan_command)
cli.add_command(verify_command)
cli.add_command(version_path_command)
cli.add_command(version_paths_command)
cli.add_command(defects_command)


def _print(document: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, sort_keys=True))


def main() -> NoReturn:
    """Entry point: one sentence and an exit code for each of the package's own errors."""
    gc.set_threshold(_OBJECTS_PER_SEARCH)
    # As `airflow connections` does: connections that were added with it are found, not those of the environment alone.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    try:
        load_demo_environment()
        cli(standalone_mode=True)
    except RunbookError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    finally:
        # Python ends: a last search through all that a plan holds would take a tenth of its time.
        gc.freeze()
    sys.exit(0)


if __name__ == "__main__":
    main()
