"""The local state that a run or its undo deletes, and what that costs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.described import Known, with_full_names
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.directories import changelogs_in, directories_to_delete, directories_to_undo
from kstreams_runbooks.decide.comparison.prediction import changelog_topics, global_restores
from kstreams_runbooks.decide.plans.basis import with_restore
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.local_state import GLOBAL, NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, StartAll
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import outside

STALE, KEEP, ALL = "stale", "keep", "all"
RESTORED = "a restore of the stores in deleted directories"
# `1_*`, `1_3`, or with the name of a topology before it; `global` for the global stores.
_NAME = re.compile(rf"(?:[a-zA-Z0-9._-]+__)?\d{{1,9}}_(?:\*|\d{{1,9}})|{GLOBAL}")
_SOURCE = "S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), local state cleanup"
_MOST = 3


@dataclass(frozen=True, slots=True)
class ClearedState:
    """What a run deletes of each instance's local state: `everything`, or the directories of `deletes`.

    `undo_deletes` are those of its undo.
    """

    everything: bool = False
    deletes: TaskDirectories = NO_DIRECTORIES
    undo_deletes: TaskDirectories = NO_DIRECTORIES


def cleared_state(
    choice: str, before: tuple[Described, ...], after: Described | Missing | None, known: Known
) -> ClearedState:
    """The local state that goes, by the choice of the run and by the running versions and the wanted one.

    `choice` is `stale` (directories on which the wanted version may not start), `keep`, `all`, or the directories
    themselves (`1_*, 2_3`); BadInput if it is none of these. `after` is None if the topology stays, Missing if it is
    unknown: nothing is stale then.
    """
    named = set(_directories(choice))
    new = None if after is None or isinstance(after, Missing) else parsed(after)
    compared = [with_full_names(old, new or old, known) for old in map(parsed, before)]
    if choice == STALE:
        deletes = _all(directories_to_delete(one) for one in compared)
    elif choice == KEEP:
        deletes = NO_DIRECTORIES
    else:
        deletes = TaskDirectories(tuple(sorted(named)), tuple(sorted(_restored(compared, named, known))))
    places = {f"{place}_" for one in compared for place in one.before.store_places.values()}
    gone = places if choice == ALL else set(deletes.names)
    back = _all(directories_to_undo(one, gone) for one in compared) if choice != KEEP else NO_DIRECTORIES
    return ClearedState(choice == ALL, deletes, back)


def state_of_undo(before: tuple[Described, ...], after: Described | Missing, known: Known) -> ClearedState:
    """What the undo of a roll deletes, which deletes nothing itself.

    The new version may leave files that the old one cannot open: those of a global store more, or of a store that gets
    timestamps. Source: tests/long/test_global_tables.py, test_store_formats.py.
    """
    return ClearedState(undo_deletes=cleared_state(STALE, before, after, known).undo_deletes)


def with_cleared_state(
    plan: Plan,
    cleared: ClearedState,
    changelog_bytes: int | Missing,
    undo_bytes: int | Missing,
    *,
    undo_may_delete: bool = True,
) -> Plan:
    """The plan that deletes this local state between stop and start, with its cost and its findings.

    `changelog_bytes` are restored after it, `undo_bytes` after an undo. `undo_may_delete` is False if the deployer
    cannot delete single task directories.
    """
    # Later bounces keep the release that the first brings.
    clearing = plan.start or plan.bounces[0]
    stages = tuple(_with_deletes(clearing, cleared) if one is clearing else one for one in plan.stages)
    if cleared.undo_deletes.names and not undo_may_delete:
        plan = replace(plan, findings=(*plan.findings, _undo_needs_a_choice(plan, cleared.undo_deletes)))
    if cleared.undo_deletes.names:
        also = (
            f"no way back in place: clears {cleared.undo_deletes.what} of each instance while it is down, and restores"
        )
        plan = replace(plan, undo=(*plan.undo, also))
    plan = replace(plan, stages=stages)
    if not any(bounce.clears for bounce in plan.bounces):
        return plan
    what = "a full restore" if cleared.everything else RESTORED
    costs = tuple(with_restore(cost, changelog_bytes, what, cleared.deletes.changelogs) for cost in plan.costs)
    # An undo finds the changelogs as the only copy, if it comes before the start has restored them.
    at_most = changelog_bytes if isinstance(clearing, StartAll) else undo_bytes
    findings = (*plan.findings, *_findings(plan, cleared, at_most))
    return replace(plan, costs=costs if cleared.deletes.changelogs else plan.costs, findings=findings)


def _with_deletes(stage: Bounce | StartAll, cleared: ClearedState) -> Bounce | StartAll:
    if isinstance(stage, StartAll):
        return replace(stage, clear_state=cleared.everything, deletes=cleared.deletes)
    return replace(stage, clear_state=cleared.everything, deletes=cleared.deletes, undo_deletes=cleared.undo_deletes)


def _undo_needs_a_choice(plan: Plan, left: TaskDirectories) -> Finding:
    return Finding(
        "undo-cannot-delete-directories",
        "warning",
        plan.application,
        f"{left.what}: an undo of this run deletes them, and the deployer cannot delete single directories; add "
        "{directories} to deployer.commands.clear_state, or give the undo local_state=all or local_state=keep",
        _SOURCE,
    )


def _findings(plan: Plan, cleared: ClearedState, undo_bytes: int | Missing) -> Iterator[Finding]:
    size = "an unknown number of" if isinstance(undo_bytes, Missing) else f"up to {undo_bytes / 1_000_000:,.1f}"
    yield Finding(
        "local-state-deleted",
        "warning",
        plan.application,
        f"{cleared.deletes.what} of every instance: deleted between stop and start; an undo restores {size} MB from "
        "the topics of the stores (state-restored-from)",
        _SOURCE,
    )


def _directories(choice: str) -> tuple[str, ...]:
    """The directories that the choice names, none for a word; BadInput for anything else."""
    if choice in {STALE, KEEP, ALL}:
        return ()
    names = [name.strip() for name in choice.split(",")]
    if wrong := [name for name in names if not _NAME.fullmatch(name)]:
        raise BadInput(
            f"local_state: {outside(wrong[0], 60)!r} is not a task directory (expected {STALE}, {KEEP}, {ALL}, or task "
            "directories such as `1_*, 2_3`, or `global`)"
        )
    return tuple(name.removesuffix("*") for name in names)


def _all(found: Iterable[TaskDirectories]) -> TaskDirectories:
    joined = NO_DIRECTORIES
    for one in found:
        joined = joined.joined(one)
    return joined


def _restored(compared: list[Compared], names: set[str], known: Known) -> set[str]:
    """Topics read in full once these directories are deleted, all of them if none is named or nothing is compared."""
    if not compared:
        prefix = f"{known.application.application_id}-"
        return {topic for topic in known.partitions if topic.startswith(prefix) and is_changelog(topic)}
    tasks = {
        topic
        for one in compared
        for topic in (changelogs_in(one.after, names) if names else changelog_topics(one.after).values())
    }
    if names and GLOBAL not in names:
        return tasks
    return tasks | {restore.changelog for one in compared for restore in global_restores(one)}
