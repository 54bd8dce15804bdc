"""The last step of every runbook: one outcome, from its writes and proofs."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from airflow.sdk import get_current_context, task

from kstreams_runbooks.decide.runbooks import closing_decisions
from kstreams_runbooks.decide.runs.chain import clock_steps
from kstreams_runbooks.decide.runs.commands import evidence_command
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunFacts, RunOutcome, conclusion
from kstreams_runbooks.decide.runs.message import ended
from kstreams_runbooks.decide.runs.next_action import NEXT, NextAction
from kstreams_runbooks.errors import Drifted, Inconclusive, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.journal import Entry
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card, Evidence
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present.change.kept import kept_lines
from kstreams_runbooks.present.plan_lines import plan_lines
from kstreams_runbooks.steps.approval.void import voided
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.plan.cards import cards_that_count
from kstreams_runbooks.steps.plan.killed import CLEARED
from kstreams_runbooks.steps.plan.next_action import next_of_run
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed, leave, reported
from kstreams_runbooks.steps.run.never_began import NeverBegan, never_began
from kstreams_runbooks.steps.run.note import note_end
from kstreams_runbooks.steps.run.notify import emergencies, notify_all
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.evidence import plan_of

_NOBODY_CAN_SAY = {Inconclusive.exit_code, Unreachable.exit_code}


@task(task_id="conclude", trigger_rule="all_done", retries=0)
def conclude() -> None:
    """Write how the run ended, release its holds, and fail the run unless it completed."""
    context = get_current_context()
    with reported(context, "judges how the run ended") as run:
        outcome, action = close(run, missed=partial(never_began, context))
        level = log_level(outcome.outcome)
        run.log_at(level, f"{outcome.outcome.upper()}: {outcome.sentence}")
        # Before the head of the journal is read: a note is an entry.
        note_end(run, outcome, action)
        head = _report_chain(run)
        code = exit_code(outcome.outcome)
        left = {"outcome": str(outcome.outcome), "sentence": outcome.sentence, "exit_code": code, "head": head}
        left |= {"next": list(action.lines), "manually": list(action.manually)}
        left |= {"changed": bool(cards_that_count(run))}
        leave(context, "return_value", left | ({"plan": shown_plan(run)} if run.dry_run else {}))
        if outcome.outcome is RunOutcome.DRY_RUN:
            run.say(f"the evidence: {evidence_command(run.record)}")
        for line in (*action.lines, *action.manually):
            run.log_at(level, line)
        tell(run, outcome, action, head)
        if not outcome.outcome.succeeded:
            # Already reported, and not a refusal: the task only has to end as the run does.
            raise StepFailed(code)


def close(
    run: Run, ended_by: str = "", missed: Callable[..., NeverBegan | None] | None = None
) -> tuple[Conclusion, NextAction]:
    """Write how a run ended and the next action, and release its holds.

    `ended_by` is how Airflow ended it before its own `conclude`; `missed` asks Airflow for a step that never began.
    """
    facts, failure = replace(facts_of(run), ended_by=ended_by), _last_failure(run)
    reached, late = facts.reached, None
    if missed and not conclusion(facts).outcome.succeeded:
        late = missed(reached, answered=failure is not None)
    if late:
        reached, failure = late.task_id, None
        facts = replace(facts, never_began=late.sentence, inconclusive=late.exit_code in _NOBODY_CAN_SAY)
    if facts.touched and not conclusion(facts).outcome.succeeded:
        first, *others = [_last_look(side) for side in _touched_sides(run)]
        facts = replace(facts, reading=first, others=tuple(others))
    outcome = run.decide(conclusion, facts=facts)
    action = next_of_run(run, outcome.outcome, reached, failure, is_void=has_drifted(run))
    run.keep("note", NEXT, action)
    run.ledger.conclude(run.key, str(outcome.outcome), outcome.sentence, now_ms())
    run.ledger.release_holds(run.key)
    return outcome, action


def tell(run: Run, outcome: Conclusion, action: NextAction, head: str) -> None:
    """Notify of the end of a run."""
    # fleet_check has already notified of a drift that it found itself.
    drifted = has_drifted(run) and voided(run) is None
    told = {"action": action, "emergencies": tuple(emergencies(run)), "head": head}
    notify_all(run, ended, conclusion=outcome, drifted=drifted, **told)


def shown_plan(run: Run) -> list[str]:
    """The plan of a run as lines; empty without one, and if it does not have the format of this release."""
    if plan := plan_of(run.ledger, run.record):
        return plan_lines(plan)
    return kept_lines(run.ledger.plan(run.key), run.ledger.plan_digest(run.key))


def _report_chain(run: Run) -> str:
    """Log where clocks went back in this run, and the head of its journal, to keep a copy of it in this log."""
    entries = run.ledger.timeline(run.key)
    if steps := clock_steps(entries):
        worst = max(steps, key=lambda step: step.back_ms)
        run.say(
            f"clocks: {len(steps)} of this run's entries have an earlier time than the entry before them, by up to "
            f"{worst.back_ms / 1000:,.3f} s (entry {worst.place}, {worst.task_id or worst.kind}). The order is that of "
            "the journal; set the workers' clocks right"
        )
    head = entries[-1].hash
    run.say(
        f"evidence: {len(entries)} entries, head {head}; to prove later that none was changed: "
        f"{evidence_command(run.record)} --verify --head {head}"
    )
    return head


def facts_of(run: Run) -> RunFacts:
    """The ledger's facts about the run; a verdict of `verify` counts only if no later step began or wrote.

    Reads contents of the few entries that it needs: a long run has megabytes of readings.
    """
    entries = run.ledger.timeline(run.key)
    cards = run.ledger.cards(run.key)
    # The card comes before the write: a task that was killed in between counts as having written.
    last_write = max((card.entry for card in cards), default=0)
    # The last step that began decides how the run ended, not what an earlier step proved or failed at.
    begun = _last_begun(run, entries)
    since = begun.seq if begun else 0
    verdicts = [entry for entry in entries if entry.kind == "verdict" and entry.name != conclusion.__name__]
    proofs = closing_decisions()
    closing = [entry for entry in verdicts if entry.name in proofs and entry.seq > max(since, last_write)]
    failures = _failures(run, entries)
    saw = [entry for entry in entries if _is_note(entry, SAW) and entry.seq > since]
    # None without a plan of this release.
    lost = plan_of(run.ledger, run.record)
    return RunFacts(
        dry_run=run.dry_run,
        wrote=tuple(dict.fromkeys(_wrote(card) for card in cards_that_count(run))),
        verified=_proof(run, closing),
        last=_newest_verdict(run, verdicts),
        failures=tuple(piece.payload["sentence"] for piece in failures),
        inconclusive=bool(failures) and failures[-1].payload["exit_code"] in _NOBODY_CAN_SAY,
        reached=begun.task_id if begun else "",
        touched=tuple(dict.fromkeys(card.object for card in cards if card.kind == INSTANCE)),
        saw=run.ledger.piece(run.key, saw[-1].seq).payload["sentence"] if saw else "",
        emptied=tuple(one for one in lost.emptied if one not in lost.in_part) if lost else (),
        in_part=lost.in_part if lost else (),
        cleared=_cleared(run),
    )


def _wrote(card: Card) -> str:
    """What a card announced; a card of its own run is finished if the run has set its instance back."""
    return f"{card.what} (set back)" if card.done and card.kind == INSTANCE else card.what


def _cleared(run: Run) -> tuple[str, ...]:
    """The local state that was deleted because a process was killed, or may have been."""
    kept = (one.payload for one in run.ledger.evidence(run.key, kind="write", name=CLEARED))
    return tuple(dict.fromkeys(f"{one['what']} of {one['instance']} ({one['why']})" for one in kept))


def _proof(run: Run, closing: Sequence[Entry]) -> Verdict | None:
    """The newest proofs of all sides as one verdict; None while one side has none."""
    newest: dict[str, Verdict] = {}
    for entry in closing:
        payload = run.ledger.piece(run.key, entry.seq).payload
        if "outcome" in (result := _result(payload)):
            newest[payload.get("application", run.record.application)] = decode(Verdict, result)
    wanted = {run.record.application} if run.dry_run else {side.record.application for side in run.known_sides}
    if not wanted <= newest.keys():
        return None
    if refused := [one for one in newest.values() if one.outcome is not Outcome.PROCEED]:
        return refused[-1]
    return Verdict(Outcome.PROCEED, tuple(dict.fromkeys(reason for one in newest.values() for reason in one.reasons)))


def _newest_verdict(run: Run, entries: Sequence[Entry]) -> Verdict | None:
    """The newest of these decisions that has an outcome: a plan has none."""
    for entry in reversed(entries):
        result = _result(run.ledger.piece(run.key, entry.seq).payload)
        if "outcome" in result:
            verdict: Verdict = decode(Verdict, result)
            return verdict
    return None


def exit_code(outcome: RunOutcome) -> int:
    """The exit code of a command that waited for the run (errors.py)."""
    if outcome.succeeded:
        return 0
    return Inconclusive.exit_code if outcome is RunOutcome.INCONCLUSIVE else 1


def log_level(outcome: RunOutcome) -> int:
    """How loud an outcome and its next action are: an application that was left changed is an error."""
    if outcome.succeeded:
        return logging.INFO
    return logging.ERROR if outcome is RunOutcome.STOPPED else logging.WARNING


def has_drifted(run: Run) -> bool:
    """Whether the run ended because the cluster or the application no longer matches the plan."""
    failure = _last_failure(run)
    return failure is not None and failure.name == Drifted.__name__


def _is_note(entry: Entry, name: str) -> bool:
    return (entry.kind, entry.name) == ("note", name)


def _last_begun(run: Run, entries: Sequence[Entry]) -> Entry | None:
    """The entry of the last step that began, apart from this one."""
    return next((one for one in reversed(entries) if _is_note(one, BEGUN) and one.task_id != run.task_id), None)


def _failures(run: Run, entries: Sequence[Entry]) -> list[Evidence]:
    """The failures of the last step that began; a step that failed and ran again is not why a run ends."""
    begun = _last_begun(run, entries)
    since = begun.seq if begun else 0
    own = [one for one in entries if one.kind == "failure" and one.task_id != run.task_id and one.seq > since]
    return [run.ledger.piece(run.key, one.seq) for one in own]


def _last_failure(run: Run) -> Evidence | None:
    failures = _failures(run, run.ledger.timeline(run.key))
    return failures[-1] if failures else None


def _touched_sides(run: Run) -> list[Run]:
    """The run for each application whose instances it has touched."""
    names = dict.fromkeys(card.application for card in run.ledger.cards(run.key) if card.kind == INSTANCE)
    return [run.on(name) for name in names]


def _last_look(run: Run) -> ApplicationReading | Missing:
    """The state of the application now; a failed reading must not cost the run its outcome and its way back."""
    try:
        return replace(run, patient=False).read()
    except Exception as error:  # noqa: BLE001 - after any error the outcome is written
        return Missing(str(error))


def _result(payload: Any) -> dict[str, Any]:
    result = payload.get("result") if isinstance(payload, dict) else None
    return result if isinstance(result, dict) else {}
