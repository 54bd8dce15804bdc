"""`copier seed`: the first offsets of the shipped copier, the one write of the terminal to a cluster."""

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.wording import outside, sentence

if TYPE_CHECKING:
    from kstreams_runbooks.decide.reset.copier_seed import SeedAt
    from kstreams_runbooks.fleet import Application
    from kstreams_runbooks.fleet.copier import TopicCopier

_PLACE = re.compile(r"([a-zA-Z0-9._-]{1,249})[:,](\d{1,9})[:,](\d{1,18})")
_EVERYWHERE = ("beginning", "end")
_EPILOG = """\b
Examples:
  kstreams-runbooks copier seed orders-passing --at beginning
  kstreams-runbooks copier seed orders-passing --at offsets.csv --execute
  kstreams-runbooks copier seed orders-passing --at orders-sent:4:0 --at orders-sent:5:0 --execute
"""


@click.group("copier")
def copier_command() -> None:
    """Look after the shipped copier (docs/topic_copier.md)."""


@copier_command.command("seed", epilog=_EPILOG)
@click.argument("copier")
@click.option(
    "--at",
    "places",
    metavar="PLACE",
    multiple=True,
    required=True,
    help="beginning, end, a file of lines TOPIC,PARTITION,OFFSET, or TOPIC:PARTITION:OFFSET; the last is repeatable.",
)
@click.option("--replace", metavar="TOPIC", multiple=True, help="A source whose committed offsets may be replaced.")
@click.option("--may-repeat", metavar="TOPIC", multiple=True, help="A target that may get records again which it has.")
@click.option("--execute", is_flag=True, help="Commit; without it the command only shows what it would commit.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def copier_seed_command(
    copier: str,
    places: tuple[str, ...],
    replace: tuple[str, ...],
    may_repeat: tuple[str, ...],
    form: str,
    *,
    execute: bool,
) -> None:
    """Commit an offset for every partition of every source of COPIER: the record at which its copy begins.

    Its group may not have a member. With offsets of partitions, the others keep their committed ones. A committed
    offset that differs is refused, and so is one from which on the target may have the records already.

    Exit codes: 0 committed, or would be; 1 refused, nothing was changed; 2 bad input; 3 something cannot be read; 4 a
    cluster does not answer.
    """
    from kstreams_runbooks.act.offsets import OffsetWriter
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.reset.copier_seed import seeded
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.model.verdicts import Outcome
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
    from kstreams_runbooks.present.copier_seed import as_text, document
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.copier_seed import read_seed

    log_to_stderr()
    at = dataclasses.replace(_at(places), replace=replace, may_repeat=may_repeat)
    fleet = load_fleet()
    entry = _shipped(fleet.side(copier))
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    if execute:
        _require_free(entry)
    with ClusterReader(config) as reader:
        before = read_saved(reader, entry.application_id, stable=execute)
        reading, ids = read_seed(entry, reader, before)
    verdict, offsets = seeded(reading, at)
    if verdict.outcome is Outcome.PROCEED:
        writer = OffsetWriter(config, dry_run=not execute)
        writer.set(entry.application_id, offsets, ids=ids, before=before)
    executed = execute and verdict.outcome is Outcome.PROCEED
    if form == "json":
        click.echo(json.dumps(document(reading, entry.cluster, verdict, offsets, executed=executed), indent=2))
    elif verdict.outcome is Outcome.PROCEED:
        click.echo("\n".join(map(sentence, as_text(reading, entry.cluster, offsets, executed=executed))))
    for reason in () if verdict.outcome is Outcome.PROCEED else verdict.reasons:
        click.echo(sentence(reason), err=True)
    if verdict.outcome is Outcome.REFUSE:
        click.echo("REFUSED, nothing was changed", err=True)
    sys.exit({Outcome.PROCEED: 0, Outcome.REFUSE: 1}.get(verdict.outcome, 3))


def _shipped(entry: "Application") -> "TopicCopier":
    from kstreams_runbooks.fleet.copier import TopicCopier

    if isinstance(entry, TopicCopier):
        return entry
    raise BadInput(
        f"{entry.name}: not the shipped copier (its declaration needs `kind: copier` and `program: topic-copier`); "
        "commit the offsets of another program with its own tools"
    )


def _require_free(entry: "Application") -> None:
    """Refused while a run holds the copier or one of its topics: its plan rests on these offsets."""
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.watch.held import holders

    if run_key := holders(Ledger.open(), entry.cluster, [entry]).get(entry.name):
        raise Refused(f"copier {entry.name}: run {run_key} holds it or a topic of it; wait until that run has ended")


def _at(places: tuple[str, ...]) -> "SeedAt":
    """The chosen place; BadInput for anything but one word, one file, or offsets of partitions."""
    from kstreams_runbooks.decide.reset.copier_seed import SeedAt

    if places[0] in _EVERYWHERE or not _PLACE.fullmatch(places[0]):
        if len(places) > 1:
            raise BadInput(
                f"--at {outside(places[1], 80)}: follows {outside(places[0], 80)}; give one place, or offsets"
            )
        if places[0] in _EVERYWHERE:
            return SeedAt("beginning" if places[0] == "beginning" else "end", {})
        return SeedAt("", _offsets(_lines(places[0])))
    return SeedAt("", _offsets(places))


def _lines(file: str) -> list[str]:
    """The lines of a file as Kafka's tool exports it: TOPIC,PARTITION,OFFSET."""
    from kstreams_runbooks.documents.text import read_text

    try:
        text = read_text(Path(file))
    except BadInput as error:
        raise BadInput(
            f"--at {outside(file, 80)}: not beginning, end, TOPIC:PARTITION:OFFSET or a file that can be read: "
            f"it {error}"
        ) from None
    lines = [line.strip().replace('"', "") for line in text.splitlines() if line.strip()]
    if not lines:
        raise BadInput(f"--at {outside(file, 80)}: has no line (expected TOPIC,PARTITION,OFFSET); write them")
    return lines


def _offsets(places: "tuple[str, ...] | list[str]") -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for text in places:
        place = _PLACE.fullmatch(text)
        if place is None:
            raise BadInput(f"--at {outside(text, 80)}: not TOPIC:PARTITION:OFFSET; correct it")
        key = place[1], int(place[2])
        if key in found:
            raise BadInput(f"--at {outside(text, 80)}: {key[0]}:{key[1]} has two offsets; give it one")
        found[key] = int(place[3])
    return found
