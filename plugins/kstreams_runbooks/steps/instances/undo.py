"""Undoes a run of any runbook: from its undo cards, last to first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.instances.left_down import left_down
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.decide.instances.verification import undo_verified
from kstreams_runbooks.decide.plans.local_state import STALE
from kstreams_runbooks.decide.plans.undo import deployed_as, undo_plan
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.runs.cards import KINDS
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, OtherStage, Stage, StartAll, StopAll
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.approval.authorize import authorize, take_hold
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.approval.holds import resources
from kstreams_runbooks.steps.instances.read_to_end import read_to_end
from kstreams_runbooks.steps.instances.restart import await_gates
from kstreams_runbooks.steps.instances.rolling import RollingOperator, next_of, rehearse
from kstreams_runbooks.steps.instances.together import rehearse_at_once, start_all, started_by, stop_all
from kstreams_runbooks.steps.instances.undone import (
    accepted_before,
    check_builds,
    fresh_of,
    kept_descriptions,
    moved_roles,
    other_applications,
    topics_of_cards,
    undone_of,
    undone_record,
    undone_sides,
    with_group,
)
from kstreams_runbooks.steps.plan.before import may_begin, stopped_for_good, stops
from kstreams_runbooks.steps.plan.cards import bytes_to_restore, kept_restoring, own_changes
from kstreams_runbooks.steps.plan.expected_gaps import with_gaps
from kstreams_runbooks.steps.plan.fitting import require_topics, wanted_versions
from kstreams_runbooks.steps.plan.flushed import plan_of
from kstreams_runbooks.steps.plan.looking import left_unread, look, rehearsed, watch
from kstreams_runbooks.steps.plan.only_copy import with_losses
from kstreams_runbooks.steps.plan.orphans import keep_orphans
from kstreams_runbooks.steps.plan.plan import check_deployer, require_fresh, store, with_undescribed
from kstreams_runbooks.steps.plan.recreated import require_state_kept
from kstreams_runbooks.steps.plan.restarts import say_restarts
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.person import AskingTask
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step
from kstreams_runbooks.steps.stages.cleaned_up import require_newer_than_topics
from kstreams_runbooks.steps.stages.moved import MovedGroup, moved_group, prove_moved, require_kept_seeds
from kstreams_runbooks.steps.stages.order import is_complete, keep_complete
from kstreams_runbooks.steps.stages.perform import guard_stage, perform
from kstreams_runbooks.steps.stages.read_since import keep_read_since
from kstreams_runbooks.steps.stages.seam import inputs_at_seam

_MENDS = "clear undo, which starts it first"


@step("reads the undo cards of the run, and the application as it is now; changes nothing")
def read_cards(run: Run) -> None:
    """Show the cards backwards, record the present state of every application of the run, and reserve them."""
    record = undone_record(run)
    run.say(f"run {record.run_key} asked by {record.requested_by}: {record.outcome or 'not concluded'}")
    for card in reversed(run.ledger.cards(record.run_key)):
        run.say(f"card {card.seq}: {card.what}; undo: {card.undo} ({card.cost}){'; done' if card.done else ''}")
    sides = [run, *(run.on(name) for name in other_applications(run))]
    for side in sides:
        look(side, topics_of_cards(side))
    if not run.dry_run:
        take_hold(run, sorted({one for side in sides for one in resources(side)}), changes=False)


def plan_undo() -> Any:
    """The task `plan` of an undo."""

    @step("derives the way back; changes nothing")
    def plan(run: Run) -> None:
        """Make the plan from the cards that still apply; a run that has written anything keeps the plan it has."""
        if run.record.wrote_at_ms:
            run.say(f"this run has already changed something: plan {run.plan().digest} stays")
            return
        reading = with_group(run, run.observed("read_cards"))
        require_fresh(run, reading, "read_cards")
        require_newer_than_topics(run, undone_record(run).run_key)
        made = run.decide(
            undo_plan,
            reading=reading,
            declared=run.declared,
            undone=undone_of(run),
            rules=upgrade_path_rules(),
            changelog_bytes=bytes_to_restore(run, reading, undone_record(run).run_key),
            limits=run.declared.limits,
            code=code_digest(run.record.dag_id),
            local_state=str(run.record.params.get("local_state") or STALE),
            sides=undone_sides(run),
            restores=kept_restoring(run, undone_record(run).run_key) or (),
            leave_unknown=bool(run.record.params.get("leave_unknown")),
            without_flush=bool(run.record.params.get("without_flush")),
        )
        made = with_losses(run, with_gaps(run, made, "read_cards"), reading, "read_cards", _brought)
        findings = (*require_state_kept(run, made), *may_begin(run, made, reading))
        for part in made.parts:
            findings += _may_go_back(run.on(part.application), made.of_application(part.application))
        store(run, with_undescribed(run, replace(made, findings=(*made.findings, *findings))), "read_cards")

    return plan()


def _brought(run: Run, reading: ApplicationReading, made: Plan) -> tuple[Described | Missing, ...]:
    """The versions that an undo brings, as the run to undo has kept them."""
    return wanted_versions(run, reading, made.bounces, kept_descriptions(run))


def _may_go_back(run: Run, made: Plan) -> tuple[Finding, ...]:
    """What a deployer or the cluster would refuse later is refused before anything is changed; findings of one side."""
    check_deployer(run, made)
    check_builds(run, made)
    if not made.bounces:
        return ()
    reading = run.observed("read_cards")
    findings = require_topics(run, reading, made.bounces, accepted=accepted_before(run), kept=kept_descriptions(run))
    return findings + (stopped_for_good(run, reading, required=False) if made.at_once and not stops(made) else ())


def undo() -> "UndoOperator":
    """The task `undo`: every stage of the plan, then the proof that the application works."""
    return UndoOperator(task_id="undo", approval="approve_undo", retries=0)


class UndoOperator(RollingOperator, AskingTask):
    """Undoes the run on every instance, stage after stage, one instance after another or all at once as the run did.

    An instance that is down or unwell comes first: a start never harms it. Safe to run again in any state.
    """

    def execute(self, context: Mapping[str, Any]) -> None:
        """Continue from what is observed."""
        with reported(context, "takes the run back") as run:
            if run.dry_run:
                _rehearse(run)
            else:
                self.go(run)

    def go(self, run: Run) -> None:
        """The first stage that is not complete, with its next instance; after the last one the proof."""
        plan = run.whole_plan()
        if not plan.stages:
            # No stage demands the approval: closing the cards needs it too.
            authorize(run, self.approval, ())
        record = undone_record(run)
        undone = plan_of(run, record)
        fresh, moved = fresh_of(undone), _moved(run, record, undone)
        cards = {card.seq: card for card in run.ledger.cards(record.run_key)}
        for role, group in moved.items():
            require_kept_seeds(run.side(role), group)
        for stage in plan.stages:
            self._take(run.on(plan.application_of(stage)), plan, stage, cards)
        for part, side in zip(plan.parts, run.sides, strict=True):
            stays = side.plan().stays_down_as
            if stays is None and part.role in fresh and not side.plan().bounces:
                # The run had not begun with its instances, which were down, and all set to the same.
                stays = part.facts.at_start[0].target
            if part.role in moved:
                # Its entry still names the old outputs, which it reads no more: their lag proves nothing.
                prove_moved(side, moved[part.role])
            elif stays:
                side.demand(side.decide(left_down, reading=side.read(describes=False), target=stays))
            else:
                _proven(side)
        if moved:
            # The way back asks for it: the old side goes on from the seam of the run that is taken back.
            keep_read_since(run, inputs_at_seam(run, record.run_key))
        _close(run, record)

    def _take(self, run: Run, plan: Plan, stage: Stage, cards: Mapping[int, Card]) -> None:
        if isinstance(stage, Bounce):
            (self._together if plan.at_once else self._stage)(run, stage)
        elif isinstance(stage, StopAll):
            self._stop(run, plan.start_after(stage).bounce)
            if stage.stays:
                _set_down(run, stage.stays)
        elif isinstance(stage, StartAll):
            self._start(run, stage)
        else:
            self._other(run, stage, cards)

    def _other(self, run: Run, stage: OtherStage, cards: Mapping[int, Card]) -> None:
        """A stage that changes no instance; the cards that it takes back are finished with it."""
        if is_complete(run, stage) or (stage.undoes and all(cards[seq].done for seq in stage.undoes)):
            return
        authorize(run.first, self.approval, (), going_on=bool(run.ledger.cards(run.key)))
        guard_stage(run, stage)
        perform(run, stage, cards)
        for seq in stage.undoes:
            run.ledger.finish_card(cards[seq].run_key, seq)
        keep_complete(run, stage)

    def _stop(self, run: Run, bounce: Bounce) -> None:
        reading = run.read()
        if all(started_by(run, one, bounce, reading.taken.at_ms) for one in reading.instances):
            return
        stopped = any(has_ended(one) for one in reading.instances) and bool(run.ledger.cards(run.key))
        authorize(run.first, self.approval, (), going_on=stopped)
        check_builds(run, run.plan())
        stop_all(run, bounce)

    def _start(self, run: Run, stage: StartAll) -> None:
        reading = run.read()
        if not all(started_by(run, one, stage.bounce, reading.taken.at_ms) for one in reading.instances):
            authorize(run.first, self.approval, (), going_on=True)
            require_newer_than_topics(run, undone_record(run.first).run_key)
            start_all(run, stage.bounce)
        await_gates(self, run, stage.bounce, last=False)

    def _together(self, run: Run, bounce: Bounce) -> None:
        reading = run.read()
        started = [started_by(run, one, bounce, reading.taken.at_ms) for one in reading.instances]
        stopped = any(started) or any(has_ended(one) for one in reading.instances)
        authorize(run, self.approval, (), going_on=stopped and bool(run.ledger.cards(run.key)))
        if not all(started):
            check_builds(run, run.plan())
            stop_all(run, bounce)
            start_all(run, bounce)
        await_gates(self, run, bounce, last=False)

    def _stage(self, run: Run, bounce: Bounce) -> None:
        reading = run.read()
        later = [one for one in run.plan().bounces if one.number > bounce.number]
        names = tuple(
            one.instance
            for one in sorted(reading.instances, key=_is_well)
            if bounce.takes(one.instance) and not any(deployed_as(one, further) for further in later)
        )
        if name := next_of(run, bounce, reading, names):
            check_builds(run, run.plan())
            if bounce.after_drain:
                read_to_end(run, bounce.number, reading, _MENDS, past=lambda one: deployed_as(one, bounce))
            self.take(run, bounce, run.read() if bounce.after_drain else reading, name)
        if names:
            run.say(f"{bounce.deployed}: {', '.join(names)} in place")


def _close(run: Run, record: RunRecord) -> None:
    """Every card of the run is finished."""
    for card in reversed(run.ledger.cards(record.run_key)):
        if not card.done and card.kind in KINDS:
            run.ledger.finish_card(record.run_key, card.seq)
    run.say(f"run {record.run_key} is taken back")


def _moved(run: Run, record: RunRecord, undone: Plan | None) -> dict[str, MovedGroup]:
    """The groups that the run to undo has moved, by role: they stay."""
    if undone is None:
        return {}
    return {role: moved_group(record.run_key, undone, role) for role in moved_roles(run, record, undone)}


def _set_down(run: Run, target: Target) -> None:
    """Every instance of a side, which is down, set to what it was before; none is started."""
    for name in run.plan().facts.instances:
        run.deployer.apply(name, target)
    run.say(f"every instance is down, as before the run, and set to {target.text}")


def _proven(run: Run) -> None:
    """The application of one side works as the plan leaves it, and what is left unread is named."""
    of = {"plan": run.plan(), "own": own_changes(run)}
    after = watch(run, lambda earlier, after: run.decide(undo_verified, earlier=earlier, after=after, **of))
    say_restarts(run)
    before = run.observed("read_cards")
    if not run.application.as_deployed:
        keep_orphans(run, before, after)
    left = left_unread(run, before)
    if left.outcome is Outcome.REFUSE:
        run.say(f"{left.sentence}; they come from what is taken back, and are lost with it")
    elif left.outcome is not Outcome.PROCEED:
        group = run.application.application_id
        run.say(
            f"not known whether records are left in topics that are no longer read: {left.sentence}; look at the "
            f"lag of group {group}"
        )


def _rehearse(run: Run) -> None:
    plan = run.whole_plan()
    cards = {card.seq: card for card in run.ledger.cards(undone_record(run).run_key)}
    for stage in plan.stages:
        side = run.on(plan.application_of(stage))
        if isinstance(stage, StopAll):
            side.say(f"would {stage.sentence}")
        elif not isinstance(stage, Bounce | StartAll):
            perform(side, stage, cards)
        elif plan.at_once:
            rehearse_at_once(side, stage if isinstance(stage, Bounce) else stage.bounce)
        elif isinstance(stage, Bounce):
            rehearse(side, stage, tuple(name for name in side.plan().facts.instances if stage.takes(name)))
    rehearsed(run)


def _is_well(instance: InstanceReading) -> bool:
    streams = instance.streams
    return isinstance(streams, StreamsReading) and streams.state == "RUNNING"
