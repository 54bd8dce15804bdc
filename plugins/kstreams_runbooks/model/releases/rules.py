"""Rules for going from one Kafka Streams release to another: rows of data, each with its public source.

`running`, `target`, `releases` and `brokers` are ranges as `model.releases.release.within` reads them. `needs` names
the features that an application has to use for a row to bind (unknown counts as used); empty: always.
"""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Severity

Feature = Literal["foreign_key_joins", "table_aggregations"]
Guarantee = Literal["at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2"]
GroupProtocol = Literal["classic", "streams"]
Duty = Literal["set_upgrade_from", "drain", "clear_state", "keep_state"]

ReleaseRanges = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AcceptedValues:
    """Values of `upgrade.from` that releases accept: minors from `lowest` to `highest`, none if both are empty.

    `throws` are ranges of minors that the configuration accepts and that make the running application fail.
    """

    releases: ReleaseRanges
    source: str
    lowest: str = ""
    highest: str = ""
    throws: ReleaseRanges = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of `processing.guarantee` or `group.protocol` and the releases that accept it."""

    value: str
    releases: ReleaseRanges
    source: str


@dataclass(frozen=True, slots=True)
class UpgradeRule:
    """One row upward; the first that covers a pair and whose `needs` are met decides.

    `upgrade_from` is the value of the first of two bounces, `running` for the running minor. `bridges` are possible
    releases in between; `action` is the next action after a refusal.
    """

    id: str
    running: ReleaseRanges
    target: ReleaseRanges
    effect: Literal["one_bounce", "two_bounces", "bridge", "refuse"]
    reason: str
    source: str
    needs: tuple[Feature, ...] = ()
    upgrade_from: str = "running"
    bridges: ReleaseRanges = ()
    action: str = ""


@dataclass(frozen=True, slots=True)
class DowngradeRule:
    """One row downward; every row that covers a pair and whose `needs` are met adds its duties, one may refuse.

    `upgrade_from` is set on the running release before any other step, `target` for the minor to go back to.
    `keep_state` keeps local state, which is cleared without it for another minor: a test opened it.
    With `same_minor` a row covers only two patches of one minor. A row that warns allows nothing by itself.
    """

    id: str
    running: ReleaseRanges
    target: ReleaseRanges
    effect: Literal["allow", "warn", "refuse"]
    reason: str
    source: str
    needs: tuple[Feature, ...] = ()
    duties: tuple[Duty, ...] = ()
    upgrade_from: str = "target"
    same_minor: bool = False
    action: str = ""


@dataclass(frozen=True, slots=True)
class GuaranteeRule:
    """The change of `processing.guarantee` between two releases; the first row that covers decides.

    `switch_first`: set to `to` on the running release, a rolling bounce of its own. `switch_in_bounce`: set in the
    bounce that brings the other release. `bridge`: as in `UpgradeRule`.
    """

    id: str
    running: ReleaseRanges
    target: ReleaseRanges
    guarantees: tuple[Guarantee, ...]
    effect: Literal["switch_first", "switch_in_bounce", "bridge", "refuse", "keep"]
    reason: str
    source: str
    to: Guarantee | None = None
    bridges: ReleaseRanges = ()
    action: str = ""


@dataclass(frozen=True, slots=True)
class ProtocolRule:
    """Values of `group.protocol` that are possible between two releases."""

    id: str
    running: ReleaseRanges
    target: ReleaseRanges
    protocols: tuple[GroupProtocol, ...]
    effect: Literal["refuse", "inform"]
    reason: str
    source: str
    action: str = ""


@dataclass(frozen=True, slots=True)
class BrokerRule:
    """Brokers with which `releases` work, with these guarantees and protocols (empty: with any).

    `setting` is what a person has to set before an instance starts on one of them, if the row only warns.
    """

    id: str
    releases: ReleaseRanges
    brokers: ReleaseRanges
    effect: Literal["refuse", "warn"]
    reason: str
    source: str
    guarantees: tuple[Guarantee, ...] = ()
    protocols: tuple[GroupProtocol, ...] = ()
    setting: str = ""


@dataclass(frozen=True, slots=True)
class AvoidRule:
    """A release to avoid. `refuse`: always, for applications that use the named features; `warn`: a person decides.

    A release that any row names is never a bridge.
    """

    id: str
    releases: ReleaseRanges
    effect: Literal["refuse", "warn"]
    fixed_in: tuple[str, ...]
    reason: str
    source: str
    needs: tuple[Feature, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A change in a release that a person has to assess: the API, behaviour, or the topology itself.

    `setting` is what every application that has not set it has to set before it starts on the release. `about` is what
    an application has to have for the change to matter; empty for every application.
    """

    id: str
    since: str
    kind: Literal["api", "behaviour", "topology"]
    severity: Severity
    message: str
    source: str
    setting: str = ""
    about: Literal["", "stores", "outer_joins", "several_inputs"] = ""


@dataclass(frozen=True, slots=True)
class UpgradePathRules:
    """All rows, and every release of Kafka Streams that they know, oldest first."""

    releases: tuple[Release, ...]
    upgrade_from: tuple[AcceptedValues, ...]
    guarantees: tuple[Setting, ...]
    protocols: tuple[Setting, ...]
    upgrades: tuple[UpgradeRule, ...]
    downgrades: tuple[DowngradeRule, ...]
    guarantee_changes: tuple[GuaranteeRule, ...]
    protocol_changes: tuple[ProtocolRule, ...]
    brokers: tuple[BrokerRule, ...]
    avoid: tuple[AvoidRule, ...]
    changes: tuple[Change, ...]
