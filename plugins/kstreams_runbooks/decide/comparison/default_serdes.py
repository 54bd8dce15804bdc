"""Serdes that a version leaves to its settings, and those that no setting gives.

The library builds a topology without them, and `KafkaStreams` is made. The first task dies of a ConfigException.
Source: KIP-741; Apache Kafka, StreamsConfig#defaultValueSerde, WrappingNullableUtils.
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.setting_facts import by_new_name
from kstreams_runbooks.decide.topology.names import is_suppression
from kstreams_runbooks.model.releases.release import within
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic
from kstreams_runbooks.model.topology.topology import Sink, Source
from kstreams_runbooks.wording import first_of

# Both defaults, by the field of a declaration that each gives.
_FIELDS = {"key_serde": "default.key.serde", "value_serde": "default.value.serde"}
# Before this release the library has a default, which writes and reads bytes (ByteArraySerde).
_BYTES = ("..2.8",)
# Releases in which a source or a sink that takes one serde from the settings dies without the other one too.
_TAKES_BOTH = ("3.0..3.7",)
_MOST = 3


def serde_facts(compared: Compared) -> tuple[dict[str, Fact], dict[str, tuple[Undeclared, ...]], dict[str, str]]:
    """Whether the new version lacks a serde that the old one has; what to declare if that is unknown; the words.

    A version that runs has all of its serdes: what it lacks by what was given is set elsewhere, and is not new.
    """
    after = compared.after
    lacking, asked = _lacking(after), tuple[Undeclared, ...]()
    if after.declared.was_read:
        had = _lacking(compared.before)
        lacking = {where: settings for where, settings in lacking.items() if where not in had}
        missing: Fact = bool(lacking)
        if after.declared.config is None and compared.before.declared.config is not None:
            asked = tuple(Undeclared("config", one, "new") for one in sorted(_needed(after)))
            missing = None if asked else False
    else:
        asked = () if _has_default(after) else tuple(_undeclared(compared))
        missing = None if asked else False
    return (
        {"serde_missing": missing, "serde_becomes_bytes": _has_default(after) and _may_use(compared)},
        {"serde_missing": asked},
        {
            "without_serde": first_of([_named(after, where) for where in sorted(lacking)], _MOST, " and "),
            "serde_settings": " and ".join(sorted(frozenset[str]().union(*lacking.values()))),
            "removed_defaults": " and ".join(_removed(compared)),
        },
    )


def _lacking(side: Side) -> dict[str, frozenset[str]]:
    """The serdes that neither the program nor its settings give, each with the settings to set."""
    config, library = side.declared.config, side.declared.library
    if config is None or library is None or _has_default(side):
        return {}
    given = by_new_name(config)
    found = {}
    for where, settings in side.declared.of_settings.items():
        section, name = where.rpartition(".")[0].split(".", 1)
        at_end = section == "operators" and isinstance(side.nodes.get(name), Source | Sink)
        needed = frozenset(_FIELDS.values()) if at_end and within(library, _TAKES_BOTH) else settings
        if lacks := needed - given.keys():
            found[where] = lacks
    return found


def _needed(side: Side) -> frozenset[str]:
    return frozenset[str]().union(*side.declared.of_settings.values())


def _has_default(side: Side) -> bool:
    return side.declared.library is not None and within(side.declared.library, _BYTES)


def _removed(compared: Compared) -> Iterator[str]:
    """The defaults that the old settings give and the new ones do not; none if one version's are not known."""
    configs = compared.before.declared.config, compared.after.declared.config
    if None not in configs:
        was, now = (by_new_name(one) for one in configs)
        yield from (setting for setting in _FIELDS.values() if setting in was and setting not in now)


def _undeclared(compared: Compared) -> Iterator[Undeclared]:
    """The serdes of the new version that a default may have given, which is gone: no description shows them."""
    removed, side = set(_removed(compared)), compared.after
    stores = {one for one in side.topology.stores if not is_suppression(one)} - side.subscription_stores
    topics = {*side.readers, *side.writers, *side.patterns}
    parts: tuple[tuple[str, set[str], Mapping[str, DeclaredStore | DeclaredTopic]], ...] = (
        ("stores", stores, side.declared.stores),
        ("topics", topics, side.declared.topics),
    )
    for section, names, declared in parts if removed else ():
        for name in sorted(names):
            for field, setting in _FIELDS.items():
                where = f"{section}.{name}"
                known = getattr(declared.get(name), field, None) is not None
                if setting in removed and (not known or f"{where}.{field}" in side.declared.of_settings):
                    yield Undeclared(where, field, "new", value=True)


def _may_use(compared: Compared) -> bool:
    """Whether the new version may take a serde from a default that is gone."""
    removed, declared = set(_removed(compared)), compared.after.declared
    if declared.was_read:
        return bool(removed & _needed(compared.after))
    return any(True for _ in _undeclared(compared))


def _named(side: Side, where: str) -> str:
    """`sink out has no value serde`."""
    path, _, field = where.rpartition(".")
    section, name = path.split(".", 1)
    kind = {"stores": "store", "suppressions": "suppression"}.get(section, "operator")
    node = side.nodes.get(name)
    if section == "operators" and isinstance(node, Source | Sink):
        kind = "source" if isinstance(node, Source) else "sink"
    return f"{kind} {name} has no {field.replace('_', ' ')}"
