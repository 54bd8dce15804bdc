"""`compare-topics` for the terminal: the answer on stdout alone, the lines of Spark on stderr."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.finite import FiniteRange

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Fleet
    from kstreams_runbooks.frames.ranges import OffsetRange

_EPILOG = """\b
Examples:
  kstreams-runbooks compare-topics orders orders-control
  kstreams-runbooks compare-topics orders orders-wide --mode by-key --mask '$.customer.email'
  kstreams-runbooks compare-topics totals totals-green --mode latest --ignore timestamp --format json
"""
_NUMBER = click.IntRange(1, (1 << 63) - 1)


@click.command("compare-topics", epilog=_EPILOG)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--cluster", metavar="C", help="Cluster of both, by its name in the fleet [default: the only one].")
@click.option(
    "--mode",
    type=click.Choice(["record", "by-key", "latest"]),
    default="record",
    show_default=True,
    help="Record by record in each partition; the records of each key in any partition; the last value of each key.",
)
@click.option(
    "--ignore",
    "ignored",
    type=click.Choice(["headers", "timestamp"]),
    multiple=True,
    help="A part of records that is not compared; repeatable.",
)
@click.option(
    "--ranges",
    metavar="JSON",
    help="Offsets to compare, [{topic, partition, start, end}] or a file of it, for each partition of both topics "
    "[default: from offset 0 to the ends of now].",
)
@click.option("--from-log-start", is_flag=True, help="Compare what retention has left; without it a gap is not equal.")
@click.option(
    "--mask",
    "masked",
    metavar="PATH",
    multiple=True,
    help="What examples leave out: key, value, headers, or a path into JSON values such as $.customer.email; "
    "repeatable.",
)
@click.option("--examples", type=click.IntRange(0, 100), default=10, show_default=True, help="The most examples.")
@click.option("--may-be-empty", is_flag=True, help="Two topics without a record are equal.")
@click.option(
    "--max-records", type=_NUMBER, default=20_000_000, show_default=True, help="The most offsets of both topics."
)
@click.option(
    "--max-bytes", type=_NUMBER, default=20_000_000_000, show_default=True, help="The most bytes of both on disk."
)
@click.option(
    "--max-seconds", type=FiniteRange(min=1), default=900.0, show_default=True, help="The most seconds of Spark."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def compare_topics_command(
    first: str,
    second: str,
    cluster: str | None,
    mode: str,
    ignored: tuple[str, ...],
    ranges: str | None,
    masked: tuple[str, ...],
    examples: int,
    max_records: int,
    max_bytes: int,
    max_seconds: float,
    form: str,
    *,
    from_log_start: bool,
    may_be_empty: bool,
) -> None:
    """Show whether topic B has exactly the records of topic A: key, value, headers, timestamp and order.

    It changes nothing. Spark reads both topics up to the ends of now: on the server in SPARK_REMOTE, or in a process
    of its own. Records of aborted transactions are not compared.

    Exit codes: 0 equal, 1 different, 2 bad input, 3 not proven (a limit, deleted or compacted records, an open
    transaction, no record at all), 4 unreachable.
    """
    from typing import cast

    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.outputs.equal import outputs_are_equal
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.model.readings.outputs import CompareLimits, CompareMode, IgnoredPart
    from kstreams_runbooks.present.outputs import as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.outputs import OutputsAsked, outputs_here, read_outputs

    log_to_stderr()
    if ranges is not None and from_log_start:
        raise BadInput("--from-log-start: the ranges of --ranges have their own starts; give one of both")
    asked = OutputsAsked(
        first=first,
        second=second,
        limits=CompareLimits(max_records, max_bytes, max_seconds),
        mode=cast("CompareMode", mode),
        ignored=cast("tuple[IgnoredPart, ...]", tuple(dict.fromkeys(ignored))),
        ranges=() if ranges is None else _ranges(ranges),
        from_log_start=from_log_start,
        masked=masked,
        examples=examples,
    )
    fleet = load_fleet()
    name = _cluster(fleet, cluster)
    config = kafka_config(fleet.cluster(name).connection)
    reading = read_outputs(config, asked, outputs_here(config))
    verdict = outputs_are_equal(reading, may_be_empty=may_be_empty)
    click.echo(
        json.dumps(document(name, reading, verdict), indent=2) if form == "json" else as_text(name, reading, verdict)
    )
    sys.exit(exit_code(verdict))


def _cluster(fleet: "Fleet", given: str | None) -> str:
    """The name of the cluster; BadInput if none is given and the fleet has not exactly one."""
    if given is not None:
        return given
    names = sorted(fleet.clusters)
    if len(names) != 1:
        raise BadInput(f"--cluster: the fleet has {len(names)} clusters ({', '.join(names)}); name that of the topics")
    return names[0]


def _ranges(given: str) -> "tuple[OffsetRange, ...]":
    """The ranges of the option, or of the file that it names; BadInput for an invalid one, or none."""
    from kstreams_runbooks.documents.text import read_text
    from kstreams_runbooks.frames.ranges import LARGEST_RANGES, parse_ranges

    text = given
    if not given.lstrip().startswith("["):
        try:
            text = read_text(Path(given), limit=LARGEST_RANGES)
        except BadInput as error:
            raise BadInput(f"--ranges {given}: cannot be read: it {error}") from None
    ranges = parse_ranges(text)
    if not ranges:
        raise BadInput("--ranges: has no range (expected one for each partition of both topics); give them")
    return ranges
