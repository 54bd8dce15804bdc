"""Demands at `plan` that no run loses a store that only local disks have, unless that is accepted."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from kstreams_runbooks.decide.instances.running import running_releases
from kstreams_runbooks.decide.instances.running_facts import with_facts
from kstreams_runbooks.decide.plans.only_copy import given_up, judges_itself, losing, may_lose_state, restoring_topics
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.errors import RunbookError, Unreachable
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.plan.cards import keep_restoring
from kstreams_runbooks.steps.plan.fitting import accepted_unread
from kstreams_runbooks.steps.plan.releases import known_of, running
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

    `reading` is that of its first side, `taken_by` the step that took those of the others, `back` gives the versions
    that an undo brings, which nothing else compares with what runs. Refused or Inconclusive if a
    store would begin empty, or may, and that is not accepted; BadInput if the form names another store.
    """
    named = given_lost(run.record.params)
    for part in made.parts:
        side, plan = run.on(part.application), made.of_application(part.application)
        if side.declared.copies or judges_itself(plan) or not (named or plan.bounces):
            continue
        keeps_state = side.deployer.abilities.keeps_state
        causes = losing(plan, keeps_state=keeps_state)
        seen = side.observed(taken_by) if part.role else reading
        before, known = _running(side, seen), known_of(side, seen)
        described = [one for one in before if not isinstance(one, Missing)]
        if len(described) == len(before):
            keep_restoring(side, restoring_topics(described, known))
        verdict = side.decide(
            may_lose_state,
            plan=plan,
            before=before,
            known=known,
            logs=_logs(side, restoring_topics(described, known)) if named or causes else {},
            named=named,
            by=run.record.requested_by,
            keeps_state=keeps_state,
            # A person reads the question of an undo in any case.
            unread=bool(accepted_unread(run)) or run.record.dag_id == UNDO,
            back=back(side, seen, plan),
        )
        run.say_findings(verdict.findings)
        run.demand(verdict)
        made = replace(made, findings=(*made.findings, *verdict.findings))
    return replace(made, emptied=tuple(dict.fromkeys((*made.emptied, *given_up(made.findings)))))


def restored_from(run: Run, reading: ApplicationReading) -> tuple[str, ...]:
    """The topics that restore the stores of what runs, by its facts; none if a version is not described."""
    before = _running(run, reading)
    described = [one for one in before if not isinstance(one, Missing)]
    return tuple(sorted(restoring_topics(described, known_of(run, reading)))) if len(described) == len(before) else ()


def _running(run: Run, reading: ApplicationReading) -> tuple[Described | Missing, ...]:
    """Each running version; Missing if neither its instances nor its release describe it.

    Unreachable if a topology command does not end: it may at the next try.
    """
    found = run.running_facts(reading)
    versions = [one for version in running_releases(reading) for one in with_facts(version, found)]
    described = list[Described | Missing]()
    for version in versions:
        try:
            described.append(running(run, version))
        except RunbookError as error:
            # An undo does not wait for a registry that is down.
            if isinstance(error, Unreachable) and run.record.dag_id != UNDO:
                raise
            described.append(Missing(str(error)))
    return tuple(described)


def _logs(run: Run, topics: Iterable[str]) -> dict[str, RestoringLog] | Missing:
    """The logs of these topics that exist; Missing if this login may not see one of them."""
    with run.reader() as reader:
        if hidden := reader.names().unseen(sorted(topics)):
            return Missing("; ".join(hidden.values()))
        return {one.topic: one for one in read_restoring_logs(reader, sorted(topics))}
