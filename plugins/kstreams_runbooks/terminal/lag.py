"""`lag` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
from functools import partial

import click

from kstreams_runbooks.errors import BadInput

_EPILOG = """\b
Examples:
  kstreams-runbooks lag                               the whole fleet, in offsets
  kstreams-runbooks lag orders --exact --format json  one application, in records
  kstreams-runbooks lag --group G --cluster demo      a group that no fleet declares
"""


@click.command("lag", epilog=_EPILOG)
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@click.option("--group", metavar="G", help="A group that is not in the fleet; needs --cluster.")
@click.option("--cluster", metavar="C", help="Cluster of --group, by its name in the fleet.")
@click.option(
    "--exact",
    is_flag=True,
    help="Count the records that can be read: offsets count markers and aborted records too. Spark counts more than "
    "10,000 offsets of an application if SPARK_REMOTE names a Spark Connect server.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def lag_command(
    applications: tuple[str, ...], group: str | None, cluster: str | None, form: str, *, exact: bool
) -> None:
    """Show the unread records of APPLICATIONS (default: the whole fleet), per partition.

    It changes nothing and joins no group. For an application that is down it uses the topology from its deployer. The
    status of each application follows from this reading and from those that fleet_check has kept before it.

    Exit codes: 0 everything is read, 1 unread records, 2 bad input, 3 something is unknown (or all is read except
    behind an open transaction), 4 unreachable. Everything that could be read is printed in any case.
    """
    from kstreams_runbooks.present.lag import as_text, document, exit_code
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.terminal.lag_answers import of_fleet, of_undeclared
    from kstreams_runbooks.terminal.logs import log_to_stderr

    log_to_stderr()
    if (group is None) is not (cluster is None) or (group is not None and applications):
        raise BadInput("--group and --cluster: belong together, and without an application; give both, or none")
    say = partial(click.echo, err=True) if exact else None
    found = of_fleet(applications, say) if group is None or cluster is None else of_undeclared(group, cluster, say)
    if form == "json":
        click.echo(json.dumps(document(found.every), indent=2))
    elif found.every:
        click.echo(as_text(found.every, columns()))
    if found.errors:
        worst = max(found.errors, key=lambda error: error.exit_code)
        raise type(worst)(*found.errors)
    sys.exit(exit_code(found.every))
