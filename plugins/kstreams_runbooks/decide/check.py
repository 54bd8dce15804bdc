"""What has to hold before a library bump is planned: everything readable, every instance RUNNING, one known release."""

from collections.abc import Iterator

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.decide.members import members_of, strangers
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.model.versions import Release

_UPGRADE_GUIDE = "Kafka Streams Upgrade Guide, Apache Kafka documentation"


def ready_for_bump(reading: ApplicationReading, declared: DeclaredApplication, age_ms: int, max_age_ms: int) -> Verdict:
    """Whether an application may be bumped now; nothing is changed by looking.

    `age_ms` is how old `reading` is when it is judged. Refuses what is wrong, is inconclusive about what is missing,
    and carries findings for what a person has to weigh (they stand in the approval).
    """
    if age_ms > max_age_ms:
        return Verdict(
            Outcome.REFUSE,
            (
                f"reading of {declared.name}: {age_ms / 1000:.0f} s old (limit {max_age_ms / 1000:.0f} s); "
                "clear `observe` and what follows it",
            ),
        )
    findings = tuple(_findings(reading, declared))
    if not any(_process(instance) for instance in reading.instances):
        return Verdict(
            Outcome.REFUSE,
            (f"application {declared.name}: no instance runs (expected {len(declared.instances)}); start it first",),
            findings,
        )
    if refusals := tuple(_refusals(reading, declared)):
        return Verdict(Outcome.REFUSE, refusals, findings)
    if missing := tuple(_missing(reading)):
        return Verdict(Outcome.INCONCLUSIVE, missing, findings)
    return Verdict(
        Outcome.PROCEED,
        (f"{len(reading.instances)} instances RUNNING, group stable, every reading is there",),
        findings,
    )


def _process(instance: InstanceReading) -> bool:
    deployment = instance.deployment
    return isinstance(deployment, Missing) or deployment.process in {"running", "starting", "unknown"}


def _missing(reading: ApplicationReading) -> Iterator[str]:
    for what, value in (("broker", reading.broker), ("group", reading.group), ("offsets", reading.partitions)):
        if isinstance(value, Missing):
            yield f"{what} of {reading.application}: {value.missing}"
    if isinstance(reading.topics, Missing):
        yield f"topics of {reading.application}: {reading.topics.missing}"
    if isinstance(reading.partitions, tuple):
        yield from total_lag(reading.partitions).unknown
    for instance in reading.instances:
        parts: list[object] = [instance.deployment, instance.streams]
        if isinstance(instance.deployment, Deployment):
            parts += [instance.deployment.release, instance.deployment.applied]
        if isinstance(instance.streams, StreamsReading):
            parts += [instance.streams.alive_threads, instance.streams.failed_threads]
        for part in parts:
            if isinstance(part, Missing):
                yield f"{instance.instance}: {part.missing}"


def _refusals(reading: ApplicationReading, declared: DeclaredApplication) -> Iterator[str]:
    for instance in reading.instances:
        if isinstance(instance.deployment, Deployment):
            yield from (f"{instance.instance}: {obstacle}" for obstacle in instance.deployment.obstacles)
        yield from _swapped(instance, reading.instances)
        if not _process(instance):
            yield f"{instance.instance}: its process does not run (expected running); start it first"
        elif not isinstance(instance.streams, Missing):
            streams = instance.streams
            if streams.application_id != declared.application_id:
                yield (
                    f"{instance.instance}: its metrics belong to application.id {streams.application_id} "
                    f"(declared {declared.application_id}); correct the declaration"
                )
            if not Release.known(streams.version):
                yield (
                    f"{instance.instance}: runs {streams.version}, which is no release of Apache Kafka (such as "
                    "4.3.1): no published rule covers it"
                )
            if streams.state != "RUNNING":
                yield f"{instance.instance}: Streams is in {streams.state} (expected RUNNING); wait, or mend it first"
            if not isinstance(streams.failed_threads, Missing) and streams.failed_threads:
                yield f"{instance.instance}: {streams.failed_threads} failed threads (limit 0); mend it first"
            yield from _deployed(instance.deployment, streams, declared)
    if isinstance(reading.group, GroupReading):
        yield from _group(reading.group, reading, declared)


def _deployed(
    deployment: Deployment | Missing, streams: StreamsReading, declared: DeclaredApplication
) -> Iterator[str]:
    """The way back leads to what is declared: it has to be what runs."""
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

    Only a process that the deployer itself started for another instance is certain. Any other that is not this
    instance's own may be the child of a wrapper.
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


def _group(group: GroupReading, reading: ApplicationReading, declared: DeclaredApplication) -> Iterator[str]:
    if group.type.lower() == "streams":
        yield (
            f"group {group.group_id} is a streams group (KIP-1071): upgrade.from and static membership do not apply; "
            "this runbook does not cover it"
        )
        return
    if group.state.upper() != "STABLE":
        yield f"group {group.group_id}: {group.state} (expected Stable); wait until it is"
    if unknown := strangers(reading):
        yield (
            f"group {group.group_id}: member {unknown[0].client_id} on {unknown[0].host} belongs to no declared "
            f"instance ({len(unknown)} such members, limit 0); declare its instance or stop it"
        )
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            continue
        members = members_of(group, instance.streams.client_id)
        if not members and group.state.upper() == "STABLE":
            yield (
                f"{instance.instance}: no member in group {group.group_id} (expected 1 or more); does it run "
                "on this cluster?"
            )
        static = all(member.instance_id is not None for member in members)
        if members and static != declared.static_membership:
            yield (
                f"{instance.instance}: group.instance.id is {'set' if static else 'not set'}, but the declaration says "
                f"static_membership: {str(declared.static_membership).lower()}; correct the declaration"
            )


def _findings(reading: ApplicationReading, declared: DeclaredApplication) -> Iterator[Finding]:
    broker = reading.broker
    if isinstance(broker, BrokerReading) and broker.auto_create_topics is not False:
        observed = "unknown" if isinstance(broker.auto_create_topics, Missing) else "true"
        yield Finding(
            "auto-create-enabled",
            "danger",
            declared.cluster,
            f"auto.create.topics.enable is {observed} (wanted false): a deleted internal topic comes back empty, with "
            "the broker's default partition count",
            "Apache Kafka documentation, broker configs, auto.create.topics.enable",
        )
    for instance in reading.instances:
        streams = instance.streams
        if not isinstance(streams, Missing) and isinstance(streams.topology, Missing):
            yield Finding(
                "topology-not-read",
                "warning",
                instance.instance,
                f"its topology description cannot be read: {streams.topology.missing}",
                _UPGRADE_GUIDE,
            )
