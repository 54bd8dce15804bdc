"""The internal topics that a run creates before it starts a version: for a stage of a plan."""

from collections.abc import Collection

from kstreams_runbooks.decide.fitting.topics import external_topics
from kstreams_runbooks.decide.internal_topics.compared import sources_of, topics_to_create
from kstreams_runbooks.decide.internal_topics.derived import internal_topics
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of


def created_before_start(
    wanted: Described | Missing, seen: TopicsSeen, application: DeclaredApplication, kept: Collection[str] = ()
) -> tuple[TopicShape, ...] | Missing:
    """The topics of a `CreateTopics` stage in front of a start of this version, by name.

    `seen` has the topics that its sources read, as `topics_fit` gets them; `kept` are the full names of internal topics
    that exist at the start: those that the run does not delete. Missing, with each field, if a fact is not known, and
    if an input is not visible: then the library creates the topics, as it does without this stage.
    """
    if isinstance(wanted, Missing):
        return wanted
    try:
        brought = parsed(wanted)
        if hidden := sorted(seen.hidden[name] for name in sources_of(brought.topology) & seen.hidden.keys()):
            return Missing(f"internal topics are not created before the start: {first_of(hidden)}")
        inputs = external_topics(brought.topology, seen)
        made = internal_topics(brought.topology, wanted.declaration, application.application_id, inputs)
    except BadInput as error:
        return Missing(str(error))
    return topics_to_create(made, kept)
