"""`drain` for the terminal: the answer on stdout alone, the progress on stderr."""

import getpass
import json
import os
import sys

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.finite import MOST_READINGS, FiniteRange
from kstreams_runbooks.wording import why_no_reason


@click.command("drain", epilog='Example: kstreams-runbooks drain orders --watch --inputs-paused "copier stopped"')
@click.argument("application")
@click.option("--watch", is_flag=True, help="Continue until it is drained, with a live display.")
@click.option(
    "--inputs-paused",
    "reason",
    metavar="REASON",
    help="Who or what keeps new records away; without it the answer is never drained.",
)
@click.option(
    "--readings", type=click.IntRange(1, MOST_READINGS), help="Readings in a row that prove it [default: the fleet's]."
)
@click.option(
    "--interval", "interval_s", type=FiniteRange(min=0.1), help="Seconds between two readings [default: the fleet's]."
)
@click.option(
    "--ceiling", "ceiling_s", type=FiniteRange(min=1), help="Seconds after which --watch ends [default: as above]."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def drain_command(
    application: str,
    reason: str | None,
    readings: int | None,
    interval_s: float | None,
    ceiling_s: float | None,
    form: str,
    *,
    watch: bool,
) -> None:
    """Show whether APPLICATION still has records to process, which, and for how long.

    Without --watch it takes as many readings as would prove it. It changes nothing.

    Exit codes: 0 drained, 1 not yet, 2 bad input, 3 inconclusive, 4 unreachable.
    """
    if reason is not None and (why := why_no_reason(reason)):
        raise BadInput(f"--inputs-paused: {why} (expected who or what keeps new records away)")
    if ceiling_s is not None and not watch:
        raise BadInput("--ceiling: is the limit of --watch; give both, or none")
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
    from kstreams_runbooks.present.drain import as_text, document, exit_code
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.terminal.drain_display import Display
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.drain.drain import drain_reader
    from kstreams_runbooks.watch.drain.readings import Waits, Watch

    log_to_stderr()
    fleet = load_fleet()
    entry = fleet.application(application)
    limits = entry.limits
    waits = Waits(
        interval_s=interval_s or limits.gate_interval_s,
        ceiling_s=(ceiling_s or limits.drain_ceiling_s) if watch else None,
    )
    pause = Pause("declared", _login(), reason.strip()) if reason else None
    question = DrainQuestion(readings or limits.gate_good_readings, pause, entry.punctuators)
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    reader = drain_reader(entry, make_deployer(entry, dry_run=True), config)
    with Display(f"{entry.name} @ {entry.cluster}", waits.ceiling_s) as display:
        answer = Watch(reader, config, question, waits).until_answered(display.show)
    click.echo(
        json.dumps(document(entry.declared(), answer), indent=2)
        if form == "json"
        else as_text(entry.declared(), answer, columns())
    )
    sys.exit(exit_code(answer))


def _login() -> str:
    """The user's name; in a container a user may have only a number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
