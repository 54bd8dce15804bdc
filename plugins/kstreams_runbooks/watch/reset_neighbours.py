"""What other applications of a cluster read and write: as their instances report it now."""

from collections.abc import Collection, Iterable
from functools import partial

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading
from kstreams_runbooks.model.readings.reset import RunningUse
from kstreams_runbooks.observe.application.application import topics_of
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.observe.application.polling import poll_all
from kstreams_runbooks.observe.kafka.topic_names import TopicNames


def read_running_uses(
    entries: Iterable[Application], names: TopicNames, working: Collection[str]
) -> tuple[tuple[RunningUse, ...], tuple[str, ...]]:
    """Every topic that a running instance of these applications reads or writes, by its topology; and what is unknown.

    `working` are the groups with members. An application that is stopped has no use here; one that works, and whose
    topology is not reported or cannot be judged, is unknown: it may write what nothing else shows.
    """
    streams = [one for one in entries if not one.as_deployed]
    answers = poll_all(
        {
            entry.name: [
                partial(read_streams, one.metrics, application_id=entry.application_id)
                for one in entry.deployer.instances
            ]
            for entry in streams
        },
        Missing,
    )
    uses: dict[RunningUse, None] = {}
    unknown: list[str] = []
    for entry in streams:
        texts = {
            one.topology
            for one in answers[entry.name]
            if isinstance(one, StreamsReading) and isinstance(one.topology, str)
        }
        if not texts and entry.application_id in working:
            unknown.append(
                f"application {entry.name}: works, and no instance reports its topology: whether it uses these topics "
                "is not known; make its metrics answer, or stop it"
            )
        for text in sorted(texts):
            found = _uses(entry, text, names)
            if isinstance(found, Missing):
                unknown.append(f"application {entry.name}: which topics it uses is not known: {found.missing}")
            else:
                uses |= dict.fromkeys(found)
    return tuple(uses), tuple(unknown)


def _uses(entry: Application, text: str, names: TopicNames) -> list[RunningUse] | Missing:
    try:
        found = topics_of([parse_topology(text)], entry.application_id, names)
        if isinstance(found, Missing):
            return found
        read = found.sources(names.visible)
    except (BadInput, PatternTooSlow) as error:
        return Missing(str(error))
    uses = [RunningUse(topic, entry.name, writes=False) for topic in sorted(read | found.changelogs)]
    return [*uses, *(RunningUse(topic, entry.name, writes=True) for topic in sorted(found.outputs))]
