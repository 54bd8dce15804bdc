"""Reads for the retirement of internal topics: what runs left behind, what makes the others, who uses them."""

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.reset.radius import made_topics
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application, Fleet, load_fleet
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, TopicReading
from kstreams_runbooks.model.readings.reset import TopicUser
from kstreams_runbooks.model.readings.retire import RetireFacts
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.application import reading_instances
from kstreams_runbooks.observe.application.topologies import may_have_run
from kstreams_runbooks.observe.kafka.topic_names import not_visible
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.watch.orphans import read_orphans
from kstreams_runbooks.watch.reset_neighbours import read_running_uses
from kstreams_runbooks.watch.reset_rest import read_topic_ends


def read_retire(application: str, at_ms: int) -> RetireFacts:
    """What speaks for and against retiring internal topics of an application; `at_ms` is now (Unix ms).

    BadInput for an unknown application, Unreachable if no broker answers, Inconclusive if topics cannot be read.
    """
    fleet = load_fleet()
    entry = fleet.application(application)
    [left] = read_orphans([application], at_ms)
    deployer, group_id = make_deployer(entry, dry_run=True), entry.application_id
    with ClusterReader(kafka_config(fleet.cluster(entry.cluster).connection)) as reader:
        with reading_instances(entry, deployer) as instances_read:
            names, groups = reader.names(), reader.groups()
            group = _group(reader, group_id, {name for name, *_ in groups})
            instances = instances_read()
        ids = _ids(fleet, entry) | {name for name, *_ in groups}
        internal = reader.topics(internal_by_id(names.visible, ids).get(group_id, ()))
        sizes = reader.bytes_of([one.name for one in internal]) if internal else {}
        users, unlisted = _users(reader, internal, group_id)
        neighbours = [one for one in fleet.entries.values() if one.cluster == entry.cluster and one.name != entry.name]
        uses, unseen = read_running_uses(neighbours, names, {name for name, _, state in groups if not is_empty(state)})
        hidden = names.hidden
        ends = read_topic_ends(reader, [one.name for one in internal], group_id)
    ran = may_have_run(instances, deployer.topology, deployer.topology_target)
    problems = [*left.problems, *unlisted, *unseen, *fleet.not_looked_at]
    if not isinstance(hidden, Missing):
        problems += [not_visible(name) for name in internal_by_id(hidden, ids).get(group_id, ())]
    return RetireFacts(
        at_ms=at_ms,
        internal=internal,
        sizes=sizes,
        orphans=left.orphans,
        made=ran
        if isinstance(ran, Missing)
        else frozenset[str]().union(*(made_topics(Side(one, Declaration()), group_id) for one in ran)),
        users=users,
        others=uses,
        group=group,
        instances=instances,
        problems=tuple(dict.fromkeys(problems)),
        ends=ends,
    )


def _ids(fleet: Fleet, entry: Application) -> set[str]:
    """The ids of all applications of the cluster: a longer id has its own topics."""
    return {one.application_id for one in fleet.entries.values() if one.cluster == entry.cluster}


def _group(reader: ClusterReader, group_id: str, listed: set[str]) -> GroupReading | Missing | None:
    """The group with its members, None if no broker knows it and this login would see it."""
    if group_id in listed:
        return reader.group(group_id)
    if reader.lists_every_group() is True:
        return None
    return Missing(reader.unlisted([group_id])[group_id])


def _users(
    reader: ClusterReader, topics: tuple[TopicReading, ...], own: str
) -> tuple[tuple[TopicUser, ...], tuple[str, ...]]:
    if not topics:
        return (), ()
    try:
        return read_topic_users(reader, [one.name for one in topics], own)
    except Inconclusive as error:
        return (), (f"which groups use its topics is not known: {error}",)
