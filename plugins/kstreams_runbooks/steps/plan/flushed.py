"""What a flush has begun to start, and the command that takes it back."""

from collections.abc import Sequence

from kstreams_runbooks.decide.plans.adopt import COPIER, way_back_command
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.flush import FLUSH
from kstreams_runbooks.decide.plans.flush_back import flush_back_command
from kstreams_runbooks.decide.plans.green import cancel_command, start_command
from kstreams_runbooks.decide.runbooks import ADOPT, GREEN
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card, RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.run.run import Run

# From here on an instance may run what it is started with.
START_BEGUN = "start begun"
# The fields that a flush back needs as well.
_SWITCH = ("switch", "copier", "longest_hold_min")


def begun_flush(run: Run, record: RunRecord, plan: Plan | None) -> tuple[tuple[str, str], ...]:
    """The fields of the form of a flush that has begun to start what it changed the application to; else none."""
    if plan is None or plan.runbook == CUTOVER or plan.switching is None or not _has_begun(run, record, plan):
        return ()
    return tuple((name, str(value)) for name in _SWITCH if (value := record.params.get(name)) is not None)


def begun_adoption(run: Run, record: RunRecord, plan: Plan | None) -> str:
    """The command that takes back a run that has begun to start its application on other topics; else empty."""
    if plan is None or plan.runbook != ADOPT or not _has_begun(run, record, plan):
        return ""
    change = dict(plan.change)
    return way_back_command(record.application, change[COPIER], "adopt" if change["mode"] == "adopt" else "abandon")


def begun_green(run: Run, record: RunRecord, plan: Plan | None) -> str:
    """The command that takes back a run that has started a second application, or deleted its topics; else empty."""
    if plan is None or plan.runbook != GREEN:
        return ""
    if dict(plan.change)["mode"] == "start":
        return cancel_command(record.application) if _has_begun(run, record, plan) else ""
    deleted = any(card.kind == "topic_deleted" for card in run.ledger.cards(record.run_key))
    # A first side has no start of its own: the command is that of the other one, refused with what is lacking.
    return start_command(record.application) if deleted else ""


def begun_starts(run: Run, record: RunRecord) -> frozenset[int]:
    """The numbers of the stages and bounces that a run has begun to start."""
    begun = run.ledger.evidence(record.run_key, kind="note", name=START_BEGUN)
    return frozenset(int(note.payload["bounce"]) for note in begun)


def _has_begun(run: Run, record: RunRecord, plan: Plan) -> bool:
    """Whether a run has begun to start its application for good."""
    return plan.start is not None and plan.start.number in begun_starts(run, record)


def flush_back_of(run: Run, record: RunRecord, cards: Sequence[Card]) -> str:
    """The command that takes a run with these cards back, if it is a flush that has begun to start what it changed.

    Empty for another run.
    """
    own = [card for card in cards if card.kind == INSTANCE and not card.done]
    about = (record.cluster, record.application)
    facts = [instance_facts(card) for card in own if (card.cluster, card.application) == about]
    if record.dag_id not in {FLUSH, ADOPT, GREEN} or not (facts or record.dag_id == GREEN):
        return ""
    try:
        plan = plan_of(run, record)
        if record.dag_id == GREEN:
            return begun_green(run, record, plan)
        if record.dag_id == ADOPT:
            return begun_adoption(run, record, plan)
        form = begun_flush(run, record, plan)
    except ValueError:
        # The plan has the format of another release: the undo names what it cannot read.
        return ""
    before, after = facts[0].before, facts[-1].after
    if not form:
        return ""
    return flush_back_command(record.application, before, after, form)


def plan_of(run: Run, record: RunRecord) -> Plan | None:
    """The plan of a run; None if it has none, or not one of stages."""
    stored = run.ledger.plan(record.run_key)
    if stored is None or "facts" not in stored:
        return None
    plan: Plan = decode(Plan, stored)
    return plan
