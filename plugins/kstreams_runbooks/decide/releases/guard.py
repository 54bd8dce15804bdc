"""`upgrade.from` among the settings of a new side: which formats its instances write, and who can read them."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.verdicts import Outcome

UPGRADE_FROM = "upgrade.from"
MISREAD = "upgrade-from-misread"
LEFT_IN = "upgrade-from-left-behind"
_SOURCE = "Kafka Streams Upgrade Guide, rolling upgrade with upgrade.from; KIP-268, KIP-904, KAFKA-14646"


def judged_value(
    value: str, question: PathQuestion, path: UpgradePath, rules: UpgradePathRules
) -> Iterator[PathFinding]:
    """What instances of the target do with a value while others run the old release; one finding.

    1. A value that the target does not run with is refused.
    2. A value other than that of the path is a danger if the running release cannot read the formats of that value: the
       way from one to the other needs more than a plain bounce, or a row demands another value by itself.
    3. Any other value is left in after the bounce that needs it.
    """
    accepted = accepted_upgrade_from(question.target, rules)
    needed = next((one.upgrade_from for one in path.bounces if one.upgrade_from), None)
    if value not in accepted:
        takes = f"it runs with {', '.join(accepted)}" if accepted else "it has no such setting"
        message = (
            f"{question.target} does not run with {UPGRADE_FROM}={value} ({takes}): no instance starts; correct it"
        )
        yield PathFinding("setting-refused", "danger", UPGRADE_FROM, message, _SOURCE)
    elif question.running < question.target and value != needed and (why := _misread(value, question, needed, rules)):
        cure = f"set {needed} for the first bounce, or remove it" if needed else "remove it"
        message = f"{UPGRADE_FROM}={value}: {why}; {cure}, library_bump sets what the path needs"
        yield PathFinding(MISREAD, "danger", UPGRADE_FROM, message, _SOURCE, "library_bump")
    else:
        message = (
            f"{UPGRADE_FROM}={value} is among the settings of {question.target}: its instances write the formats of "
            f"{value} until it is removed; library_bump sets it for the first bounce alone"
        )
        yield PathFinding(LEFT_IN, "warning", UPGRADE_FROM, message, _SOURCE, "library_bump")


def with_value(path: UpgradePath, value: str, question: PathQuestion, rules: UpgradePathRules) -> UpgradePath:
    """The path with the finding about a value among the settings of the target; refused if it is a danger."""
    [found] = judged_value(value, question, path, rules)
    findings = (found, *path.findings)
    if found.severity != "danger" or path.verdict is Outcome.REFUSE:
        return replace(path, findings=findings)
    return UpgradePath(Outcome.REFUSE, found.message, findings=findings)


def _misread(value: str, question: PathQuestion, needed: str | None, rules: UpgradePathRules) -> str:
    """Why the running release cannot read what the value makes the target write; empty if it can."""
    running, old = str(question.running), Release(question.running.minor)
    newest = [one for one in rules.releases if one.minor == value]
    writes = f"instances of {question.target} write the formats of {value}, which {running} misreads without an error"
    if Release(value) > old:
        there = upgrade_path(replace(question, target=newest[-1], upgrade_from=None), rules)
        return "" if there.plain else writes
    by_itself = needed is not None and needed != question.running.minor and Release(value) < Release(needed)
    return f"{writes} or ends at" if by_itself else ""
