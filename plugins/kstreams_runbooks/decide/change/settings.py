"""What the release of the new side does with its settings and its classes: a side that cannot start is refused."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.change.library import question_of
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.setting_facts import GUARANTEE, protocol_of
from kstreams_runbooks.decide.releases.guard import MISREAD, UPGRADE_FROM, judged_value
from kstreams_runbooks.decide.releases.links import link_findings
from kstreams_runbooks.decide.releases.membership import static_streams_members
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import broker_rows
from kstreams_runbooks.decide.releases.settings import setting_findings, thrown_by_assignor
from kstreams_runbooks.decide.releases.tried import refused_by_library
from kstreams_runbooks.model.releases.path import PathQuestion
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import GroupProtocol, UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue, SettingFinding
from kstreams_runbooks.model.topology.change import ChangeFinding, Undecided, Undeclared

_PRINTED = "ConfigDef of the releases (Maven Central); plugins/kstreams_runbooks/rules/settings.yaml"
_PROTOCOL = "group.protocol"
_STREAMS: GroupProtocol = "streams"


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
        found = [_switched(one) if one.name == GUARANTEE else one for one in found]
    if after.config is not None and after.library is not None:
        found += static_streams_members(after.config, after.library, broker, has_stores=_has_stores(compared))
    findings = [_finding(one) for one in found]
    # No refusal: a runbook refuses it, and takes a reason to go on (decide/releases/links.py).
    links = link_findings(after.unlinked or (), "the new version")
    findings += [ChangeFinding(one.id, one.severity, one.object, one.message, one.source, ()) for one in links]
    if known and after.library is not None:
        findings += _misread(compared, rules, broker)
        comes = before.config is None or protocol_of(before) != _STREAMS
        if protocol_of(after) == _STREAMS and (comes or before.library == after.library):
            findings += _without_broker(after.library, broker, rules, comes=comes)
    unjudged = () if after.library is not None else tuple(_of_any_release(compared, rules, catalogue))
    return Fired(tuple(findings), unjudged)


def _switched(one: SettingFinding) -> SettingFinding:
    """A guarantee that the new release does not have, and that library_bump switches."""
    if not one.refuse:
        return one
    message = (
        f"{one.message.partition(': no instance')[0]}: library_bump sets exactly_once_v2 over it; write that into the "
        "configuration of the new release too, or a start without the runbook's setting fails"
    )
    return SettingFinding("guarantee-to-be-switched", "warning", one.name, message, source=one.source)


def _of_any_release(compared: Compared, rules: UpgradePathRules, catalogue: SettingCatalogue) -> Iterator[Undecided]:
    """New settings that some release refuses, while the release is not known."""
    before, after = compared.before.declared, compared.after.declared
    if after.config is None or not catalogue.rows:
        return
    refusing: dict[str, list[Release]] = {}
    for release in rules.releases:
        runs = set(_refused(before.config or {}, release, catalogue))
        for name in _refused(after.config, release, catalogue):
            if name not in runs:
                refusing.setdefault(name, []).append(release)
    for name, releases in sorted(refusing.items()):
        which = f"{releases[0]} to {releases[-1]} refuse" if len(releases) > 1 else f"{releases[0]} refuses"
        who = "every release refuses" if len(releases) == len(rules.releases) else which
        asked = Undeclared(
            f"library of the new version: {who} {name}={after.config.get(name, '(the default)')}", value=True
        )
        yield Undecided("setting-refused", "danger", name, (asked,), (), refuse=True)


def _refused(config: Mapping[str, str], release: Release, catalogue: SettingCatalogue) -> Iterator[str]:
    found = setting_findings(config, config, release, release, catalogue)
    return (one.name for one in found if one.refuse)


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


def _without_broker(
    library: Release, broker: Release | None, rules: UpgradePathRules, *, comes: bool
) -> Iterator[ChangeFinding]:
    """Brokers that do not have the streams rebalance protocol, or may not: a group that has it shows that they do.

    Between two releases of a group that has it the upgrade path reports them. `comes`: the change brings the protocol.
    """
    if broker is None:
        for row in rules.brokers:
            if comes and _STREAMS in row.protocols and within(library, row.releases):
                message = (
                    f"{row.reason} Their release is not known: older ones refuse each member, which ends in ERROR; "
                    "plan with --application, which reads it"
                )
                yield ChangeFinding(row.id, "warning", _PROTOCOL, message, row.source, ())
        return
    question = PathQuestion(library, library, broker=broker, group_protocol=_STREAMS)
    for row in broker_rows(library, None, question, rules):
        if row.protocols:
            refuse = row.effect == "refuse"
            message = f"{_PROTOCOL} is streams: {row.reason} The brokers are {broker}"
            yield ChangeFinding(
                row.id, "danger" if refuse else "warning", _PROTOCOL, message, row.source, (), refuse=refuse
            )


def _finding(one: SettingFinding) -> ChangeFinding:
    return ChangeFinding(one.id, one.severity, one.name, one.message, one.source or _PRINTED, (), refuse=one.refuse)
