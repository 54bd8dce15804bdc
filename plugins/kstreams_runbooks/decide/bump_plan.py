"""From a reading and a target to the plan of a library bump."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from kstreams_runbooks.decide.planning import (
    UPGRADE_FROM,
    clears_state,
    costs,
    facts,
    kept_settings,
    one_down,
)
from kstreams_runbooks.decide.version_path import version_path
from kstreams_runbooks.decide.version_rules import newest_of
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.plan import Bounce, Plan
from kstreams_runbooks.model.readings import ApplicationReading, BrokerReading, Deployment, Missing
from kstreams_runbooks.model.verdicts import Finding, Outcome
from kstreams_runbooks.model.version_path import Leg, PathBounce, PathFinding, VersionPath, VersionQuestion
from kstreams_runbooks.model.version_rules import GroupProtocol, VersionRules
from kstreams_runbooks.model.versions import Release


def bump_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: VersionRules,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
) -> Plan:
    """The plan that takes `declared` to `target`.

    `code` is the content hash of package and DAG file. BadInput where the target is unknown to the deployer or already
    runs, Refused where no published rule covers the way, Inconclusive where a fact that the plan binds cannot be read.
    """
    if target not in declared.releases:
        raise BadInput(
            f"release {target}: not declared for {declared.name} (declared {', '.join(declared.releases)}); "
            "build it and add it to the fleet entry"
        )
    running, library = running_releases(reading), declared.library(target)
    kept = kept_settings(reading)
    question = _question(reading, declared, newest_of(oldest(running), rules), Release.parse(library), kept)
    path = _path(question, rules)
    leg = _only_leg(path)
    _refuse_unguarded_mix(reading, running, leg)
    return Plan(
        runbook="library_bump",
        application=declared.name,
        cluster=declared.cluster,
        change=(("target", target),),
        limits=limits,
        bounces=tuple(
            Bounce(
                number,
                target,
                tuple(sorted({**kept, **_settings(bounce)}.items())),
                library if library != target else "",
            )
            for number, bounce in enumerate(leg.bounces, 1)
        ),
        facts=facts(reading, declared, code),
        costs=tuple(costs(declared)),
        findings=(*findings, *(_finding(declared, one) for one in path.findings if _decided(one))),
        undo=tuple(_undo(running, declared, leg, library)),
        title=f"library bump to {target}",
        worst_case=one_down(declared),
    )


def oldest(releases: Iterable[tuple[str, str]]) -> Release:
    """The lowest release among the instances: an interrupted bump goes on from there.

    Source: Strimzi recognises an interrupted upgrade by the lowest and highest version that run.
    """
    return min(Release.parse(release) for _, release in releases)


def running_releases(reading: ApplicationReading) -> tuple[tuple[str, str], ...]:
    """(instance, release) as observed; an instance that runs with `upgrade.from` counts as that older minor.

    With `upgrade.from` set it still writes the old format, so the second bounce is still to come.
    """
    releases = []
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            raise Inconclusive(f"{instance.instance}: {instance.streams.missing}")
        release = instance.streams.version
        if isinstance(instance.deployment, Deployment):
            release = instance.deployment.setting(UPGRADE_FROM) or release
        releases.append((instance.instance, release))
    return tuple(releases)


def _question(
    reading: ApplicationReading, declared: DeclaredApplication, running: Release, target: Release, kept: dict[str, Any]
) -> VersionQuestion:
    """What is known of the application: read, declared, or set by a runbook before."""
    broker, group = reading.broker, reading.group
    version = broker.version if isinstance(broker, BrokerReading) else broker
    return VersionQuestion(
        running=running,
        target=target,
        broker=Release(version) if isinstance(version, str) and Release.known(version) else None,
        guarantee=kept.get("processing.guarantee"),
        foreign_key_joins="yes" if "foreign_key_joins" in declared.uses else "no",
        table_aggregations="yes" if "table_aggregations" in declared.uses else "no",
        group_protocol=None if isinstance(group, Missing) else _PROTOCOLS.get(group.type.lower(), "classic"),
    )


_PROTOCOLS: Final[Mapping[str, GroupProtocol]] = {"streams": "streams"}


def _path(question: VersionQuestion, rules: VersionRules) -> VersionPath:
    """The way upward from what runs; Refused where there is none, Inconclusive where a reading is missing.

    Nothing that is read says which processing guarantee an application has. Where that alone decides, the plan is the
    one for a guarantee that may stay as it is, and what another one would need stands in its findings.
    """
    path = version_path(question, rules)
    if path.verdict is Outcome.INCONCLUSIVE and question.guarantee is None:
        unknown = tuple(finding for finding in path.findings if finding.id == "missing-guarantee")
        path = version_path(replace(question, guarantee="at_least_once"), rules)
        path = replace(path, findings=(*unknown, *path.findings))
    if path.verdict is Outcome.INCONCLUSIVE:
        raise Inconclusive(f"library bump {path.reason}")
    if path.verdict is not Outcome.PROCEED:
        raise Refused(f"library bump {path.reason}")
    if question.target < question.running:
        raise Refused(f"library bump {question.pair}: a bump goes to a newer release (this one is older); use `undo`")
    return path


def _only_leg(path: VersionPath) -> Leg:
    """The leg of a path that is one library bump; Refused where it has more, with what to trigger."""
    if len(path.legs) == 1:
        return path.legs[0]
    legs = "; ".join(f"{leg.runbook} to {leg.target}" for leg in path.legs)
    raise Refused(
        f"library bump {path.reason}: {len(path.legs)} runs (limit 1); trigger them one after another: {legs}"
    )


def _settings(bounce: PathBounce) -> dict[str, str]:
    """What a bounce sets beside the release."""
    values = {UPGRADE_FROM: bounce.upgrade_from, "processing.guarantee": bounce.processing_guarantee}
    return {name: value for name, value in values.items() if value is not None}


def _refuse_unguarded_mix(reading: ApplicationReading, releases: tuple[tuple[str, str], ...], leg: Leg) -> None:
    """An instance already writes a newer format than another one that runs can read.

    What an instance writes is what `releases` has of it (its `upgrade.from`, where that is set); what it can read is
    the release that it runs. Where none runs the old release any more every format can be read: a second bounce that
    another run left half done.
    """
    guard = leg.bounces[0].upgrade_from
    if guard is None:
        return
    old = oldest(releases).minor
    runs = {one.instance: one.streams.version for one in reading.instances if not isinstance(one.streams, Missing)}
    behind = [name for name, release in runs.items() if Release.parse(release).minor == old]
    ahead = [f"{name} already runs {runs.get(name)}" for name in _ahead(releases, leg)]
    if ahead and behind:
        raise Refused(
            f"{', '.join(ahead)} without upgrade.from={guard} beside {', '.join(behind)} on an older release: table "
            "counts may be wrong already; put it back to the old release by hand, check the results, then trigger again"
        )


def _ahead(releases: tuple[tuple[str, str], ...], leg: Leg) -> tuple[str, ...]:
    """Instances that write a newer format than the oldest one can read."""
    old = {oldest(releases).minor, leg.bounces[0].upgrade_from}
    return tuple(name for name, release in releases if Release.parse(release).minor not in old)


def _decided(found: PathFinding) -> bool:
    """Whether a finding is why the path is what it is; what the releases changed is listed by `version-path`."""
    return found.runbook is not None or found.id.startswith("missing-")


def _finding(declared: DeclaredApplication, found: PathFinding) -> Finding:
    return Finding(found.id, found.severity, declared.name, found.message, found.source)


def _undo(
    releases: tuple[tuple[str, str], ...], declared: DeclaredApplication, leg: Leg, library: str
) -> Iterator[str]:
    start = oldest(releases)
    back = f"every instance back to {_old_release(start, declared)}"
    if clears_state(str(start), library):
        back += ", local state cleared first (it is restored from the changelogs)"
    if len(leg.bounces) > 1 and (ahead := _ahead(releases, leg)):
        yield f"no plain way back any more: {', '.join(ahead)} writes the new record format already"
    elif len(leg.bounces) > 1:
        yield f"until bounce 2: {back}"
        yield "after bounce 2: no plain way back, the new record format is in the repartition topics"
    else:
        yield back


def _old_release(start: Release, declared: DeclaredApplication) -> str:
    """The release to go back to; only its minor is known of an instance that runs the new one with `upgrade.from`."""
    if str(start) != start.minor:
        return str(start)
    fitting = [name for name in declared.releases if Release.parse(declared.library(name)).minor == start.minor]
    one = f"{fitting[0]}, the only {start} release declared" if len(fitting) == 1 else f"a {start} release"
    return f"{one} (which one ran before bounce 1 is not known to this run)"
