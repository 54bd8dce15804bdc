"""What the release of the new side does with its settings: a side that cannot start is refused."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.change.library import question_of
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.setting_facts import GUARANTEE
from kstreams_runbooks.decide.releases.guard import MISREAD, UPGRADE_FROM, judged_value
from kstreams_runbooks.decide.releases.membership import static_streams_members
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import broker_rows
from kstreams_runbooks.decide.releases.settings import setting_findings, thrown_by_assignor
from kstreams_runbooks.decide.releases.tried import refused_by_library
from kstreams_runbooks.model.releases.path import PathQuestion
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue, SettingFinding
from kstreams_runbooks.model.topology.change import ChangeFinding

_PRINTED = "ConfigDef of the releases (Maven Central); plugins/kstreams_runbooks/rules/settings.yaml"
_PROTOCOL = "group.protocol"


def settings_of_release(
    compared: Compared, rules: UpgradePathRules, catalogue: SettingCatalogue, broker: Release | None = None
) -> Fired:
    """Settings that the new side's release refuses, lacks, or gives another default.

    What its library refused when the facts were printed counts with any release. The rest needs its settings, and a
    release that the rules know.
    """
    before, after = compared.before.declared, compared.after.declared
    known = after.config is not None and after.library in rules.releases
    found: list[SettingFinding] = []
    if catalogue.rows and known and after.config is not None and after.library is not None:
        running = before.library if before.library in rules.releases else None
        tried = after.refused is not None
        found = list(setting_findings(before.config, after.config, running, after.library, catalogue, tried=tried))
        if not any(one.name == UPGRADE_FROM for one in found):
            found += thrown_by_assignor(after.config.get(UPGRADE_FROM), after.library, rules)
    found = [*refused_by_library(after, found), *found]
    if before.library != after.library and (before.config or {}).get(GUARANTEE) == (after.config or {}).get(GUARANTEE):
        # The upgrade path switches a guarantee that stays as it is, before the release comes or with it.
        found = [one for one in found if one.name != GUARANTEE]
    if after.config is not None and after.library is not None:
        found += static_streams_members(after.config, after.library, broker, has_stores=_has_stores(compared))
    findings = [_finding(one) for one in found]
    if known and after.library is not None:
        findings += _misread(compared, rules, broker)
        if before.library == after.library and (after.config or {}).get(_PROTOCOL, "").lower() == "streams":
            findings += _without_broker(after.library, broker, rules)
    return Fired(tuple(findings), ())


def _has_stores(compared: Compared) -> bool:
    """Whether the new side may have a store on disk: each may be, unless it is declared to be in memory."""
    stores = compared.after.declared.stores
    return any(stores[name].on_disk if name in stores else True for name in compared.after.topology.stores)


def _misread(compared: Compared, rules: UpgradePathRules, broker: Release | None) -> Iterator[ChangeFinding]:
    """A value of upgrade.from with which the new instances write what the old ones misread.

    One that is refused is reported as any refused setting, one that is left in by a row.
    """
    old, new = compared.before.declared.library, compared.after.declared.library
    value = (compared.after.declared.config or {}).get(UPGRADE_FROM)
    if value is None or old is None or new is None or old == new or old not in rules.releases:
        return
    # Formats do not depend on the brokers, whose release may be unknown.
    question = replace(question_of(compared.before, old, new), broker=broker or rules.releases[-1])
    for one in judged_value(value, question, upgrade_path(question, rules), rules):
        if one.id == MISREAD:
            yield ChangeFinding(one.id, one.severity, one.object, one.message, one.source, (), refuse=True)


def _without_broker(library: Release, broker: Release | None, rules: UpgradePathRules) -> Iterator[ChangeFinding]:
    """Brokers that do not have the streams rebalance protocol; between two releases the upgrade path reports them."""
    question = PathQuestion(library, library, broker=broker, group_protocol="streams")
    for row in broker_rows(library, None, question, rules):
        if row.protocols:
            refuse = row.effect == "refuse"
            message = f"{_PROTOCOL} is streams: {row.reason} The brokers are {broker}"
            yield ChangeFinding(
                row.id, "danger" if refuse else "warning", _PROTOCOL, message, row.source, (), refuse=refuse
            )


def _finding(one: SettingFinding) -> ChangeFinding:
    return ChangeFinding(one.id, one.severity, one.name, one.message, one.source or _PRINTED, (), refuse=one.refuse)
