"""From a reading and a target to the plan of a library bump."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.version_path import VersionPath, version_path
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.plan import Bounce, InstanceCost, Plan, PlanFacts
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, GroupReading, Missing, TopicReading
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.versions import Release, UpgradePathRule

# Seconds without processing of the bounced instance's partitions, measured on a small application (docs/measured.md).
_GAP_STATIC = (4, 11)
_GAP_MEMBERS_REMOVED = (4, 10)


def bump_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: tuple[UpgradePathRule, ...],
    releases_at_start: tuple[tuple[str, str], ...],
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
) -> Plan:
    """The plan that takes `declared` to `target`.

    `releases_at_start` (instance, release or `upgrade.from` minor) is what ran when the run began; `code` is the
    content hash of package and DAG file. BadInput where the target is unknown to the deployer or already runs, Refused
    where no published rule covers the way, Inconclusive where a fact that the plan binds cannot be read.
    """
    if target not in declared.releases:
        raise BadInput(
            f"release {target}: not declared for {declared.name} (declared {', '.join(declared.releases)}); "
            "build it and add it to the fleet entry"
        )
    path = version_path(rules, oldest(releases_at_start), Release.parse(target), frozenset(declared.uses))
    _refuse_unguarded_mix(reading, releases_at_start, path)
    return Plan(
        runbook="library_bump",
        application=declared.name,
        cluster=declared.cluster,
        change=(("target", target),),
        limits=limits,
        bounces=path.bounces,
        facts=_facts(reading, declared, releases_at_start, code),
        costs=tuple(_costs(declared)),
        findings=(*findings, _path_finding(declared, path)),
        undo=tuple(_undo(releases_at_start, declared, path)),
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
            release = instance.deployment.setting("upgrade.from") or release
        releases.append((instance.instance, release))
    return tuple(releases)


def clears_state(back_to: str, running: str) -> bool:
    """Whether local state has to be cleared before `back_to` starts where `running` ran.

    Stores of 4.3 keep their offsets in a column family that older releases cannot open (KIP-1035).
    """
    return Release.parse(back_to) < Release("4.3") <= Release.parse(running)


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


def _facts(
    reading: ApplicationReading, declared: DeclaredApplication, releases: tuple[tuple[str, str], ...], code: str
) -> PlanFacts:
    if isinstance(reading.group, Missing):
        raise Inconclusive(f"group of {declared.name}: {reading.group.missing}")
    if isinstance(reading.topics, Missing):
        raise Inconclusive(f"topics of {declared.name}: {reading.topics.missing}")
    group: GroupReading = reading.group
    topics: tuple[TopicReading, ...] = reading.topics
    return PlanFacts(
        group_type=group.type,
        topics=tuple(sorted((topic.name, topic.topic_id, topic.partitions) for topic in topics)),
        instances=tuple(declared.instances),
        releases_at_start=tuple(sorted(releases)),
        static_membership=declared.static_membership,
        code=code,
    )


def _costs(declared: DeclaredApplication) -> Iterator[InstanceCost]:
    for instance in declared.instances:
        if declared.static_membership:
            yield InstanceCost(
                instance,
                _GAP_STATIC,
                "static membership: its partitions wait for the restart, the others go on, nothing is reassigned "
                "as long as it is back within session.timeout.ms; measured on a small application",
            )
        else:
            yield InstanceCost(
                instance,
                _GAP_MEMBERS_REMOVED,
                "no static membership: its members are removed from the group once it is down, so nothing waits for "
                "session.timeout.ms; its tasks move to the others and back, restored from the changelogs where no "
                "local state fits: longer with large stores",
            )


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
    if clears_state(str(start), last.release):
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
    fitting = [release for release in declared.releases if Release.parse(release).minor == start.minor]
    one = f"{fitting[0]}, the only {start} release declared" if len(fitting) == 1 else f"a {start} release"
    return f"{one} (which one ran before bounce 1 is not known to this run)"
