"""Compares a planned version with its application as it runs: topics and suppress buffers, for the terminal."""

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.model.readings.readings import polled_buffers
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Verdict


def judged_on_cluster(application: str, wanted: Described, running: Side) -> tuple[Verdict, ChangeFigures, Side]:
    """The decisions that the runbooks make about this version before they stop anything (decide/fitting).

    The figures are those of its instances. The version that runs comes back with the time that its changelogs keep
    their records on the cluster.

    BadInput if the application or its connection is unknown, Unreachable if no broker answers.
    """
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, repartitions_read, topics_needed
    from kstreams_runbooks.decide.fitting.topics import topics_fit
    from kstreams_runbooks.decide.fitting.uncommitted import resets_of, uncommitted_records, worst
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.observe import ClusterReader, read_application
    from kstreams_runbooks.observe.application.topics_seen import read_topics_seen
    from kstreams_runbooks.watch.repartitions import read_repartitions
    from kstreams_runbooks.watch.restoring_logs import with_kept

    fleet = load_fleet()
    entry = fleet.application(application)
    kafka, brought = kafka_config(fleet.cluster(entry.cluster).connection), parsed_or_missing((wanted,))
    with ClusterReader(kafka) as reader:
        seen = read_topics_seen(reader, topics_needed(brought, entry.declared()))
        reading = read_application(entry, reader, make_deployer(entry, dry_run=True))
        running = with_kept(reader, running, entry.application_id)
    buffers = tuple(polled_buffers(one.instance, one.streams) for one in reading.instances)
    left = read_repartitions(entry, kafka, repartitions_read(brought, entry.application_id), reading.instances)
    records = uncommitted_records((wanted,), left, None, resets_of((wanted,)), entry.declared())
    return (
        worst(topics_fit((wanted,), seen, reading, entry.declared()), records),
        ChangeFigures(buffers=buffers),
        running,
    )
