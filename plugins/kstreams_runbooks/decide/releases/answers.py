"""Building an answer: refusals, reasons against the target itself, and the verdict in one sentence."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.releases.defects import refuses
from kstreams_runbooks.decide.releases.rules import broker_rows
from kstreams_runbooks.model.releases.path import Leg, PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import Guarantee, GuaranteeRule, ProtocolRule, UpgradePathRules
from kstreams_runbooks.model.verdicts import Outcome

NO_RULE = "no published rule covers this pair; choose another target"
# What a summary names of a downgrade that an older release does not survive in place.
DRAIN, CLEAR_STATE = "drain", "clear state"
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}
NOTHING_PUBLISHED = "Kafka Streams Upgrade Guide and API Changes: it has nothing on this"


def refusal(
    question: PathQuestion, row_id: str, why: str, source: str, findings: Iterable[PathFinding] = ()
) -> UpgradePath:
    """No path: `why` ends with the alternative action."""
    danger = PathFinding(row_id, "danger", question.pair, why, source)
    return UpgradePath(Outcome.REFUSE, f"{question.pair}: {why}", findings=(danger, *findings))


def refusal_of_row(question: PathQuestion, row_id: str, reason: str, action: str, source: str) -> UpgradePath:
    """No path because a row refuses."""
    return refusal(question, row_id, f"{reason.rstrip('.')}; {action}", source)


def path_of(
    question: PathQuestion, legs: tuple[Leg, ...], findings: Iterable[PathFinding], bridge: str | None = None
) -> UpgradePath:
    """A path that may be followed."""
    path = UpgradePath(Outcome.PROCEED, "", legs, bridge, tuple(dict.fromkeys(findings)))
    return UpgradePath(Outcome.PROCEED, f"{question.pair}: {summary(path)}", legs, bridge, path.findings)


def summary(path: UpgradePath) -> str:
    """The summary of a path in a few words, its bounces in their order."""
    if path.verdict is not Outcome.PROCEED:
        return f"{path.verdict} ({', '.join(one.id for one in path.findings if one.severity == 'danger')})"
    bounces = path.bounces
    rolled = len([one for one in bounces if not one.at_once])
    parts = ["one rolling bounce" if rolled == 1 else f"{rolled} rolling bounces"] if rolled else []
    if path.bridge:
        parts.append(f"through {path.bridge}")
    for number, one in enumerate(bounces, 1):
        sets = [f"with upgrade.from={one.upgrade_from}"] if one.upgrade_from else []
        sets += [f"switching to {one.processing_guarantee}"] if one.processing_guarantee else []
        if sets:
            which = f"{_ORDINALS.get(number, f'bounce {number}')} " if rolled > 1 else ""
            parts.append(f"{which}{' and '.join(sets)}")
    duties = {duty for one in bounces for duty in one.before}
    parts += [DRAIN] if "drain" in duties else []
    parts += ["all instances down at once"] if rolled < len(bounces) else []
    parts += [CLEAR_STATE] if "clear_state" in duties else []
    return ", ".join(parts)


def target_refused(question: PathQuestion, change: GuaranteeRule | None, rules: UpgradePathRules) -> UpgradePath | None:
    """Whether the target is impossible for this application, by the first objection to it."""
    return next(objections(question, change, rules), None)


def objections(question: PathQuestion, change: GuaranteeRule | None, rules: UpgradePathRules) -> Iterator[UpgradePath]:
    """A refusal for each row against the target itself: its defects, its protocol, its brokers."""
    for defect in rules.defects:
        if refuses(defect, question.target, question.known):
            instead = f"go to {' or '.join(defect.first_fixed)} instead, where it is fixed"
            yield refusal_of_row(question, defect.id, defect.reason, instead, defect.source)
    if refused := protocol_refused(question, rules):
        yield refused
    for row in broker_rows(question.target, guarantee_after(question, change), question, rules):
        if row.effect == "refuse":
            action = "bring the brokers there first" if _too_old(question, row.brokers) else "choose a newer release"
            why = f"{row.reason} The brokers are {question.broker}"
            yield refusal_of_row(question, row.id, why, action, row.source)


def about_target(question: PathQuestion, rules: UpgradePathRules) -> Iterator[PathFinding]:
    """Every row about the target, for an answer without a path: a refusal by one row does not hide the others."""
    change = guarantee_change(question, rules)
    for refused in objections(question, change, rules):
        yield from refused.findings
    if change is not None and change.effect == "refuse":
        yield from refusal_of_row(question, change.id, change.reason, change.action, change.source).findings
    yield from guarantee_finding(question, change)
    yield from warnings_of(question, change, rules)


def protocol_refused(question: PathQuestion, rules: UpgradePathRules) -> UpgradePath | None:
    """Whether the group protocol keeps the application from the target."""
    row = protocol_row(question, rules)
    if row is None or row.effect != "refuse":
        return None
    return refusal_of_row(question, row.id, row.reason, row.action, row.source)


def _too_old(question: PathQuestion, brokers: tuple[str, ...]) -> bool:
    return question.broker is not None and any(
        low and question.broker < Release(low) for low, _, _ in (text.partition("..") for text in brokers)
    )


def warnings_of(question: PathQuestion, change: GuaranteeRule | None, rules: UpgradePathRules) -> Iterator[PathFinding]:
    """Facts about the target for a person to assess: rows that only warn or inform."""
    for row in broker_rows(question.target, guarantee_after(question, change), question, rules):
        if row.effect == "warn" and not within(question.running, row.releases):
            yield PathFinding(row.id, "warning", "broker", row.reason, row.source)
    protocol = protocol_row(question, rules)
    if protocol is not None and protocol.effect == "inform":
        yield PathFinding(protocol.id, "info", question.pair, protocol.reason, protocol.source)


def protocol_row(question: PathQuestion, rules: UpgradePathRules) -> ProtocolRule | None:
    """The row of the group protocol between the two releases."""
    return next(
        (
            row
            for row in rules.protocol_changes
            if question.group_protocol in row.protocols
            and within(question.running, row.running)
            and within(question.target, row.target)
        ),
        None,
    )


def guarantee_change(question: PathQuestion, rules: UpgradePathRules) -> GuaranteeRule | None:
    """The row of the processing guarantee between the two releases, None if it stays as it is."""
    return next(
        (
            row
            for row in rules.guarantee_changes
            if question.guarantee in row.guarantees
            and within(question.running, row.running)
            and within(question.target, row.target)
        ),
        None,
    )


def guarantee_after(question: PathQuestion, change: GuaranteeRule | None) -> Guarantee | None:
    """The processing guarantee on the target."""
    return question.guarantee if change is None or change.to is None else change.to


def guarantee_finding(question: PathQuestion, change: GuaranteeRule | None) -> Iterator[PathFinding]:
    """A person's information on a change of the processing guarantee, and the DAG that makes it."""
    if change is not None and change.effect != "refuse":
        runbook = {"switch_first": "rolling_bounce", "switch_in_bounce": "library_bump"}.get(change.effect)
        if runbook is not None and question.target < question.running:
            runbook = "library_bump"
        name = f"processing.guarantee={question.guarantee}"
        yield PathFinding(change.id, "warning", name, change.reason, change.source, runbook)
