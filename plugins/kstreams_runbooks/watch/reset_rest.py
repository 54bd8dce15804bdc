"""What speaks against deleting topics now: their ends in several readings, the group, and everything that uses them."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.reset.outputs import is_own
from kstreams_runbooks.decide.reset.radius import used_by
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.reset import TopicUser
from kstreams_runbooks.model.readings.rest import RestReading, TopicEnds
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.patience import repeated
from kstreams_runbooks.watch.reset_neighbours import read_running_uses


def read_topic_ends(reader: ClusterReader, topics: Collection[str], application_id: str) -> TopicEnds:
    """One reading of the ends of these topics, and of the application's transactions; Unreachable without a broker."""
    at_ms, there = reader.taken().at_ms, reader.topics(topics)
    unknown = [f"topic {name} does not exist" for name in sorted(set(topics) - {one.name for one in there})]
    ongoing = reader.ongoing_transactions()
    if isinstance(ongoing, Missing):
        unknown.append(f"whether a transaction of {application_id} is open is not known: {ongoing.missing}")
        ongoing = frozenset()
    ends: dict[str, int] = {}
    still_open: list[str] = []
    for (topic, number), each in ends_of(reader, there).items():
        name = f"{topic}-{number}"
        if lacking := [one.missing for one in (each.end, each.stable) if isinstance(one, Missing)]:
            unknown.append(f"{name}: its end cannot be read ({lacking[0]})")
        elif isinstance(each.end, int):
            ends[name] = each.end
            still_open += [] if each.stable == each.end else [name]
    own = tuple(sorted(name for name in ongoing if is_own(name, application_id)))
    return TopicEnds(at_ms, ends, tuple(sorted(still_open)), tuple(unknown), own)


def read_rest(
    entry: Application,
    kafka: Mapping[str, Any],
    noted: Mapping[str, int],
    topics: Collection[str],
    *,
    looks: int,
    apart_s: float,
    say: Callable[[str], None],
    going: Collection[str] = (),
) -> RestReading:
    """Everything that speaks against the deletion of these topics of an application, which is down.

    The entries of `going` go with it: what they declare counts for nothing, what they do counts.

    `noted` are the ends from when its group was EMPTY; `looks` readings are taken, `apart_s` seconds apart, and
    `say` gets a line for each. `kafka` is a librdkafka configuration. Unreachable if no broker answers.
    """
    fleet = load_fleet()
    graph = fleet_graph(one.declared() for one in fleet.entries.values() if one.name not in going)
    others = [one for one in fleet.entries.values() if one.cluster == entry.cluster and one.name != entry.name]
    with ClusterReader(kafka) as reader:
        users, unlisted = _users(reader, topics, entry.application_id)
        working = {name for name, _, state in reader.groups() if not is_empty(state)}
        uses, unseen = read_running_uses(others, reader.names(), working)
        taken = repeated(lambda: read_topic_ends(reader, topics, entry.application_id), looks, apart_s, say)
        group = _group(reader, entry.application_id)
    declared = entry.declared()
    return RestReading(
        noted=noted,
        looks=taken,
        group=group,
        used_by={one: tuple(used_by(declared, one, users, uses, graph)) for one in sorted(topics)},
        unknown=tuple(dict.fromkeys((*unlisted, *unseen, *fleet.not_looked_at))),
    )


def _group(reader: ClusterReader, group_id: str) -> GroupReading | Missing:
    """The group; one that no broker knows is as empty as one without members."""
    group = reader.group(group_id)
    if isinstance(group, Missing) and reader.unlisted([group_id])[group_id] == unknown_group(group_id):
        return GroupReading(reader.taken(), group_id, "", "Empty", ())
    return group


def _users(reader: ClusterReader, topics: Collection[str], own: str) -> tuple[tuple[TopicUser, ...], tuple[str, ...]]:
    try:
        return read_topic_users(reader, topics, own)
    except Inconclusive as error:
        return (), (f"which groups use these topics is not known: {error}",)
