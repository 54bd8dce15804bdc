"""`partitioning` for the terminal: the answer on stdout alone, the lines of Spark on stderr."""

import json
import sys

import click

_EPILOG = """\b
Examples:
  kstreams-runbooks partitioning orders --input customers --state orders-per-customer-store-changelog
  kstreams-runbooks partitioning orders --input customers --state orders-by-customer-repartition --sample 10000
"""
_KINDS = ("key_value", "window", "session", "versioned", "repartition")


@click.command("partitioning", epilog=_EPILOG)
@click.argument("application")
@click.option("--input", "given", required=True, metavar="TOPIC", help="The topic in front of the repartition.")
@click.option(
    "--state", required=True, metavar="TOPIC", help="The changelog of the store behind it, or the repartition topic."
)
@click.option(
    "--kind", type=click.Choice(_KINDS), help="How the keys of the state begin [default: as the store is declared]."
)
@click.option(
    "--sample",
    type=click.IntRange(1, (1 << 63) - 1),
    metavar="RECORDS",
    help="Read only so many of the newest offsets of each partition; the answer is then never proceed.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def partitioning_command(
    application: str, given: str, state: str, kind: str | None, sample: int | None, form: str
) -> None:
    """Show whether APPLICATION can do without a repartition: whether each key is in the partition of its state.

    It changes nothing. Spark reads both topics: on the server in SPARK_REMOTE, or in a process of its own.

    Exit codes: 0 each key is with its state, 1 a key is elsewhere (or the kind of the store is not read), 2 bad input,
    3 not proven, 4 unreachable.
    """
    from typing import cast

    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.fitting.partitioning import keys_are_with_their_state
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.model.readings.partitioning import KeyPair, StateKind
    from kstreams_runbooks.present.partitioning import as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.partitioning import compare_here, read_partitioning

    log_to_stderr()
    fleet = load_fleet()
    entry = fleet.application(application)
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    pair = KeyPair(given, state, cast("StateKind | None", kind))
    reading = read_partitioning(entry, config, pair, sample, compare_here(config))
    verdict = keys_are_with_their_state(reading)
    declared = entry.declared()
    click.echo(
        json.dumps(document(declared, reading, verdict), indent=2)
        if form == "json"
        else as_text(declared, reading, verdict)
    )
    sys.exit(exit_code(verdict))
