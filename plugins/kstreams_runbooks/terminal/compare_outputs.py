"""`compare-outputs` for the terminal: the answer on stdout alone, the lines of Spark on stderr."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.finite import FiniteRange
from kstreams_runbooks.terminal.output_classes import FILE
from kstreams_runbooks.wording import outside

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Application
    from kstreams_runbooks.model.output_classes import OutputClass
    from kstreams_runbooks.model.readings.sides import NotedEnds
    from kstreams_runbooks.watch.sides import OutputPair

_EPILOG = """\b
Examples:
  kstreams-runbooks compare-outputs orders orders-green --pair totals=totals-green --note ends.json
  kstreams-runbooks compare-outputs orders orders-green --pair totals=totals-green --ends ends.json --paced
\b
Note the ends while both sides are at rest (their inputs held, all of it read), then compare while traffic goes on.
"""
_NUMBER = click.IntRange(1, (1 << 63) - 1)


@click.command("compare-outputs", epilog=_EPILOG)
@click.argument("blue")
@click.argument("green")
@click.option("--pair", "pairs", multiple=True, metavar="A=B", help="An output of BLUE and that of GREEN; repeatable.")
@click.option("--note", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the ends of now.")
@click.option("--ends", type=FILE, metavar="FILE", help="The ends that --note has written [default: those of now].")
@click.option(
    "--blue-topology", type=FILE, metavar="FILE", help="BLUE's Topology#describe, or facts [default: as it runs]."
)
@click.option("--green-topology", type=FILE, metavar="FILE", help="GREEN's [default: as it runs].")
@click.option("--paced", is_flag=True, help="GREEN's history was filled in the order of time, and paced.")
@click.option(
    "--dropped",
    type=click.IntRange(0, (1 << 63) - 1),
    help="Late records that GREEN dropped in its tasks with windows.",
)
@click.option("--max-records", type=_NUMBER, default=20_000_000, show_default=True, help="The most offsets of a pair.")
@click.option("--max-bytes", type=_NUMBER, default=20_000_000_000, show_default=True, help="The most bytes of a pair.")
@click.option(
    "--max-seconds", type=FiniteRange(min=1), default=900.0, show_default=True, help="The most, of each pair."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def compare_outputs_command(
    blue: str,
    green: str,
    pairs: tuple[str, ...],
    note: Path | None,
    ends: Path | None,
    blue_topology: Path | None,
    green_topology: Path | None,
    dropped: int | None,
    max_records: int,
    max_bytes: int,
    max_seconds: float,
    form: str,
    *,
    paced: bool,
) -> None:
    """Show whether the outputs of GREEN equal those of BLUE, two applications that read the same inputs.

    Spark reads keys and values below the noted ends: the last value of each key, or each window once, as the class of
    the output has it (`outputs`). Ignored paths and masks are those of output_semantics in both fleet entries. It
    changes nothing.

    Exit codes: 0 no output that has to be equal differs, 1 one differs or is declared wrongly, 2 bad input, 3 not
    proven (a class, too few keys, deleted or compacted records, an unpaced history), 4 unreachable.
    """
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.outputs.sides import sides_are_equal
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.model.readings.outputs import CompareLimits
    from kstreams_runbooks.model.readings.sides import SideHistory
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.present.sides import JudgedSides, as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.terminal.output_classes import classes_of
    from kstreams_runbooks.watch.sides import note_ends, read_sides, sides_here

    log_to_stderr()
    if note is not None and ends is not None:
        raise BadInput("--note: writes the ends that --ends reads; give one of both")
    fleet = load_fleet()
    entries = fleet.application(blue), fleet.application(green)
    if entries[0].cluster != entries[1].cluster:
        raise BadInput(f"{green}: is in cluster {entries[1].cluster} (expected {entries[0].cluster}, as {blue})")
    names = _pairs(pairs, *entries)
    config = kafka_config(fleet.cluster(entries[0].cluster).connection)
    topics = [topic for one in names for topic in one]
    if ends is None:
        with ClusterReader(config) as reader:
            noted = note_ends(reader, topics)
    else:
        noted = _noted(ends)
    if note is not None:
        _write(note, noted)
        return
    files = (blue_topology, green_topology)
    classes = [
        classes_of(fleet, entry, None if file is None else (file, None, None))
        for entry, file in zip(entries, files, strict=True)
    ]
    compare, limits = sides_here(config), CompareLimits(max_records, max_bytes, max_seconds)
    judged = []
    for pair in (_pair(one, *classes) for one in names):
        compared = read_sides(config, pair, noted, compare, limits)
        judged.append(JudgedSides(compared, sides_are_equal(compared, SideHistory(paced, dropped))))
    click.echo(json.dumps(document(blue, green, judged), indent=2) if form == "json" else as_text(blue, green, judged))
    sys.exit(exit_code(judged))


def _pairs(given: tuple[str, ...], blue: "Application", green: "Application") -> list[tuple[str, str]]:
    """The pairs of the options; without any the only output of each."""
    if not given:
        if len(blue.outputs) != 1 or len(green.outputs) != 1:
            raise BadInput(
                f"--pair: {blue.name} has {len(blue.outputs)} outputs and {green.name} has {len(green.outputs)}; give "
                f"each pair, such as --pair {outside(next(iter(blue.outputs), 'A'))}=B"
            )
        return [(blue.outputs[0], green.outputs[0])]
    found = []
    for one in given:
        first, equals, second = one.partition("=")
        if not equals:
            raise BadInput(f"--pair {outside(one, 80)}: is not A=B; give an output of {blue.name}, and {green.name}'s")
        for topic, entry in ((first, blue), (second, green)):
            if topic not in entry.outputs:
                outputs = ", ".join(entry.outputs) or "none"
                raise BadInput(
                    f"--pair {outside(one, 80)}: {outside(topic, 80)} is not an output of {entry.name} (it has "
                    f"{outputs}); correct it"
                )
        found.append((first, second))
    return found


def _pair(names: tuple[str, str], blue: "tuple[OutputClass, ...]", green: "tuple[OutputClass, ...]") -> "OutputPair":
    from kstreams_runbooks.decide.outputs.classes import class_of_both
    from kstreams_runbooks.watch.sides import OutputPair

    of_each: list[Any] = []
    for name, classes in zip(names, (blue, green), strict=True):
        if (found := next((one for one in classes if one.topic == name), None)) is None:
            raise BadInput(f"{name}: the topology does not write it; give the topology of the version that does")
        of_each.append(found)
    return OutputPair(*names, class_of_both(*of_each))


def _noted(path: Path) -> "NotedEnds":
    """The ends in a file; BadInput if it has none."""
    from kstreams_runbooks.documents.json_document import json_document
    from kstreams_runbooks.documents.text import read_text
    from kstreams_runbooks.frames.ranges import LARGEST_RANGES
    from kstreams_runbooks.ledger.codec import decode
    from kstreams_runbooks.model.readings.sides import NotedEnds

    try:
        document = json_document(read_text(path, limit=LARGEST_RANGES), largest=LARGEST_RANGES, nodes=1_000_000)
        noted: NotedEnds = decode(NotedEnds, {name: document[name] for name in ("at_ms", "ends")})
    except (BadInput, ValueError, KeyError, TypeError):
        raise BadInput(f"--ends {path}: has no ends that --note has written; write them with --note") from None
    return noted


def _write(path: Path, noted: "NotedEnds") -> None:
    from dataclasses import asdict

    from kstreams_runbooks.files import replace_file

    replace_file(path, f"{json.dumps({'schema_version': 1, **asdict(noted)}, indent=2)}\n".encode())
    click.echo(f"{len(noted.ends)} ends written to {path}")
