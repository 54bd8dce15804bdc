"""Conditions before a change is planned: everything readable, every instance RUNNING, one known release."""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.members import members_of, strangers
from kstreams_runbooks.decide.instances.routes import other_routes
from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.decide.topology.threads import parallelism
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import is_dead, is_down
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.runs.journal import CLOCK_TOLERANCE_MS
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict

_UPGRADE_GUIDE = "Kafka Streams Upgrade Guide, Apache Kafka documentation"


def ready_for_change(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    age_ms: int,
    max_age_ms: int,
    *,
    at_once: bool = False,
    out_of_use: bool = False,
    streams_group: bool = False,
) -> Verdict:
    """Whether an application may be changed now; the check itself changes nothing.

    `age_ms` is the age of `reading` when it is judged. Refuses faults, is inconclusive about missing readings, and
    carries findings for a person to assess (they are in the approval). With `at_once` all instances are restarted
    together, which may be the cure: their state is a finding then, not a refusal. With `out_of_use` no instance is
    expected to run, and the group and its offsets may be gone: whether the application is out of use is decided at the
    plan. Without `streams_group` a streams group is refused.
    """
    if why := of_the_future(declared.name, age_ms, "observe"):
        return Verdict(Outcome.INCONCLUSIVE, (why,))
    if age_ms > max_age_ms:
        return Verdict(
            Outcome.REFUSE,
            (
                f"reading of {declared.name}: {age_ms / 1000:.0f} s old (limit {max_age_ms / 1000:.0f} s); "
                "clear `observe` and what follows it",
            ),
        )
    findings = tuple(_findings(reading, declared))
    wrong, unwell = tuple(_wrong(reading, declared, streams_group=streams_group)), tuple(_unwell(reading, declared))
    missing, unheard = tuple(_missing(reading, out_of_use=out_of_use)), tuple(_unheard(reading))
    if out_of_use:
        unwell = unheard = ()
    elif at_once:
        findings += tuple(_restarted_anyway(declared, (*unwell, *unheard)))
    elif not any(_process(instance) for instance in reading.instances):
        return Verdict(
            Outcome.REFUSE,
            (f"application {declared.name}: no instance runs (expected {len(declared.instances)}); start it first",),
            findings,
        )
    else:
        wrong, missing = (*wrong, *unwell), (*missing, *unheard)
    if wrong:
        return Verdict(Outcome.REFUSE, wrong, findings)
    if missing:
        return Verdict(Outcome.INCONCLUSIVE, missing, findings)
    how = "with findings" if at_once and (unwell or unheard) else "RUNNING, group stable"
    how = "in a state that `plan` judges" if out_of_use else how
    return Verdict(
        Outcome.PROCEED, (f"{len(reading.instances)} instances {how}, every reading that is needed is there",), findings
    )


def of_the_future(application: str, age_ms: float, taken_by: str) -> str:
    """Why the age of a reading from the step `taken_by` is unknown, empty if it is known."""
    if age_ms >= -CLOCK_TOLERANCE_MS:
        return ""
    return (
        f"reading of {application}: taken {-age_ms / 1000:,.0f} s after this worker's clock (tolerance "
        f"{CLOCK_TOLERANCE_MS // 1000} s), so its age is not known; set the workers' clocks right, then clear "
        f"`{taken_by}` and what follows it"
    )


def _process(instance: InstanceReading) -> bool:
    deployment = instance.deployment
    return isinstance(deployment, Missing) or not is_down(deployment.process)


def _missing(reading: ApplicationReading, *, out_of_use: bool) -> Iterator[str]:
    """Missing readings of the cluster and the deployer."""
    yield from reading.lacking("broker", "topics", *(() if out_of_use else ("group", "offsets")))
    if isinstance(reading.partitions, tuple) and not out_of_use:
        yield from total_lag(reading.partitions).unknown
    for instance in reading.instances:
        deployment = instance.deployment
        parts = [deployment] if isinstance(deployment, Missing) else [deployment.release]
        yield from (f"{instance.instance}: {part.missing}" for part in parts if isinstance(part, Missing))


