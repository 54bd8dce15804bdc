"""What is known of going from one Kafka Streams release to another: rows of data, each with its public source.

`running`, `target`, `releases` and `brokers` are ranges as `model.versions.within` reads them. `needs` names what an
application has to use for a row to bind (unknown counts as used); empty: always.
"""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Severity

Feature = Literal["foreign_key_joins", "table_aggregations"]
Guarantee = Literal["at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2"]
GroupProtocol = Literal["classic", "streams"]
Duty = Literal["set_upgrade_from", "drain", "clear_state"]

ReleaseRanges = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AcceptedValues:
    """Values of `upgrade.from` that releases take: minors from `lowest` to `highest`, none where both are empty.

    `throws` are ranges of minors that the configuration lets through and the running application dies of.
    """

    releases: ReleaseRanges
    source: str
    lowest: str = ""
    highest: str = ""
    throws: ReleaseRanges = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of `processing.guarantee` or `group.protocol` and the releases that take it."""

    value: str
    releases: ReleaseRanges
    source: str


@dataclass(frozen=True, slots=True)
class UpgradeRule:
    """One row upward; the first that covers a pair and whose `needs` are met decides.

    `upgrade_from` is the value of the first of two bounces, `running` for the running minor. `bridges` are the
    releases that may stand between; `action` is what to do about a refusal.
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

    `upgrade_from` is what is set on the running release before anything else, `target` for the minor to go back to.
    With `same_minor` a row covers only two patches of one minor.
    """

    id: str
    running: ReleaseRanges
    target: ReleaseRanges
    effect: Literal["allow", "refuse"]
    reason: str
    source: str
    needs: tuple[Feature, ...] = ()
    duties: tuple[Duty, ...] = ()
    upgrade_from: str = "target"
    same_minor: bool = False
    action: str = ""


@dataclass(frozen=True, slots=True)
class GuaranteeRule:
    """What happens to `processing.guarantee` between two releases; the first row that covers decides.

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
    """What `group.protocol` allows between two releases."""

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
    """Which brokers `releases` can talk to, with these guarantees and protocols (empty: with any)."""

    id: str
    releases: ReleaseRanges
    brokers: ReleaseRanges
    effect: Literal["refuse", "warn"]
    reason: str
    source: str
    guarantees: tuple[Guarantee, ...] = ()
    protocols: tuple[GroupProtocol, ...] = ()


@dataclass(frozen=True, slots=True)
class AvoidRule:
    """A release not to go to. `refuse`: never, for who uses what the row names; `warn`: a person decides.

    A bridge is never a release that any row names.
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
    """Something that a release brought and that a person has to weigh: the API, behaviour, or the topology itself."""

    id: str
    since: str
    kind: Literal["api", "behaviour", "topology"]
    severity: Severity
    message: str
    source: str


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
