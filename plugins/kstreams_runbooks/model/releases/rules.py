"""Rules for going from one Kafka Streams release to another: rows of data, each with its public source.

`running`, `target`, `releases` and `brokers` are ranges as `model.releases.release.within` reads them. `needs` names
the features that an application has to use for a row to bind (unknown counts as used); empty: always.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Severity

Feature = Literal["foreign_key_joins", "table_aggregations"]
Guarantee = Literal["at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2"]
GroupProtocol = Literal["classic", "streams"]
Duty = Literal["set_upgrade_from", "drain", "clear_state", "keep_state"]

DefectTime = Literal["going_to", "leaving", "while_running", "at_a_kill"]
DefectEffect = Literal[
    "refuse",
    "warn",
    "no_stop_while_restoring",
    "clear_state_before_start",
    "roll_all_at_once",
    "expect_full_restore",
    "never_pause",
]

_YES_NO: Final = ("yes", "no")
# The facts of an application on which defects hang, each with its values.
DEFECT_FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "guarantee": get_args(Guarantee),
    "protocol": get_args(GroupProtocol),
    "stateful": _YES_NO,
    "stores": ("persistent", "in_memory", "none"),
    "standbys": _YES_NO,
    "caching": _YES_NO,
    "foreign_key_joins": _YES_NO,
    "global_stores": _YES_NO,
    "outer_joins": _YES_NO,
    "replaces_threads": _YES_NO,
    "restores_from_inputs": _YES_NO,
    "state_cleanup_age": _YES_NO,
    "stream_time_punctuation": _YES_NO,
    "table_aggregations": _YES_NO,
    "versioned_stores": _YES_NO,
}
# What is known of an application: a fact with every value that it may have; a fact that is not there is not known.
DefectFacts = Mapping[str, tuple[str, ...]]

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
class Defect:
    """A known defect of releases of Kafka Streams and its clients, or (`of` broker) of the brokers.

    `when` it bites, what `needs` an application has to meet (fact: the values with which it bites, see DEFECT_FACTS),
    what it does to `data`, what is done differently (`effects`; `action` in the row's own words), and how far it is
    proven. `first_fixed` are the first releases without it, or `none`.
    """

    id: str
    releases: ReleaseRanges
    when: tuple[DefectTime, ...]
    effects: tuple[DefectEffect, ...]
    data: Literal["lost", "doubled", "wrong", "kept"]
    first_fixed: tuple[str, ...]
    reason: str
    proof: Literal["tried", "read", "reported"]
    source: str
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    action: str = ""
    of: Literal["library", "broker"] = "library"

    @property
    def is_costly(self) -> bool:
        """Whether data suffers unless something is done differently."""
        return self.data != "kept" and self.effects != ("warn",)

    @property
    def shuns(self) -> bool:
        """Whether a release that has it is never a bridge."""
        return "refuse" in self.effects or ("warn" in self.effects and "going_to" in self.when)


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
    defects: tuple[Defect, ...]
    changes: tuple[Change, ...]
