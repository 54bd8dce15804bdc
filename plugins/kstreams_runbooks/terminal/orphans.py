"""`orphans` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
import time

import click

from kstreams_runbooks.errors import Inconclusive

_EPILOG = """\b
Examples:
  kstreams-runbooks orphans                        the whole fleet
  kstreams-runbooks orphans orders --format json   one application
"""


@click.command("orphans", epilog=_EPILOG)
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def orphans_command(applications: tuple[str, ...], form: str) -> None:
    """Show the internal topics of APPLICATIONS (default: the whole fleet) that nothing of them reads any more.

    Changelogs with the run that left each behind, and repartition topics, whose records a later start could read again.
    It changes nothing. The mode retire of reset_and_cleanup deletes changelogs that a run left behind.

    Exit codes: 0 none, 1 there are some, 2 bad input, 3 a cluster or a part of it could not be read.
    """
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.orphans import as_text, document, exit_code
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.orphans import read_orphans

    log_to_stderr()
    fleet = load_fleet()
    bad = () if applications else fleet.not_looked_at
    if not applications and not fleet.applications and not bad:
        raise fleet.empty
    found = read_orphans(applications, time.time_ns() // 1_000_000)
    if form == "json":
        click.echo(json.dumps(document(found), indent=2))
    elif found:
        click.echo(as_text(found, columns()))
    if bad:
        raise Inconclusive(*bad)
    sys.exit(exit_code(found))
