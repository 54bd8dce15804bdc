"""The step `plan`: the same rules for every runbook, and for each the function that makes its plan."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.change.comparable import of_other_settings
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.without_topology import may_stay_unread
from kstreams_runbooks.decide.comparison.code import code_changes
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.instances.check import of_the_future, ready_for_change
from kstreams_runbooks.decide.instances.running_facts import differences
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.local_state import (
    ALL,
    KEEP,
    STALE,
    ClearedState,
    cleared_state,
    state_of_undo,
    with_cleared_state,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.same_topology import may_take_over
from kstreams_runbooks.decide.plans.set_back import with_set_back
from kstreams_runbooks.decide.plans.undescribed import changed_settings, undescribed_settings, unseen_changes
from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import BadInput, Drifted, Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Verdict
from kstreams_runbooks.present.plan_lines import undo_lines
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.approval.authorize import take_hold
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.approval.holds import resources
from kstreams_runbooks.steps.plan.before import may_begin, stopped_for_good
from kstreams_runbooks.steps.plan.cards import bytes_of_topics
from kstreams_runbooks.steps.plan.defects import with_defects, with_restored_first
from kstreams_runbooks.steps.plan.expected_gaps import with_gaps
from kstreams_runbooks.steps.plan.fitting import accepted_unread, require_topics
from kstreams_runbooks.steps.plan.killed import with_kills
from kstreams_runbooks.steps.plan.late_losses import with_late_losses
from kstreams_runbooks.steps.plan.only_copy import restored_from, with_losses
from kstreams_runbooks.steps.plan.recreated import require_state_kept
from kstreams_runbooks.steps.plan.releases import (
    before_a_roll,
    known_of,
    running_by_instance,
    settings_between,
    with_kept_logs,
)
from kstreams_runbooks.steps.plan.startable import require_startable
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.step import step

# `check` held the reading to its limit; a loaded scheduler may need most of that limit again between two steps.
_SLOW_SCHEDULER = 10

_UNCHECKED = "`check` has not judged the newest reading of `observe`; clear `observe` and what follows it"

_OPTIMIZATION = "topology.optimization"

PlanMaker = Callable[[Run, ApplicationReading, tuple[Finding, ...]], Plan]


def planned(make: PlanMaker) -> Any:
    """The task `plan`; `make` gives this runbook's plan from a reading and the findings of `check`."""

    @step("derives what will be done and what it costs; changes nothing")
    def plan(run: Run) -> None:
        """Make the plan and keep it; a run that has written anything keeps its present plan.

        It uses only the newest reading, judged by `check` and still fresh, because the application may have changed
        before an operator clears `plan` alone.
        """
        if run.record.wrote_at_ms:
            run.say(f"this run has already changed something: plan {run.plan().digest} stays")
            return
        reading = run.observed()
        made = with_gaps(run, make(run, reading, judged(run, reading)), "observe")
        kept = (*require_startable(run, made, reading), *require_state_kept(run, made))
        made = with_losses(run, replace(made, findings=(*made.findings, *kept)), reading)
        made = run.decide(
            with_set_back,
            plan=made,
            reading=reading,
            declared=run.declared,
            rules=upgrade_path_rules(),
            acts=run.deployer.abilities.act,
        )
        store(run, replace(made, findings=(*made.findings, *may_begin(run, made, reading))))

    return plan()


def judged(run: Run, reading: ApplicationReading) -> tuple[Finding, ...]:
    """The findings of `check` about one side's reading; Refused or Inconclusive unless it may be planned from."""
    verdict = _judged(run, reading)
    run.demand(verdict)
    return verdict.findings


def store(run: Run, made: Plan, taken_by: str = "observe") -> None:
    """Keep a plan, reserve what it changes, and log its content; Drifted if another plan was shown for approval.

    `taken_by` is the step whose reading it was made from; its gaps are those of `with_gaps`.
    """
    made = with_restored_first(run, with_kills(run, made, taken_by), taken_by)
    refuse_drift(run, made.digest)
    made = with_defects(run, with_late_losses(run, made, taken_by), taken_by)
    run.ledger.store_plan(run.key, made.digest, encode(made))
    for stage in made.stages:
        run.say(made.sentence_of(stage))
    for later in made.then:
        run.say(f"after this run, triggered again: {later}")
    for cost in (cost for part in made.parts for cost in part.costs):
        run.say(f"{cost.instance}: expected gap {cost.gap_s[0]}–{cost.gap_s[1]} s ({cost.why})")
    for line in undo_lines(made):
        run.say(line)
    run.say(f"plan {made.digest}")
    if not run.dry_run:
        take_hold(run, resources(run), changes=False)


