"""Preconditions of writes to topics: one sentence for each that does not hold, empty if it holds."""

from collections.abc import Collection, Mapping

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.touched import HiddenTopic, TopicState
from kstreams_runbooks.model.writes import Growth, TopicShape
from kstreams_runbooks.observe.kafka.offsets import Ends, Place

_DEFAULT = -1


def known(states: Mapping[str, TopicState | HiddenTopic]) -> dict[str, TopicState]:
    """The states; Inconclusive, with the right to grant, if one cannot be read."""
    found: dict[str, TopicState] = {}
    for name, state in states.items():
        if isinstance(state, HiddenTopic):
            raise Inconclusive(state.missing)
        found[name] = state
    return found


def certain(ends: Mapping[Place, Ends]) -> dict[Place, tuple[int, int]]:
    """Start and end of each partition; Inconclusive if one cannot be read."""
    found: dict[Place, tuple[int, int]] = {}
    for place, (start, _, end) in ends.items():
        if isinstance(start, Missing) or isinstance(end, Missing):
            why = start.missing if isinstance(start, Missing) else end.missing if isinstance(end, Missing) else ""
            raise Inconclusive(f"{place_text(place)}: its start and end cannot be read ({why})")
        found[place] = (start, end)
    return found


def place_text(place: Place) -> str:
    """A partition as Kafka names it."""
    return f"{place[0]}-{place[1]}"


def another_topic(state: TopicState, topic_id: str) -> str:
    """A topic that is gone, or another one of the same name."""
    if not state.exists:
        return f"topic {state.name} does not exist (expected id {topic_id})"
    if state.topic_id != topic_id:
        return (
            f"topic {state.name} was created again: its id is {state.topic_id} (expected {topic_id}); find out "
            "who did it, then trigger a new run"
        )
    return ""


def lacks(state: TopicState, operation: str, right: str) -> str:
    """A right that this login does not have on the topic; the brokers' own answer counts if they do not report it."""
    if isinstance(state.operations, Missing) or operation in state.operations:
        return ""
    return f"topic {state.name}: this login may not do this; grant it {right} on Topic {state.name}"


def not_its_own(
    wanted: TopicShape,
    state: TopicState,
    made: Mapping[str, str],
    begun: Collection[str],
    ends: Mapping[Place, tuple[int, int]],
) -> str:
    """An existing topic that the run did not create."""
    if wanted.name in made:
        return another_topic(state, made[wanted.name])
    what = f"topic {state.name} exists already (id {state.topic_id}, {state.partitions} partitions)"
    if wanted.name not in begun:
        return f"{what}, and this run did not create it; delete it, or choose another name"
    if any(end > 0 for place, (_, end) in ends.items() if place[0] == state.name):
        return f"{what} and has had records: whether this run created it is not known; look at it, then delete it"
    return ""


def misshapen(wanted: TopicShape, state: TopicState, settings: Mapping[str, str]) -> str:
    """A topic of this run that differs from what is wanted."""
    differs = []
    if state.partitions != wanted.partitions:
        differs.append(f"{state.partitions} partitions (wanted {wanted.partitions})")
    if wanted.replication not in {_DEFAULT, state.replication}:
        differs.append(f"replication factor {state.replication} (wanted {wanted.replication})")
    differs += [
        f"{name}={settings.get(name, '(the default)')} (wanted {value})"
        for name, value in wanted.settings
        if settings.get(name) != value
    ]
    if not differs:
        return ""
    return f"topic {state.name} was created by this run and has {', '.join(differs)}; delete it, or trigger a new run"


def not_growable(growth: Growth, state: TopicState) -> str:
    """A topic that cannot be grown as planned."""
    if why := another_topic(state, growth.topic_id):
        return why
    if growth.to <= growth.partitions:
        return (
            f"topic {growth.topic}: {growth.to} partitions are not more than its {growth.partitions}; the number of "
            "partitions can only grow"
        )
    if state.partitions not in {growth.partitions, growth.to}:
        return (
            f"topic {growth.topic} has {state.partitions} partitions (expected {growth.partitions}, wanted "
            f"{growth.to}): another client changed it; trigger a new run"
        )
    return ""


def no_partition(place: Place, state: TopicState) -> str:
    """A partition that its topic does not have."""
    return f"{place_text(place)} does not exist: topic {state.name} has {state.partitions} partitions"


def past_the_end(place: Place, offset: int, end: int) -> str:
    """An offset behind the last record."""
    if offset <= end:
        return ""
    return f"{place_text(place)}: offset {offset:,} is past its end ({end:,})"


def before_the_start(place: Place, offset: int, start: int) -> str:
    """An offset whose record is gone."""
    if offset >= start:
        return ""
    return f"{place_text(place)}: offset {offset:,} is before its start ({start:,}): the records there were deleted"
