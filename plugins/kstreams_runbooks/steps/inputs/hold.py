"""How long a run would hold inputs: refused above half of what keeps them, and shown to who approves."""

from typing import Any

from kstreams_runbooks.decide.drain.hold import may_hold, planned_hold
from kstreams_runbooks.decide.drain.task_idle import task_idle_ms
from kstreams_runbooks.decide.plans.only_copy import task_topics
from kstreams_runbooks.decide.plans.switches import AnySwitch
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, GroupReading
from kstreams_runbooks.steps.plan.cards import bytes_of_topics
from kstreams_runbooks.steps.plan.releases import known_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.hold import Waiting, read_hold_facts
from kstreams_runbooks.wording import outside

_FIELD = "longest_hold_min"
_MINUTE_S = 60.0
# What a person does while inputs are held: stop and start the application, pause and resume the producers.
_DEPLOYS = 2
_PRODUCERS = 1


def may_be_held(
    run: Run, reading: ApplicationReading, running: ParsedDescription, switch: AnySwitch, *, holds: int = 1
) -> None:
    """Keep the forecast, which the approval shows; Refused or Inconclusive if the inputs may not be held that long.

    `holds` is how often the plan holds them.
    """
    entry = run.application
    reads = run.side(switch.sides[0].role).application if switch.sides else entry
    waits = Waiting(reads, switch.waiting) if switch.waiting else None
    restoring = task_topics((running.described,), known_of(run, reading))
    with run.reader() as reader:
        facts = read_hold_facts(
            reader,
            run.kafka,
            run.ledger,
            entry,
            reading,
            waits,
            changelog_bytes=bytes_of_topics(run, reading, tuple(sorted(restoring))),
            commit_interval_s=run.limit("commit_interval_s"),
        )
    settings = _settings(reading)
    for number in range(1, holds + 1):
        planned = planned_hold(
            switch.name,
            run.declared,
            threads=_threads(reading, settings),
            stop_timeout_s=getattr(entry.deployer, "stop_timeout_s", None),
            task_idle_ms=task_idle_ms(running.topology, settings, running.described.declaration),
            requests=_requests(run, switch),
            longest_s=_longest_s(run, by_a_person=bool(_requests(run, switch))),
            number=number,
        )
        run.demand(run.decide(may_hold, facts=facts, planned=planned))


def _requests(run: Run, switch: AnySwitch) -> int:
    deploys = 0 if run.deployer.abilities.act else _DEPLOYS * (2 if switch.name == "swap" else 1)
    return deploys + (_PRODUCERS if switch.name == "manual" else 0)


def _longest_s(run: Run, *, by_a_person: bool) -> float | None:
    """The longest hold that the form allows; BadInput if a person acts meanwhile and it names none."""
    given: Any = run.record.params.get(_FIELD)
    if given is None:
        if by_a_person:
            raise BadInput(f"{_FIELD}: nothing (expected minutes: a person acts while inputs are held); give it")
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < float("inf"):
        raise BadInput(f"{_FIELD}: {outside(repr(given), 40)} (expected minutes above 0); correct it")
    return float(given) * _MINUTE_S


def _settings(reading: ApplicationReading) -> dict[str, str]:
    """What runbooks have set of the first instance: the plan has checked that all have the same."""
    deployments = [one.deployment for one in reading.instances if isinstance(one.deployment, Deployment)]
    return dict(deployments[0].settings) if deployments else {}


def _threads(reading: ApplicationReading, settings: dict[str, str]) -> int:
    """Stream threads of each instance, from the group's members if none is set."""
    if "num.stream.threads" in settings:
        return int(settings["num.stream.threads"])
    members = len(reading.group.members) if isinstance(reading.group, GroupReading) else 0
    return max(1, -(-members // max(1, len(reading.instances))))
