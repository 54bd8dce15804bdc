"""What a release does with the settings of an application: refuses them, lacks them, or has other defaults.

A name that no release has is the application's own: Kafka Streams passes it to serdes, extractors and assignors.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from kstreams_runbooks.decide.releases.refusals import names_of, refused_together
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import (
    SET_OVER,
    ReleaseSetting,
    SettingCatalogue,
    SettingFinding,
    SettingPart,
    in_part,
    is_provided,
)

# Kafka Streams sets these of its clients itself, so their defaults do not matter. JmxReporter was always added to
# metric.reporters (KIP-830).
_ITS_OWN = frozenset(
    {"allow.auto.create.topics", "enable.auto.commit", "group.id", "metric.reporters", "partition.assignment.strategy"}
)
# Source: Topology and StreamsBuilder (Apache Kafka 2.4 to 4.3); names that begin with __ are internal switches.
_OF_THE_TOPOLOGY = frozenset({"processor.wrapper.class", "topology.optimization"})
_INTERNAL = "__"
# Settings on which many refusals depend.
_MODES = frozenset({"processing.guarantee", "group.protocol"})
_IDEMPOTENCE = frozenset({"acks", "enable.idempotence"})  # exactly once sets both (KIP-129)
# Classes of Kafka that settings name and every later release has, with the first release in which they were found.
# Source: kafka-clients and kafka-streams of 2.4.1, 2.8.2, 3.4.1, 3.9.1, 4.3.1 and 4.4.0 (Maven Central).
_KAFKA = "org.apache.kafka."
_OF_KAFKA = re.compile(re.escape(_KAFKA) + r"[\w.$]+")
_CLASSES = {
    "2.4.1": (
        *(f"clients.consumer.{one}Assignor" for one in ("CooperativeSticky", "Range", "RoundRobin", "Sticky")),
        "clients.producer.RoundRobinPartitioner",
        "common.metrics.JmxReporter",
        *(
            f"common.serialization.Serdes${one}Serde"
            for one in (
                "ByteArray",
                "ByteBuffer",
                "Bytes",
                "Double",
                "Float",
                "Integer",
                "Long",
                "Short",
                "String",
                "UUID",
            )
        ),
        *(f"streams.errors.{one}ExceptionHandler" for one in ("DefaultProduction", "LogAndContinue", "LogAndFail")),
        *(f"streams.processor.{one}" for one in ("ExtractRecordMetadataTimestamp", "FailOnInvalidTimestamp")),
        *(f"streams.processor.{one}" for one in ("LogAndSkipOnInvalidTimestamp", "WallclockTimestampExtractor")),
    ),
    "2.8.2": ("common.serialization.Serdes$VoidSerde", "streams.processor.UsePartitionTimeOnInvalidTimestamp"),
    "3.4.1": ("common.serialization.Serdes$ListSerde",),
    "3.9.1": (
        "common.serialization.Serdes$BooleanSerde",
        *(f"streams.errors.{one}ProcessingExceptionHandler" for one in ("LogAndContinue", "LogAndFail")),
        *(f"streams.state.BuiltInDslStoreSuppliers${one}DslStoreSuppliers" for one in ("InMemory", "RocksDB")),
    ),
}
_SINCE = {f"{_KAFKA}{name}": Release.parse(since) for since, names in _CLASSES.items() for name in names}
# Client tags (KIP-708): the most characters of a name and of a value, and the most tags of a client.
# Source: StreamsConfig; tests/facts/test_refusals.py.
_TAG, _MOST_OF_TAG, _MOST_TAGS = "client.tag.", (20, 30), 5
_HAVE_TAGS, _REFUSE_EMPTY_TAGS = ("3.2..",), ("4.3..",)
_NUMBERS = {"short": 15, "int": 31, "long": 63}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NOT_SET = "nothing"


def setting_findings(
    before: Mapping[str, str] | None,
    after: Mapping[str, str],
    running: Release | None,
    target: Release,
    catalogue: SettingCatalogue,
    *,
    tried: bool = False,
) -> Iterator[SettingFinding]:
    """What `target` does with the settings `after`; `before` and `running` are the side that runs, None if unknown.

    A refused value is always a finding; a setting without effect only if the setting or the release changes. A name
    that no release has is one if it is new. `tried`: as for `refused_together`.
    """
    yield from refused_together(after, target, catalogue, tried=tried)
    yield from _refused_tags(after, target)
    for name, value in sorted(after.items()):
        there = [] if name in SET_OVER else _rows(name, target, catalogue)
        if is_provided(value, after):
            if before is None or before.get(name) != value or running != target:
                message = (
                    f"{name}={value}: a config provider gives it, and only a start shows whether {target} takes it"
                )
                yield SettingFinding("settings-not-tried", "info", name, message)
        elif refused := next((row for row in there if refuses(row, value)), None):
            yield _refused(name, value, refused, target)
        elif before is None or before.get(name) != value or running != target:
            yield from _without_effect(name, value, target, catalogue)
            if (before or {}).get(name) != value:
                yield from _unknown(name, catalogue)
            if not tried and all(row.type in {"class", "list"} for row in there):
                yield from _not_tried(name, value, target)
            if there and all(row.deprecated for row in there):
                message = f"{name} is set, and {target} has it only as deprecated: a later release removes it"
                yield SettingFinding("setting-deprecated", "info", name, message)
    if running is not None and running != target:
        yield from _other_defaults(after, running, target, catalogue)


def refuses(row: ReleaseSetting, value: str) -> bool:
    """Whether a release ends with a ConfigException on a value; False for a check that only the release can make."""
    given = value.strip()
    if row.type == "boolean":
        return given.lower() not in {"true", "false"}
    if row.type in _NUMBERS or row.type == "double":
        number = _number(row, given)
        if number is None:
            return True
        low, high = row.range or (None, None)
        return (low is not None and number < low) or (high is not None and number > high)
    if row.values and row.type == "list":
        return not {part.strip() for part in given.split(",") if part.strip()} <= set(row.values)
    if row.values:
        return (given.lower() if row.any_case else given) not in row.values
    return False


def may_change_the_topology(names: Iterable[str], catalogue: SettingCatalogue) -> tuple[str, ...]:
    """Those of these settings that may change a topology description: a few, and all that are the application's own."""
    known = {row.name for row in catalogue.rows}
    return tuple(
        name
        for name in sorted(names)
        if name in _OF_THE_TOPOLOGY or name.startswith(_INTERNAL) or in_part(name)[1] not in known
    )


