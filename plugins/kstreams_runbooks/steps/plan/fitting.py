"""Compares the topics of the cluster with the topology of a plan's release: at the plan, before each stop and start.

That includes what the group has not committed on the repartition topics that the release reads.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.change.without_topology import WITHOUT_TOPOLOGY, may_stay_unread, unread_release
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, repartitions_read, topics_needed
from kstreams_runbooks.decide.fitting.topics import topics_fit
from kstreams_runbooks.decide.fitting.uncommitted import resets_of, uncommitted_records, worst
from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.instances.running_facts import with_facts
from kstreams_runbooks.decide.plans.basis import UPGRADE_FROM
from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.errors import Drifted, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.topics_seen import NO_REPARTITIONS, RepartitionsSeen
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.rules import release_settings
from kstreams_runbooks.steps.plan.cards import own_changes
from kstreams_runbooks.steps.plan.releases import deployable, running
from kstreams_runbooks.steps.plan.rights import require_rights_of_versions
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run

_Wanted = tuple[Described | Missing, ...]
_NONE_KEPT: Mapping[str, Described] = {}
_NONE_CREATED: Mapping[str, int] = {}


def require_topics(
    run: Run,
    reading: ApplicationReading,
    bounces: Iterable[Bounce],
    going: frozenset[str] = frozenset(),
    *,
    accepted: str | None = None,
    kept: Mapping[str, Described] = _NONE_KEPT,
    created: Mapping[str, int] = _NONE_CREATED,
) -> tuple[Finding, ...]:
    """Findings about the topics of every release of the plan, for the approver; Refused or Inconclusive as decided.

    `going` are internal topics that the run deletes before the start: they count as absent. `created` are topics that
    it creates, with their partitions: they count as there. `accepted` is the reason
    to bring a release whose topology cannot be read (`accepted_unread`), `kept` are descriptions by release that the
    ledger has.
    """
    bounces = tuple(bounces)
    wanted = wanted_versions(run, reading, bounces, kept)
    unread = _require_read(run, reading, bounces, wanted, accepted)
    brought = [one.topology for one in parsed_or_missing(wanted) if not isinstance(one, Missing)]
    require_rights_of_versions(run, reading, brought)
    verdict = judged_topics(run, reading, wanted, going, [dict(one.settings) for one in bounces], created)
    run.demand(verdict)
    return (*unread, *verdict.findings)


def accepted_unread(run: Run) -> str | None:
    """The reason of the form to go on without a look at the topology; empty without one, None without the field."""
    return given_reason(run.record.params, WITHOUT_TOPOLOGY) if WITHOUT_TOPOLOGY in run.record.params else None


def _require_read(
    run: Run, reading: ApplicationReading, bounces: tuple[Bounce, ...], wanted: _Wanted, accepted: str | None
) -> tuple[Finding, ...]:
    """The finding about releases that nothing describes, if a person accepts that; Inconclusive otherwise.

    A release that runs already, with the same settings as far as they matter, changes nothing: its topics are there.
    """
    brought = any(_brings(bounce, reading) for bounce in bounces)
    unread = tuple(unread_release(one) for one in parsed_or_missing(wanted) if isinstance(one, Missing) and brought)
    if not unread:
        return ()
    verdict = run.decide(may_stay_unread, unread=unread, declared=run.declared, accepted=accepted)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    return verdict.findings


def _brings(bounce: Bounce, reading: ApplicationReading) -> bool:
    """Whether a bounce gives an instance another release, or settings that may change its topology."""
    for instance in reading.instances:
        deployment = instance.deployment
        if not bounce.takes(instance.instance):
            continue
        if isinstance(deployment, Missing) or deployment.release != bounce.release:
            return True
        changed = {name for name, _ in set(deployment.settings) ^ set(bounce.settings)}
        if may_change_the_topology(changed, release_settings()):
            return True
    return False


def judged_topics(
    run: Run,
    reading: ApplicationReading,
    wanted: _Wanted,
    going: frozenset[str] = frozenset(),
    settings: Collection[Mapping[str, str]] = (),
    created: Mapping[str, int] = _NONE_CREATED,
) -> Verdict:
    """The decision for these versions, with one of `settings` over their own; logs its findings.

    `going` and `created` as `require_topics` has them.
    """
    records = _uncommitted(run, reading, wanted, going, None, resets_of(wanted, settings))
    verdict = worst(_judged(run, reading, wanted, going, created), records)
    run.say_findings(verdict.findings)
    return verdict


def require_topics_still(run: Run, now: ApplicationReading, untouched: str, *, down: bool = False) -> None:
    """Drifted or Inconclusive if the topics no longer fit; the sentence begins with what is `untouched`.

    It compares the plan's own description, which is not made again, with the present topics. With `down` nothing is
    left to stop: then only a certain mismatch keeps an instance from starting, and unknown facts about records that
    the start would read again.
    """
    kept = run.verdicts(topics_fit.__name__)
    if kept:
        inputs = kept[-1].payload["inputs"]
        wanted: _Wanted = decode(_Wanted, inputs["wanted"])
        reading: ApplicationReading = decode(ApplicationReading, inputs["reading"])
    else:
        # The plan has not compared the topics of this side.
        reading = now
        wanted = wanted_versions(run, reading, run.plan().bounces)
    going = run.plan().going - {one.name for one in own_changes(run).topics if one.deleted}
    try:
        verdict = _judged(run, reading, wanted, going)
    except Inconclusive as error:
        verdict = Verdict(Outcome.INCONCLUSIVE, (str(error),))
    settings = [*(dict(one.settings) for one in run.plan().bounces), *map(_deployed, now.instances)]
    records = _uncommitted(run, now, wanted, going, _planned(run), resets_of(wanted, settings))
    if down and verdict.outcome is Outcome.INCONCLUSIVE:
        verdict = records
    verdict = worst(verdict, records)
    if verdict.outcome is Outcome.REFUSE:
        raise Drifted(f"{untouched}: {verdict.text}")
    if verdict.outcome is Outcome.INCONCLUSIVE:
        raise Inconclusive(f"{untouched}: {verdict.text}")


def _judged(
    run: Run,
    reading: ApplicationReading,
    wanted: _Wanted,
    going: frozenset[str],
    created: Mapping[str, int] = _NONE_CREATED,
) -> Verdict:
    seen = run.topics_seen(topics_needed(parsed_or_missing(wanted), run.declared))
    there = {name: count for name, count in seen.partitions.items() if name not in going}
    seen = replace(seen, partitions={**created, **there})
    return run.decide(topics_fit, wanted=wanted, seen=seen, reading=reading, application=run.declared)


def _uncommitted(
    run: Run,
    now: ApplicationReading,
    wanted: _Wanted,
    going: frozenset[str],
    planned: RepartitionsSeen | None,
    resets: frozenset[str] | None,
) -> Verdict:
    """The decision about records without a committed offset."""
    read = repartitions_read(parsed_or_missing(wanted), run.declared.application_id)
    names = {name: release for name, release in read.items() if name not in going}
    return run.decide(
        uncommitted_records,
        wanted=wanted,
        seen=run.repartitions_seen(names, now) if names else NO_REPARTITIONS,
        planned=planned,
        resets=resets,
        application=run.declared,
    )


def _planned(run: Run) -> RepartitionsSeen | None:
    """What the plan of this run saw of the repartition topics when it allowed the start; None if it did not look."""
    for kept in reversed(run.verdicts(uncommitted_records.__name__)):
        call = kept.payload
        if call["inputs"]["planned"] is None and call["result"]["outcome"] == Outcome.PROCEED:
            seen: RepartitionsSeen = decode(RepartitionsSeen, call["inputs"]["seen"])
            return seen
    return None


def wanted_versions(
    run: Run, reading: ApplicationReading, bounces: Iterable[Bounce], kept: Mapping[str, Described] = _NONE_KEPT
) -> tuple[Described | Missing, ...]:
    """Each version that a plan brings, as an instance that runs it shows it, as the ledger kept it, or as printed."""
    if run.declared.as_deployed:
        return ()
    different = {(one.release, str(_settings(dict(one.settings)))): one for one in bounces}
    return tuple(_described(run, reading, bounce, kept) for bounce in different.values())


def _described(
    run: Run, reading: ApplicationReading, bounce: Bounce, kept: Mapping[str, Described]
) -> Described | Missing:
    """A release as described by an instance with the same settings, by the ledger or by its deployer.

    Without any of these by an instance with other settings: settings can change a topology, and not every topology
    command takes them. Unreachable if the topology command does not end.
    """
    telling = [one for one in reading.instances if _own_text(one, bounce.release)]
    same = [one for one in telling if _settings(dict(bounce.settings)) == _settings(_deployed(one))]
    if not same:
        if bounce.release in kept:
            return kept[bounce.release]
        try:
            return deployable(run, bounce.target)
        except Unreachable:
            raise
        except RunbookError as error:
            if not telling:
                return Missing(f"release {bounce.release}: {error}")
    first = (same or telling)[0]
    [shown] = with_facts(
        RunningRelease(
            bounce.release,
            _own_text(first, bounce.release),
            (first.instance,),
            targets=(Target.of(bounce.release, _deployed(first)),),
        ),
        run.running_facts(replace(reading, instances=(first,))),
    )
    return running(run, shown)


def _own_text(instance: InstanceReading, release: str) -> str:
    """The topology that an instance reports, empty unless it runs exactly this release."""
    deployment, streams = instance.deployment, instance.streams
    if not isinstance(deployment, Deployment) or deployment.release != release or deployment.applied is not True:
        return ""
    return streams.topology if isinstance(streams, StreamsReading) and isinstance(streams.topology, str) else ""


def _deployed(instance: InstanceReading) -> dict[str, str]:
    return dict(instance.deployment.settings) if isinstance(instance.deployment, Deployment) else {}


def _settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings without `upgrade.from`, on which no topology depends."""
    return {key: value for key, value in settings.items() if key != UPGRADE_FROM}
