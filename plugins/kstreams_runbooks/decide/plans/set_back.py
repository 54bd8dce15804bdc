"""Whether an instance that does not start on another release is set back to what it ran before, and started.

The plan has it for each stage (`with_set_back`), and an approver has read it. When a start has failed, nothing is
taken for safe because it was not looked at (`may_be_set_back`): what cannot be read counts as changed, and the way back
is an undo of the run, which clears what the older release cannot open, and reads what it would misread.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.without_topology import NOT_COMPARED
from kstreams_runbooks.decide.plans.basis import UPGRADE_FROM
from kstreams_runbooks.decide.plans.way_back import Move, Undone, guard_of
from kstreams_runbooks.decide.releases.downgrade import clears_state
from kstreams_runbooks.decide.reset.cleaned_up import is_untouched
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Missing
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce, Drain, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import SavedOffsets
from kstreams_runbooks.wording import first_of

# The stages of a run that changes nothing but instances: with another one the old release finds other topics, offsets
# or inputs than it left.
_OF_INSTANCES = (Bounce, Drain, StopAll, StartAll)


@dataclass(frozen=True, slots=True)
class FailedStart:
    """Instances whose start on a bounce failed: what each ran `before` it, and what is known since its stop.

    `past` is whether a card of the run is past a point of no return. `noted` are the times of local state at the stop,
    `now` those after the failed start; empty if they were not asked for. `at_rest` are the committed offsets of the
    group while every instance was down, `committed` those after the failed start; None if the others kept processing.
    """

    before: tuple[DeployedInstance, ...]
    past: bool
    noted: tuple[LocalTimes, ...] = ()
    now: tuple[LocalTimes, ...] = ()
    at_rest: SavedOffsets | Missing | None = None
    committed: SavedOffsets | Missing | None = None


def with_set_back(
    plan: Plan, reading: ApplicationReading, declared: DeclaredApplication, rules: UpgradePathRules, *, acts: bool
) -> Plan:
    """The plan with the stages from which an instance that does not start is set back, and with the sentence about it.

    `acts` is False if a person deploys. None is set back by itself if the run has accepted topologies that were not
    compared, or changes topics, offsets or inputs too.
    """
    compared = all(finding.id != NOT_COMPARED for finding in plan.findings)
    if not acts or not compared or not all(isinstance(stage, _OF_INSTANCES) for stage in plan.stages):
        return plan
    backs = {one.number for one in plan.bounces if _may_go_back(plan, one, reading, declared, rules)}
    stages: tuple[Stage, ...] = tuple(
        replace(stage, back=True) if isinstance(stage, Bounce | StartAll) and stage.number in backs else stage
        for stage in plan.stages
    )
    said = tuple(_sentence(plan, one, rules) for one in plan.bounces if one.number in backs)
    return replace(plan, stages=stages, undo=(*said, *plan.undo))


def _may_go_back(
    plan: Plan, bounce: Bounce, reading: ApplicationReading, declared: DeclaredApplication, rules: UpgradePathRules
) -> bool:
    """Whether the old release reads all that an instance on this bounce may have written when it dies.

    It never finds the state that is cleared before the start, nor the guard that a bounce takes away (`upgrade.from`).
    """
    changed = [one for one in plan.before(bounce) if one.target != bounce.target]
    if not changed or bounce.clears is not None or bounce.must_clear or plan.ends_way_back(bounce):
        return False
    if any(_guarded(dict(one.settings)) and not _guarded(dict(bounce.settings)) for one in changed):
        return False
    run = Undone("", plan.runbook, at_once=plan.at_once, moves=(), unguarded=False, topics=())
    after = DeployedInstance("", bounce.release, bounce.settings, bounce.version)
    try:
        moves = [Move(one.instance, bounce.number, one, after, clears_state=False) for one in changed]
        return not any(guard_of(move, run, reading, declared, rules) for move in moves)
    except Refused:
        return False


def _guarded(settings: Mapping[str, str]) -> bool:
    return UPGRADE_FROM in settings


def opens(before: DeployedInstance, bounce: Bounce, rules: UpgradePathRules) -> bool:
    """Whether what ran before a bounce opens the files that an instance on the bounce leaves."""
    return not clears_state(before.version, bounce.version, rules) and not bounce.undo_deletes.names


def _sentence(plan: Plan, bounce: Bounce, rules: UpgradePathRules) -> str:
    before = plan.before(bounce)
    old = " or ".join(sorted({one.deployed for one in before if one.target != bounce.target}))
    unless = "" if all(opens(one, bounce, rules) for one in before) else ", if its task directories are as at its stop"
    who = "all of them are" if bounce in _together(plan) else "it is"
    what = "no instance starts" if bounce in _together(plan) else "an instance does not start"
    return f"by itself: if {what} on {bounce.deployed}, {who} set back to {old} and started{unless}; the run then stops"


def _together(plan: Plan) -> tuple[Bounce, ...]:
    """The bounce that takes all instances at once, if the plan has one."""
    start = plan.start
    return () if start is None else (start.bounce if isinstance(start, StartAll) else start,)


def may_be_set_back(
    bounce: Bounce, failed: FailedStart, reading: ApplicationReading, rules: UpgradePathRules
) -> Verdict:
    """Whether instances whose start on `bounce` failed are set back by themselves; refused with each reason if not.

    `reading` was taken after the failed start. Source: KIP-904, KIP-1035 and the rows in `rules`; an older release does
    not open the files of 4.3, and misreads what a newer one writes without `upgrade.from`.
    """
    reasons = tuple(dict.fromkeys(_against(bounce, failed, reading, rules)))
    if reasons:
        return Verdict(Outcome.REFUSE, reasons)
    names = ", ".join(one.instance for one in failed.before)
    return Verdict(Outcome.PROCEED, (f"{names}: set back to {failed.before[0].deployed}, which ran before",))


def _against(
    bounce: Bounce, failed: FailedStart, reading: ApplicationReading, rules: UpgradePathRules
) -> Iterator[str]:
    if not bounce.back:
        yield "the plan that was approved has no way back by itself"
        return
    if failed.past:
        yield "the run is past its point of no return"
    if not failed.before:
        yield "what ran before is not known"
    if len({one.target for one in failed.before}) > 1:
        yield "its instances ran different releases or settings before"
    for one in failed.before:
        yield from _set_otherwise(one, bounce, reading)
        if not opens(one, bounce, rules):
            yield from _changed_state(one, failed, reading)
    if failed.at_rest is not None:
        yield from _has_run(failed, reading)


def _set_otherwise(before: DeployedInstance, bounce: Bounce, reading: ApplicationReading) -> Iterator[str]:
    """`upgrade.from` guards only while the instance has the settings of its bounce."""
    deployment = _deployment(reading, before.instance)
    target = deployment if isinstance(deployment, Missing) else deployment.target
    if isinstance(target, Missing):
        yield f"what {before.instance} is set to cannot be read: {target.missing}"
    elif target != bounce.target:
        yield f"{before.instance} is set to {target.text} (expected {bounce.target.text})"


def _changed_state(before: DeployedInstance, failed: FailedStart, reading: ApplicationReading) -> Iterator[str]:
    name, opened = before.instance, f"{before.release} may not open what a newer start leaves in them"
    deployment = _deployment(reading, name)
    if isinstance(deployment, Missing) or not is_down(deployment.process):
        yield f"the process of {name} is not known to be gone, and uses its task directories; {opened}"
        return
    now = next(one for one in failed.now if one.instance == name)
    if isinstance(now.directories, Missing):
        yield f"whether the task directories of {name} have changed is not known: {now.directories.missing}; {opened}"
    elif not is_untouched(now, failed.noted):
        yield f"the task directories of {name} are not known to be as at its stop; {opened}"


def _has_run(failed: FailedStart, reading: ApplicationReading) -> Iterator[str]:
    """Of instances that were started together: why the new release may have read or written something."""
    if up := [one.instance for one in reading.instances if not _is_gone(one)]:
        yield f"{first_of(up)} may run the new release, and both cannot share a group"
    if isinstance(reading.group, Missing):
        yield f"whether the group is empty is not known: {reading.group.missing}"
    elif reading.group.members:
        yield f"group {reading.group.group_id} has {len(reading.group.members)} members of the new release"
    then, now = failed.at_rest, failed.committed
    if not isinstance(then, SavedOffsets) or not isinstance(now, SavedOffsets):
        unread = next((one.missing for one in (then, now) if isinstance(one, Missing)), "they were not read")
        yield f"whether the new release has committed offsets is not known: {unread}"
    elif then.offsets != now.offsets:
        yield "the new release has committed offsets: the old one may not read what it wrote"


def _deployment(reading: ApplicationReading, name: str) -> Deployment | Missing:
    instance = reading.instance(name)
    return instance if isinstance(instance, Missing) else instance.deployment


def _is_gone(instance: InstanceReading) -> bool:
    return isinstance(instance.deployment, Deployment) and is_down(instance.deployment.process)
