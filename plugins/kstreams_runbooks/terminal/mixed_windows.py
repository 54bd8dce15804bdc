"""`mixed-windows` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
from datetime import datetime
from pathlib import Path

import click

from kstreams_runbooks.errors import BadInput

_FILE = click.Path(dir_okay=False, path_type=Path)
_EPILOG = """\b
Examples:
  kstreams-runbooks mixed-windows orders
  kstreams-runbooks mixed-windows orders --since 2026-11-20T10:15:00Z \\
      --from-declaration old.yaml --to-declaration new.yaml
"""


@click.command("mixed-windows", epilog=_EPILOG)
@click.argument("application")
@click.option("--since", metavar="TIME", help="Stream time of the change, with its zone: 2026-11-20T10:15:00Z.")
@click.option("--from-declaration", "before", type=_FILE, metavar="FILE", help="Declaration of the old version: YAML.")
@click.option("--to-declaration", "after", type=_FILE, metavar="FILE", help="Declaration of the new version: YAML.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def mixed_windows_command(
    application: str, since: str | None, before: Path | None, after: Path | None, form: str
) -> None:
    """Show until which stream time results of APPLICATION mix old and new windows, and whether that is over.

    Without options it takes the newest verified run that changed a declared window, from the ledger. With both
    declarations, and without --since, the stream time of the newest verified run counts. It changes nothing.

    Exit codes: 0 over, or no window changed; 1 still mixed; 2 bad input; 3 not known: a partition has no stream time,
    or the ledger has no such run; 4 unreachable.
    """
    from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
    from kstreams_runbooks.present.mixed_windows import as_text, document, exit_code
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.mixed_windows import read_mixed_windows

    if (before is None) is not (after is None) or (since is not None and before is None):
        raise BadInput("--from-declaration and --to-declaration: belong together, and --since needs both; give them")
    since_ms = None if since is None else _time(since)
    sides = None
    if before is not None and after is not None:
        sides = (read_topology_declaration(before), read_topology_declaration(after))
    log_to_stderr()
    found = read_mixed_windows(application, sides, since_ms)
    click.echo(json.dumps(document(found), indent=2) if form == "json" else as_text(found))
    sys.exit(exit_code(found))


def _time(given: str) -> int:
    """A time as Unix ms; BadInput without a zone: an hour too early would end the mixture an hour too early."""
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise BadInput(f"--since {given}: is not a time with a zone (expected such as 2026-11-20T10:15:00Z); give one")
    return int(found.timestamp() * 1000)
