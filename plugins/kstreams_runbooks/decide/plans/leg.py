"""The path of an application to another Kafka Streams release, and the leg of it that one run performs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import get_args

from kstreams_runbooks.decide.plans.basis import GUARANTEE, UPGRADE_FROM, kept_settings
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import newest_of, takes_guarantee
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.releases.path import PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import Guarantee, UpgradePathRules
from kstreams_runbooks.model.runs.plan import PlanFacts
from kstreams_runbooks.model.verdicts import Outcome


def oldest(releases: Iterable[tuple[str, str]]) -> Release:
    """The lowest release among the instances: an interrupted bump continues from there.

    Source: Strimzi recognises an interrupted upgrade by the lowest and highest running version.
    """
    return min(Release.parse(release) for _, release in releases)


def running_releases(reading: ApplicationReading) -> tuple[tuple[str, str], ...]:
    """(instance, release) as observed; an instance that runs with `upgrade.from` counts as that older minor.

    With `upgrade.from` set it still writes the old format: the second bounce is still to come.
    """
    releases = []
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            raise Inconclusive(instance.silent)
        release = instance.streams.version
        if isinstance(instance.deployment, Deployment):
            release = instance.deployment.setting(UPGRADE_FROM) or release
        releases.append((instance.instance, release))
    return tuple(releases)


def kept_in_bump(reading: ApplicationReading) -> dict[str, str]:
    """Settings by earlier runbooks; Refused if instances of one library differ in them.

    A bump that changes the processing guarantee in its bounce and is interrupted leaves instances of two libraries with
    different values: the values of the instances on the older one count.
    """
    kept = kept_settings(reading, frozenset({UPGRADE_FROM, GUARANTEE}))
    libraries = {
        one.instance: Release.parse(one.streams.version)
        for one in reading.instances
        if isinstance(one.streams, StreamsReading)
    }
    behind = tuple(one for one in reading.instances if libraries.get(one.instance) == min(libraries.values()))
    held = kept_settings(replace(reading, instances=behind)).get(GUARANTEE)
    return kept | ({GUARANTEE: held} if held else {})


def path_of(question: PathQuestion, rules: UpgradePathRules) -> UpgradePath:
    """The path from the running release; Refused if there is none, Inconclusive if a fact is missing."""
    path = upgrade_path(question, rules)
    if path.verdict is Outcome.INCONCLUSIVE:
        hint = "" if question.guarantee else "; declare processing_guarantee in the fleet entry"
        raise Inconclusive(f"library bump {path.reason}{hint}")
    if path.verdict is not Outcome.PROCEED:
        raise Refused(f"library bump {path.reason}")
    return path


def leg_release(
    path: UpgradePath,
    question: PathQuestion,
    declared: DeclaredApplication,
    target: str,
    rules: UpgradePathRules,
    found: PlanFacts,
) -> str:
    """The declared release that the first leg of `path` goes to.

    That is `target` if one leg suffices, the running one if only a setting changes, else a declared release that may
    serve as the bridge. BadInput if none is declared, Refused if instances run several.
    """
    leg = path.legs[0]
    if leg.target == str(question.target):
        return target
    if {one.version for one in found.at_start} == {leg.target}:
        running = sorted({one.release for one in found.at_start})
        if len(running) > 1:
            raise Refused(
                f"instances of {declared.name} run {' and '.join(running)} (expected one); to bring all to one, "
                f"trigger rolling_bounce with --param release={running[-1]}"
            )
        return running[0]
    bridges = [name for name in declared.releases if _bridges(declared.library(name), leg.target, question, rules)]
    if not bridges:
        raise BadInput(
            f"library bump to {target}: the way leads over {leg.target} (declared for {declared.name}: "
            f"{', '.join(declared.releases)}); build that release and add it to the fleet entry"
        )
    return max(bridges, key=lambda name: Release.parse(declared.library(name)))


def _bridges(library: str, bridge: str, question: PathQuestion, rules: UpgradePathRules) -> bool:
    """Whether a declared library may be the bridge: the same minor, one run to it, and a path from it to the target."""
    one = Release.parse(library)
    if one.minor != Release.parse(bridge).minor or one not in rules.releases:
        return False
    to, onward = upgrade_path(replace(question, target=one), rules), upgrade_path(replace(question, running=one), rules)
    return to.verdict is Outcome.PROCEED and len(to.legs) == 1 and onward.verdict is not Outcome.REFUSE


def question_of(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: UpgradePathRules,
    kept: Mapping[str, str],
) -> PathQuestion:
    """The question for the path from the running release to the library of release `target`."""
    running = newest_of(oldest(running_releases(reading)), rules)
    return question_between(running, Release.parse(declared.library(target)), reading, declared, rules, kept)


def question_between(
    running: Release,
    target: Release,
    reading: ApplicationReading,
    declared: DeclaredApplication,
    rules: UpgradePathRules,
    kept: Mapping[str, str],
) -> PathQuestion:
    """Two releases, and known facts of the application: read, declared, or set by a runbook before (`kept`)."""
    broker, group = reading.broker, reading.group
    release = broker.version if isinstance(broker, BrokerReading) else broker
    return PathQuestion(
        running=running,
        target=target,
        broker=Release(release) if isinstance(release, str) and Release.known(release) else None,
        guarantee=_guarantee(running, declared, rules, kept),
        foreign_key_joins="yes" if "foreign_key_joins" in declared.uses else "no",
        table_aggregations="yes" if "table_aggregations" in declared.uses else "no",
        group_protocol=None
        if isinstance(group, Missing)
        else "streams"
        if group.type.lower() == "streams"
        else "classic",
    )


def _guarantee(
    running: Release, declared: DeclaredApplication, rules: UpgradePathRules, kept: Mapping[str, str]
) -> Guarantee | None:
    """The known processing guarantee: a value set by a runbook takes precedence over the declared one.

    In the middle of a bump the newer release may have one already that the older one does not have.
    """
    known = [one for value in (kept.get(GUARANTEE), declared.processing_guarantee) for one in _named(value)]
    return next((one for one in known if takes_guarantee(running, one, rules)), known[0] if known else None)


def _named(value: str | None) -> Iterator[Guarantee]:
    return (known for known in get_args(Guarantee) if known == value)
