"""Demands at `plan` that no run loses a store that only local disks have, unless that is accepted."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.plans.only_copy import (
    given_up,
    given_up_in_part,
    judges_itself,
    losing,
    may_lose_state,
    restoring_topics,
    state_elsewhere,
)
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.plan.cards import keep_restoring
from kstreams_runbooks.steps.plan.fitting import accepted_unread
from kstreams_runbooks.steps.plan.releases import known_of, running_or_missing
from kstreams_runbooks.steps.run.form import given_lost
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.restoring_logs import read_restoring_logs

Back = Callable[[Run, ApplicationReading, Plan], tuple[Described | Missing, ...]]


def nothing_back(*_: object) -> tuple[()]:
    """Of a plan that is not an undo: another decision compares what it brings."""
    return ()


def with_losses(
    run: Run, made: Plan, reading: ApplicationReading, taken_by: str = "observe", back: Back = nothing_back
) -> Plan:
    """The plan with the stores that begin empty because that is accepted, and a finding about each.

    Its gaps are those of `with_gaps`. `reading` is that of its first side, `taken_by` the step that took those of the
    others, `back` gives the versions that an undo brings, which nothing else compares with what runs. Refused or
    Inconclusive if a store would begin empty, or may, and that is not accepted; BadInput if the form names another
    store.
    """
    named = given_lost(run.record.params)
    for part in made.parts:
        side, plan = run.on(part.application), made.of_application(part.application)
        if side.declared.as_deployed or not (named or plan.bounces):
            continue
        able, seen = side.deployer.abilities, side.observed(taken_by) if part.role else reading
        elsewhere = state_elsewhere(able, side.running_facts(seen)) if able.state_dirs else ()
        if judges_itself(plan):
            if elsewhere:
                run.demand(side.decide(may_lose_state, **_of_place(side, plan, seen, elsewhere)))
            continue
        causes = losing(plan, keeps_state=able.keeps_state, left=() if able.keeps_elsewhere else elsewhere)
        before, known = running_or_missing(side, seen), known_of(side, seen)
        described = [one for one in before if not isinstance(one, Missing)]
        if len(described) == len(before):
            keep_restoring(side, restoring_topics(described, known))
        verdict = side.decide(
            may_lose_state,
            plan=plan,
            before=before,
            known=known,
            logs=logs_of(side, restoring_topics(described, known)) if named or causes else {},
            named=named,
            by=run.record.requested_by,
            keeps_state=able.keeps_state,
            # A person reads the question of an undo in any case.
            unread=bool(accepted_unread(run)) or run.record.dag_id == UNDO,
            back=back(side, seen, plan),
            elsewhere=elsewhere,
            keeps_elsewhere=able.keeps_elsewhere,
            keeps_aside=able.keeps_aside,
        )
        run.say_findings(verdict.findings)
        run.demand(verdict)
        made = replace(made, findings=(*made.findings, *verdict.findings))
    emptied = tuple(dict.fromkeys((*made.emptied, *given_up(made.findings))))
    return replace(made, emptied=emptied, in_part=(*made.in_part, *given_up_in_part(made.findings)))


def _of_place(run: Run, plan: Plan, reading: ApplicationReading, elsewhere: tuple[str, ...]) -> dict[str, Any]:
    """Of a plan that judges its stores itself: the place of the state that it clears."""
    own = {"plan": plan, "known": known_of(run, reading), "elsewhere": elsewhere, "by": run.record.requested_by}
    return {**own, "before": (), "logs": {}, "named": ()}


def restored_from(run: Run, reading: ApplicationReading) -> tuple[str, ...]:
    """The topics that restore the stores of what runs, by its facts; none if a version is not described."""
    before = running_or_missing(run, reading)
    described = [one for one in before if not isinstance(one, Missing)]
    return tuple(sorted(restoring_topics(described, known_of(run, reading)))) if len(described) == len(before) else ()


def logs_of(run: Run, topics: Iterable[str]) -> dict[str, RestoringLog] | Missing:
    """The logs of these topics that exist; Missing if this login may not see one of them."""
    with run.reader() as reader:
        if hidden := reader.names().unseen(sorted(topics)):
            return Missing("; ".join(hidden.values()))
        return {one.topic: one for one in read_restoring_logs(reader, sorted(topics))}
