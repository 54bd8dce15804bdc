"""`lag` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.lag import ApplicationLag, LagSnapshot

if TYPE_CHECKING:
    from kstreams_runbooks.counting.counter import Counter


@click.command("lag", epilog="Example: kstreams-runbooks lag orders --exact --format json")
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@click.option("--group", metavar="G", help="A group that no fleet declares, with --cluster.")
@click.option("--cluster", metavar="C", help="Cluster of --group, by its name in the fleet.")
@click.option("--exact", is_flag=True, help="Count the records that can be read; offsets count markers too.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def lag_command(
    applications: tuple[str, ...], group: str | None, cluster: str | None, form: str, *, exact: bool
) -> None:
    """What APPLICATIONs (default: the whole fleet) still have to read, per partition.

    Exit codes: 0 everything is read, 1 unread records, 2 bad input, 3 something is not known, 4 unreachable.
    """
    from kstreams_runbooks.lags.document import as_text, document, exit_code

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, force=True)
    if (group is None) is not (cluster is None) or (group and applications):
        raise BadInput("--group and --cluster: belong together, and without an application; give both, or none")
    snapshots = _of_group(group, cluster, exact=exact) if group and cluster else _of_fleet(applications, exact=exact)
    click.echo(json.dumps(document(snapshots), indent=2) if form == "json" else as_text(snapshots))
    sys.exit(exit_code(snapshots))


def _of_fleet(names: Sequence[str], *, exact: bool) -> list[LagSnapshot]:
    """A snapshot of each cluster that has one of the applications."""
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.lag import read_lag
    from kstreams_runbooks.observe.lag_asked import lag_asked
    from kstreams_runbooks.steps.connections import kafka_config

    fleet = load_fleet()
    entries = [fleet.application(name) for name in names or sorted(fleet.applications)]
    found = []
    for cluster in dict.fromkeys(entry.cluster for entry in entries):
        config = kafka_config(fleet.cluster(cluster).connection)
        with ClusterReader(config) as reader:
            asked = lag_asked([entry for entry in entries if entry.cluster == cluster], reader.topic_names())
            found.append(_counted(read_lag(reader, cluster, asked), config, exact=exact))
    return found


def _of_group(group: str, cluster: str, *, exact: bool) -> list[LagSnapshot]:
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.observe import ClusterReader
    from kstreams_runbooks.observe.lag import LagAsked, read_lag
    from kstreams_runbooks.steps.connections import kafka_config

    config = kafka_config(load_fleet().cluster(cluster).connection)
    with ClusterReader(config) as reader:
        return [_counted(read_lag(reader, cluster, [LagAsked(group, group)]), config, exact=exact)]


def _counted(snapshot: LagSnapshot, config: Mapping[str, Any], *, exact: bool) -> LagSnapshot:
    """The snapshot with records in place of offsets, where they are asked for."""
    from kstreams_runbooks.counting.counter import Counter

    if not exact:
        return snapshot
    with Counter(config, say=lambda sentence: click.echo(sentence, err=True)) as count:
        return replace(snapshot, applications=tuple(_exact(one, count) for one in snapshot.applications))


def _exact(lag: ApplicationLag, count: "Counter") -> ApplicationLag:
    ranges = {
        (one.topic, one.partition): (one.last_stable_offset - one.records, one.last_stable_offset)
        for one in lag.partitions
        if one.records is not None and one.last_stable_offset is not None
    }
    found = count(ranges).readable
    return replace(
        lag,
        partitions=tuple(
            replace(one, records=readable.records, exact=True, oldest_unread_ms=readable.oldest_ms)
            if (readable := found.get((one.topic, one.partition))) is not None
            else one
            for one in lag.partitions
        ),
    )
