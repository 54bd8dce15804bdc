"""Reads for `orphans`: the internal topics of an application that nothing of it reads, and what runs left behind."""

from collections.abc import Iterable, Mapping

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.fitting.orphans import kept_alone, orphans_of
from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application, Fleet, load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.orphans import ApplicationOrphans, FoundTopic, KeptOrphan
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.application import reading_instances, topics_of
from kstreams_runbooks.observe.application.topologies import may_have_run
from kstreams_runbooks.observe.kafka.topic_names import not_visible
from kstreams_runbooks.observe.lag.partition_rows import read_partitions


def read_orphans(names: Iterable[str], at_ms: int) -> tuple[ApplicationOrphans, ...]:
    """The orphans of these applications, by default of the whole fleet; `at_ms` is now (Unix ms).

    An application that cannot be read has its problems instead, and what the ledger keeps of it. BadInput for an
    unknown name.
    """
    fleet, ledger = load_fleet(), Ledger.existing()
    entries = [fleet.application(name) for name in dict.fromkeys(names or sorted(fleet.applications))]
    return tuple(_of(fleet, one, _kept(ledger, one), at_ms) for one in entries)


def _kept(ledger: Ledger | None, entry: Application) -> tuple[KeptOrphan, ...]:
    return () if ledger is None else ledger.orphans(entry.cluster, entry.name)


def _of(fleet: Fleet, entry: Application, kept: tuple[KeptOrphan, ...], at_ms: int) -> ApplicationOrphans:
    try:
        with ClusterReader(kafka_config(fleet.cluster(entry.cluster).connection)) as reader:
            ids = {one.application_id for one in fleet.applications.values() if one.cluster == entry.cluster}
            return _read(entry, reader, kept, ids, at_ms)
    except RunbookError as error:
        return ApplicationOrphans(entry.name, entry.cluster, at_ms, kept_alone(kept), (str(error),))


def _read(
    entry: Application, reader: ClusterReader, kept: tuple[KeptOrphan, ...], declared: set[str], at_ms: int
) -> ApplicationOrphans:
    """`declared` are the ids of all applications of the cluster: a longer id has its own topics."""
    deployer, group_id = make_deployer(entry, dry_run=True), entry.application_id
    with reading_instances(entry, deployer) as instances_read:
        names, ids = reader.names(), declared | {group for group, *_ in reader.groups()}
        instances = instances_read()
    ran = may_have_run(instances, deployer.topology, deployer.topology_target)
    read = ran if isinstance(ran, Missing) else topics_of(ran, group_id, names)
    if isinstance(read, Missing):
        why = f"what {entry.name} reads is not known, so no topic is taken for an orphan: {read.missing}"
        return ApplicationOrphans(entry.name, entry.cluster, at_ms, kept_alone(kept), (why,))
    hidden = names.hidden
    owned = internal_by_id(names.visible, ids).get(group_id, ())
    unread = set(owned) - read.changelogs - read.sources(names.visible)
    found, problems = _found(reader, group_id, reader.topics(unread))
    if isinstance(hidden, Missing):
        problems = (*problems, f"whether there are other internal topics is not known: {hidden.missing}")
    else:
        problems = (*problems, *map(not_visible, internal_by_id(hidden, ids).get(group_id, ())))
    return ApplicationOrphans(entry.name, entry.cluster, at_ms, orphans_of(found, kept), problems)


def _found(
    reader: ClusterReader, group_id: str, topics: tuple[TopicReading, ...]
) -> tuple[list[FoundTopic], tuple[str, ...]]:
    """The topics with their sizes and records, and what of them is unknown."""
    if not topics:
        return [], ()
    roles: dict[str, LagRole] = {one.name: "orphaned" for one in topics}
    rows = read_partitions(reader, group_id, roles, topics)
    sizes = reader.bytes_of(roles)
    problems = [one.missing for one in (rows, sizes) if isinstance(one, Missing)]
    by_topic: dict[str, list[PartitionLag]] = {}
    for row in () if isinstance(rows, Missing) else rows:
        by_topic.setdefault(row.topic, []).append(row)
        if row.state == "unknown":
            problems.append(f"{row.name}: {row.why}")
    known = {} if isinstance(sizes, Missing) else sizes
    found = [_topic(one, by_topic.get(one.name, []), known) for one in topics]
    return found, tuple(dict.fromkeys(problems))


def _topic(topic: TopicReading, rows: list[PartitionLag], sizes: Mapping[str, int]) -> FoundTopic:
    held = [_held(row) for row in rows]
    known = bool(rows) and None not in held
    left = sum(1 for row, records in zip(rows, held, strict=True) if records and row.committed is None)
    return FoundTopic(
        topic.name,
        topic.topic_id,
        "changelog" if is_changelog(topic.name) else "repartition",
        bytes=sizes.get(topic.name),
        records=sum(records or 0 for records in held) if known else None,
        uncommitted=left if known else None,
    )


def _held(row: PartitionLag) -> int | None:
    if row.log_end_offset is None or row.log_start_offset is None:
        return None
    return row.log_end_offset - row.log_start_offset
