"""What the library refused of the settings of a program when its facts were printed, and whether a start takes them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.releases.guard import LEFT_IN, UPGRADE_FROM
from kstreams_runbooks.decide.releases.membership import static_streams_members
from kstreams_runbooks.decide.releases.refusals import refused_together
from kstreams_runbooks.decide.releases.settings import setting_findings, thrown_by_assignor
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue, SettingFinding
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.topology.declaration import Declaration, LibraryRefusal
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

_FACTS = "docs/facts.md, refusals of the library; the library that the facts were printed with"
_ROWS = "plugins/kstreams_runbooks/rules/setting_refusals.yaml, settings.yaml: tried on each release"
# How the place of a setting that was not tried begins.
REFUSED = "refused."
_MOST = 3


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """A start of the plan: a release with the settings of the runbook, and what is known of the program's own.

    `config` are all settings of the start as far as they are known; `whole` whether they are all of them. `refused` is
    what its library refused (None: not tried, for the reason `untried`), `unread` the settings that were not tried.
    `has_stores`: whether a store on disk is in its topology, None if that is not known.
    """

    release: str
    library: str
    config: RunbookSettings
    set_by_runbook: tuple[str, ...] = ()
    whole: bool = False
    refused: tuple[LibraryRefusal, ...] | None = None
    untried: str = ""
    unread: tuple[str, ...] = ()
    has_stores: bool | None = None


def refused_by_library(declared: Declaration, others: Iterable[SettingFinding] = ()) -> Iterator[SettingFinding]:
    """The refusals that the facts have, without those that `others` explain."""
    explained = {one.name for one in others if one.refuse}
    for one in declared.refused or ():
        if not explained & set(one.settings):
            yield _of_library(one, str(declared.library or "the library"))
    for where in declared.not_read:
        if where.startswith(REFUSED):
            name = where.removeprefix(REFUSED)
            yield SettingFinding("settings-not-tried", "info", name, declared.not_read[where], source=_FACTS)


def stores_on_disk(printed: Declaration) -> bool | None:
    """Whether a start has a store on disk, by the facts that its topology command prints; None without a topology."""
    if not printed.was_read or any(where.partition(".")[0] == "topology" for where in printed.not_read):
        return None
    return any(store.on_disk for store in printed.stores.values())


def takes_settings(
    application: str,
    starts: tuple[PlannedStart, ...],
    rules: UpgradePathRules,
    catalogue: SettingCatalogue,
    broker: str = "",
) -> Verdict:
    """Whether the library of each start takes its settings, before an instance is stopped for it.

    Refused by what the library itself refused, and by the rows of its release for the settings that are known.
    Inconclusive if a row depends on the default of a setting that the program may set. Anything else that was not tried
    is a finding for the approver: a start alone would show it. `broker` is the lowest release among the brokers, empty
    if it is not known.
    """
    findings: list[Finding] = []
    for start in starts:
        members = tuple(_members(start, broker))
        refused = (*_refusals(start, rules, catalogue), *(one for one in members if one.refuse))
        if refused:
            reason = f"release {start.release} cannot start: {first_of([one.message for one in refused], _MOST, '; ')}"
            return Verdict(Outcome.REFUSE, (reason,), tuple(_finding(application, one) for one in refused))
        if unknown := tuple(_possible(start, catalogue)):
            reason = (
                f"whether release {start.release} can start is not known, because not all of its settings are: "
                f"{first_of([one.message for one in unknown], _MOST, '; ')}; declare its `config`, or print its facts "
                "(docs/facts.md)"
            )
            return Verdict(Outcome.INCONCLUSIVE, (reason,), tuple(findings))
        shown = (*(_finding(application, one) for one in members), *_open(application, start, rules))
        findings += [one for one in shown if one not in findings]
    return Verdict(Outcome.PROCEED, ("no library refuses the settings that are known",), tuple(findings))


def _refusals(start: PlannedStart, rules: UpgradePathRules, catalogue: SettingCatalogue) -> Iterator[SettingFinding]:
    found: list[SettingFinding] = []
    config = dict(start.config)
    if _is_known(start, rules):
        library = Release.parse(start.library)
        tried = start.refused is not None
        if start.whole:
            found = [
                one for one in setting_findings(config, config, library, library, catalogue, tried=tried) if one.refuse
            ]
        else:
            alone = SettingCatalogue(catalogue.rows, catalogue.effects)
            found = [one for one in setting_findings(config, config, library, library, alone) if one.refuse]
            found += refused_together(config, library, catalogue, whole=False, tried=tried)
        if not any(one.name == UPGRADE_FROM for one in found):
            found += thrown_by_assignor(config.get(UPGRADE_FROM), library, rules)
    declared = Declaration(library=None, refused=start.refused)
    yield from (one for one in refused_by_library(declared, found) if one.refuse)
    yield from found


def _possible(start: PlannedStart, catalogue: SettingCatalogue) -> Iterator[SettingFinding]:
    """Refusals that depend on defaults of settings which the program may set; none if all settings are known."""
    if not start.whole and Release.known(start.library):
        yield from refused_together(dict(start.config), Release.parse(start.library), catalogue)


def _members(start: PlannedStart, broker: str) -> Iterator[SettingFinding]:
    if Release.known(start.library):
        lowest = Release.parse(broker) if broker else None
        config, library = dict(start.config), Release.parse(start.library)
        yield from static_streams_members(config, library, lowest, has_stores=start.has_stores)


def _is_known(start: PlannedStart, rules: UpgradePathRules) -> bool:
    return Release.known(start.library) and Release.parse(start.library) in rules.releases


def _open(application: str, start: PlannedStart, rules: UpgradePathRules) -> Iterator[Finding]:
    # Rows of a known release have judged all settings; a library that was asked for some of them is not done.
    judged = _is_known(start, rules) and start.whole and start.refused is None
    if start.untried and not judged:
        message = (
            f"whether the library of {start.release} takes all settings was not tried: {start.untried}; the settings "
            "that are known were judged by the rows of its release, and a start shows the rest"
        )
        yield Finding("settings-not-tried", "info", application, message, _FACTS)
    for name in start.unread:
        yield Finding("settings-not-tried", "info", name, f"not tried for release {start.release}", _FACTS)
    value = dict(start.config).get(UPGRADE_FROM)
    if value is not None and UPGRADE_FROM not in start.set_by_runbook:
        message = (
            f"the program of release {start.release} itself sets {UPGRADE_FROM}={value}: its instances write the "
            f"formats of {value} until it is removed there"
        )
        yield Finding(LEFT_IN, "warning", application, message, _ROWS)


def _of_library(one: LibraryRefusal, library: str) -> SettingFinding:
    names = ", ".join(one.settings)
    message = (
        f"{library} refuses {names} ({one.by}): {one.exception}, {one.sentence.rstrip('.')}. No instance starts; "
        "correct one of these settings"
    )
    return SettingFinding("setting-refused", "danger", one.settings[0], message, refuse=True, source=_FACTS)


def _finding(application: str, one: SettingFinding) -> Finding:
    return Finding(one.id, one.severity, one.name or application, one.message, one.source or _ROWS)
