"""The last step of every runbook: one outcome, from what was written and proven."""

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
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.steps.approval.void import voided
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.plan.cards import undo_facts
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed, leave, reported
from kstreams_runbooks.steps.run.notify import emergencies, notify
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import pasted

_NOBODY_CAN_SAY = {Inconclusive.exit_code, Unreachable.exit_code}


@task(task_id="conclude", trigger_rule="all_done", retries=0)
def conclude() -> None:
    """Write how the run ended, give its holds back, and fail the run unless it completed."""
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
        # What fleet_check has found and told of is not told twice.
        told = {
            "drifted": has_drifted(run) and voided(run) is None,
            "way_back": back,
            "emergencies": tuple(emergencies(run)),
            "head": head,
        }
        notify(run, ended, conclusion=outcome, **told)
        if not outcome.outcome.succeeded:
            # Said already, and not refused: the task only has to end as the run does.
            raise StepFailed(code)
        _onward(run, outcome.outcome)


def _report_chain(run: Run) -> str:
    """Say where clocks went back in this run, and the head of its journal, so that it is kept in this log as well."""
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
    """What comes next: the same for real after a dry run, the next leg after one of several."""
    if outcome is RunOutcome.DRY_RUN:
        run.say(f"the evidence: {pasted(['kstreams-runbooks', 'evidence', run.record.name])}")
        run.say(f"to do it: {trigger_command(run.record)}")
        return
    # A plan of another kind, which starts a runbook, has nothing to come.
    then = (run.ledger.plan(run.key) or {}).get("then", ())
    for later in then:
        run.say(f"still to come: {later}")
    if then:
        run.say(f"next: {trigger_command(run.record)}")


def facts_of(run: Run) -> RunFacts:
    """What the ledger says of the run; a verdict of `verify` counts only if nothing began or was written after it."""
    kept = run.ledger.evidence(run.key)
    cards = run.ledger.cards(run.key)
    # The card is written before the write: a task that was killed in between has written all the same.
    last_write = max((card.entry for card in cards), default=0)
    verdicts = [
        piece
        for piece in kept
        if piece.kind == "verdict" and piece.name != conclusion.__name__ and "outcome" in _result(piece.payload)
    ]
    begun = [piece for piece in kept if piece.name == BEGUN and piece.task_id != run.task_id]
    # How the run ended is what the last step that began said: what an earlier one proved, or failed at, is not it.
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
        touched=tuple(dict.fromkeys(card.object for card in cards)),
        saw=next((piece.payload["sentence"] for piece in reversed(kept) if piece.name == SAW and piece.id > since), ""),
    )


def exit_code(outcome: RunOutcome) -> int:
    """What a command that waited for the run answers (errors.py)."""
    if outcome.succeeded:
        return 0
    return Inconclusive.exit_code if outcome is RunOutcome.INCONCLUSIVE else 1


def has_drifted(run: Run) -> bool:
    """Whether the run ended because the world is no longer the one that was planned for."""
    failures = _failures(run, run.ledger.evidence(run.key))
    return bool(failures) and failures[-1].name == Drifted.__name__


def _failures(run: Run, kept: list[Evidence]) -> list[Evidence]:
    """What the last step that began failed at; a step that failed and ran again is not why a run ends."""
    since = max((piece.id for piece in kept if piece.name == BEGUN and piece.task_id != run.task_id), default=0)
    return [piece for piece in kept if piece.kind == "failure" and piece.task_id != run.task_id and piece.id > since]


def _last_look(run: Run) -> ApplicationReading | Missing:
    """How the application is now; that nobody can say must not cost the run its outcome and its way back."""
    try:
        return run.read()
    except Exception as error:  # noqa: BLE001 - whatever it is, the outcome is written
        return Missing(str(error))


def way_back(run: Run) -> list[str]:
    """The undo cards from last to first, with the commands that a person can run."""
    lines: list[str] = []
    unguarded = False
    for card in reversed(run.ledger.cards(run.key)):
        if unguarded and not card.point_of_no_return:
            lines.append("before the next: read the repartition topics to their end, an older release misreads them")
        unguarded = card.point_of_no_return
        lines.append(
            f"undo {card.seq}: {card.undo} ({card.cost})"
            + (" — PAST THE POINT OF NO RETURN" if card.point_of_no_return else "")
        )
        lines += [f"    {command}" for command in undo_facts(card).by_hand]
    return lines


def _result(payload: Any) -> dict[str, Any]:
    result = payload.get("result") if isinstance(payload, dict) else None
    return result if isinstance(result, dict) else {}
