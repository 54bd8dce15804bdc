"""Reads the topics whose producers a person has stopped: ends, last stable offsets, open transactions."""

from collections.abc import Collection

from kstreams_runbooks.model.readings.inputs import InputsReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of


def read_inputs(reader: ClusterReader, topics: Collection[str]) -> InputsReading:
    """One pass over these topics; what cannot be read is a problem of the reading.

    Unreachable if no broker answers, Inconclusive if one refuses a topic.
    """
    taken = reader.taken()
    found = reader.topics(topics)
    absent = sorted(set(topics) - {one.name for one in found})
    hidden = reader.names().unseen(absent) if absent else {}
    problems = [f"input {name}: {hidden.get(name, 'the topic does not exist on the cluster')}" for name in absent]
    ends: dict[str, int] = {}
    stable: dict[str, int] = {}
    held_back = []
    for (topic, number), (_, last_stable, end) in ends_of(reader, found).items():
        name = f"{topic}-{number}"
        if isinstance(end, Missing) or isinstance(last_stable, Missing):
            problems.append(f"{name}: {next(one.missing for one in (end, last_stable) if isinstance(one, Missing))}")
            continue
        ends[name], stable[name] = end, last_stable
        if last_stable < end:
            held_back.append((topic, number))
    # Only these partitions have one: to describe producers needs Read on the topic.
    open_now = reader.open_transactions(held_back, taken.at_ms) if held_back else ()
    return InputsReading(
        taken=taken,
        topic_ids={one.name: one.topic_id for one in found},
        ends=ends,
        stable=stable,
        open_transactions=() if isinstance(open_now, Missing) else open_now,
        problems=tuple(problems),
    )
