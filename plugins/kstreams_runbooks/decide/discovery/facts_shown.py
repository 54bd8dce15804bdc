"""Whether the instances of an application show topology facts, and which facts stay to be declared."""

import re
from collections.abc import Iterable, Iterator

from kstreams_runbooks.model.discovery.readiness import FactsShown, ReadinessReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from kstreams_runbooks.wording import first_of

# What a declaration has of a store, a suppression or a topic, apart from partitions, which the cluster has.
_DECLARED = "kind|window|retention_ms|key_of|key_serde|value_serde|source_table|aggregate|join|logging|mode|joined_with"
_FIELD = re.compile(rf"(?P<section>stores|suppressions|topics)\.(?P<name>.+)\.(?P<field>{_DECLARED})(\..+)?")
_DECLARED_AS = {"key_of": "key"}


def facts_shown(found: ReadinessReading) -> FactsShown:
    """One answer for the application; no runbook needs facts, so an instance without them hinders none."""
    without = tuple(name for name, one in found.facts.items() if isinstance(one, NoFacts))
    unknown = tuple(
        f"{name}: {one.missing}"
        for name, one in found.facts.items()
        if isinstance(one, Missing) and not isinstance(one, NoFacts)
    )
    not_read = tuple(_to_declare(one for one in found.facts.values() if isinstance(one, FactsReading)))
    if not found.facts:
        return FactsShown("not known", unknown=("no instance answers",))
    return FactsShown("missing" if without else "not known" if unknown else "ready", without, unknown, not_read)


def _to_declare(shown: Iterable[FactsReading]) -> Iterator[str]:
    """Each field with the number of stores, suppressions and topics that lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for where in sorted({where for one in shown for where in one.read.not_read}):
        if found := _FIELD.fullmatch(where):
            field = _DECLARED_AS.get(found["field"], found["field"])
            lacking.setdefault(field, {}).setdefault(found["section"], set()).add(found["name"])
    for field, sections in sorted(lacking.items()):
        yield f"{field} of {first_of([_counted(section, len(names)) for section, names in sorted(sections.items())])}"


def _counted(section: str, number: int) -> str:
    return f"{number} {section.removesuffix('s') if number == 1 else section}"
