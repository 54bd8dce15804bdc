"""A plan is a value with a digest: what a run will do, and the facts that its steps were chosen from.

It never binds offsets, lag, starts or times, so that a rerun of an unchanged world makes the same digest.
"""

import hashlib
import json
from dataclasses import asdict, dataclass

from kstreams_runbooks.model.verdicts import Finding


@dataclass(frozen=True, slots=True)
class Bounce:
    """One rolling bounce: every instance ends on `release` with exactly `settings` set by the runbook."""

    number: int
    release: str
    settings: tuple[tuple[str, str], ...]

    @property
    def sentence(self) -> str:
        """What this bounce does, for a person."""
        extra = ", ".join(f"{key}={value}" for key, value in self.settings)
        return (
            f"bounce {self.number}: {self.release} with {extra}" if extra else f"bounce {self.number}: {self.release}"
        )


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What the steps were chosen from; drift in any of it makes another plan."""

    group_type: str
    topics: tuple[tuple[str, str, int], ...]
    instances: tuple[str, ...]
    releases_at_start: tuple[tuple[str, str], ...]
    static_membership: bool
    code: str


@dataclass(frozen=True, slots=True)
class InstanceCost:
    """What bouncing one instance costs: seconds without processing of its partitions, and why."""

    instance: str
    gap_s: tuple[int, int]
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do. `limits` are name and value, in the units of the fleet declaration."""

    runbook: str
    application: str
    cluster: str
    change: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, float], ...]
    bounces: tuple[Bounce, ...]
    facts: PlanFacts
    costs: tuple[InstanceCost, ...]
    findings: tuple[Finding, ...]
    undo: tuple[str, ...]

    def limit(self, name: str) -> float:
        """Value of one limit."""
        return dict(self.limits)[name]

    def bounce(self, number: int) -> Bounce | None:
        """The numbered bounce, None where this path does not need it."""
        return next((bounce for bounce in self.bounces if bounce.number == number), None)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 over the canonical JSON of what binds.

        Costs, findings and undo lines explain the plan and may carry measured figures: they do not bind.
        """
        binding = {name: value for name, value in asdict(self).items() if name not in {"costs", "findings", "undo"}}
        text = json.dumps(binding, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
