"""`lag` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import logging
import sys
from collections.abc import Sequence
from functools import partial

import click

from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.model.lag import LagSnapshot

_EPILOG = """\b
Examples:
  kstreams-runbooks lag                               the whole fleet, in offsets
  kstreams-runbooks lag orders --exact --format json  one application, in records
  kstreams-runbooks lag --group G --cluster demo      a group that no fleet declares
"""


@click.command("lag", epilog=_EPILOG)
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@click.option("--group", metavar="G", help="A group that no fleet declares, with --cluster.")
@click.option("--cluster", metavar="C", help="Cluster of --group, by its name in the fleet.")
@click.option(
    "--exact",
    is_flag=True,
    help="Count the records that can be read: offsets count markers and aborted records too. More than 10,000 offsets "
    "of an application are counted by Spark where SPARK_REMOTE names a Spark Connect server.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def lag_command(
    applications: tuple[str, ...], group: str | None, cluster: str | None, form: str, *, exact: bool
) -> None:
    """What APPLICATIONS (default: the whole fleet) still have to read, per partition.

    Nothing is changed, and no group is joined. An application that is down is read by the topology that its deployer
    describes. How each of them stands is judged by this reading and those that drain_check has kept before it.

    Exit codes: 0 everything is read, 1 unread records, 2 bad input, 3 something is not known (or a transaction is open
    where all else is read), 4 unreachable.
    """
    from kstreams_runbooks.lags.document import document, exit_code
    from kstreams_runbooks.lags.text import as_text

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, force=True)
    if (group is None) is not (cluster is None) or (group and applications):
        raise BadInput("--group and --cluster: belong together, and without an application; give both, or none")
    if group and cluster:
        snapshots, silent = _of_group(group, cluster, exact=exact)
    else:
        snapshots, silent = _of_fleet(applications, exact=exact)
    if snapshots:
        click.echo(json.dumps(document(snapshots), indent=2) if form == "json" else as_text(snapshots))
    if silent:
        raise Unreachable("\n".join(silent))
    sys.exit(exit_code(snapshots))


def _of_fleet(names: Sequence[str], *, exact: bool) -> tuple[list[LagSnapshot], list[str]]:
    """A snapshot of each cluster that has one of the applications, and why there is none of the others."""
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.lags.reading import of_cluster
    from kstreams_runbooks.steps.connections import kafka_config

    fleet = load_fleet()
    entries = [fleet.application(name) for name in dict.fromkeys(names or sorted(fleet.applications))]
    found, silent = [], []
    for cluster in dict.fromkeys(entry.cluster for entry in entries):
        config = kafka_config(fleet.cluster(cluster).connection)
        here = [entry for entry in entries if entry.cluster == cluster]
        try:
            found.append(_counted(of_cluster(config, cluster, here, make_deployer), config, exact=exact))
        except Unreachable as error:
            silent.append(f"cluster {cluster}: {error}")
    return found, silent


def _of_group(group: str, cluster: str, *, exact: bool) -> tuple[list[LagSnapshot], list[str]]:
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.lags.reading import of_group
    from kstreams_runbooks.steps.connections import kafka_config

    config = kafka_config(load_fleet().cluster(cluster).connection)
    return [_counted(of_group(config, cluster, group), config, exact=exact)], []


def _counted(snapshot: LagSnapshot, config: dict[str, object], *, exact: bool) -> LagSnapshot:
    from kstreams_runbooks.lags.reading import exact as counted

    return counted(snapshot, config, partial(click.echo, err=True)) if exact else snapshot
