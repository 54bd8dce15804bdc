"""From a reading and a target to the plan of a library bump."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.version_path import VersionPath, version_path
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.plan import Bounce, InstanceCost, Plan, PlanFacts
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, GroupReading, Missing, TopicReading
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.versions import Release, UpgradePathRule

# Seconds without processing of the bounced instance's partitions, from our own measurements (docs/measured.md).
_GAP_STATIC = (4, 9)
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
    _refuse_unguarded_mix(reading, path)
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
        undo=tuple(_undo(releases_at_start, path)),
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


def _refuse_unguarded_mix(reading: ApplicationReading, path: VersionPath) -> None:
    """Old and new release already run side by side and the new one has no `upgrade.from`."""
    if not path.rule.upgrade_from:
        return
    target = path.bounces[0].release
    unguarded = [
        instance.instance
        for instance in reading.instances
        if not isinstance(instance.streams, Missing)
        and instance.streams.version == target
        and isinstance(instance.deployment, Deployment)
        and instance.deployment.setting("upgrade.from") is None
    ]
    if unguarded:
        raise Refused(
            f"{', '.join(unguarded)} already runs {target} without upgrade.from beside an older release: table counts "
            "may be wrong already; put it back to the old release by hand, check the results, then trigger again"
        )


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
                "as long as it is back within session.timeout.ms",
            )
        else:
            yield InstanceCost(
                instance,
                _GAP_MEMBERS_REMOVED,
                "no static membership: its members are removed from the group once it is down, so nothing waits for "
                "session.timeout.ms; its tasks move to the others and back",
            )


def _path_finding(declared: DeclaredApplication, path: VersionPath) -> Finding:
    return Finding(
        path.rule.id,
        "warning" if path.rule.upgrade_from else "info",
        declared.name,
        path.rule.reason,
        path.rule.source,
    )


def _undo(releases: tuple[tuple[str, str], ...], path: VersionPath) -> Iterator[str]:
    start = oldest(releases)
    last: Bounce = path.bounces[-1]
    cost = (
        ", local state cleared first (it is restored from the changelogs)"
        if clears_state(str(start), last.release)
        else ""
    )
    if len(path.bounces) > 1:
        yield f"until bounce 2: every instance back to {start}{cost}"
        yield "after bounce 2: no plain way back, the new record format is in the repartition topics"
    else:
        yield f"every instance back to {start}{cost}"