def _unheard(reading: ApplicationReading) -> Iterator[str]:
    """Missing facts from an instance's own client or its process."""
    for instance in reading.instances:
        if not _process(instance):
            # It is dead: that its metrics do not answer has the same cause.
            continue
        parts: list[object] = [instance.streams]
        if isinstance(instance.deployment, Deployment):
            parts.append(instance.deployment.applied)
        if isinstance(instance.streams, StreamsReading):
            parts += [instance.streams.alive_threads, instance.streams.failed_threads]
        yield from (f"{instance.instance}: {part.missing}" for part in parts if isinstance(part, Missing))


def _restarted_anyway(declared: DeclaredApplication, troubles: tuple[str, ...]) -> Iterator[Finding]:
    for trouble in troubles:
        yield Finding("restarted-while-unwell", "warning", declared.name, trouble, _UPGRADE_GUIDE)


def _wrong(reading: ApplicationReading, declared: DeclaredApplication, *, streams_group: bool) -> Iterator[str]:
    """Reasons against any change: wrong declarations, undeclared members, a group that no runbook covers."""
    for instance in reading.instances:
        deployment, streams = instance.deployment, instance.streams
        if isinstance(deployment, Deployment):
            yield from (f"{instance.instance}: {obstacle}" for obstacle in deployment.obstacles)
        yield from _swapped(instance, reading.instances)
        if isinstance(streams, Missing) or not _process(instance):
            continue
        if streams.application_id != declared.application_id:
            yield (
                f"{instance.instance}: its metrics belong to application.id {streams.application_id} "
                f"(declared {declared.application_id}); correct the declaration"
            )
        if not streams.as_deployed and not Release.known(streams.version):
            yield (
                f"{instance.instance}: runs {streams.version}, which is no release of Apache Kafka (such as "
                "4.3.1): no published rule covers it"
            )
        yield from _deployed(deployment, streams, declared)
        yield from other_routes(instance, declared)
    if isinstance(reading.group, GroupReading):
        yield from _group(reading.group, reading, declared, streams_group=streams_group)


def _unwell(reading: ApplicationReading, declared: DeclaredApplication) -> Iterator[str]:
    """Instances that do not run as they should."""
    group = reading.group
    for instance in reading.instances:
        streams = instance.streams
        if not _process(instance):
            yield f"{instance.down}: expected running{instance.log_end}; start it first"
        elif isinstance(streams, StreamsReading):
            if streams.state != "RUNNING":
                what = "its process" if streams.as_deployed else "Streams"
                end = instance.log_end
                next_ = "restart it first" if is_dead(streams.state) else "wait until it is"
                yield f"{instance.instance}: {what} is in {streams.state} (expected RUNNING){end}; {next_}"
            if not isinstance(streams.failed_threads, Missing) and streams.failed_threads:
                yield f"{instance.instance}: {streams.failed_threads} failed threads (limit 0); mend it first"
            if isinstance(group, GroupReading) and _is_stable(group) and not members_of(group, instance):
                yield (
                    f"{instance.instance}: no member in group {declared.application_id} (expected 1 or more); does it "
                    "run on this cluster, and is its group_instance_id declared?"
                )
    running = [one for one in reading.instances if _process(one)]
    if (
        declared.as_deployed
        and isinstance(group, GroupReading)
        and _is_stable(group)
        and len(group.members) < len(running)
    ):
        yield (
            f"group {group.group_id}: {len(group.members)} members (expected {len(running)} or more, one of each "
            "instance of the copier); look at its logs"
        )
    if isinstance(group, GroupReading) and not _is_stable(group) and not _is_streams(group):
        yield f"group {group.group_id}: {group.state} (expected Stable); wait until it is"


def _is_stable(group: GroupReading) -> bool:
    return group.state.upper() == "STABLE"


def _is_streams(group: GroupReading) -> bool:
    return group.type.lower() == "streams"


def _deployed(
    deployment: Deployment | Missing, streams: StreamsReading, declared: DeclaredApplication
) -> Iterator[str]:
    """Undo leads to the declared state: instances have to run it now."""
    if isinstance(deployment, Missing):
        return
    if deployment.applied is False:
        yield (
            f"{deployment.instance}: its release or settings were written after it started; restart it, so that it "
            "runs what is declared"
        )
    elif isinstance(deployment.release, str) and declared.library(deployment.release) != streams.version:
        yield (
            f"{deployment.instance}: runs {streams.version}, declared is {deployment.release}; correct "
            "deployment.properties or restart it (a release that is not named after its Kafka Streams library: "
            "`libraries` of the declaration)"
        )