def refuse_drift(run: Run, digest: str) -> None:
    """Drifted if another plan was shown for approval."""
    shown = run.ledger.recall(run.key, "digest_shown")
    if shown is not None and shown != digest:
        raise Drifted(
            f"the plan changed: {shown} was shown for approval, what runs now gives {digest}; "
            f"trigger a new run of {run.record.dag_id} for {run.record.application}"
        )


def planned_from(run: Run) -> ApplicationReading:
    """The reading behind the plan: the last one that `check` judged, before the first write."""
    reading, _ = _last_check(run)
    return reading


def _last_check(run: Run) -> tuple[ApplicationReading, Verdict]:
    """The newest reading that `check` judged, and its verdict."""
    checked = run.verdicts(ready_for_change.__name__)
    if not checked:
        raise Refused(_UNCHECKED)
    kept = checked[-1].payload
    return decode(ApplicationReading, kept["inputs"]["reading"]), decode(Verdict, kept["result"])


def _judged(run: Run, reading: ApplicationReading) -> Verdict:
    """The verdict of `check` on exactly this reading; Refused without one, or if the reading is too old for a plan."""
    checked, judged = _last_check(run)
    if checked != reading:
        raise Refused(_UNCHECKED)
    require_fresh(run, reading, "observe")
    return judged


def require_fresh(run: Run, reading: ApplicationReading, taken_by: str) -> None:
    """Refused if a reading is too old for a plan, Inconclusive if a clock hides its age."""
    age_ms, limit_s = now_ms() - reading.taken.at_ms, _SLOW_SCHEDULER * run.limit("max_reading_age_s")
    if why := of_the_future(reading.application, age_ms, taken_by):
        raise Inconclusive(why)
    if age_ms > limit_s * 1000:
        raise Refused(
            f"reading of {reading.application}: {age_ms / 1000:.0f} s old (limit {limit_s:.0f} s to plan from it); "
            f"clear `{taken_by}` and what follows it"
        )


