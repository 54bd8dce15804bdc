"""The path back to an older release, and its extra steps: settings first, a drain, local state cleared."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.releases.answers import (
    NO_RULE,
    NOTHING_PUBLISHED,
    guarantee_after,
    guarantee_change,
    guarantee_finding,
    path_of,
    protocol_refused,
    refusal,
    refusal_of_row,
    target_refused,
    warnings_of,
)
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from, takes_guarantee
from kstreams_runbooks.model.releases.path import Before, Leg, PathBounce, PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import DowngradeRule, GuaranteeRule, UpgradePathRules
from kstreams_runbooks.model.verdicts import Severity


def downward(question: PathQuestion, rules: UpgradePathRules) -> UpgradePath:
    """The path to an older release, with all known facts of the application.

    1. Refuse a target that is impossible by itself, then a pair that any row refuses.
    2. If a row asks for `upgrade.from`, it is set on the running release first: from then on no new format is written.
       Then the records in it are read to their end (`drain`).
    3. All instances are stopped, and the old release starts. Its local state is cleared if rows demand it, and for
       another minor unless a row keeps it: no published source promises that older releases open newer files.

    Source: Kafka Streams Upgrade Guide, "Notable compatibility changes in past releases"; KIP-904, KIP-1035.
    """
    change = guarantee_change(question, rules)
    if refused := target_refused(question, change, rules):
        return refused
    fired = tuple(row for row in rules.downgrades if _covers(row, question))
    if all(row.effect == "warn" for row in fired):
        return refusal(question, "no-rule", NO_RULE, NOTHING_PUBLISHED)
    for row in (*fired, change):
        if row is not None and row.effect == "refuse":
            return refusal_of_row(question, row.id, row.reason, row.action, row.source)
    guarantee = guarantee_after(question, change)
    if guarantee is not None and not takes_guarantee(question.target, guarantee, rules):
        why = f"{question.target} does not have processing.guarantee={guarantee} and no row says how to leave it"
        return refusal(question, "no-rule", f"{why}; choose another target", NOTHING_PUBLISHED)
    value, setting = _upgrade_from(question, fired)
    if setting is not None and value not in accepted_upgrade_from(question.running, rules):
        why = f"{question.running} does not run with upgrade.from={value}, which the way back needs; "
        return refusal(
            question, setting.id, f"{why}go to a newer patch of {question.running.minor} first", setting.source
        )
    findings = (
        *_findings(question, fired),
        *guarantee_finding(question, change),
        *warnings_of(question, change, rules),
    )
    return path_of(question, tuple(_legs(question, fired, value, change, rules)), findings)


@dataclass(frozen=True, slots=True)
class Owed:
    """Steps before going back to an earlier release: `refused` is the reason if it is impossible, else empty.

    `upgrade_from` is the value that every instance has to have first (None: none), `drain`: the repartition topics
    have to be read to their end then.
    """

    refused: str = ""
    upgrade_from: str | None = None
    drain: bool = False


def owed(question: PathQuestion, rules: UpgradePathRules) -> Owed:
    """Steps for undoing a bump in which `upgrade.from` did not hold the new formats back all the time.

    Only formats count. Objections to the old release itself (one to avoid, its brokers, a guarantee) do not block it:
    it ran until then, with the settings that come back with it.
    """
    if refused := protocol_refused(question, rules):
        return Owed(refused.reason)
    fired = tuple(row for row in rules.downgrades if _covers(row, question))
    for row in fired:
        if row.effect == "refuse":
            return Owed(refusal_of_row(question, row.id, row.reason, row.action, row.source).reason)
    return Owed("", _upgrade_from(question, fired)[0], any("drain" in row.duties for row in fired))


def clears_state(back_to: str, running: str, rules: UpgradePathRules) -> bool:
    """Whether local state has to be cleared before `back_to` starts after `running`."""
    if back_to == running:
        return False
    older, newer = Release.parse(back_to), Release.parse(running)
    return older < newer and any(
        "clear_state" in row.duties
        and within(newer, row.running)
        and within(older, row.target)
        and (not row.same_minor or older.minor == newer.minor)
        for row in rules.downgrades
    )


def cleared_on_the_way(back_to: Release, running: Release, rules: UpgradePathRules) -> bool:
    """Whether the path from `running` to an older release clears local state: for its rows, or for want of one.

    What has to be cleared (`clears_state`) is less: an undo opens the files of another minor unless a row forbids it.
    """
    if not back_to < running:
        return False
    rows = [row for row in rules.downgrades if within(running, row.running) and within(back_to, row.target)]
    another = back_to.minor != running.minor and not any("keep_state" in row.duties for row in rows)
    return another or clears_state(str(back_to), str(running), rules)


def warned(back_to: str, running: str, rules: UpgradePathRules) -> tuple[DowngradeRule, ...]:
    """The rows that only warn of going back to `back_to` after `running`; none if it is not older."""
    if back_to == running:
        return ()
    older, newer = Release.parse(back_to), Release.parse(running)
    return tuple(
        row
        for row in rules.downgrades
        if older < newer and row.effect == "warn" and within(newer, row.running) and within(older, row.target)
    )


def _covers(row: DowngradeRule, question: PathQuestion) -> bool:
    return (
        within(question.running, row.running)
        and within(question.target, row.target)
        and set(row.needs) <= question.uses
        and (not row.same_minor or question.running.minor == question.target.minor)
    )


def _upgrade_from(question: PathQuestion, fired: tuple[DowngradeRule, ...]) -> tuple[str | None, DowngradeRule | None]:
    """The value that stops the new format on the running release, and the first row that asks for one."""
    row = next((row for row in fired if "set_upgrade_from" in row.duties), None)
    if row is None:
        return None, None
    return (question.target.minor if row.upgrade_from == "target" else row.upgrade_from), row


def _legs(
    question: PathQuestion,
    fired: tuple[DowngradeRule, ...],
    value: str | None,
    change: GuaranteeRule | None,
    rules: UpgradePathRules,
) -> Iterator[Leg]:
    running, target = str(question.running), str(question.target)
    duties = {duty for row in fired for duty in row.duties}
    if cleared_on_the_way(question.target, question.running, rules):
        duties.add("clear_state")
    if change is not None and change.effect == "switch_first":
        yield Leg("library_bump", running, (PathBounce(running, processing_guarantee=change.to),))
    if value is not None and value != question.upgrade_from:
        yield Leg("library_bump", running, (PathBounce(running, upgrade_from=value),))
    switched = change.to if change is not None and change.effect == "switch_in_bounce" else None
    before: tuple[Before, ...] = tuple(duty for duty in _BEFORE if duty in duties)
    yield Leg("library_bump", target, (PathBounce(target, processing_guarantee=switched, before=before, at_once=True),))


_BEFORE: tuple[Before, ...] = ("drain", "clear_state")


def _findings(question: PathQuestion, fired: tuple[DowngradeRule, ...]) -> Iterator[PathFinding]:
    _, setting = _upgrade_from(question, fired)
    owing = [row for row in fired if row.duties and ("set_upgrade_from" not in row.duties or row is setting)]
    warning = [row for row in fired if row.effect == "warn"]
    for row in (*(owing or [row for row in fired if row not in warning]), *warning):
        severity: Severity = "warning" if set(row.duties) - {"keep_state"} or row in warning else "info"
        yield PathFinding(row.id, severity, question.pair, row.reason, row.source, "library_bump")
