"""The last step of every runbook: one outcome, from its writes and proofs."""

from dataclasses import replace
from typing import Any

from airflow.sdk import get_current_context, task

from kstreams_runbooks.decide.runbooks import closing_decisions
from kstreams_runbooks.decide.runs.chain import clock_steps
from kstreams_runbooks.decide.runs.conclusion import RunFacts, RunOutcome, conclusion
from kstreams_runbooks.decide.runs.message import ended, trigger_command
from kstreams_runbooks.errors import Drifted, Inconclusive, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.ledger import INSTANCE, Evidence
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.steps.approval.void import voided
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.plan.cards import instance_facts
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed, leave, reported
from kstreams_runbooks.steps.run.notify import emergencies, notify
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import pasted

_NOBODY_CAN_SAY = {Inconclusive.exit_code, Unreachable.exit_code}


@task(task_id="conclude", trigger_rule="all_done", retries=0)
def conclude() -> None:
    """Write how the run ended, release its holds, and fail the run unless it completed."""
    context = get_current_context()
    with reported(context, "judges how the run ended") as run:
        facts = facts_of(run)
        if facts.touched and not conclusion(facts).outcome.succeeded:
            facts = replace(facts, reading=_last_look(run))
        outcome = run.decide(conclusion, facts=facts)
        run.ledger.conclude(run.key, str(outcome.outcome), outcome.sentence, now_ms())
        run.ledger.release_holds(run.key)
        head = _report_chain(run)
        run.say(f"{outcome.outcome.upper()}: {outcome.sentence}")
        code, back = exit_code(outcome.outcome), way_back(run)
        leave(
            context,
            "return_value",
            {"outcome": str(outcome.outcome), "sentence": outcome.sentence, "exit_code": code, "head": head},
        )
        for line in () if outcome.outcome.succeeded else back:
            run.say(line)
        # fleet_check has already notified of a drift that it found itself.
        told = {
            "drifted": has_drifted(run) and voided(run) is None,
            "way_back": back,
            "emergencies": tuple(emergencies(run)),
            "head": head,
        }
        notify(run, ended, conclusion=outcome, **told)
        if not outcome.outcome.succeeded:
            # Already reported, and not a refusal: the task only has to end as the run does.
            raise StepFailed(code)
        _onward(run, outcome.outcome)


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
        + pasted(["kstreams-runbooks", "evidence", run.record.name, "--verify", "--head", head])
    )
    return head


def _onward(run: Run, outcome: RunOutcome) -> None:
    """Log the next step: the same for real after a dry run, the next leg after one of several."""
    if outcome is RunOutcome.DRY_RUN:
        run.say(f"the evidence: {pasted(['kstreams-runbooks', 'evidence', run.record.name])}")
        run.say(f"to do it: {trigger_command(run.record)}")
        return
    # A plan that starts a runbook has no next leg.
    then = (run.ledger.plan(run.key) or {}).get("then", ())
    for later in then:
        run.say(f"still to come: {later}")
    if then:
        run.say(f"next: {trigger_command(run.record)}")


def facts_of(run: Run) -> RunFacts:
    """The ledger's facts about the run; a verdict of `verify` counts only if no later step began or wrote."""
    kept = run.ledger.evidence(run.key)
    cards = run.ledger.cards(run.key)
    # The card comes before the write: a task that was killed in between counts as having written.
    last_write = max((card.entry for card in cards), default=0)
    verdicts = [
        piece
        for piece in kept
        if piece.kind == "verdict" and piece.name != conclusion.__name__ and "outcome" in _result(piece.payload)
    ]
    begun = [piece for piece in kept if piece.name == BEGUN and piece.task_id != run.task_id]
    # The last step that began decides how the run ended, not what an earlier step proved or failed at.
    since = begun[-1].id if begun else 0
    proofs = closing_decisions()
    verified = [piece for piece in verdicts if piece.name in proofs and piece.id > max(since, last_write)]
    failures = _failures(run, kept)
    return RunFacts(
        dry_run=run.dry_run,
        wrote=tuple(dict.fromkeys(card.what for card in cards)),
        verified=decode(Verdict, verified[-1].payload["result"]) if verified else None,
        last=decode(Verdict, verdicts[-1].payload["result"]) if verdicts else None,
        failures=tuple(piece.payload["sentence"] for piece in failures),
        inconclusive=bool(failures) and failures[-1].payload["exit_code"] in _NOBODY_CAN_SAY,
        reached=begun[-1].task_id if begun else "",
        touched=tuple(dict.fromkeys(card.object for card in cards if card.kind == INSTANCE)),
        saw=next((piece.payload["sentence"] for piece in reversed(kept) if piece.name == SAW and piece.id > since), ""),
    )


def exit_code(outcome: RunOutcome) -> int:
    """The exit code of a command that waited for the run (errors.py)."""
    if outcome.succeeded:
        return 0
    return Inconclusive.exit_code if outcome is RunOutcome.INCONCLUSIVE else 1


def has_drifted(run: Run) -> bool:
    """Whether the run ended because the cluster or the application no longer matches the plan."""
    failures = _failures(run, run.ledger.evidence(run.key))
    return bool(failures) and failures[-1].name == Drifted.__name__


def _failures(run: Run, kept: list[Evidence]) -> list[Evidence]:
    """The failures of the last step that began; a step that failed and ran again is not why a run ends."""
    since = max((piece.id for piece in kept if piece.name == BEGUN and piece.task_id != run.task_id), default=0)
    return [piece for piece in kept if piece.kind == "failure" and piece.task_id != run.task_id and piece.id > since]


def _last_look(run: Run) -> ApplicationReading | Missing:
    """The state of the application now; a failed reading must not cost the run its outcome and its way back."""
    try:
        return run.read()
    except Exception as error:  # noqa: BLE001 - after any error the outcome is written
        return Missing(str(error))


def way_back(run: Run) -> list[str]:
    """The undo cards from last to first, with the commands that an operator can run."""
    lines: list[str] = []
    unguarded = False
    for card in reversed(run.ledger.cards(run.key)):
        if card.kind == INSTANCE:
            if unguarded and not card.misreads:
                lines.append(
                    "before the next: read the repartition topics to their end, an older release misreads them"
                )
            unguarded = card.misreads
        past = card.misreads or card.point_of_no_return
        lines.append(f"undo {card.seq}: {card.undo} ({card.cost})" + (" — PAST THE POINT OF NO RETURN" if past else ""))
        if card.kind == INSTANCE:
            lines += [f"    {command}" for command in instance_facts(card).by_hand]
    return lines


def _result(payload: Any) -> dict[str, Any]:
    result = payload.get("result") if isinstance(payload, dict) else None
    return result if isinstance(result, dict) else {}
