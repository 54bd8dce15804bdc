"""Compares a planned version with its application as it runs: topics and suppress buffers, for the terminal."""

from kstreams_runbooks.model.readings.readings import polled_buffers
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Verdict


def judged_on_cluster(application: str, wanted: Described) -> tuple[Verdict, ChangeFigures]:
    """The decision that the runbooks make about this version before they stop anything (decide/fitting/topics.py).

    The figures are those of its instances.

    BadInput if the application or its connection is unknown, Unreachable if no broker answers.
    """
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, topics_needed
    from kstreams_runbooks.decide.fitting.topics import topics_fit
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.observe import ClusterReader, read_application
    from kstreams_runbooks.observe.application.topics_seen import read_topics_seen

    fleet = load_fleet()
    entry = fleet.application(application)
    with ClusterReader(kafka_config(fleet.cluster(entry.cluster).connection)) as reader:
        seen = read_topics_seen(reader, topics_needed(parsed_or_missing((wanted,)), entry.declared()))
        reading = read_application(entry, reader, make_deployer(entry, dry_run=True))
    buffers = tuple(polled_buffers(one.instance, one.streams) for one in reading.instances)
    return topics_fit((wanted,), seen, reading, entry.declared()), ChangeFigures(buffers=buffers)
