"""The path to a newer release: bounces, a bridge release if needed, a change of guarantee before it."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.releases.answers import (
    NO_RULE,
    NOTHING_PUBLISHED,
    guarantee_after,
    guarantee_change,
    guarantee_finding,
    path_of,
    refusal,
    refusal_of_row,
    target_refused,
    warnings_of,
)
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from, is_shunned, takes_guarantee
from kstreams_runbooks.model.releases.path import Leg, PathBounce, PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import GuaranteeRule, UpgradePathRules, UpgradeRule
from kstreams_runbooks.model.verdicts import Outcome, Severity


def upward(question: PathQuestion, rules: UpgradePathRules) -> UpgradePath:
    """The path to a newer release, with all known facts of the application.

    1. Refuse a target that is impossible by itself: a defect, protocol, brokers.
    2. The first row that covers the pair demands one bounce, two, a bridge, or refuses; the same for the first row of
       the guarantee. A bridge is a path to it and a path from it, each found in the same way.
    3. A value that the release does not accept is never part of the result.

    Source: Kafka Streams Upgrade Guide and API Changes; KIP-268, KIP-429, KIP-904, KIP-1124.
    """
    change = guarantee_change(question, rules)
    if refused := target_refused(question, change, rules):
        return refused
    fired = tuple(_rows(question, rules))
    if not fired:
        return refusal(question, "no-rule", NO_RULE, NOTHING_PUBLISHED)
    row = fired[0]
    for one in (row, change):
        if one is not None and one.effect == "refuse":
            return refusal_of_row(question, one.id, one.reason, one.action, one.source)
    for one in (row, change):
        if one is not None and one.effect == "bridge":
            return _bridged(question, one, rules)
    return _direct(question, row, change, tuple(_findings(question, fired, change, rules)), rules)


def _rows(question: PathQuestion, rules: UpgradePathRules) -> Iterator[UpgradeRule]:
    """The deciding row, and after it those that demand the same for another reason."""
    decided: UpgradeRule | None = None
    for row in rules.upgrades:
        covers = within(question.running, row.running) and within(question.target, row.target)
        if not covers or not set(row.needs) <= question.uses:
            continue
        if decided is None or (row.effect, row.upgrade_from) == (decided.effect, decided.upgrade_from):
            decided = decided or row
            yield row


def _direct(
    question: PathQuestion,
    row: UpgradeRule,
    change: GuaranteeRule | None,
    findings: tuple[PathFinding, ...],
    rules: UpgradePathRules,
) -> UpgradePath:
    target, legs = str(question.target), []
    guarantee = guarantee_after(question, change)
    if guarantee is not None and not takes_guarantee(question.target, guarantee, rules):
        why = f"{question.target} does not have processing.guarantee={guarantee} and no row says how to leave it"
        return refusal(question, "no-rule", f"{why}; choose another target", NOTHING_PUBLISHED)
    if change is not None and change.effect == "switch_first":
        running = str(question.running)
        legs.append(Leg("rolling_bounce", running, (PathBounce(running, processing_guarantee=change.to),)))
    switched = change.to if change is not None and change.effect == "switch_in_bounce" else None
    last = PathBounce(target)
    if row.effect == "one_bounce":
        bounces: tuple[PathBounce, ...] = (replace(last, processing_guarantee=switched),)
    else:
        value = question.running.minor if row.upgrade_from == "running" else row.upgrade_from
        if value not in accepted_upgrade_from(question.target, rules):
            why = f"{question.target} does not run with upgrade.from={value}; choose another target"
            return refusal(question, row.id, why, row.source)
        bounces = (PathBounce(target, upgrade_from=value, processing_guarantee=switched), last)
    return path_of(question, (*legs, Leg("library_bump", target, bounces)), findings)


def _bridged(question: PathQuestion, row: UpgradeRule | GuaranteeRule, rules: UpgradePathRules) -> UpgradePath:
    """Through the newest release that may be the bridge and from which every leg is a path of its own."""
    why_not: UpgradePath | None = None
    for bridge in _bridges(question, row.bridges, rules):
        first = upward(replace(question, target=bridge), rules)
        if first.verdict is Outcome.PROCEED:
            switched = [one.processing_guarantee for one in first.bounces if one.processing_guarantee]
            guarantee = switched[-1] if switched else question.guarantee
            second = upward(replace(question, running=bridge, guarantee=guarantee), rules)
            if second.verdict is Outcome.PROCEED:
                passed = PathFinding(row.id, "warning", question.pair, row.reason, row.source, "library_bump")
                return path_of(
                    question, (*first.legs, *second.legs), (passed, *first.findings, *second.findings), str(bridge)
                )
            why_not = why_not or second
        why_not = why_not or first
    because = why_not.reason if why_not else f"none of {', '.join(row.bridges)} is known"
    why = f"{row.reason.rstrip('.')}, and none can: {because}"
    return refusal(question, row.id, why, row.source, why_not.findings if why_not else ())


def _bridges(question: PathQuestion, ranges: tuple[str, ...], rules: UpgradePathRules) -> Iterator[Release]:
    """Releases that may be the bridge, newest first."""
    for release in reversed(rules.releases):
        if question.running < release < question.target and within(release, ranges) and not is_shunned(release, rules):
            yield release


def _findings(
    question: PathQuestion, fired: tuple[UpgradeRule, ...], change: GuaranteeRule | None, rules: UpgradePathRules
) -> Iterator[PathFinding]:
    for row in fired:
        severity: Severity = "info" if row.effect == "one_bounce" else "warning"
        yield PathFinding(row.id, severity, question.pair, row.reason, row.source, "library_bump")
    yield from guarantee_finding(question, change)
    yield from warnings_of(question, change, rules)
