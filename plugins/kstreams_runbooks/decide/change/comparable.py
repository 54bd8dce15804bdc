"""Two versions made comparable, if topology facts were read of one of them: names of formats, and settings.

An instance with the jar next to a command that prints a description is the common case, and by itself no change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading
from kstreams_runbooks.model.topology.declaration import Declaration, Described

# A runbook sets and unsets it on the way between two libraries: it belongs to neither version.
_UPGRADE_FROM = "upgrade.from"
# Fields that a person declares in words of any kind, and the reader in the words of the code.
_OF_A_TOPIC, _OF_A_STORE = (
    ("key_serde", "value_serde", "timestamp_extractor"),
    ("key_serde", "value_serde", "aggregate", "supplier"),
)
_OF_A_SUPPRESSION, _OF_AN_OPERATOR = ("value_serde",), ("partitioner",)
# Choices that few programs make, and that a declaration need not have: without a word of the other version they are not
# compared, as without the agent.
_CHOICES = {"timestamp_extractor", "partitioner"}
# Settings on whose value rules depend, listed or not.
_DECIDE = ("application.id", "group.protocol", "processing.guarantee", "topology.optimization")
_Settings = tuple[tuple[str, str], ...]


def comparable(before: tuple[Described, ...], after: Described) -> tuple[tuple[Described, ...], Described]:
    """The versions without facts that only one of them can show.

    Words of the code are not compared with words of a person: equal ones prove that nothing changed, different ones
    prove nothing. Settings that were read of one version and are not known of the other are not compared, and so is a
    setting that two files leave out. What a person declares stays, and the plan asks for it in the other version.
    """
    wanted = after
    for one in before:
        wanted = _in_words_of(wanted, one)
    running = tuple(_in_words_of(one, after) for one in before)
    if any(map(_has_settings, running)) and not _has_settings(wanted):
        return tuple(map(_without_read_settings, running)), wanted
    if _has_settings(wanted) and not all(map(_has_settings, running)):
        return running, _without_read_settings(wanted)
    return running, wanted


def with_settings(described: Described, settings: Iterable[tuple[str, str]]) -> Described:
    """The version with settings that a runbook sets, over those that its topology command printed.

    A command that takes no settings printed others. A declaration has all of them.
    """
    declared = described.declared
    own = {name: value for name, value in settings if name != _UPGRADE_FROM}
    if not own or not described.read or declared is None or declared.config is None:
        return described
    return replace(described, declared=replace(declared, config={**declared.config, **own}))


def set_by_runbooks(instances: Iterable[InstanceReading]) -> _Settings:
    """The settings that every instance has from a runbook, with one value; none if a deployment is not known."""
    found: list[Mapping[str, str]] = []
    for one in instances:
        if not isinstance(one.deployment, Deployment):
            return ()
        found.append(dict(one.deployment.settings))
    first, *more = found or [{}]
    return tuple((name, value) for name, value in first.items() if all(one.get(name) == value for one in more))


def _in_words_of(one: Described, other: Described) -> Described:
    """The version with words that compare with those of a version whose facts were not read."""
    if not one.read or other.read or one.declared is None:
        return one
    own, theirs, file = one.declared, other.declaration, one.file or Declaration()
    return replace(
        one,
        declared=replace(
            own,
            stores={
                name: _worded(store, file.stores.get(name), theirs.stores.get(name), _OF_A_STORE)
                for name, store in own.stores.items()
            },
            suppressions={
                name: _worded(each, file.suppressions.get(name), theirs.suppressions.get(name), _OF_A_SUPPRESSION)
                for name, each in own.suppressions.items()
            },
            topics={
                name: _worded(topic, file.topics.get(name), theirs.topics.get(name), _OF_A_TOPIC)
                for name, topic in own.topics.items()
            },
            operators={
                name: _worded(each, file.operators.get(name), theirs.operators.get(name), _OF_AN_OPERATOR)
                for name, each in own.operators.items()
            },
            config=_listed(own.config, file.config, theirs.config),
        ),
    )


def _listed(
    read: Mapping[str, str] | None, file: Mapping[str, str] | None, other: Mapping[str, str] | None
) -> Mapping[str, str] | None:
    """The settings that a person lists for either version or that decide most; all, if the version has no list."""
    if read is None or file is None:
        return read
    return {name: value for name, value in read.items() if name in {*_DECIDE, *file, *(other or {})}}


def _worded(own: Any, file: Any, other: Any, names: tuple[str, ...]) -> Any:
    """The entry with each of these fields as its file has it; without one, only if the other version has the same."""
    values = {}
    for name in names:
        read, theirs = getattr(own, name), getattr(other, name, None)
        alone = theirs is None and name not in _CHOICES
        values[name] = getattr(file, name, None) or (read if alone or theirs == read else None)
    return replace(own, **values)


def _has_settings(one: Described) -> bool:
    return one.declaration.config is not None


def _without_read_settings(one: Described) -> Described:
    """The version without settings, unless its file declares some."""
    if not one.read or one.declared is None or (one.file is not None and one.file.config is not None):
        return one
    return replace(one, declared=replace(one.declared, config=None))
