"""Two versions made comparable, if topology facts were read of one of them: names of formats, and settings.

An instance with the jar next to a command that prints a description is the common case, and by itself no change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, Described

# A runbook sets and unsets it on the way between two libraries: it belongs to neither version.
_UPGRADE_FROM = "upgrade.from"
# Fields that a person declares in words of any kind, and the reader in the words of the code.
_WORDS = {
    "stores": (
        *("key_serde", "value_serde", "aggregate", "supplier", "timestamped", "retain_duplicates"),
        *("made_by", "supplier_window_ms", "caching"),
    ),
    "suppressions": ("value_serde",),
    "topics": ("key_serde", "value_serde", "timestamp_extractor"),
    "operators": ("partitioner", "join"),
}
# Choices that few programs make, and what most declarations leave out: without a word of the other version they are not
# compared, as without the agent.
# Code alone shows what fills a store, the windows of its supplier and its cache.
_CODE = {"made_by", "supplier_window_ms", "caching"}
_CHOICES = {"timestamp_extractor", "partitioner", "supplier", "join", "timestamped", "retain_duplicates", *_CODE}
# Of them those that have the same values in a declaration and in the code.
_VALUES = {"join", "timestamped", "retain_duplicates"}
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
    # What the library refused was tried with the settings that were printed.
    refused = declared.refused if own.items() <= declared.config.items() else None
    return replace(described, declared=replace(declared, config={**declared.config, **own}, refused=refused))


def of_other_settings(running: Described, was: _Settings, will: _Settings) -> tuple[Described, Described]:
    """A version with the settings `was` of its deployer, and the same program with those that it `will` have.

    A version whose settings are not known has those of its deployer alone: no other changes. A setting that is taken
    away has the value of the program, which the deployer hid: that of its declaration file, or it is not read.
    """
    declared, before, after = running.declaration, dict(was), dict(will)
    known, file = declared.config or {}, running.file if running.read else declared
    own = (file.config if file is not None else None) or {}
    unset = before.keys() - after.keys()
    kept = {name: value for name, value in known.items() if name not in unset}
    shown = {name: own[name] for name in unset & own.keys()}
    hidden = {f"config.{name}": "the program has its own value, if any" for name in sorted(unset - own.keys())}
    not_read = {**declared.not_read, **hidden}
    new = replace(declared, config={**kept, **shown, **after}, not_read=not_read, refused=None)
    old = replace(declared, config={**known, **before})
    return replace(running, declared=old), replace(running, declared=new)


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
    sections: dict[str, Any] = {
        section: {
            name: _worded(entry, getattr(file, section).get(name), getattr(theirs, section).get(name), fields)
            for name, entry in getattr(own, section).items()
        }
        for section, fields in _WORDS.items()
    }
    not_read = {where: reason for where, reason in own.not_read.items() if not _is_left_out(where, theirs)}
    config = _listed(own.config, file.config, theirs.config)
    return replace(one, declared=replace(own, **sections, config=config, not_read=not_read))


def _is_left_out(where: str, other: Declaration) -> bool:
    """Whether a fact that was not read, as `operators.NAME.FIELD`, is a choice that the other version leaves out."""
    section, _, name = where.partition(".")
    name, _, field = name.rpartition(".")
    return field in _CHOICES and getattr(getattr(other, section, {}).get(name), field, None) is None


def _listed(
    read: Mapping[str, str] | None, file: Mapping[str, str] | None, other: Mapping[str, str] | None
) -> Mapping[str, str] | None:
    """The settings that a person lists for either version or that decide most; all, if the version has no list."""
    if read is None or file is None:
        return read
    return {name: value for name, value in read.items() if name in {*_DECIDE, *file, *(other or {})}}


def _worded(own: Any, file: Any, other: Any, names: tuple[str, ...]) -> Any:
    """The entry with each of these fields as it compares with the other version, None if it does not."""
    values = {name: _word(name, *(getattr(one, name, None) for one in (own, file, other))) for name in names}
    return replace(own, **values)


def _word(name: str, own: Any, file: Any, other: Any) -> Any:
    """The word of the file; without one, what was read only if the other version has the same.

    The choice of the library, the kind of a join, yes and no are the same words in both.
    """
    if name in _CHOICES:
        if file is None and other is None:
            return None
        if name in _VALUES or DEFAULT in {own, other}:
            return own
    if file is not None:
        return file
    return own if other is None or other == own else None


def _has_settings(one: Described) -> bool:
    return one.declaration.config is not None


def _without_read_settings(one: Described) -> Described:
    """The version without settings, unless its file declares some."""
    if not one.read or one.declared is None or (one.file is not None and one.file.config is not None):
        return one
    return replace(one, declared=replace(one.declared, config=None))
