"""What the release of the new side does with its settings: a side that cannot start is refused."""

from collections.abc import Iterator

from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.setting_facts import GUARANTEE
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from, broker_rows
from kstreams_runbooks.decide.releases.settings import setting_findings
from kstreams_runbooks.model.releases.path import PathQuestion
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue, SettingFinding
from kstreams_runbooks.model.topology.change import ChangeFinding

_PRINTED = "ConfigDef of the releases (Maven Central); plugins/kstreams_runbooks/rules/settings.yaml"
_UPGRADE_FROM, _PROTOCOL = "upgrade.from", "group.protocol"


def settings_of_release(
    compared: Compared, rules: UpgradePathRules, catalogue: SettingCatalogue, broker: Release | None = None
) -> Fired:
    """Settings that the new side's release refuses, lacks, or gives another default.

    None without its settings or its release, and for a release that the rules do not know.
    """
    before, after = compared.before.declared, compared.after.declared
    if not catalogue.rows or after.config is None or after.library not in rules.releases:
        return Fired((), ())
    known = before.library if before.library in rules.releases else None
    found = list(setting_findings(before.config, after.config, known, after.library, catalogue))
    if not any(one.name == _UPGRADE_FROM for one in found):
        found += _throwing(after.config.get(_UPGRADE_FROM), after.library, rules)
    if before.library != after.library and (before.config or {}).get(GUARANTEE) == after.config.get(GUARANTEE):
        # The upgrade path switches a guarantee that stays as it is, before the release comes or with it.
        found = [one for one in found if one.name != GUARANTEE]
    findings = [_finding(one, _PRINTED) for one in found]
    if before.library == after.library and after.config.get(_PROTOCOL, "").lower() == "streams":
        findings += _without_broker(after.library, broker, rules)
    return Fired(tuple(findings), ())


def _throwing(value: str | None, target: Release, rules: UpgradePathRules) -> Iterator[SettingFinding]:
    """A value of upgrade.from that the configuration takes and the assignor does not."""
    accepted = accepted_upgrade_from(target, rules)
    if value is not None and accepted and value not in accepted:
        message = (
            f"{target} takes {_UPGRADE_FROM}={value} and then throws when tasks are assigned (it runs with "
            f"{', '.join(accepted)}): no instance starts; correct it"
        )
        yield SettingFinding("setting-refused", "danger", _UPGRADE_FROM, message, refuse=True)


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


def _finding(one: SettingFinding, source: str) -> ChangeFinding:
    return ChangeFinding(one.id, one.severity, one.name, one.message, source, (), refuse=one.refuse)
