"""`forecast-partitions` for the terminal: the answer on stdout alone, the lines of Spark on stderr."""

import json
import sys

import click

_EPILOG = """\b
Examples:
  kstreams-runbooks forecast-partitions orders --partitions 12
  kstreams-runbooks forecast-partitions orders --partitions 12 --topic orders --topic customers --format json
"""


@click.command("forecast-partitions", epilog=_EPILOG)
@click.argument("application")
@click.option(
    "--partitions", "wanted", type=click.IntRange(2, 100_000), required=True, help="The number that its topics get."
)
@click.option(
    "--topic", "topics", metavar="TOPIC", multiple=True, help="An input that grows; repeatable [default: all inputs]."
)
@click.option("--uneven", is_flag=True, help="Want a number that is not a multiple: new partitions merge old ones.")
@click.option(
    "--max-records",
    "records",
    type=click.IntRange(1, (1 << 63) - 1),
    default=20_000_000,
    show_default=True,
    help="The most offsets that Spark reads.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def forecast_partitions_command(
    application: str, wanted: int, topics: tuple[str, ...], records: int, form: str, *, uneven: bool
) -> None:
    """Show what more partitions do to APPLICATION: the topics that grow together, and the keys that move.

    It changes nothing. Spark reads the inputs that grow, and the changelogs of stores whose kind is known: on the
    server in SPARK_REMOTE, or in a process of its own.

    Exit codes: 0 it can grow, with the way; 1 it cannot, or a person has to want it; 2 bad input; 3 not known, 4
    unreachable.
    """
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.growth.closure import closure
    from kstreams_runbooks.decide.growth.verdict import may_grow
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.growth import as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.growth import GrowthAsked, forecast_here, read_forecast, read_growth
    from kstreams_runbooks.watch.internal_topics import running_version

    log_to_stderr()
    fleet = load_fleet()
    entry = fleet.application(application)
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    asked = GrowthAsked(wanted, tuple(dict.fromkeys(topics)), uneven, records)
    seen = read_growth(fleet, entry, config, running_version(fleet, entry), asked)
    forecast = read_forecast(config, seen, asked, forecast_here(config))
    verdict = may_grow(seen, forecast)
    parts = (entry.declared(), closure(seen), forecast, verdict)
    click.echo(json.dumps(document(*parts), indent=2) if form == "json" else as_text(*parts))
    sys.exit(exit_code(verdict))