def _swapped(instance: InstanceReading, instances: tuple[InstanceReading, ...]) -> Iterator[str]:
    """Metrics of another instance's process: every gate would watch the wrong one.

    Only a process that the deployer itself started for another instance is certain. Any other process may be the child
    of a wrapper.
    """
    start, own = instance.streams.start, _pid(instance)
    if start is None or start.pid is None or start.pid == own:
        return
    for other in instances:
        if other is not instance and start.pid == _pid(other):
            yield (
                f"{instance.instance}: its metrics come from process {start.pid}, which is {other.instance} (expected "
                f"{own or 'a process of its own'}); correct `metrics` of both in the declaration"
            )


def _pid(instance: InstanceReading) -> int | None:
    return None if isinstance(instance.deployment, Missing) else instance.deployment.pid


def _group(
    group: GroupReading, reading: ApplicationReading, declared: DeclaredApplication, *, streams_group: bool
) -> Iterator[str]:
    if _is_streams(group) and not streams_group:
        yield (
            f"group {group.group_id} is a streams group (KIP-1071): upgrade.from and static membership do not apply; "
            "this runbook does not cover it (expected a classic group); stop the application and change it manually"
        )
        return
    if unknown := strangers(reading):
        yield (
            f"group {group.group_id}: member {unknown[0].client_id} on {unknown[0].host} belongs to no declared "
            f"instance ({len(unknown)} such members, limit 0); declare its instance or stop it"
        )
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            continue
        members = members_of(group, instance)
        static = all(member.instance_id is not None for member in members)
        if members and static != declared.static_membership:
            yield (
                f"{instance.instance}: group.instance.id is {'set' if static else 'not set'}, but the declaration says "
                f"static_membership: {str(declared.static_membership).lower()}; correct the declaration"
            )


def _findings(reading: ApplicationReading, declared: DeclaredApplication) -> Iterator[Finding]:
    broker = reading.broker
    if not declared.as_deployed and isinstance(broker, BrokerReading) and broker.auto_create_topics is not False:
        observed = "unknown" if isinstance(broker.auto_create_topics, Missing) else "true"
        yield Finding(
            "auto-create-enabled",
            "danger",
            declared.cluster,
            f"auto.create.topics.enable is {observed} (wanted false): a deleted internal topic comes back empty, with "
            "the broker's default partition count",
            "Apache Kafka documentation, broker configs, auto.create.topics.enable",
        )
    if stated := [
        one.instance for one in reading.instances if isinstance(one.deployment, Deployment) and one.deployment.stated
    ]:
        yield Finding(
            "deployment-not-seen",
            "warning",
            ", ".join(stated),
            "release and settings are as the declaration states them and were not observed: a real run needs "
            "deployer.commands.instances",
            "docs/deployers.md",
        )
    yield from _idle(reading, declared)
    for instance in reading.instances:
        streams = instance.streams
        if not isinstance(streams, Missing) and not streams.as_deployed and isinstance(streams.topology, Missing):
            yield Finding(
                "topology-not-read",
                "warning",
                instance.instance,
                f"its topology description cannot be read: {streams.topology.missing}",
                _UPGRADE_GUIDE,
            )


def _idle(reading: ApplicationReading, declared: DeclaredApplication) -> tuple[Finding, ...]:
    """Whether it has more stream threads than tasks; nothing while a part of that is unknown, as in a roll."""
    streams = [one.streams for one in reading.instances if isinstance(one.streams, StreamsReading)]
    alive = [one.alive_threads for one in streams if isinstance(one.alive_threads, int)]
    texts = {one.topology for one in streams}
    text = next(iter(texts), None)
    if len(alive) < len(reading.instances) or len(texts) > 1 or not isinstance(text, str):
        return ()
    prefix = f"{declared.application_id}-"
    topics = reading.topics if isinstance(reading.topics, tuple) else ()
    counts = {topic.name: topic.partitions for topic in topics}
    counts |= {name.removeprefix(prefix): count for name, count in counts.items() if name.startswith(prefix)} | counts
    try:
        found = parallelism(parse_topology(text), counts, sum(alive))
    except BadInput:
        return ()
    return () if found is None else found.finding(declared.name)
