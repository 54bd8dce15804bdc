"""`blast-radius` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside, sentence

_EPILOG = """\b
Examples:
  kstreams-runbooks blast-radius orders
  kstreams-runbooks blast-radius orders --target orders='-2h or latest' --target customers=earliest
  kstreams-runbooks blast-radius orders --mode offsets --target 'orders=0:120,1:98,2:101,3:77'
\b
A target is earliest, latest, a time (2026-11-01T00:00:00Z), a duration back (-1d12h), a shift from the committed
offset (-100, +100), an offset (1234), an offset for each partition (0:12,1:34), run:RUN or file:PATH.
"""


@click.command("blast-radius", epilog=_EPILOG)
@click.argument("application")
@click.option(
    "--mode",
    type=click.Choice(["reset", "offsets", "state", "retire"]),
    default="reset",
    show_default=True,
    help="reset: state and internal topics go; offsets: state stays; state: local state goes; retire: it ends.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TOPIC=VALUE",
    help="The offset that an input is read from; * is every input but tables [default with reset: earliest].",
)
@click.option(
    "--empty-output", "emptied", multiple=True, metavar="TOPIC", help="An output whose records would be deleted too."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def blast_radius_command(
    application: str, mode: str, targets: tuple[str, ...], emptied: tuple[str, ...], form: str
) -> None:
    """Show what a reset of APPLICATION would delete and read again, and who would see its results again.

    It changes nothing. Records are counted by a consumer, above 10,000 offsets by Spark (SPARK_REMOTE).

    Exit codes: 0 it could go on, 1 refused or a decision is needed, 2 bad input, 3 something is unknown,
    4 unreachable.
    """
    from typing import cast

    from kstreams_runbooks.decide.reset.radius import may_reset
    from kstreams_runbooks.model.readings.reset import ResetMode
    from kstreams_runbooks.present.blast_radius import as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.blast_radius import ResetQuestion, read_blast_radius

    question = ResetQuestion(cast("ResetMode", mode), _pairs(targets), emptied)
    log_to_stderr()
    found = read_blast_radius(application, question, lambda line: click.echo(sentence(line), err=True))
    verdict = may_reset(found)
    click.echo(json.dumps(document(found, verdict), indent=2) if form == "json" else as_text(found, verdict))
    sys.exit(exit_code(verdict))


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        topic, equals, value = one.partition("=")
        if not equals or not topic.strip() or not value.strip():
            raise BadInput(f"--target {outside(one, 80)}: is not TOPIC=VALUE (such as orders=earliest); correct it")
        if topic.strip() in found:
            raise BadInput(f"--target {outside(one, 80)}: {outside(topic, 80)} has a target already; keep one of them")
        found[topic.strip()] = value.strip()
    return found