def library_bump(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan to another Kafka Streams release: one or two rolling bounces, or all at once to an older one."""
    made = run.decide(
        bump_plan,
        reading=reading,
        declared=run.declared,
        target=str(run.record.params["target"]),
        rules=upgrade_path_rules(),
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
        restores=restored_from(run, reading),
    )
    return _downgraded(run, reading, made) if made.at_once else _with_what_it_changes(run, reading, made)


def _downgraded(run: Run, reading: ApplicationReading, made: Plan) -> Plan:
    """The plan of a downgrade with its findings; Refused or Inconclusive if the older release may not take over."""
    check_deployer(run, made)
    fitting = require_topics(run, reading, made.bounces, accepted=accepted_unread(run))
    made = replace(made, findings=(*made.findings, *fitting))
    before, after = before_a_roll(run, reading, made.bounces[-1].target)
    same = run.decide(
        may_take_over, before=before, after=after, application=run.declared, accepted=accepted_unread(run)
    )
    run.demand(same)
    made = with_undescribed(run, replace(made, findings=(*made.findings, *same.findings)))
    made = _judged_change(run, reading, made, before, after)
    choice = ALL if made.bounces[-1].clear_state else KEEP
    known = known_of(run, reading)
    return _with_state(
        run, reading, made, run.decide(cleared_state, choice=choice, before=before, after=after, known=known)
    )


def check_deployer(run: Run, made: Plan) -> None:
    """Refuse here, while all instances run, what a deployer would refuse once an instance is down."""
    for bounce in made.bounces:
        for name in filter(bounce.takes, made.facts.instances):
            run.deployer.check_apply(name, bounce.target)
            run.deployer.check_start(name, bounce.once)
            if bounce.clears is not None:
                run.deployer.check_clear_state(name, bounce.clears.names)


def rolling_bounce(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan to another release or other settings on the same library, one instance after another."""
    return _restart(run, reading, findings, at_once=False)


def stop_and_restart(
    run: Run, reading: ApplicationReading, findings: tuple[Finding, ...], *, flushed: bool = False
) -> Plan:
    """The same plan with every instance down at once, and with the local state that is deleted meanwhile.

    `flushed`: the run reads everything to its end before that.
    """
    stays = stopped_for_good(run, reading, required=False)
    made = _with_cleared_state(run, reading, _restart(run, reading, findings, at_once=True, flushed=flushed))
    return replace(made, findings=(*made.findings, *stays))


def at_once_plan(
    run: Run, reading: ApplicationReading, findings: tuple[Finding, ...], settings: dict[str, str | None] | None = None
) -> Plan:
    """The same plan without a comparison of topologies: for a runbook that has one of its own.

    `settings` are in place of those of the form.
    """
    made = _as_the_form(run, reading, findings, at_once=True, settings=settings)
    check_deployer(run, made)
    return made


def _restart(
    run: Run, reading: ApplicationReading, findings: tuple[Finding, ...], *, at_once: bool, flushed: bool = False
) -> Plan:
    made = _as_the_form(run, reading, findings, at_once=at_once)
    check_deployer(run, made)
    return _with_what_it_changes(run, reading, made, flushed=flushed)


def _as_the_form(
    run: Run,
    reading: ApplicationReading,
    findings: tuple[Finding, ...],
    *,
    at_once: bool,
    settings: dict[str, str | None] | None = None,
) -> Plan:
    """The plan to the release and the settings of the form, or to these settings."""
    return run.decide(
        restart_plan,
        reading=reading,
        declared=run.declared,
        release=run.record.params.get("release") or None,
        settings=_given(run.record.params.get("settings")) if settings is None else settings,
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
        at_once=at_once,
        restart=not at_once and bool(run.record.params.get("restart")),
    )


def _with_what_it_changes(run: Run, reading: ApplicationReading, made: Plan, *, flushed: bool = False) -> Plan:
    """The plan with the findings about its release's topology; Refused or Inconclusive if it may not be rolled.

    It may not if the cluster lacks a topic or has one that the release cannot work with, or if the topology changes
    more than a roll may. If every instance has that release already, only settings can change the topology: they do if
    a description with them shows it. The added findings explain the plan to the approver and are not part of its
    digest.
    """
    # A flush is inconclusive without both topologies: no person can accept that.
    fitting = require_topics(run, reading, made.bounces, accepted=None if flushed else accepted_unread(run))
    return judged_release(run, reading, replace(made, findings=(*made.findings, *fitting)), flushed=flushed)


def judged_release(run: Run, reading: ApplicationReading, made: Plan, *, flushed: bool = False) -> Plan:
    """The plan with the findings about what its release and its settings change; Refused or Inconclusive as above."""
    if not run.deployer.abilities.topology_settings:
        made = _unseen(run, made)
    if _stays(run, made):
        return _judged_settings(run, reading, with_undescribed(run, made), flushed=flushed)
    before, after = before_a_roll(run, reading, made.bounces[-1].target)
    if _has_release(made) and _is_the_same(before, after):
        return _judged_settings(run, reading, with_undescribed(run, made, same_text=True), flushed=flushed)
    made = _judged_change(run, reading, with_undescribed(run, made), before, after, flushed=flushed)
    return made if made.at_once else _with_state_of_undo(run, reading, made, before, after)


def _with_state_of_undo(
    run: Run, reading: ApplicationReading, made: Plan, before: tuple[Described, ...], after: Described | Missing
) -> Plan:
    cleared = run.decide(state_of_undo, before=before, after=after, known=known_of(run, reading))
    return _with_state(run, reading, made, cleared)


def _judged_settings(run: Run, reading: ApplicationReading, made: Plan, *, flushed: bool) -> Plan:
    """The plan with findings about the settings that it changes on the release that runs; the rules of a change refuse.

    Inconclusive if no version that runs is described: which of its stores a setting reaches is not known.
    """
    if not changed_settings(made):
        return made
    by, will = _one_release(made), made.bounces[-1].settings
    for version, instances in running_by_instance(run, reading):
        if isinstance(version, Missing):
            unread = (f"what {', '.join(sorted(changed_settings(made)))} changes is not known: {version.missing}",)
            verdict = run.decide(may_stay_unread, unread=unread, declared=run.declared, accepted=accepted_unread(run))
            run.demand(verdict)
            made = replace(made, findings=(*made.findings, *verdict.findings))
            continue
        # A version has the settings of its own instances, and not those of another one.
        for settings in sorted({one.settings for one in made.facts.at_start if one.instance in instances}):
            before, after = of_other_settings(version, settings, will)
            made = _judged_change(run, reading, made, (before,), after, flushed=flushed, same_program=by)
            made = made if made.at_once else _with_state_of_undo(run, reading, made, (before,), after)
    return made


def _unseen(run: Run, made: Plan) -> Plan:
    """The plan with the finding about settings that no description shows, if a person accepts it; else Inconclusive."""
    unseen = unseen_changes(made, release_settings())
    verdict = run.decide(may_stay_unread, unread=unseen, declared=run.declared, accepted=accepted_unread(run))
    if unseen:
        run.demand(verdict)
    return replace(made, findings=(*made.findings, *verdict.findings))


def _judged_change(
    run: Run,
    reading: ApplicationReading,
    made: Plan,
    before: tuple[Described, ...],
    after: Described | Missing,
    *,
    flushed: bool = False,
    same_program: str = "",
) -> Plan:
    """The plan with the findings about what its release changes; Refused or Inconclusive if it may not be brought.

    `same_program`: how it is known that only settings change.
    """
    known = known_of(run, reading)
    verdict = run.decide(
        may_be_rolled,
        before=with_kept_logs(run, before, known),
        after=after,
        known=known,
        rules=topology_change_rules(),
        versions=upgrade_path_rules(),
        # A library bump brings no other change, even with all instances down.
        at_once=made.at_once and made.runbook != "library_bump",
        catalogue=settings_between(before, after),
        flushed=flushed,
        same_build=_has_build(made),
        same_program=same_program or _same_program(made),
        accepted=accepted_unread(run),
    )
    new = tuple(one for one in verdict.findings if one not in made.findings)
    run.say_findings(new)
    run.demand(verdict)
    return replace(made, findings=(*made.findings, *new))


def _with_cleared_state(run: Run, reading: ApplicationReading, made: Plan) -> Plan:
    """The plan with the local state that the form's field chooses; refused here if a deployer cannot delete it."""
    choice = str(run.record.params.get("local_state") or STALE)
    before: tuple[Described, ...] = ()
    after: Described | Missing | None = None
    stays = _stays(run, made)
    if choice != KEEP and not (choice == STALE and stays):
        before, after = before_a_roll(run, reading, made.bounces[-1].target)
    cleared = run.decide(
        cleared_state,
        choice=choice,
        before=before,
        after=None if stays else after,
        known=known_of(run, reading),
    )
    made = _with_state(run, reading, made, cleared)
    check_deployer(run, made)
    return made


def _with_state(run: Run, reading: ApplicationReading, made: Plan, cleared: ClearedState) -> Plan:
    return run.decide(
        with_cleared_state,
        plan=made,
        cleared=cleared,
        changelog_bytes=bytes_of_topics(run, reading, cleared.deletes.changelogs),
        undo_bytes=bytes_of_topics(run, reading, cleared.undo_deletes.changelogs),
        undo_may_delete=run.deployer.abilities.clear_directories,
    )


def with_undescribed(run: Run, made: Plan, *, same_text: bool = False) -> Plan:
    """The plan with a finding about settings that may change the topology, if its descriptions do not show it."""
    described = run.deployer.abilities.topology_settings
    found = undescribed_settings(made, release_settings(), topology_settings=described, same_text=same_text)
    run.say_findings(found)
    return replace(made, findings=(*made.findings, *found))


def _has_release(made: Plan) -> bool:
    """Whether every instance has the planned release already, and one build of it as far as its deployer knows."""
    at_start = made.facts.at_start
    return {one.release for one in at_start} == {made.bounces[-1].release} and len({one.build for one in at_start}) == 1


def _has_build(made: Plan) -> bool:
    """Whether the deployer shows that every instance has the planned build already: a name alone may hide another."""
    return _has_release(made) and all(one.build for one in made.facts.at_start)


def _one_release(made: Plan) -> str:
    """How it is known that a plan which keeps the release brings the program that runs."""
    builds, release = {one.build for one in made.facts.at_start}, made.bounces[-1].release
    if _has_build(made):
        return f"by its deployer, which shows build {builds.pop()} on every instance"
    return f"by the name of release {release}, which every instance has; its deployer shows no build"


def _same_program(made: Plan) -> str:
    """How it is known that a plan brings the build that runs; empty if it is not, or if settings of its own change.

    Equal text alone proves nothing: the deployer has to show one build.
    """
    changed = may_change_the_topology(changed_settings(made), release_settings())
    return _one_release(made) if _has_build(made) and not set(changed) - {_OPTIMIZATION} else ""


def _stays(run: Run, made: Plan) -> bool:
    """Whether nothing is to be compared: the release stays, and no description would show what the settings change."""
    if not _has_release(made):
        return False
    described = run.deployer.abilities.topology_settings
    return not (described and may_change_the_topology(changed_settings(made), release_settings()))


def _is_the_same(before: tuple[Described, ...], after: Described | Missing) -> bool:
    """Whether the release with its settings has the topology that runs, and the same facts where both were read.

    A setting may change what objects of the program keep: their digests are compared too.
    """
    if isinstance(after, Missing):
        return False
    new = Side(parsed(after).topology, after.declaration)
    return all(
        (old := Side(parsed(one).topology, one.declaration)).topology == new.topology
        and not (one.read and after.read and any(differences(one.declaration, after.declaration)))
        and all(change.state != "other" for change in code_changes(Compared(old, new)))
        for one in before
    )


def _given(settings: Any) -> dict[str, str | None]:
    """Settings of the form as text; BadInput if they are not a flat object."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise BadInput(f"settings: {settings!r} is not an object; give one such as " + '{"num.stream.threads": 2}')
    given: dict[str, str | None] = {}
    for key, value in settings.items():
        if isinstance(value, bool):
            given[key] = str(value).lower()
        elif value is None or isinstance(value, str | int | float):
            given[key] = None if value is None else str(value)
        else:
            raise BadInput(f"settings: {key} is {value!r} (expected text, a number, true, false, or null to unset it)")
    return given