def rows_about(
    names: Iterable[str], running: Iterable[Release], target: Release | None, catalogue: SettingCatalogue
) -> SettingCatalogue:
    """The rows that a question about these settings and releases needs: what is kept as evidence of its answer."""
    wanted = {part for name in names for part in (name, in_part(name)[1])}
    if target is not None:
        wanted |= {name for one in running for name, _, _, _ in _defaults(one, target, catalogue)}
    # A refusal is about settings together: one that is not given has its default, and no release refuses defaults.
    refusals = tuple(one for one in catalogue.refusals if ((names_of(one) - _MODES) or names_of(one)) & wanted)
    defaults = {name for one in refusals for name in names_of(one)}
    return SettingCatalogue(
        tuple(row for row in catalogue.rows if row.name in wanted | defaults),
        tuple(one for one in catalogue.effects if one.name in wanted),
        refusals,
    )


def _rows(name: str, release: Release, catalogue: SettingCatalogue) -> list[ReleaseSetting]:
    """What a release has of a setting: of Kafka Streams itself if it has it, else of its clients."""
    parts, bare = in_part(name)
    found = [
        row for row in catalogue.rows if row.name == bare and set(row.of) & set(parts) and within(release, row.releases)
    ]
    return [row for row in found if "streams" in row.of and "streams" in parts] or found


def _number(row: ReleaseSetting, text: str) -> float | None:
    if row.type == "double":
        try:
            return float(text)
        except ValueError:
            return None
    if not _INTEGER.fullmatch(text) or len(text) > len(str(2**63)) + 1:
        return None
    number = int(text)
    bound = 2 ** _NUMBERS[row.type]
    return number if -bound <= number < bound else None


def _refused(name: str, value: str, row: ReleaseSetting, target: Release) -> SettingFinding:
    message = f"{target} refuses {name}={value} (expected: {_expected(row)}): no instance starts; correct it"
    return SettingFinding("setting-refused", "danger", name, message, refuse=True)


def _refused_tags(config: Mapping[str, str], target: Release) -> Iterator[SettingFinding]:
    """Client tags that are too many, too long, or empty: their names begin alike, so no list of settings has them."""
    tags = {name: value for name, value in sorted(config.items()) if name.startswith(_TAG)}
    if not within(target, _HAVE_TAGS):
        return
    for name, value in tags.items():
        of_name, of_value = len(name) - len(_TAG), len(value)
        if of_name > _MOST_OF_TAG[0] or of_value > _MOST_OF_TAG[1]:
            message = (
                f"{target} refuses {name}={value}: {of_name} characters of the tag's name and {of_value} of its value "
                f"(expected: at most {_MOST_OF_TAG[0]} and {_MOST_OF_TAG[1]}); no instance starts; shorten it"
            )
            yield SettingFinding("setting-refused", "danger", name, message, refuse=True)
        elif not value and of_name and within(target, _REFUSE_EMPTY_TAGS):
            message = f"{target} refuses {name} without a value: no instance starts; give it one, or remove it"
            yield SettingFinding("setting-refused", "danger", name, message, refuse=True)
    if len(tags) > _MOST_TAGS:
        most = f"(expected: at most {_MOST_TAGS})"
        message = f"{target} refuses {len(tags)} client tags {most}: no instance starts; remove some"
        yield SettingFinding("setting-refused", "danger", max(tags), message, refuse=True)


