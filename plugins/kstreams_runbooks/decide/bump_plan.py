"""From a reading and a target to the plan of a library bump."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.planning import (
    UPGRADE_FROM,
    clears_state,
    costs,
    facts,
    kept_settings,
    one_down,
)
from kstreams_runbooks.decide.version_path import VersionPath, version_path
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.plan import Bounce, Plan
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.versions import Release, UpgradePathRule


def bump_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: tuple[UpgradePathRule, ...],
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
    path = version_path(rules, oldest(running), Release.parse(library), frozenset(declared.uses))
    _refuse_unguarded_mix(reading, running, path)
    kept = kept_settings(reading)
    return Plan(
        runbook="library_bump",
        application=declared.name,
        cluster=declared.cluster,
        change=(("target", target),),
        limits=limits,
        bounces=tuple(
            Bounce(
                bounce.number,
                target,
                tuple(sorted({**kept, **dict(bounce.settings)}.items())),
                library if library != target else "",
            )
            for bounce in path.bounces
        ),
        facts=facts(reading, declared, code),
        costs=tuple(costs(declared)),
        findings=(*findings, _path_finding(declared, path)),
        undo=tuple(_undo(running, declared, path)),
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


def _refuse_unguarded_mix(
    reading: ApplicationReading, releases: tuple[tuple[str, str], ...], path: VersionPath
) -> None:
    """An instance already writes a newer format than another one that runs can read.

    What an instance writes is what `releases` has of it (its `upgrade.from`, where that is set); what it can read is
    the release that it runs. Where none runs the old release any more every format can be read: a second bounce that
    another run left half done.
    """
    if not path.rule.upgrade_from:
        return
    old = oldest(releases).minor
    runs = {one.instance: one.streams.version for one in reading.instances if not isinstance(one.streams, Missing)}
    behind = [name for name, release in runs.items() if Release.parse(release).minor == old]
    ahead = [f"{name} already runs {runs.get(name)}" for name in _ahead(releases)]
    if ahead and behind:
        raise Refused(
            f"{', '.join(ahead)} without upgrade.from={old} beside {', '.join(behind)} on an older release: table "
            "counts may be wrong already; put it back to the old release by hand, check the results, then trigger again"
        )


def _ahead(releases: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Instances that write the format of a newer minor than the oldest one."""
    old = oldest(releases).minor
    return tuple(name for name, release in releases if Release.parse(release).minor != old)


def _path_finding(declared: DeclaredApplication, path: VersionPath) -> Finding:
    return Finding(
        path.rule.id,
        "warning" if path.rule.upgrade_from else "info",
        declared.name,
        path.rule.reason,
        path.rule.source,
    )


def _undo(releases: tuple[tuple[str, str], ...], declared: DeclaredApplication, path: VersionPath) -> Iterator[str]:
    start = oldest(releases)
    last: Bounce = path.bounces[-1]
    back = f"every instance back to {_old_release(start, declared)}"
    if clears_state(str(start), declared.library(last.release)):
        back += ", local state cleared first (it is restored from the changelogs)"
    if len(path.bounces) > 1 and (ahead := _ahead(releases)):
        yield f"no plain way back any more: {', '.join(ahead)} writes the new record format already"
    elif len(path.bounces) > 1:
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
