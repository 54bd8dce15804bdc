"""Reads a change: its effects on an application, their consequences, and the runbooks to run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.answer import ChangePlan, change_plan
from kstreams_runbooks.decide.change.buffers import NewLimits, new_limits
from kstreams_runbooks.decide.change.code_findings import code_findings
from kstreams_runbooks.decide.change.contradicted import contradicted
from kstreams_runbooks.decide.change.cures import Cure, Runbooks, cures
from kstreams_runbooks.decide.change.defects import change_defects
from kstreams_runbooks.decide.change.effects import Effect, effects
from kstreams_runbooks.decide.change.library import LIBRARY_CHANGED, PATHS, library_findings, with_cleared_state
from kstreams_runbooks.decide.change.rules import Fired, fired, found
from kstreams_runbooks.decide.change.settings import settings_of_release
from kstreams_runbooks.decide.change.unchanged import (
    Asserted,
    asserted,
    code_was_not_read,
    enough,
    other_code,
    same_is_enough,
    unchanged_findings,
)
from kstreams_runbooks.decide.change.unread import with_reasons
from kstreams_runbooks.decide.change.way_back import NOTHING_IN_THE_WAY, WayBack, swapped, way_back
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.prediction import Prediction, predicted
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN, own_settings_not_read
from kstreams_runbooks.decide.comparison.subjects import subjects
from kstreams_runbooks.decide.releases.guard import LEFT_IN, MISREAD
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRule, ChangeRunbook, Subject, Undecided
from kstreams_runbooks.model.topology.declaration import Unchanged
from kstreams_runbooks.model.verdicts import SEVERITIES, Outcome
from kstreams_runbooks.wording import first_of

_Findings = tuple[ChangeFinding, ...]


@dataclass(frozen=True, slots=True)
class ChangeReading:
    """Findings, worst first; undeclared facts; the plan; and the effect on names on cluster and disks.

    `enough` are fields that decide an inconclusive plan if the new version declares them `unchanged`. `asserted` is
    what these and those that it declares state about each operator. `same_enough`: it is decided if both are one build.
    `at_least` are the runbooks of what is certain. `back` is what keeps the old version from starting
    in place of the new one.
    `not_compared` lists facts that neither side gives. `mixed_up`: the two have nothing in common, and are not of one
    application. `cures` are changes of the program that make the plan milder. `limits` are new ones of suppress
    buffers.
    """

    findings: tuple[ChangeFinding, ...]
    undecided: tuple[Undecided, ...]
    plan: ChangePlan
    prediction: Prediction
    effects: tuple[Effect, ...]
    not_compared: tuple[str, ...] = ()
    mixed_up: bool = False
    cures: tuple[Cure, ...] = ()
    limits: tuple[NewLimits, ...] = ()
    enough: tuple[Unchanged, ...] = ()
    asserted: tuple[Asserted, ...] = ()
    same_enough: bool = False
    at_least: tuple[ChangeRunbook, ...] = ()
    back: WayBack = NOTHING_IN_THE_WAY
    defects: tuple[PathFinding, ...] = ()

    @property
    def uncovered(self) -> tuple[ChangeFinding, ...]:
        """Findings for a person: those without a stronger one that covers them."""
        return tuple(finding for finding in self.findings if finding.covered_by is None)

    @property
    def rolls(self) -> bool:
        """Whether a rolling bounce is enough, with no decision needed first."""
        safe = self.plan.runbooks == ("rolling_bounce",) and all(one.severity == "info" for one in self.uncovered)
        return safe and not self.back.loses and not any(one.severity == "danger" for one in self.defects)


def read_change(
    before: Side,
    after: Side,
    rules: tuple[ChangeRule, ...],
    versions: UpgradePathRules,
    broker: Release | None = None,
    catalogue: SettingCatalogue = NOTHING_KNOWN,
) -> ChangeReading:
    """Every consequence of going from one side to the other, with its source, and the runbooks for it.

    Two versions that share nothing are refused: they are not of one application. `broker` is the lowest release among
    the brokers, None if no cluster was read. Without a `catalogue` the settings of the releases judge nothing.
    """
    compared = with_cleared_state(Compared(before, after), versions)
    of_library = library_findings(compared, versions, broker)
    of_settings = settings_of_release(compared, versions, catalogue, broker)

    def with_others(by_rows: _Findings, other: Compared, parts: tuple[Subject, ...]) -> _Findings:
        of_declarations = (*contradicted(other), *unchanged_findings(other.after, parts), *code_findings(other, parts))
        if any(one.id == MISREAD for one in of_settings.findings):
            by_rows = tuple(replace(one, covered_by=MISREAD) if one.id == LEFT_IN else one for one in by_rows)
        return (*by_rows, *of_library.findings, *of_settings.findings, *of_declarations)

    def fired_with(other: Compared) -> Fired:
        parts = subjects(other, catalogue)
        by_rows = fired(parts, rules)
        of_others = (*of_library.undecided, *of_settings.undecided, *other_code(other))
        undecided = with_reasons((*by_rows.undecided, *of_others), other)
        return Fired(with_others(by_rows.findings, other, parts), undecided)

    def found_only(cured: Side) -> Runbooks | None:
        other = replace(compared, after=cured)
        parts = subjects(other, catalogue)
        plan = change_plan(Fired(with_others(found(parts, rules), other, parts), ()))
        return plan.runbooks if plan.verdict is Outcome.PROCEED else None

    all_fired = fired_with(compared)
    plan = change_plan(all_fired)
    if compared.nothing_in_common:
        reason = (
            "the two descriptions have no topic, store or internal topic in common (expected: two versions of one "
            "application); look whether two applications were mixed up"
        )
        plan = ChangePlan(Outcome.REFUSE, (reason,), ())
    findings = sorted(all_fired.findings, key=lambda one: (one.covered_by is not None, SEVERITIES.index(one.severity)))
    prediction = predicted(compared)
    asks = change_plan(Fired(all_fired.findings, ()))
    deciding = enough(all_fired, after, lambda named: fired_with(replace(compared, after=named)), plan.verdict)
    named = after.declared.unchanged
    back = _back(with_cleared_state(swapped(compared), versions), rules, versions, broker, catalogue)
    open_ = fired_with(replace(compared, after=_without_unchanged(after))) if named else all_fired
    return ChangeReading(
        tuple(findings),
        all_fired.undecided,
        plan,
        prediction,
        effects(plan.runbooks, compared, prediction),
        tuple(_not_compared(compared, catalogue)),
        compared.nothing_in_common,
        ()
        if compared.nothing_in_common
        else cures(compared, asks.runbooks if asks.verdict is Outcome.PROCEED else None, found_only),
        () if compared.nothing_in_common else new_limits(compared),
        deciding,
        asserted(open_.undecided, after, named.union(deciding)),
        same_is_enough(before, after, lambda same: fired_with(replace(compared, after=same)), plan.verdict),
        asks.runbooks,
        way_back(compared, all_fired, back, plan.runbooks),
        tuple(change_defects(compared, versions, broker)),
    )


def _back(
    compared: Compared,
    rules: tuple[ChangeRule, ...],
    versions: UpgradePathRules,
    broker: Release | None,
    catalogue: SettingCatalogue,
) -> Fired:
    """What fires in the other direction. A release that does not have the new settings refuses it."""
    try:
        of_library = library_findings(compared, versions, broker).findings
    except BadInput as error:
        name = str(compared.after.declared.library)
        of_library = (ChangeFinding(LIBRARY_CHANGED, "danger", name, str(error), PATHS, (), refuse=True),)
    return Fired((*found(subjects(compared, catalogue), rules), *of_library), ())


def _without_unchanged(side: Side) -> Side:
    """The side without a word of a person about the version before."""
    return replace(side, declared=replace(side.declared, unchanged=frozenset(), named=None))


OF_CODE = "what only code shows (docs/facts.md)"


def _not_compared(compared: Compared, catalogue: SettingCatalogue) -> Iterator[str]:
    """Facts that neither side gives: not part of the compared change, and not checked."""
    before, after = compared.before.declared, compared.after.declared
    if before.config is None and after.config is None:
        yield "settings"
    if before.library is None and after.library is None:
        yield "Kafka Streams release"
    if code_was_not_read(compared):
        yield OF_CODE
    if own := own_settings_not_read(compared, catalogue):
        yield f"settings of the program itself ({first_of(own)})"
