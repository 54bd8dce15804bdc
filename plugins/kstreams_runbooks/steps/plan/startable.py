"""Demands at `plan` what each start needs of its build, before a stop: a library that takes its settings, and links."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from kstreams_runbooks.decide.releases.links import ACCEPT_UNLINKED, LINKS, PlannedBuild, builds_link
from kstreams_runbooks.decide.releases.settings import rows_about
from kstreams_runbooks.decide.releases.tried import REFUSED, PlannedStart, stores_on_disk, takes_settings
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import release_declaration
from kstreams_runbooks.model.copying import NOT_YET_KNOWN
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.rules import release_settings, upgrade_path_rules
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run

_MEMBER = "group.instance.id"
_GUARANTEE = "processing.guarantee"
_NO_FACTS = "its topology command prints no topology facts (docs/facts.md)"
_NO_LINKS = "its facts were printed by a method of the application, not by the command of topology-facts.jar"


@dataclass(frozen=True, slots=True)
class _Printed:
    """What the topology command of a start prints; None without facts, with the reason if the command failed."""

    target: Target
    library: str
    facts: Declaration | None
    untried: str = ""


def require_startable(run: Run, made: Plan, reading: ApplicationReading) -> tuple[Finding, ...]:
    """Findings about the settings and the classes of every start of the plan that is not a restart of what runs.

    Refused if the library of one refuses its settings: as the topology command shows it, which builds what a start
    builds, and as the rows of the release judge the settings that are known. Refused too if a class does not link that
    the topology of another build needs. `reading` is that of the run's own application.
    """
    findings: tuple[Finding, ...] = ()
    for part in made.parts:
        side = run.on(part.application)
        plan = made.of_application(part.application)
        # The end of a copy is known once its application is down: the copier itself refuses another one.
        known = [one for one in plan.bounces if NOT_YET_KNOWN not in dict(one.settings).values()]
        bounces = [] if side.declared.as_deployed else [one for one in known if _is_new(plan, one)]
        if not bounces:
            continue
        now = reading if side == run.first else side.read()
        printed = tuple(_printed(side, bounces))
        starts = tuple(dict.fromkeys(_start(side, plan, one, now) for one in printed))
        names = {name for one in starts for name, _ in one.config}
        verdict = run.decide(
            takes_settings,
            application=part.application,
            starts=starts,
            rules=upgrade_path_rules(),
            catalogue=rows_about(names, [], None, release_settings()),
            broker=_lowest(now),
        )
        verdicts = [verdict]
        builds = tuple(dict.fromkeys(_build(one) for one in printed if _is_another_build(plan, one.target.release)))
        if builds:
            accepted = _accepted_unlinked(run)
            verdicts.append(run.decide(builds_link, application=part.application, builds=builds, accepted=accepted))
        for judged in verdicts:
            run.say_findings(judged.findings)
            run.demand(judged)
            findings += judged.findings
    return findings


def _accepted_unlinked(run: Run) -> str | None:
    """The reason of the form to start a build that does not link; empty without one, None without the field."""
    params = run.record.params
    return given_reason(params, ACCEPT_UNLINKED) if ACCEPT_UNLINKED in params else None


def _is_another_build(plan: Plan, release: str) -> bool:
    """Whether an instance does not have this release yet: what all of them have is not judged at a restart."""
    return not plan.facts.at_start or any(one.release != release for one in plan.facts.at_start)


def _build(one: _Printed) -> PlannedBuild:
    release, facts = one.target.release, one.facts
    if facts is None:
        return PlannedBuild(release, None, one.untried or _NO_FACTS)
    why = facts.not_read.get(LINKS) or _NO_LINKS
    unread = tuple(reason for where, reason in facts.not_read.items() if where.startswith(f"{LINKS}."))
    return PlannedBuild(release, facts.unlinked, "" if facts.unlinked is not None else why, unread)


def _lowest(reading: ApplicationReading) -> str:
    """The lowest release among the brokers, empty if it is not known."""
    broker = reading.broker
    return "" if isinstance(broker, Missing) or isinstance(broker.version, Missing) else broker.version


def _is_new(plan: Plan, bounce: Bounce) -> bool:
    """Whether an instance of the bounce starts with something else than it has."""
    return bool(bounce.once) or any(
        (one.release, one.settings) != (bounce.release, bounce.settings)
        for one in plan.facts.at_start
        if bounce.takes(one.instance)
    )


def _printed(side: Run, bounces: list[Bounce]) -> Iterator[_Printed]:
    for bounce in bounces:
        target = Target.of(bounce.release, {**dict(bounce.settings), **dict(bounce.once)})
        library = side.declared.library(target.release) if target.release in side.declared.releases else bounce.version
        try:
            facts = side.patiently(partial(side.deployer.facts, target, started=True))
        except RunbookError as error:
            yield _Printed(target, library, None, str(error))
        else:
            yield _Printed(target, library, facts)


def _start(side: Run, plan: Plan, one: _Printed, reading: ApplicationReading) -> PlannedStart:
    target, library, printed, untried = one.target, one.library, one.facts, one.untried
    own, whole = _own_settings(side, plan, target, library, reading, printed)
    given = dict(target.settings)
    if side.declared.static_membership and not any(name.endswith(_MEMBER) for name in own):
        # Each instance sets its own, which no release has in common.
        own[_MEMBER] = "set-by-each-instance"
    refused = None if printed is None else printed.refused
    if not untried and refused is None:
        untried = "its topology command prints no refusals of the library (docs/facts.md)"
    if refused is not None and given and not side.deployer.abilities.topology_settings:
        refused = tuple(one for one in refused if not given.keys() & set(one.settings))
        untried = "its topology command takes no settings of a runbook (docs/deployers.md)"
    not_read = {} if printed is None else printed.not_read
    return PlannedStart(
        target.release,
        library,
        tuple(sorted({**own, **given}.items())),
        tuple(given),
        whole,
        refused,
        untried,
        tuple(where.removeprefix(REFUSED) for where in not_read if where.startswith(REFUSED)),
        None if printed is None else stores_on_disk(printed),
    )


def _own_settings(
    side: Run, plan: Plan, target: Target, library: str, reading: ApplicationReading, printed: Declaration | None
) -> tuple[dict[str, str], bool]:
    """The settings that the program has without a runbook, and whether they are all: printed, running, or declared."""
    if printed is not None and printed.config is not None:
        return dict(printed.config), True
    at_start = [one for one in plan.facts.at_start if one.release == target.release]
    for one in at_start:
        shown = side.running_facts(reading).get(one.instance)
        if isinstance(shown, FactsReading) and shown.read.config is not None:
            by_runbook = dict(one.settings)
            return {name: value for name, value in shown.read.config.items() if name not in by_runbook}, True
    try:
        declared = release_declaration(side.declared.name, target.release, library)
    except BadInput:
        declared = None
    if declared is not None and declared.config is not None:
        return dict(declared.config), True
    guarantee = side.declared.processing_guarantee
    return {} if guarantee == "unknown" else {_GUARANTEE: guarantee}, False
