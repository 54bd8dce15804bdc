"""Parts of every plan: the facts that it binds, the cost of restarting an instance, the settings that stay."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.instances.members import settings_text
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Missing
from kstreams_runbooks.model.runs.plan import DeployedInstance, InstanceCost, PlanFacts
from kstreams_runbooks.wording import first_of

UPGRADE_FROM = "upgrade.from"
GUARANTEE = "processing.guarantee"

# Seconds without processing of the bounced instance's partitions, measured on a small application (docs/measured.md).
_GAP_STATIC = (4, 11)
_GAP_MEMBERS_REMOVED = (4, 10)
_GAP_AT_ONCE = (9, 14)
# A start with nothing to restore, and how fast one instance restores (docs/measured.md).
_START_S = 6
_RESTORE_BYTES_PER_S = 5_000_000


def deployed_instances(reading: ApplicationReading, declared: DeclaredApplication) -> tuple[DeployedInstance, ...]:
    """The deployment of each instance; Inconclusive if one cannot be read."""
    found = (deployed_instance(one, declared) for one in reading.instances)
    return tuple(sorted(found, key=lambda one: one.instance))


def deployed_instance(instance: InstanceReading, declared: DeclaredApplication) -> DeployedInstance:
    """The deployment of one instance; Inconclusive if it cannot be read."""
    deployment = instance.deployment
    if isinstance(deployment, Missing):
        raise Inconclusive(f"{instance.instance}: {deployment.missing}")
    if isinstance(deployment.release, Missing):
        raise Inconclusive(f"{instance.instance}: {deployment.release.missing}")
    library = declared.library(deployment.release)
    settings = tuple(sorted(deployment.settings))
    return DeployedInstance(instance.instance, deployment.release, settings, library, deployment.build)


def require_declared(declared: DeclaredApplication, release: str) -> None:
    """BadInput if a release cannot be deployed."""
    if release not in declared.releases:
        raise BadInput(
            f"release {release}: not declared for {declared.name} (declared {', '.join(declared.releases)}); "
            "build it and add it to the fleet entry"
        )


def other_library(release: str, library: str) -> str:
    """`library` of a bounce: empty if the release is named after its Kafka Streams release."""
    return "" if release == library else library


def facts(reading: ApplicationReading, declared: DeclaredApplication, code: str) -> PlanFacts:
    """The facts that a plan binds; Inconclusive if one cannot be read. `code` is the hash of package and DAG file."""
    if isinstance(reading.group, Missing):
        raise Inconclusive(f"group of {declared.name}: {reading.group.missing}")
    if isinstance(reading.topics, Missing):
        raise Inconclusive(f"topics of {declared.name}: {reading.topics.missing}")
    return PlanFacts(
        group_type=reading.group.type,
        topics=tuple(sorted((topic.name, topic.topic_id, topic.partitions) for topic in reading.topics)),
        instances=tuple(declared.instances),
        at_start=deployed_instances(reading, declared),
        static_membership=declared.static_membership,
        code=code,
    )


def kept_settings(reading: ApplicationReading, besides: frozenset[str] = frozenset({UPGRADE_FROM})) -> dict[str, str]:
    """Settings by earlier runbooks, without `besides`: they stay. Refused if instances differ in them."""
    kept: dict[str, dict[str, str]] = {}
    for one in reading.instances:
        if isinstance(one.deployment, Deployment):
            kept[one.instance] = {key: value for key, value in one.deployment.settings if key not in besides}
    first = next(iter(kept.items()), ("", {}))
    for name, settings in kept.items():
        if settings != first[1]:
            raise Refused(
                f"{name} has {settings_text(settings)}, {first[0]} has {settings_text(first[1])} (expected: the same "
                f"on every instance, a runbook brings all to one); to bring all to those of {first[0]}, trigger "
                f"rolling_bounce with --param {_as_first(first[1], kept.values())}"
            )
    return dict(first[1])


def _as_first(first: Mapping[str, str], every: Iterable[Mapping[str, str]]) -> str:
    """The field of a form that brings each instance to the `first` settings wherever one of them has others."""
    names = {name for one in every for name in {*one, *first} if one.get(name) != first.get(name)}
    return shlex.quote(f"settings={json.dumps({name: first.get(name) for name in sorted(names)})}")


def topics_shown(topics: tuple[str, ...]) -> str:
    """The topics that restore an application's stores; the changelogs if a running version is not described."""
    return first_of(topics) if topics else "the changelogs"


def restore_cost(changelog_bytes: int | Missing, what: str = "a full restore", topics: tuple[str, ...] = ()) -> str:
    """The cost of restoring one instance's local state, from the bytes of the topics that are read for it."""
    if isinstance(changelog_bytes, Missing):
        return f"{what} from {topics_shown(topics)}, whose size is not known: {changelog_bytes.missing}"
    seconds = _START_S + changelog_bytes / _RESTORE_BYTES_PER_S
    return (
        f"{what} from {topics_shown(topics)}: up to {changelog_bytes / 1_000_000:,.1f} MB in all of them, about "
        f"{seconds:,.0f} s at {_RESTORE_BYTES_PER_S / 1_000_000:,.0f} MB/s"
    )


def with_restore(
    cost: InstanceCost,
    changelog_bytes: int | Missing,
    what: str = "a full restore",
    topics: tuple[str, ...] = (),
) -> InstanceCost:
    """The cost of an instance whose local state is cleared, in whole or in part."""
    why = f"{cost.why}; then {restore_cost(changelog_bytes, what, topics)}"
    if isinstance(changelog_bytes, Missing):
        longer = f"the size of {topics_shown(topics)} is not known: {changelog_bytes.missing}"
        return replace(cost, why=why, longer=longer)
    low, high = cost.gap_s
    return replace(cost, gap_s=(low, high + restore_s(changelog_bytes)), why=why)


def restore_s(changelog_bytes: int) -> int:
    """How long one instance takes to restore so many bytes, without its start."""
    return round(changelog_bytes / _RESTORE_BYTES_PER_S)


def costs(declared: DeclaredApplication) -> Iterator[InstanceCost]:
    """The cost of restarting each instance alone."""
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
                "session.timeout.ms; its tasks move to the others and back, and each store is restored from its topic "
                "where no local state fits: longer with large stores",
            )


def costs_at_once(declared: DeclaredApplication) -> Iterator[InstanceCost]:
    """The cost of stopping all of them together."""
    for instance in declared.instances:
        yield InstanceCost(
            instance,
            _GAP_AT_ONCE,
            "all instances are down together, from the first stop until the new assignment; measured on a small "
            "application",
        )


def one_down(declared: DeclaredApplication) -> str:
    """The worst case of a rolling bounce."""
    others = len(declared.instances) - 1
    rest = "the other instance keeps" if others == 1 else f"the other {others} keep"
    return (
        f"a restarted instance does not come up: the run stops, {rest} processing, this one's partitions wait until "
        "you undo"
    )


# The worst case of a run that touches none.
NO_INSTANCE = "no instance is touched: the applications keep processing"


def all_down(declared: DeclaredApplication) -> str:
    """The worst case if all instances are stopped together."""
    return (
        f"nothing of {declared.name} is processed between stop and start; if an instance does not come up the run "
        "stops, and the others take its work once the session timeout is over"
    )
