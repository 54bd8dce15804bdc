"""From a reading and a target to the plan of a library bump."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.plans.basis import (
    GUARANTEE,
    UPGRADE_FROM,
    costs,
    facts,
    one_down,
    other_library,
    require_declared,
    topics_shown,
)
from kstreams_runbooks.decide.plans.downgrade import downgrade_plan, goes_back
from kstreams_runbooks.decide.plans.leg import kept_in_bump, leg_release, oldest, path_of, question_of, running_releases
from kstreams_runbooks.decide.releases.downgrade import clears_state
from kstreams_runbooks.decide.releases.rules import newest_of
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.releases.path import Leg, PathFinding
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Finding


def bump_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    target: str,
    rules: UpgradePathRules,
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
    restores: tuple[str, ...] = (),
) -> Plan:
    """The plan that takes `declared` to `target`; to an older one it is a downgrade (downgrade.py).

    It performs the first leg of the upgrade path, derived from the running releases; `then` lists the other legs, one
    for each further run of the runbook. `code` is the content hash of package and DAG file, `restores` the topics that
    restore the stores, as far as they are known. BadInput if the target is
    unknown to the deployer or already runs, Refused if no published rule covers the path, Inconclusive if a fact
    that the plan binds cannot be read.
    """
    require_declared(declared, target)
    if goes_back(reading, Release.parse(declared.library(target))):
        return downgrade_plan(reading, declared, target, rules, findings, limits, code)
    running, found = running_releases(reading), facts(reading, declared, code)
    kept = kept_in_bump(reading)
    question = question_of(reading, declared, target, rules, kept)
    path = path_of(question, rules)
    leg, release = path.legs[0], leg_release(path, question, declared, target, rules, found)
    library = declared.library(release)
    _refuse_unguarded_mix(reading, running, leg)
    return Plan(
        runbook="library_bump",
        application=declared.name,
        cluster=declared.cluster,
        change=(("target", target),),
        limits=limits,
        stages=tuple(_bounces(leg, release, library, kept)),
        facts=found,
        costs=tuple(costs(declared)),
        findings=(*findings, *(_finding(declared, one) for one in path.findings if _decided(one))),
        undo=tuple(_undo(running, declared, leg, library, rules, restores)),
        title=f"library bump to {target}" + (f", this run to {release}" if len(path.legs) > 1 else ""),
        worst_case=one_down(declared),
        then=tuple(_sentence(later) for later in path.legs[1:]),
    )


def _bounces(leg: Leg, release: str, library: str, kept: Mapping[str, str]) -> Iterator[Bounce]:
    for number, bounce in enumerate(leg.bounces, 1):
        if bounce.processing_guarantee:
            # Unlike upgrade.from it stays: without it the application falls back to a value that the library lost.
            kept = {**kept, GUARANTEE: bounce.processing_guarantee}
        settings = {**kept, UPGRADE_FROM: bounce.upgrade_from} if bounce.upgrade_from else kept
        yield Bounce(number, release, tuple(sorted(settings.items())), other_library(release, library))


def _sentence(leg: Leg) -> str:
    """A leg for another run, for a person."""
    steps = [
        ", ".join(
            [
                bounce.target,
                *([f"{UPGRADE_FROM}={bounce.upgrade_from}"] if bounce.upgrade_from else []),
                *([f"{GUARANTEE}={bounce.processing_guarantee}"] if bounce.processing_guarantee else []),
            ]
        )
        for bounce in leg.bounces
    ]
    return f"{len(steps)} {'bounce' if len(steps) == 1 else 'bounces'}: {'; then '.join(steps)}"


def _refuse_unguarded_mix(reading: ApplicationReading, releases: tuple[tuple[str, str], ...], leg: Leg) -> None:
    """Refused if an instance already writes a newer format than another running one can read.

    An instance writes the format that `releases` has for it (its `upgrade.from`, if set); it reads the formats of the
    release that it runs. Once no instance runs the old release, all can read every format: that is the second bounce,
    which another run left unfinished.
    """
    guard = leg.bounces[0].upgrade_from
    if guard is None:
        return
    old = oldest(releases).minor
    runs = {one.instance: one.streams.version for one in reading.instances if not isinstance(one.streams, Missing)}
    behind = [name for name, release in runs.items() if Release.parse(release).minor == old]
    ahead = [f"{name} already runs {runs.get(name)}" for name in _ahead(releases, leg)]
    if ahead and behind:
        raise Refused(
            f"{', '.join(ahead)} without upgrade.from={guard} beside {', '.join(behind)} on an older release: table "
            "counts may be wrong already; put it back to the old release by hand, check the results, then trigger again"
        )


def _ahead(releases: tuple[tuple[str, str], ...], leg: Leg) -> tuple[str, ...]:
    """Instances that write a newer format than the oldest one can read."""
    old = {oldest(releases).minor, leg.bounces[0].upgrade_from}
    return tuple(name for name, release in releases if Release.parse(release).minor not in old)


def _decided(found: PathFinding) -> bool:
    """Whether a finding is a reason for this path; `version-path` lists the changes in the releases."""
    return found.runbook is not None or found.id.startswith("missing-")


def _finding(declared: DeclaredApplication, found: PathFinding) -> Finding:
    return Finding(found.id, found.severity, declared.name, found.message, found.source)


def _undo(
    releases: tuple[tuple[str, str], ...],
    declared: DeclaredApplication,
    leg: Leg,
    library: str,
    rules: UpgradePathRules,
    restores: tuple[str, ...],
) -> Iterator[str]:
    start = oldest(releases)
    back = f"every instance back to {_old_release(start, declared)}"
    if clears_state(str(newest_of(start, rules)), library, rules):
        back += f", local state cleared first (it is restored from {topics_shown(restores)})"
    if len(leg.bounces) > 1 and (ahead := _ahead(releases, leg)):
        yield f"no plain way back any more: {', '.join(ahead)} writes the new record format already"
    elif len(leg.bounces) > 1:
        yield f"until bounce 2: {back}"
        yield "after bounce 2: no plain way back, the new record format is in the repartition topics"
    else:
        yield back


def _old_release(start: Release, declared: DeclaredApplication) -> str:
    """The release to go back to; only its minor is known of an instance that runs the new one with `upgrade.from`."""
    if str(start) != start.minor:
        return str(start)
    fitting = [name for name in declared.releases if Release.parse(declared.library(name)).minor == start.minor]
    one = f"{fitting[0]}, the only {start} release declared" if len(fitting) == 1 else f"a {start} release"
    return f"{one} (which one ran before bounce 1 is not known to this run)"
