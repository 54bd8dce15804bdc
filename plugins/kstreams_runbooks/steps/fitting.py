"""The topics of the cluster against the topology of what a plan brings: at the plan, and right before each stop."""

from collections.abc import Iterable

from kstreams_runbooks.decide.topics_fit import topics_fit
from kstreams_runbooks.decide.topics_needed import topics_needed
from kstreams_runbooks.errors import Drifted, Inconclusive, RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.described import Described
from kstreams_runbooks.model.plan import Bounce
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.steps.run import Run
from kstreams_runbooks.steps.sides import deployable, told_by

_Wanted = tuple[Described | Missing, ...]


def require_topics(run: Run, reading: ApplicationReading, bounces: Iterable[Bounce]) -> tuple[Finding, ...]:
    """What a person has to weigh of the topics of every release that is brought; Refused or Inconclusive as decided."""
    return demand_topics(run, reading, _wanted(run, reading, bounces))


def demand_topics(run: Run, reading: ApplicationReading, wanted: _Wanted) -> tuple[Finding, ...]:
    """The same for versions that are described already."""
    verdict = _judged(run, reading, wanted)
    for finding in verdict.findings:
        run.say(f"{finding.severity} {finding.id} on {finding.object}: {finding.message}")
    run.demand(verdict)
    return verdict.findings


def require_topics_still(run: Run, now: ApplicationReading, untouched: str, *, down: bool = False) -> None:
    """Drifted or Inconclusive, beginning with what is `untouched`, where the topics no longer fit.

    Compared is what the plan was made from with the topics as they are now: the description is not made again. With
    `down` nothing is left to stop: then only what is certainly wrong keeps an instance from being started.
    """
    kept = run.ledger.evidence(run.key, kind="verdict", name=topics_fit.__name__)
    if kept:
        inputs = kept[-1].payload["inputs"]
        wanted: _Wanted = decode(_Wanted, inputs["wanted"])
        reading: ApplicationReading = decode(ApplicationReading, inputs["reading"])
    else:
        # A run whose plan is older than this comparison.
        reading = now
        wanted = _wanted(run, reading, run.plan().bounces)
    try:
        verdict = _judged(run, reading, wanted)
    except Inconclusive as error:
        verdict = Verdict(Outcome.INCONCLUSIVE, (str(error),))
    if verdict.outcome is Outcome.REFUSE:
        raise Drifted(f"{untouched}: {'; '.join(verdict.reasons)}")
    if verdict.outcome is Outcome.INCONCLUSIVE and not down:
        raise Inconclusive(f"{untouched}: {'; '.join(verdict.reasons)}")


def _judged(run: Run, reading: ApplicationReading, wanted: _Wanted) -> Verdict:
    seen = run.topics_seen(topics_needed(wanted, run.declared))
    return run.decide(topics_fit, wanted=wanted, seen=seen, reading=reading, application=run.declared)


def _wanted(run: Run, reading: ApplicationReading, bounces: Iterable[Bounce]) -> _Wanted:
    """Each release that is brought: as an instance that runs it describes itself, else as its deployer prints it."""
    return tuple(_described(run, reading, release) for release in dict.fromkeys(bounce.release for bounce in bounces))


def _described(run: Run, reading: ApplicationReading, release: str) -> Described | Missing:
    for instance in reading.instances:
        if text := _own_text(instance, release):
            return told_by(run, release, instance.instance, text)
    try:
        return deployable(run, release)
    except RunbookError as error:
        return Missing(f"release {release}: {error}")


def _own_text(instance: InstanceReading, release: str) -> str:
    """What an instance says of its topology, empty unless it runs this very release."""
    deployment, streams = instance.deployment, instance.streams
    if not isinstance(deployment, Deployment) or deployment.release != release or deployment.applied is not True:
        return ""
    return streams.topology if isinstance(streams, StreamsReading) and isinstance(streams.topology, str) else ""
