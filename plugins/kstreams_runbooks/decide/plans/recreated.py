"""Whether a plan may be made while a changelog is not the one that its store was written to: only disks have the state.

Refused is what would restore the store from it. A restart that keeps state and tasks is a question for the approver.
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.runbooks import CHECK_COMMAND, acknowledge_command
from kstreams_runbooks.decide.status.recreated import WAYS
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.recreated import RecreatedTopic
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict

ACKNOWLEDGE = "acknowledge_recreated"
_STANDBYS = "num.standby.replicas"
# From here on an older release cannot open the local state (KIP-1035).
_NEW_FILES = Release.parse("4.3.0")
_SOURCE = "KIP-698; docs/fleet_check.md"


def may_keep_state(
    plan: Plan, recreated: tuple[RecreatedTopic, ...], declared: DeclaredApplication, reason: str
) -> Verdict:
    """Refuse a plan that loses the state of a recreated changelog, unless a person gives a `reason`, which is shown.

    `plan` is that of one side. A plan that keeps the state has a finding with what is at stake, for the approver; with
    automatic approval it needs a reason too. A topic that the plan deletes itself does not count: its store is reset.
    """
    at_stake = [one for one in recreated if one.kind == "changelog" and one.name not in _reset(plan)]
    if not at_stake or not _touches_instances(plan):
        return Verdict(Outcome.PROCEED, ("no changelog was recreated that this plan could restore from",))
    refused: list[str] = []
    findings: list[Finding] = []
    for one in at_stake:
        causes = tuple(_causes(plan, one.name))
        if not causes and not (declared.automatic_approval and not reason):
            findings.append(_question(plan, one))
        elif reason:
            findings.append(_accepted(one, causes, reason))
        else:
            refused.append(_refusal(plan, one, causes))
    if refused:
        return Verdict(Outcome.REFUSE, tuple(refused), tuple(findings))
    return Verdict(
        Outcome.PROCEED, tuple(f"{one.sentence}: shown to the approver" for one in at_stake), tuple(findings)
    )


def accepted_before(plan: Plan, accepted: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each changelog of `accepted`, with the reason: fleet_check holds it for the expected one."""
    for topic in sorted(accepted.keys() - _reset(plan)) if _touches_instances(plan) else ():
        causes = tuple(dict.fromkeys(_causes(plan, topic)))
        lost = f"{' and '.join(causes)}: its state is lost" if causes else "its state may be on local disks alone"
        message = f"it was recreated; {lost}; accepted at fleet_check with the reason: {accepted[topic]}"
        yield Finding("recreated-acknowledged", "danger" if causes else "warning", topic, message, _SOURCE)


def never_compared(plan: Plan) -> Iterator[Finding]:
    """The finding if no fleet_check has read the application: then a recreated changelog is not known."""
    if not _touches_instances(plan) or _reset(plan):
        return
    causes = tuple(dict.fromkeys(cause for topic in _topics(plan) for cause in _causes(plan, topic)))
    lost = f" {' and '.join(causes)}, which loses the state of such a store;" if causes else ""
    yield Finding(
        "recreated-not-known",
        "danger" if causes else "warning",
        plan.application,
        f"fleet_check has not read {plan.application} (expected: every few minutes), so whether a changelog was "
        f"deleted and created again is not known;{lost} run `{CHECK_COMMAND}`, and approve only if no changelog was "
        "deleted",
        _SOURCE,
    )


def _topics(plan: Plan) -> tuple[str, ...]:
    """Every changelog that the plan names, or else any."""
    named = {topic for one in plan.stages if (cleared := cleared_by(one)) is not None for topic in cleared.changelogs}
    return tuple(sorted(named)) or ("",)


def _reset(plan: Plan) -> set[str]:
    return {name for one in plan.stages if isinstance(one, DeleteTopics) for name in one.topics}


def _touches_instances(plan: Plan) -> bool:
    return any(isinstance(one, Bounce | StopAll | StartAll | ClearState) for one in plan.stages)


def _causes(plan: Plan, topic: str) -> Iterator[str]:
    """What of a plan restores the store of a changelog from it."""
    for stage in plan.stages:
        cleared = cleared_by(stage)
        if cleared is not None and (not cleared.names or not cleared.changelogs or topic in cleared.changelogs):
            yield f"{plan.runbook} clears {cleared.what}"
    if plan.rolled and not plan.facts.static_membership:
        yield f"{plan.runbook} moves tasks to other instances (static_membership: false)"
    before = {dict(one.settings).get(_STANDBYS) for one in plan.facts.at_start}
    for bounce in plan.bounces:
        value = dict(bounce.settings).get(_STANDBYS)
        if value not in before and value not in {None, "0"}:
            yield f"{_STANDBYS}={value} makes instances restore copies of it"


def cleared_by(stage: object) -> TaskDirectories | None:
    """The local state that a stage deletes, None for none."""
    if isinstance(stage, ClearState):
        return stage.deletes
    if isinstance(stage, StartAll):
        return stage.bounce.clears
    return stage.clears if isinstance(stage, Bounce) else None


def _refusal(plan: Plan, one: RecreatedTopic, causes: tuple[str, ...]) -> str:
    if not causes:
        return (
            f"{one.sentence}: only local disks have the state of its store, and approvals of {plan.application} are "
            f"automatic (expected: a person accepts that); trigger a new run with a reason in {ACKNOWLEDGE}"
        )
    return (
        f"{one.sentence}: only local disks have the state of its store, and {' and '.join(dict.fromkeys(causes))}, "
        f"which loses it ({WAYS}); reset the store first, or trigger a new run with a reason in {ACKNOWLEDGE}, which "
        "the approval shows"
    )


def _accepted(one: RecreatedTopic, causes: tuple[str, ...], reason: str) -> Finding:
    lost = (
        f"{' and '.join(dict.fromkeys(causes))}: its state is lost" if causes else "its state is on local disks alone"
    )
    return Finding(
        "recreated-acknowledged",
        "danger",
        one.name,
        f"{one.sentence}; {lost}; accepted with the reason: {reason}",
        _SOURCE,
    )


def _question(plan: Plan, one: RecreatedTopic) -> Finding:
    later = "".join(f"; {cause}" for cause in _of_undo(plan, one.name))
    return Finding(
        "recreated-state-at-stake",
        "danger",
        one.name,
        f"{one.sentence}: only local disks have the state of its store. This run keeps state and tasks; an instance "
        f"whose disk is lost or wiped, or that does not come back in time, loses it for good{later} ({WAYS}). To "
        f"approve is to accept that for this run; for later runs `{acknowledge_command(plan.application)}` does",
        _SOURCE,
    )


def _of_undo(plan: Plan, topic: str) -> Iterator[str]:
    """What an undo of this plan would lose."""
    if any(topic in bounce.undo_deletes.changelogs for bounce in plan.bounces):
        yield "an undo of this run clears its store, and loses it"
    versions = [one.version for one in plan.facts.at_start if Release.known(one.version)]
    ends = [bounce.version for bounce in plan.bounces if Release.known(bounce.version)]
    if ends and versions and Release.parse(ends[-1]) >= _NEW_FILES > min(map(Release.parse, versions)):
        yield "the way back from 4.3 clears local state, and loses it"
