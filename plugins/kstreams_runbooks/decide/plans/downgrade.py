"""The plan of a library bump to an older release: all down at once, local state cleared, the old release started."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.plans.basis import (
    GUARANTEE,
    UPGRADE_FROM,
    all_down,
    costs_at_once,
    facts,
    other_library,
)
from kstreams_runbooks.decide.plans.leg import kept_in_bump, path_of, question_between
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Missing
from kstreams_runbooks.model.releases.path import PathBounce, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import Bounce, Drain, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding


def goes_back(reading: ApplicationReading, target: Release) -> bool:
    """Whether the instances run a later library than `target`; their `upgrade.from` does not count.

    Inconclusive if one cannot be read; Refused if one is later and they run several: that may be half an upgrade.
    """
    runs = {one.instance: Release.parse(_version(one)) for one in reading.instances}
    if not any(release > target for release in runs.values()):
        return False
    if len(set(runs.values())) > 1:
        shown = ", ".join(f"{name} runs {release}" for name, release in sorted(runs.items()))
        newest = max(runs.values())
        raise Refused(
            f"library bump to {target}: {shown} (expected one release before a downgrade); take back the run that "
            f"left them so (undo), or bring all to the newest: trigger library_bump with --param target={newest}"
        )
    return True


def downgrade_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: UpgradePathRules,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
) -> Plan:
    """The plan that takes `declared` back to `target`, where the rules of the releases know a way.

    If the formats demand it, a bounce sets `upgrade.from` on the running release, and the repartition topics are read
    to their end. Then every instance is stopped until the group is EMPTY, its local state is deleted, and the old
    release starts; none starts before all are cleared. Within one minor nothing is deleted.

    All instances run one library (`goes_back`). Refused if no rule knows a way, Inconclusive if a fact cannot be read.
    Source: Kafka Streams Upgrade Guide, "Notable compatibility changes in past releases"; KIP-904, KIP-1035.
    """
    found, kept = facts(reading, declared, code), kept_in_bump(reading)
    running = Release.parse(_version(reading.instances[0]))
    asked = question_between(running, Release.parse(declared.library(target)), reading, declared, rules, kept)
    path = path_of(replace(asked, upgrade_from=_upgrade_from(reading)), rules)
    stages = tuple(_stages(path, found, declared, target, kept))
    return Plan(
        runbook="library_bump",
        application=declared.name,
        cluster=declared.cluster,
        change=(("target", target),),
        limits=limits,
        stages=stages,
        facts=found,
        costs=tuple(costs_at_once(declared)),
        findings=(*findings, *_reasons(path, declared)),
        undo=tuple(_undo(found, rolls=isinstance(stages[0], Bounce))),
        title=f"downgrade to {target}",
        worst_case=all_down(declared),
        at_once=True,
    )


def _stages(
    path: UpgradePath, found: PlanFacts, declared: DeclaredApplication, target: str, kept: Mapping[str, str]
) -> Iterator[Stage]:
    *first, last = path.bounces
    number = 1
    if first:
        release = _one_release(found, declared)
        settings = {**kept, **_set_by(first)}
        library = other_library(release, declared.library(release))
        yield Bounce(number, release, tuple(sorted(settings.items())), library)
        number += 1
    if "drain" in last.before:
        yield Drain(number)
        number += 1
    yield StopAll(number)
    library = declared.library(target)
    # What `first` set for the running release alone is unset; a guarantee stays.
    settings = {**kept, **{key: value for key, value in _set_by((*first, last)).items() if key != UPGRADE_FROM}}
    clears = "clear_state" in last.before
    yield StartAll(
        number + 1,
        target,
        tuple(sorted(settings.items())),
        other_library(target, library),
        clear_state=clears,
        must_clear=clears,
    )


def _set_by(bounces: tuple[PathBounce, ...] | list[PathBounce]) -> dict[str, str]:
    """The settings of these bounces together."""
    found: dict[str, str] = {}
    for one in bounces:
        found |= {UPGRADE_FROM: one.upgrade_from} if one.upgrade_from else {}
        found |= {GUARANTEE: one.processing_guarantee} if one.processing_guarantee else {}
    return found


def _reasons(path: UpgradePath, declared: DeclaredApplication) -> Iterator[Finding]:
    for one in path.findings:
        if one.runbook is not None or one.severity != "info":
            yield Finding(one.id, one.severity, declared.name, one.message, one.source)


def _version(instance: InstanceReading) -> str:
    if isinstance(instance.streams, Missing):
        raise Inconclusive(instance.silent)
    return instance.streams.version


def _one_release(found: PlanFacts, declared: DeclaredApplication) -> str:
    """The release that all have, which stays while `upgrade.from` is set; Refused if they have several."""
    releases = sorted({one.release for one in found.at_start})
    if len(releases) > 1:
        raise Refused(
            f"instances of {declared.name} have {' and '.join(releases)} (expected one release before a downgrade); to "
            f"bring all to one, trigger rolling_bounce with --param release={releases[-1]}"
        )
    return releases[0]


def _upgrade_from(reading: ApplicationReading) -> str | None:
    """The value that every instance has already, None if one has another or none."""
    values = {
        one.deployment.setting(UPGRADE_FROM) if isinstance(one.deployment, Deployment) else None
        for one in reading.instances
    }
    return next(iter(values)) if len(values) == 1 else None


def _undo(found: PlanFacts, *, rolls: bool) -> Iterator[str]:
    back = f"every instance back to {' or '.join(sorted({one.deployed for one in found.at_start}))}"
    if rolls:
        yield f"until the stop: {back}, one after another"
    yield f"{'after the stop: ' * rolls}{back}, all at once"
