"""What is known of a program that known defects depend on, and the defects that bite a change or what runs."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from kstreams_runbooks.decide.change.library import aggregates_tables, joins_by_foreign_key, may_join_outer
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.setting_facts import (
    CACHE,
    DEFAULTS,
    GUARANTEE,
    REUSE,
    STORE_TYPES,
    by_new_name,
    optimized,
)
from kstreams_runbooks.decide.releases.defects import defect_findings, refuses, unknown_needs
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.names import is_suppression
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    GroupReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import Defect, DefectEffect, DefectFacts, UpgradePathRules
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, Described
from kstreams_runbooks.model.verdicts import SEVERITIES, Finding

_PROTOCOL, _STANDBYS, _OPTIMIZATION = "group.protocol", "num.standby.replicas", "topology.optimization"
_CLEANUP_AGE, _NEVER = "state.cleanup.dir.max.age.ms", "-1"
CLEARS: Final[DefectEffect] = "clear_state_before_start"
KILLED = "state-after-kill"
_PUNCTUATORS = ".punctuators"
# Facts that one setting decides, which a deployer or a plan may give alone.
_GIVEN = {
    "guarantee": GUARANTEE,
    "restores_from_inputs": _OPTIMIZATION,
    "standbys": _STANDBYS,
    "state_cleanup_age": _CLEANUP_AGE,
}


def program_facts(side: Side) -> dict[str, tuple[str, ...]]:
    """The facts of a version: its topology, what is declared or was read of its program, and its settings."""
    facts = {
        **settings_facts(side.declared),
        "foreign_key_joins": (joins_by_foreign_key(side),),
        "global_stores": (_yes(any(sub.is_global for sub in side.topology.subtopologies)),),
        "stateful": (_yes(side.store_places),),
    }
    if (aggregates := aggregates_tables(side)) != "unknown":
        facts["table_aggregations"] = (aggregates,)
    declared = side.declared
    joins = {*(one.join for one in declared.operators.values()), *(one.join for one in declared.stores.values())}
    if not may_join_outer(side) or joins & {"left", "outer"}:
        facts["outer_joins"] = (_yes(joins & {"left", "outer"}),)
    if side.declared.was_read and not any(where.endswith(_PUNCTUATORS) for where in side.declared.not_read):
        facts["stream_time_punctuation"] = ("no",)
    own = [declared.stores.get(name) for name in side.store_places if not is_suppression(name)]
    kinds = {None if store is None else store.kind for store in own}
    if "versioned" in kinds or None not in kinds:
        facts["versioned_stores"] = (_yes("versioned" in kinds),)
    stores = {_kind(side, name) for name in side.store_places}
    if not stores:
        facts |= {"stores": ("none",), "caching": ("no",)}
    elif "persistent" in stores or None not in stores:
        facts["stores"] = tuple(sorted(filter(None, stores)))
    return facts


def settings_facts(declared: Declaration) -> dict[str, tuple[str, ...]]:
    """The facts that settings decide: of all settings of a version, without those whose value was not read."""
    if declared.config is None:
        return {}
    given = {name: one.value for name, one in by_new_name(declared.config).items()}
    protocol = given.get(_PROTOCOL, DEFAULTS[_PROTOCOL]).lower()
    values = {
        "guarantee": (GUARANTEE, given.get(GUARANTEE, DEFAULTS[GUARANTEE])),
        "protocol": (_PROTOCOL, protocol),
        "restores_from_inputs": (_OPTIMIZATION, _yes(REUSE in optimized(given))),
        "state_cleanup_age": (_CLEANUP_AGE, _yes(given.get(_CLEANUP_AGE, _NEVER) != _NEVER)),
    }
    if protocol == DEFAULTS[_PROTOCOL]:
        # A streams group has its standbys as a setting of the brokers.
        values["standbys"] = (_STANDBYS, _yes(given.get(_STANDBYS, DEFAULTS[_STANDBYS]).strip() != "0"))
    if given.get(CACHE) == "0":
        values["caching"] = (CACHE, "no")
    return {fact: (value,) for fact, (name, value) in values.items() if name not in declared.settings_not_read}


def together(*versions: DefectFacts) -> DefectFacts:
    """The facts of several versions: each value that one of them has; a fact that one does not give is not known."""
    names = set.intersection(*(set(one) for one in versions)) if versions else set()
    return {name: tuple(sorted({value for one in versions for value in one[name]})) for name in sorted(names)}


def change_defects(compared: Compared, rules: UpgradePathRules, broker: Release | None = None) -> Iterator[PathFinding]:
    """The defects that bite a change, without those that refuse its target."""
    old, new = compared.before.declared.library, compared.after.declared.library
    if old is None and new is None:
        return
    facts = together(program_facts(compared.before), program_facts(compared.after))
    refusing = set() if new is None or new == old else {row.id for row in rules.defects if refuses(row, new, facts)}
    for one in defect_findings(old, new, facts, rules, broker):
        if one.id not in refusing:
            yield one


def defects_that_bite(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    versions: tuple[Described, ...],
    rules: UpgradePathRules,
    target: str = "",
    settings: RunbookSettings = (),
) -> tuple[Finding, ...]:
    """The defects that bite an application as it was read, each once, the worst first.

    `versions` are those that run and the one that is brought, all of them; empty if one could not be described: then
    only the fleet entry, the group and the settings of the instances are known. `target` is the library that is
    brought, empty if nothing is; `settings` are those that a plan brings.
    """
    facts = known_facts(reading, declared, versions, settings)
    broker = reading.broker.version if isinstance(reading.broker, BrokerReading) else None
    brokers = Release.parse(broker) if isinstance(broker, str) and Release.known(broker) else None
    wanted = Release.parse(target) if Release.known(target) else None
    runs = {one.streams.version for one in reading.instances if isinstance(one.streams, StreamsReading)}
    running: list[Release | None] = [Release.parse(one) for one in sorted(runs) if Release.known(one)]
    found: dict[str, Finding] = {}
    for one in chain.from_iterable(defect_findings(each, wanted, facts, rules, brokers) for each in running or [None]):
        finding = Finding(one.id, one.severity, f"{declared.name} ({one.object})", one.message, one.source)
        there = found.get(one.id)
        if there is None or SEVERITIES.index(finding.severity) < SEVERITIES.index(there.severity):
            found[one.id] = finding
    every = (*found.values(), *_killed(reading, declared, facts, rules))
    return tuple(sorted(every, key=lambda one: SEVERITIES.index(one.severity)))


def known_facts(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    versions: tuple[Described, ...],
    settings: RunbookSettings = (),
) -> DefectFacts:
    """The facts of an application as it was read, of all its `versions`, and of the settings that a plan brings."""
    try:
        known = together(*(program_facts(_side(one)) for one in versions))
    except BadInput:
        # A description that no parser reads: what it would show is not known. Other parts report it.
        known = {}
    return _with_planned(_either(entry_facts(declared), _read_facts(reading), known), settings)


def defects_with(
    effect: DefectEffect,
    library: str,
    facts: DefectFacts,
    rules: UpgradePathRules,
    broker: str | Missing | None = None,
) -> tuple[str, ...]:
    """The defects for which something is done differently with an instance of a release: those that bite, or may.

    A release that is not known may have one. `broker` is the release of the brokers, None if
    their defects are not asked for.
    """
    if not Release.known(library):
        return ("release-not-known",)
    brokers = Release.parse(broker) if isinstance(broker, str) and Release.known(broker) else None
    return tuple(
        row.id
        for row in rules.defects
        if effect in row.effects
        and (row.of == "library" or broker is not None)
        and _has(row, Release.parse(library), brokers)
        and unknown_needs(row, facts) is not None
    )


def _has(row: Defect, library: Release, brokers: Release | None) -> bool:
    if row.of == "broker":
        return brokers is None or within(brokers, row.releases)
    return within(library, row.releases)


def _killed(
    reading: ApplicationReading, declared: DeclaredApplication, facts: DefectFacts, rules: UpgradePathRules
) -> Iterator[Finding]:
    """Each instance that is down, was not seen to end cleanly, and whose release may take its state for good."""
    for one in reading.instances:
        deployment = one.deployment
        if isinstance(deployment, Missing) or not is_down(deployment.process) or deployment.ended_cleanly is True:
            continue
        release = deployment.release
        library = "" if isinstance(release, Missing) else declared.library(release)
        if rows := defects_with(CLEARS, library, facts, rules):
            end = deployment.ended_cleanly
            how = f"how it ended is not known ({end.missing})" if isinstance(end, Missing) else "it was killed"
            message = (
                f"{one.down}, and {how}: on {library or 'its release'} its next start may take writes that were not "
                f"committed for good ({', '.join(rows)}). A run deletes the task directories of its stores before it "
                "starts it; delete them manually before any other start"
            )
            yield Finding(KILLED, "warning", one.instance, message, "docs/defects.md")


def entry_facts(declared: DeclaredApplication) -> dict[str, tuple[str, ...]]:
    """The facts of the fleet entry: what it does not use; of what it uses, or may use, only the program shows more."""
    features = ("foreign_key_joins", "table_aggregations")
    facts: dict[str, tuple[str, ...]] = {name: ("no",) for name in features if name not in declared.uses}
    if declared.processing_guarantee != "unknown":
        facts["guarantee"] = (declared.processing_guarantee,)
    return facts


def _read_facts(reading: ApplicationReading) -> DefectFacts:
    """The facts of the group, and of the settings that the deployer gives to every instance.

    What one instance alone is given leaves the others unknown.
    """
    deployed = [one.deployment.settings for one in reading.instances if isinstance(one.deployment, Deployment)]
    every = together(*(_given_facts(dict(one)) for one in deployed)) if len(deployed) == len(reading.instances) else {}
    if isinstance(reading.group, GroupReading):
        every = {**every, "protocol": ("streams" if reading.group.type.lower() == "streams" else "classic",)}
    return every


def _with_planned(facts: DefectFacts, settings: RunbookSettings) -> DefectFacts:
    """The facts with the values that a plan brings and those of now; what is not known now stays so."""
    planned = settings_facts(Declaration(config=dict(settings)))
    given = {fact for fact, name in {**_GIVEN, "protocol": _PROTOCOL}.items() if name in dict(settings)}
    return {
        fact: tuple(sorted({*values, *(planned.get(fact, ()) if fact in given else ())}))
        for fact, values in facts.items()
    }


def _given_facts(settings: Mapping[str, str]) -> DefectFacts:
    """The facts of settings that are not all of them: a default that is not among them is not known."""
    found = settings_facts(Declaration(config=settings))
    return {fact: found[fact] for fact, name in _GIVEN.items() if name in settings and fact in found}


def _either(*known: DefectFacts) -> DefectFacts:
    """The facts that any of these gives, with each value."""
    names = {name for one in known for name in one}
    return {name: tuple(sorted({value for one in known for value in one.get(name, ())})) for name in sorted(names)}


def _side(described: Described) -> Side:
    return Side(parsed(described).topology, described.declaration)


def _kind(side: Side, name: str) -> str | None:
    """Whether a store has files, None if that is not known: a suppression and an LRU map have none."""
    store = side.declared.stores.get(name)
    if is_suppression(name) or (store is not None and store.is_lru_map):
        return "in_memory"
    if store is None or store.in_memory is None:
        config = side.declared.config
        chosen = store is not None and store.supplier == DEFAULT and config is not None
        return "persistent" if chosen and not set(STORE_TYPES) & set(config or {}) else None
    return "in_memory" if store.in_memory else "persistent"


def _yes(holds: object) -> str:
    return "yes" if holds else "no"