def _not_tried(name: str, value: str, target: Release) -> Iterator[SettingFinding]:
    """A class of Kafka that the release may not have: classes move and go, and only its jars show which it has."""
    for one in (part.strip() for part in value.split(",")):
        if _OF_KAFKA.fullmatch(one) and not (one in _SINCE and _SINCE[one] <= target):
            message = (
                f"{name} names {one}: whether {target} has that class is not known without the topology facts of its "
                "build; without the class no instance starts"
            )
            yield SettingFinding("setting-class-not-tried", "warning", name, message)


def _unknown(name: str, catalogue: SettingCatalogue) -> Iterator[SettingFinding]:
    """A name that no release has: the library logs it, and gives it to the classes of the application."""
    if catalogue.is_of_the_program(name):
        message = (
            f"{name} is set, and no release of Kafka Streams has it: the library only logs that it is not known, and "
            "gives it to serdes, extractors and assignors; correct the name if it is meant for Kafka"
        )
        yield SettingFinding("setting-unknown", "info", name, message)


def thrown_by_assignor(value: str | None, target: Release, rules: UpgradePathRules) -> Iterator[SettingFinding]:
    """A value of upgrade.from that the configuration takes and the assignor does not."""
    accepted = accepted_upgrade_from(target, rules)
    if value is not None and accepted and value not in accepted:
        message = (
            f"{target} takes upgrade.from={value} and then throws when tasks are assigned (it runs with "
            f"{', '.join(accepted)}): no instance starts; correct it"
        )
        yield SettingFinding("setting-refused", "danger", "upgrade.from", message, refuse=True)


def _expected(row: ReleaseSetting) -> str:
    if row.values:
        return ", ".join(row.values)
    if row.type == "boolean":
        return "true or false"
    low, high = row.range or (None, None)
    bounds = [f"{word} {end:g}" for word, end in (("from", low), ("to", high)) if end is not None]
    return " ".join(["a number of type", row.type, *bounds])


def _without_effect(name: str, value: str, target: Release, catalogue: SettingCatalogue) -> Iterator[SettingFinding]:
    """A setting that other releases have and `target` has not; its default there would have no effect either."""
    parts, bare = in_part(name)
    known = [row for row in catalogue.rows if row.name == bare and set(row.of) & set(parts)]
    if not known or any(within(target, row.releases) for row in known):
        return
    ends = [one.partition("..") for row in known for one in row.releases]
    last = [high for _, _, high in ends if high and Release(high) < target]
    if last:
        newest = max(last, key=lambda text: Release(text).numbers)
        message = (
            f"{name} is set, and {target} no longer has it (the last with it is {newest}): it has no effect; remove it"
        )
        yield SettingFinding("setting-removed", "warning", name, message)
    elif value != known[0].default:
        first = min((low or high for low, _, high in ends), key=lambda text: Release(text).numbers)
        message = f"{name} is set, and {target} does not have it yet (the first with it is {first}): it has no effect"
        yield SettingFinding("setting-not-yet-known", "warning", name, message)


def _other_defaults(
    config: Mapping[str, str], running: Release, target: Release, catalogue: SettingCatalogue
) -> Iterator[SettingFinding]:
    """Defaults that change for settings that are not set."""
    exactly_once = config.get("processing.guarantee", "").startswith("exactly_once")
    for name, parts, old, new in _defaults(running, target, catalogue):
        given = {name, *(f"{part}.{name}" for part in parts)}
        if given & config.keys() or (exactly_once and name in _IDEMPOTENCE):
            continue
        of = "" if "streams" in parts else f" of the {' and '.join(parts)} clients"
        does = catalogue.does(name)
        message = (
            f"{name}{of} is not set: its default was {old or _NOT_SET} in {running} and is {new or _NOT_SET} in "
            f"{target}{does and f'; it controls {does}'}"
        )
        yield SettingFinding("setting-default-changed", "info", name, message)


def _defaults(
    running: Release, target: Release, catalogue: SettingCatalogue
) -> Iterator[tuple[str, tuple[SettingPart, ...], str, str]]:
    """Each setting with another default in `target`: its name, its parts, and both defaults, empty for none."""
    found: dict[tuple[str, str, str], list[SettingPart]] = {}
    old = {(part, row.name): row for row in _of(running, catalogue) for part in row.of}
    for row in _of(target, catalogue):
        for part in row.of:
            was = old.get((part, row.name))
            if was is not None and (was.default or "") != (row.default or "") and row.name not in _ITS_OWN:
                found.setdefault((row.name, was.default or "", row.default or ""), []).append(part)
    for (name, before, after), parts in sorted(found.items()):
        yield name, tuple(parts), before, after


def _of(release: Release, catalogue: SettingCatalogue) -> list[ReleaseSetting]:
    return [row for row in catalogue.rows if within(release, row.releases)]
