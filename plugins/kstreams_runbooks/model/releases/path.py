"""The question for the path from one release to another, and its answer: legs of bounces, with their reasons."""

from dataclasses import dataclass
from typing import Literal, get_args

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import DefectFacts, Feature, GroupProtocol, Guarantee
from kstreams_runbooks.model.verdicts import Outcome, Severity

YesNoUnknown = Literal["yes", "no", "unknown"]
Before = Literal["drain", "clear_state"]
LegRunbook = Literal["library_bump", "rolling_bounce"]


@dataclass(frozen=True, slots=True)
class PathQuestion:
    """The running release and the target. None is unknown; unknown joins and aggregations count as used.

    `upgrade_from` is the value already set on every instance: an unfinished downgrade needs it to continue.
    """

    running: Release
    target: Release
    broker: Release | None = None
    guarantee: Guarantee | None = None
    foreign_key_joins: YesNoUnknown = "unknown"
    table_aggregations: YesNoUnknown = "unknown"
    group_protocol: GroupProtocol | None = None
    upgrade_from: str | None = None

    @property
    def known(self) -> DefectFacts:
        """The facts on which known defects depend, as far as a question has them."""
        given = {"guarantee": self.guarantee, "protocol": self.group_protocol}
        uses = {name: "yes" if name in self.uses else "no" for name in get_args(Feature)}
        return {name: (value,) for name, value in {**given, **uses}.items() if value}

    @property
    def uses(self) -> frozenset[Feature]:
        """Features that are used, or whose use is unknown."""
        used: set[Feature] = set()
        if self.foreign_key_joins != "no":
            used.add("foreign_key_joins")
        if self.table_aggregations != "no":
            used.add("table_aggregations")
        return frozenset(used)

    @property
    def pair(self) -> str:
        """`3.4.1 to 4.3.1`."""
        return f"{self.running} to {self.target}"


@dataclass(frozen=True, slots=True)
class PathBounce:
    """Every instance ends on `target`, one after another, or (`at_once`) all of them together while all are down.

    `upgrade_from` is set in this bounce and in no other (None: unset). `processing_guarantee` is None if the bounce
    does not change it. `before`: `drain` comes before the first instance is stopped, `clear_state` between stop and
    start of each.
    """

    target: str
    upgrade_from: str | None = None
    processing_guarantee: Guarantee | None = None
    before: tuple[Before, ...] = ()
    at_once: bool = False

    @property
    def plain(self) -> bool:
        """Whether it only swaps the library, one instance after another."""
        return self == PathBounce(self.target)


@dataclass(frozen=True, slots=True)
class Leg:
    """One or two bounces by one run of one runbook: to another release, or to a setting on the running one.

    One run performs all legs of a path to an older release, and starts the last one with every instance down.
    """

    runbook: LegRunbook
    target: str
    bounces: tuple[PathBounce, ...]


@dataclass(frozen=True, slots=True)
class PathFinding:
    """One row that fired. `runbook` is the DAG that performs the action, None if no DAG does."""

    id: str
    severity: Severity
    object: str
    message: str
    source: str
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class UpgradePath:
    """The answer: `reason` is the verdict in one sentence, `bridge` the release in between, None without one."""

    verdict: Outcome
    reason: str
    legs: tuple[Leg, ...] = ()
    bridge: str | None = None
    findings: tuple[PathFinding, ...] = ()

    @property
    def bounces(self) -> tuple[PathBounce, ...]:
        """All bounces in order; none unless the verdict is proceed."""
        return tuple(bounce for leg in self.legs for bounce in leg.bounces)

    @property
    def plain(self) -> bool:
        """Whether it is a single rolling bounce without any other step."""
        return len(self.bounces) == 1 and self.bounces[0].plain
