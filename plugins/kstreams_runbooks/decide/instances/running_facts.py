"""The topology facts of a running version: one set of facts, if all of its instances show the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.topology.code_facts import merged
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Declaration, Serde, Window
from kstreams_runbooks.model.topology.facts import FactsReading

_Found = Mapping[str, FactsReading | Missing]
_OF_THE_TEXT, _OPERATORS = ("stores", "suppressions", "topics"), "operators"
# Limits of a buffer: one without a value is not set. Every other field without a value was not read.
_LIMITS = frozenset({"time_limit_ms", "max_records", "max_bytes", "when_full"})
# Settings of one machine or one start, on which no topology depends; the last is a runbook's.
_OF_AN_INSTANCE = (
    *("application.server", "bootstrap.servers", "client.id", "group.instance.id", "state.dir"),
    "upgrade.from",
)
# Source: StreamsConfig (Apache Kafka 2.4 to 4.3).
_GUARANTEE, _AT_LEAST_ONCE = "processing.guarantee", "at_least_once"


def with_facts(version: RunningRelease, found: _Found) -> tuple[RunningRelease, ...]:
    """The version with what was read of it, one for each different set of facts that its instances show.

    `found` has the instances whose Streams client answered; the others count for their release, as their descriptions
    do. If one of those that answered does not show its facts, none are used: that instance may have other ones.
    """
    shown = {name: found[name] for name in version.instances if name in found}
    unread = tuple(f"{name}: {one.missing}" for name, one in shown.items() if isinstance(one, Missing))
    if unread or not shown:
        return (replace(version, unread=unread),)
    groups: list[list[tuple[str, Declaration]]] = []
    for name, one in shown.items():
        if isinstance(one, FactsReading):
            # No agent shows code: a document that has it is not of the jar.
            _add(groups, name, replace(of_a_release(one.read), code={}))
    first, *more = (_version(version, group) for group in groups)
    silent = [name for name in version.instances if name not in shown]
    return (replace(first, instances=_ordered(version, (*first.instances, *silent))), *more)


def differences(one: Declaration, other: Declaration) -> Iterator[str]:
    """Facts that were read of both as different values, settings aside: their place with both values."""
    if None not in {one.library, other.library} and one.library != other.library:
        yield f"library ({one.library} and {other.library})"
    for section in (*_OF_THE_TEXT, _OPERATORS):
        mine, others = getattr(one, section), getattr(other, section)
        if section in _OF_THE_TEXT:
            yield from (f"{section}.{name} (shown once)" for name in sorted(mine.keys() ^ others.keys()))
        for name in sorted(mine.keys() & others.keys()):
            yield from _of_fields(f"{section}.{name}", mine[name], others[name])


def of_a_release(read: Declaration) -> Declaration:
    """The facts without the settings that each instance has for itself.

    A guarantee that the program does not set is the default: what was read wins over the fleet entry.
    """
    if read.config is None:
        return read
    default = {} if f"config.{_GUARANTEE}" in read.not_read else {_GUARANTEE: _AT_LEAST_ONCE}
    own = {name: value for name, value in read.config.items() if not is_of_an_instance(name)}
    return replace(read, config={**default, **own})


def with_declared(read: Declaration, known: Declaration) -> Declaration:
    """What was read of a program over what its release declares.

    Settings of one instance are not among the facts of a release: those that are declared stay.
    """
    if read.config is None or known.config is None:
        return merged(read, known)
    own = {name: value for name, value in known.config.items() if is_of_an_instance(name)}
    others = {name: value for name, value in known.config.items() if name not in own}
    both = merged(read, replace(known, config=others))
    return replace(both, config={**own, **(both.config or {})})


def is_of_an_instance(name: str) -> bool:
    """Whether each instance has its own value of a setting, or a runbook sets it for a while."""
    # Streams passes main.consumer.client.id and similar settings on to its clients.
    return any(name == known or name.endswith(f".{known}") for known in _OF_AN_INSTANCE)


def _add(groups: list[list[tuple[str, Declaration]]], name: str, read: Declaration) -> None:
    for group in groups:
        if not any(differences(group[0][1], read)):
            group.append((name, read))
            return
    groups.append([(name, read)])


def _version(version: RunningRelease, group: Sequence[tuple[str, Declaration]]) -> RunningRelease:
    """The version with the facts that all of a group show; settings only if they have the same."""
    names = tuple(name for name, _ in group)
    common = group[0][1]
    for _, read in group[1:]:
        common = _common(common, read)
    if not (different := sorted(_different_settings(group))):
        return replace(version, instances=names, read=common)
    why = f"{', '.join(different)} {'differs' if len(different) == 1 else 'differ'} between {', '.join(names)}"
    common = replace(common, config=None, not_read={**common.not_read, "config": why})
    return replace(version, instances=names, read=common, unread=(f"settings: {why}; give all of them the same",))


def _different_settings(group: Sequence[tuple[str, Declaration]]) -> set[str]:
    configs = [read.config or {} for _, read in group]
    names = {name for config in configs for name in config}
    return {name for name in names if len({config.get(name) for config in configs}) > 1}


def _common(one: Declaration, other: Declaration) -> Declaration:
    """What was read of both; a field that only one of them shows counts as not read."""
    return replace(
        one,
        stores={name: _agreed(store, other.stores[name]) for name, store in one.stores.items()},
        suppressions={name: _agreed(each, other.suppressions[name]) for name, each in one.suppressions.items()},
        topics={name: _agreed(topic, other.topics[name]) for name, topic in one.topics.items()},
        operators={
            name: _agreed(each, other.operators[name])
            for name, each in one.operators.items()
            if name in other.operators
        },
        library=one.library if one.library == other.library else None,
        not_read={**other.not_read, **one.not_read},
    )


def _agreed(one: Any, other: Any) -> Any:
    return replace(one, **{name: None for name in _names(one) if getattr(one, name) != getattr(other, name)})


def _of_fields(where: str, one: Any, other: Any) -> Iterator[str]:
    for name in _names(one):
        mine, others = getattr(one, name), getattr(other, name)
        if mine == others or (None in (mine, others) and name not in _LIMITS):
            continue
        if isinstance(mine, Window):
            yield from _of_fields(f"{where}.{name}", mine, others)
        else:
            yield f"{where}.{name} ({_shown(mine)} and {_shown(others)})"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, Serde):
        return value.name
    return ", ".join(sorted(value)) or "none" if isinstance(value, frozenset) else str(value)


def _names(one: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(one))


def _ordered(version: RunningRelease, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in version.instances if name in names)
