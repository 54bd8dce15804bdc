"""The settings of two versions, made comparable: those that runbooks set, and those that only one version shows."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading
from kstreams_runbooks.model.topology.declaration import Described

# A runbook sets and unsets it on the way between two libraries: it belongs to neither version.
_UPGRADE_FROM = "upgrade.from"
_Settings = tuple[tuple[str, str], ...]


def comparable(before: tuple[Described, ...], after: Described) -> tuple[tuple[Described, ...], Described]:
    """The versions without settings that were read of one and are not known of the other.

    An instance shows its settings, a command that prints a description does not: this alone is not a change. Settings
    that a person declares stay, and the plan asks for those of the other version.
    """
    if any(_has_settings(one) for one in before) and not _has_settings(after):
        return tuple(map(_without_read, before)), after
    if _has_settings(after) and not all(_has_settings(one) for one in before):
        return before, _without_read(after)
    return before, after


def with_settings(described: Described, settings: Iterable[tuple[str, str]]) -> Described:
    """The version with settings that a runbook sets, over those that its topology command printed.

    The command gets no settings. A declaration has all of them.
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


def _has_settings(one: Described) -> bool:
    return one.declaration.config is not None


def _without_read(one: Described) -> Described:
    if not one.only_read_settings or one.declared is None:
        return one
    return replace(one, declared=replace(one.declared, config=None), only_read_settings=False)
