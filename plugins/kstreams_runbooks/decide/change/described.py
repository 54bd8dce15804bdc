"""The change between two versions as found: texts, declarations, and facts from the cluster and the fleet."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.effects import effects
from kstreams_runbooks.decide.change.library import with_cleared_state
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Compared, Side, target_of, topics_of
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.decide.topology.partitions import partition_counts, undetermined
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import ChangeRule
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic, Described

_APPLICATION_ID = "application.id"
_INSTANCE, _ITS_OWN = "group.instance.id", "one-of-each-instance"
_GUARANTEE = "processing.guarantee"


@dataclass(frozen=True, slots=True)
class Known:
    """Known facts of the application apart from its versions: its fleet entry, and partitions by full topic name.

    `broker` is the lowest release among the brokers, empty if unknown, and `auto_create_topics` whether any of them
    creates topics automatically, None if unknown.
    """

    application: DeclaredApplication
    partitions: Mapping[str, int]
    broker: str = ""
    auto_create_topics: bool | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """What a change is judged by: the rows about topologies, those about releases, and the settings of releases."""

    rules: tuple[ChangeRule, ...]
    versions: UpgradePathRules
    catalogue: SettingCatalogue = NOTHING_KNOWN


def described_change(
    before: Described,
    after: Described,
    known: Known,
    rules: tuple[ChangeRule, ...],
    versions: UpgradePathRules,
    catalogue: SettingCatalogue = NOTHING_KNOWN,
) -> ChangeReading:
    """The consequences of going from one version to the other, internal topics by their full names.

    BadInput if a text is not a description, or contradicts its declaration or the fleet entry. The ledger keeps its
    calls by the names of these parameters.
    """
    return parsed_change(parsed(before), parsed(after), known, Judging(rules, versions, catalogue))


def parsed_change(before: ParsedDescription, after: ParsedDescription, known: Known, judging: Judging) -> ChangeReading:
    """The same of descriptions that are parsed already."""
    old, new = _sides(before, after, known)
    runs = (old.declared.config or {}).get(_APPLICATION_ID, known.application.application_id)
    if runs != known.application.application_id:
        raise BadInput(
            f"declaration of {before.described.release}: {_APPLICATION_ID} is {runs}, and the fleet entry of "
            f"{known.application.name}, which runs it, has {known.application.application_id}; correct one of them"
        )
    broker = Release.parse(known.broker) if known.broker else None
    change = read_change(old, new, judging.rules, judging.versions, broker, judging.catalogue)
    named = with_cleared_state(_with_ids(old, new, known), judging.versions)
    # Settings that are not given are not those that a name needs.
    prediction = replace(predicted(named), emptied=change.prediction.emptied)
    found = effects(change.plan.runbooks, named, prediction)
    return replace(change, prediction=prediction, effects=found)


def with_full_names(before: ParsedDescription, after: ParsedDescription, known: Known) -> Compared:
    """The two versions side by side, internal topics by their full names even if no settings are declared."""
    return _with_ids(*_sides(before, after, known), known)


def _sides(before: ParsedDescription, after: ParsedDescription, known: Known) -> tuple[Side, Side]:
    old = side_of(before, known)
    return old, without_counts_of_old(old, side_of(after, known), after.described.declaration)


def side_of(one: ParsedDescription, known: Known) -> Side:
    """The version with all known facts; they fill gaps in a declaration and never replace it."""
    described, topology = one.described, one.topology
    declared = described.declaration
    side = Side(
        topology,
        replace(
            declared,
            config=_config(declared.config, known.application),
            library=Release.parse(described.library) if described.library else declared.library,
            instances=len(known.application.instances) or None,
            auto_create_topics=known.auto_create_topics
            if declared.auto_create_topics is None
            else declared.auto_create_topics,
        ),
    )
    try:
        check_declaration(side)
    except BadInput as error:
        raise BadInput(f"declaration of {described.release}: {error}") from None
    return Side(topology, replace(side.declared, topics=_counted(side, known)))


def without_counts_of_old(old: Side, new: Side, declared: Declaration) -> Side:
    """The new version without counts on the cluster that follow from the inputs of the old one, for internal topics.

    Its own inputs may demand another number. A count that does not follow from them is one that the program gives, or
    is unknown: it stays. One that follows from the order in which the library counted may be another one next time.
    `declared` has what the new version itself declares, which stays as well.
    """
    before = old.declared.topics
    external = {
        name: one.partitions for name, one in before.items() if one.partitions is not None and name not in old.internal
    }
    follows = partition_counts(old.topology, external, old.declared.suppressions.keys())
    by_order = undetermined(old.topology, follows)
    topics = {
        name: replace(one, partitions=None)
        if name in new.internal
        and declared.topics.get(name, DeclaredTopic()).partitions is None
        and (one.partitions == follows.get(name) or name in by_order)
        else one
        for name, one in new.declared.topics.items()
    }
    return Side(new.topology, replace(new.declared, topics=topics))


def _config(config: Mapping[str, str] | None, application: DeclaredApplication) -> Mapping[str, str] | None:
    """The declared settings over those of the fleet entry; None stays None: the other settings are unknown."""
    if config is None:
        return None
    fleet = {_APPLICATION_ID: application.application_id}
    if application.static_membership:
        fleet[_INSTANCE] = _ITS_OWN
    if application.processing_guarantee != "unknown":
        fleet[_GUARANTEE] = application.processing_guarantee
    return {**fleet, **config}


def _counted(side: Side, known: Known) -> dict[str, DeclaredTopic]:
    """The declared topics; if a declaration gives no partitions, with those of the cluster."""
    prefix, topics = f"{known.application.application_id}-", dict(side.declared.topics)
    nodes = side.nodes.values()
    others = {name for node in nodes if (name := target_of(node))} | {
        name for sub in side.topology.subtopologies for source in sub.sources for name in topics_of(source)
    }
    for name in others:
        declared = topics.get(name, DeclaredTopic())
        count = known.partitions.get(f"{prefix}{name}" if name in side.internal else name)
        if declared.partitions is None and count is not None:
            topics[name] = replace(declared, partitions=count)
    return topics


def _with_ids(old: Side, new: Side, known: Known) -> Compared:
    return Compared(_with_id(old, known.application), _with_id(new, known.application))


def _with_id(side: Side, application: DeclaredApplication) -> Side:
    """The version with its application.id even if no settings are declared: names on the cluster begin with it."""
    config = side.declared.config or {}
    named = {_APPLICATION_ID: application.application_id, **config}
    return Side(side.topology, replace(side.declared, config=named))
