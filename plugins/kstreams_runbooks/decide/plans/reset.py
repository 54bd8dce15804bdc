"""The plan of a reset: the application starts over, from other offsets or on empty local state.

Source: Kafka Streams developer guide, Application Reset Tool; KAFKA-14922 (the tool deletes by prefix); KIP-698.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.plans.reset_findings import reset_findings
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import BrokerReading, Missing
from kstreams_runbooks.model.readings.reset import DELETES_TOPICS, BlastRadius
from kstreams_runbooks.model.runs.object_stages import (
    CreateTopics,
    DeleteRecords,
    DeleteTopics,
    SaveOffsets,
    SetOffsets,
)
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, Stage, StartAll, StopAll
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of

RESET = "reset_and_cleanup"
_CLEARS = frozenset({"reset", "state"})


@dataclass(frozen=True, slots=True)
class ResetParts:
    """What a reset is made of, next to its blast radius.

    `created` are the internal topics to create before the start, Missing if a fact about them is, None if the
    application creates them itself. `targets` has a topic with its target as a text (decide/reset/targets.py).
    `directories` are the only local state that goes, without one all of it. `clean_up` are settings with which the
    application deletes it itself as it starts; without one, the deployer does before that. `needed` are the full names
    of all internal topics of the wanted version. `follows_latest`: its group begins at the end of a topic without
    offsets. `cleaned` are the outputs whose records go, None if none do.
    """

    created: tuple[TopicShape, ...] | Missing | None
    targets: tuple[tuple[str, str], ...]
    most_lost: int = 0
    directories: TaskDirectories = NO_DIRECTORIES
    clean_up: RunbookSettings = ()
    needed: tuple[str, ...] = ()
    follows_latest: bool = False
    cleaned: DeleteRecords | None = None


def reset_plan(restart: Plan, radius: BlastRadius, parts: ResetParts, broker: BrokerReading | Missing) -> Plan:
    """The plan of a stop and restart with a reset of the application in between.

    `restart` is at once and has one bounce, `radius` may be reset (`may_reset`). Refused if brokers create topics by
    themselves, for a topic that the wanted version would take over with the records of an older one, and if nothing
    keeps a repartition topic's first records from being skipped. Inconclusive if it is not known whether brokers do, or
    if a deployer does not report local state: nothing would show that it is gone.
    """
    _require_possible(radius, parts, broker)
    [bounce] = restart.bounces
    stages = tuple(replace(one, number=number) for number, one in enumerate(_stages(bounce, radius, parts), 1))
    change = [*restart.change, ("mode", radius.mode), *(("target", f"{one} to {to}") for one, to in parts.targets)]
    if parts.targets:
        change.append(("most_lost", str(parts.most_lost)))
    if parts.clean_up:
        change.append(("cleared_by", "application"))
    return replace(
        restart,
        runbook=RESET,
        change=tuple(change),
        stages=stages,
        findings=(
            *restart.findings,
            *reset_findings(radius, parts.created, restart.limit("gate_ceiling_s"), parts.clean_up),
        ),
        undo=tuple(_undo(restart, radius, parts)),
        title=_title(radius, bounce),
        worst_case=_worst_case(restart, radius),
    )


def _stages(bounce: Bounce, radius: BlastRadius, parts: ResetParts) -> Iterator[Stage]:
    group, going = radius.application_id, tuple(one.name for one in radius.deleted)
    created = parts.created if isinstance(parts.created, tuple) else ()
    again = tuple(one.name for one in created if not is_changelog(one.name))
    yield StopAll(0)
    if radius.mode != "state":
        yield SaveOffsets(0, group, going)
    if radius.mode in _CLEARS:
        # Before the first deletion: it is the likeliest to fail, and what it takes comes back from the topics.
        own = bool(parts.clean_up)
        yield ClearState(0, deletes=parts.directories, seen=not own, at_start=own)
    if going:
        yield DeleteTopics(0, going, at_rest=True, again=not created)
    if created:
        yield CreateTopics(0, created)
    if again:
        # Under auto.offset.reset=latest the group would skip what is written before its first commit.
        yield SetOffsets(0, group, again, "start")
    if parts.targets:
        topics = tuple(topic for topic, _ in parts.targets)
        yield SetOffsets(0, group, topics, "target", targets=parts.targets, most_lost=parts.most_lost)
    if parts.cleaned:
        # Last before the start: a reader then sees them empty for the shortest time.
        yield parts.cleaned
    yield StartAll(0, bounce.release, bounce.settings, bounce.library, must_clear=True, once=parts.clean_up)


def _require_possible(radius: BlastRadius, parts: ResetParts, broker: BrokerReading | Missing) -> None:
    if radius.mode in _CLEARS:
        for one in radius.local:
            if isinstance(one.directories, Missing):
                raise Inconclusive(
                    f"{one.instance}: its local state has to be seen gone before a start: {one.directories.missing}"
                )
    if radius.mode not in DELETES_TOPICS:
        return
    creates = broker if isinstance(broker, Missing) else broker.auto_create_topics
    if isinstance(creates, Missing):
        raise Inconclusive(f"whether brokers create a deleted topic again is not known: {creates.missing}")
    if creates:
        raise Refused(
            "auto.create.topics.enable is true on the brokers: a client could create a deleted internal topic with "
            "another number of partitions; set it to false on every broker first"
        )
    staying = {one.name: one.why or first_of(one.used_by) for one in radius.internal if not one.goes}
    for name in sorted(staying.keys() & set(parts.needed)):
        raise Refused(
            f"topic {name}: stays ({staying[name]}), and the wanted version reads it with the records of an older one "
            "(expected: absent); delete it first (`kstreams-runbooks orphans`)"
        )
    if parts.follows_latest and not isinstance(parts.created, tuple) and not all(map(is_changelog, parts.needed)):
        why = parts.created.missing if parts.created else "the form leaves them to the application"
        raise Refused(
            f"repartition topics are not created before the start ({why}), and under auto.offset.reset=latest the "
            "application skips what it writes to them before its first commit; let the run create them: trigger "
            "a new run with --param create_internal_topics=true"
        )


def _undo(restart: Plan, radius: BlastRadius, parts: ResetParts) -> Iterator[str]:
    before = " or ".join(sorted({one.deployed for one in restart.facts.at_start}))
    if not radius.deleted:
        back = "offsets back with their metadata, " if radius.mode == "offsets" else ""
        yield f"{back}every instance back to {before}{_but_for(radius)}"
        return
    restored = f"state restored{_restored_from(radius)}{_but_for(radius)}"
    yield f"until the deletion: every instance back to {before}, {restored}"
    yield (
        f"afterwards: state and internal topics are gone for good; {before} with the offsets of before never reads the "
        "records between" + ("; refused while an instance has the state of before" if parts.clean_up else "")
    )


def _restored_from(radius: BlastRadius) -> str:
    """The topics that restore the stores, by their facts."""
    topics = sorted({one.changelog for one in radius.stores if one.changelog and not one.local_only})
    return f" from {first_of(topics)}" if topics else ""


def _but_for(radius: BlastRadius) -> str:
    """The stores that no undo brings back once local state is cleared."""
    lost = [f"{one.store} ({one.local_only})" for one in radius.stores if one.local_only]
    return f"; once local state is cleared, without {first_of(lost, between='; ')}" if lost else ""


def _title(radius: BlastRadius, bounce: Bounce) -> str:
    if radius.mode == "state":
        return f"local state cleared, start on {bounce.deployed}"
    return f"{'reset' if radius.mode == 'reset' else 'other offsets'}, start on {bounce.deployed}"


def _worst_case(restart: Plan, radius: BlastRadius) -> str:
    if not radius.deleted:
        return restart.worst_case
    return (
        f"the run ends after the deletion and before the start: nothing of {radius.application} is processed and its "
        "state is gone, until the run goes on or `undo` starts it"
    )
