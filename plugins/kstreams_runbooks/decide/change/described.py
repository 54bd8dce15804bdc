"""The change between two versions as they were found: texts, declarations, and what the cluster and the fleet know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.effects import effects
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Compared, Version, target_of, topics_of
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import VersionRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import ChangeRule
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic, Described
from kstreams_runbooks.model.topology.topology import Topology

_APPLICATION_ID = "application.id"
_GUARANTEE = "processing.guarantee"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the application beside its versions: its fleet entry, and partitions by full topic name.

    `broker` is the lowest release among the brokers, empty where it is not known, and `auto_create_topics` whether any
    of them creates topics by itself, None where that is not known.
    """

    application: DeclaredApplication
    partitions: Mapping[str, int]
    broker: str = ""
    auto_create_topics: bool | None = None


def described_change(
    before: Described,
    after: Described,
    known: Known,
    rules: tuple[ChangeRule, ...],
    versions: VersionRules,
    catalogue: SettingCatalogue = NOTHING_KNOWN,
) -> ChangeReading:
    """What follows from going from one version to the other, internal topics by their full names.

    BadInput where a text is no description, or contradicts what is declared of it or in the fleet entry.
    """
    old, new = version_of(before, known), version_of(after, known)
    runs = (old.declared.config or {}).get(_APPLICATION_ID, known.application.application_id)
    if runs != known.application.application_id:
        raise BadInput(
            f"declaration of {before.release}: {_APPLICATION_ID} is {runs}, and the fleet entry of "
            f"{known.application.name}, which runs it, has {known.application.application_id}; correct one of them"
        )
    broker = Release.parse(known.broker) if known.broker else None
    change = read_change(old, new, rules, versions, broker, catalogue)
    named = Compared(_with_id(old, known.application), _with_id(new, known.application))
    prediction = predicted(named)
    return replace(change, prediction=prediction, effects=effects(change.plan.runbooks, named, prediction))


def version_of(described: Described, known: Known) -> Version:
    """The version with everything that is known of it; what a declaration leaves out is filled in, never replaced."""
    topology = parsed(described)
    declared = described.declared or Declaration()
    version = Version(
        topology,
        replace(
            declared,
            config=_config(declared.config, known.application),
            library=Release.parse(described.library) if described.library else declared.library,
            auto_create_topics=known.auto_create_topics
            if declared.auto_create_topics is None
            else declared.auto_create_topics,
        ),
    )
    try:
        check_declaration(version)
    except BadInput as error:
        raise BadInput(f"declaration of {described.release}: {error}") from None
    return Version(topology, replace(version.declared, topics=_counted(version, known)))


def parsed(described: Described) -> Topology:
    """The topology of a description; BadInput begins with where it came from."""
    try:
        return parse_topology(described.text)
    except BadInput as error:
        raise BadInput(f"{described.source}: {error}") from None


def _config(config: Mapping[str, str] | None, application: DeclaredApplication) -> Mapping[str, str] | None:
    """The declared settings over those that the fleet entry has; None stays None: what else is set is not known."""
    if config is None:
        return None
    fleet = {_APPLICATION_ID: application.application_id}
    if application.processing_guarantee != "unknown":
        fleet[_GUARANTEE] = application.processing_guarantee
    return {**fleet, **config}


def _counted(version: Version, known: Known) -> dict[str, DeclaredTopic]:
    """The declared topics with the partitions that the cluster has, where a declaration gives none."""
    prefix, topics = f"{known.application.application_id}-", dict(version.declared.topics)
    nodes = version.nodes.values()
    others = {name for node in nodes if (name := target_of(node))} | {
        name for sub in version.topology.subtopologies for source in sub.sources for name in topics_of(source)
    }
    for name in others:
        declared = topics.get(name, DeclaredTopic())
        count = known.partitions.get(f"{prefix}{name}" if name in version.internal else name)
        if declared.partitions is None and count is not None:
            topics[name] = replace(declared, partitions=count)
    return topics


def _with_id(version: Version, application: DeclaredApplication) -> Version:
    """The version with its application.id also where nobody declares settings: names on the cluster begin with it."""
    config = version.declared.config or {}
    named = {_APPLICATION_ID: application.application_id, **config}
    return Version(version.topology, replace(version.declared, config=named))
