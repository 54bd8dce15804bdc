"""The question which way leads from one release to another, and its answer: legs of bounces, with their reasons."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import Feature, GroupProtocol, Guarantee
from kstreams_runbooks.model.verdicts import Outcome, Severity

YesNoUnknown = Literal["yes", "no", "unknown"]
Before = Literal["drain", "clear_state"]
LegRunbook = Literal["library_bump", "rolling_bounce"]


@dataclass(frozen=True, slots=True)
class PathQuestion:
    """What an application runs and where it shall go. None is not known; unknown joins and aggregations count as yes.

    `upgrade_from` is what every instance has set already: a downgrade that is half way needs it to go on.
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
    def uses(self) -> frozenset[Feature]:
        """Features that are used, or not known not to be."""
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
    """Every instance, one after another, ends on `target`.

    `upgrade_from` is set in this bounce and in no other (None: unset). `processing_guarantee` is None where the bounce
    does not change it. `before`: `drain` comes before the first instance is stopped, `clear_state` between stop and
    start of each.
    """

    target: str
    upgrade_from: str | None = None
    processing_guarantee: Guarantee | None = None
    before: tuple[Before, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it does nothing but swap the library."""
        return self.upgrade_from is None and self.processing_guarantee is None and not self.before


@dataclass(frozen=True, slots=True)
class Leg:
    """One or two bounces that one run of one runbook drives: to another release, or to a setting on the running one."""

    runbook: LegRunbook
    target: str
    bounces: tuple[PathBounce, ...]


@dataclass(frozen=True, slots=True)
class PathFinding:
    """One row that fired. `runbook` is the DAG that does what it asks for, None where there is none."""

    id: str
    severity: Severity
    object: str
    message: str
    source: str
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class UpgradePath:
    """The answer: `reason` is the verdict in one sentence, `bridge` the release that stands between, if one does."""

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
        """Whether it is one rolling bounce with nothing else to do."""
        return len(self.bounces) == 1 and self.bounces[0].plain
