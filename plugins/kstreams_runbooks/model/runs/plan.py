"""A plan is a value with a digest: what a run will do, and the facts that its steps were chosen from.

It never binds offsets, lag, starts or times, so that a rerun of an unchanged world makes the same digest.
"""

import hashlib
import json
from dataclasses import asdict, dataclass

from kstreams_runbooks.model.verdicts import Finding

_EXPLAINING = frozenset({"costs", "findings", "undo", "title", "worst_case", "then"})


def deployed(release: str, settings: tuple[tuple[str, str], ...]) -> str:
    """Release and settings, for a person."""
    text = ", ".join(f"{key}={value}" for key, value in settings)
    return f"{release} with {text}" if text else release


@dataclass(frozen=True, slots=True)
class Bounce:
    """One step of a plan: its instances end on `release` with exactly `settings` set by the runbook.

    `library` is the Kafka Streams release inside `release`, empty where the release is named after it. `instances` are
    the ones it takes, empty for all of them. With `clear_state` local state is deleted between stop and start; with
    `after_drain` what lies in the repartition topics is read to its end before the first instance is stopped.
    """

    number: int
    release: str
    settings: tuple[tuple[str, str], ...]
    library: str = ""
    instances: tuple[str, ...] = ()
    clear_state: bool = False
    after_drain: bool = False

    @property
    def version(self) -> str:
        """The Kafka Streams release that an instance reports once it is there."""
        return self.library or self.release

    def takes(self, instance: str) -> bool:
        """Whether an instance is one of its own."""
        return not self.instances or instance in self.instances

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)

    @property
    def sentence(self) -> str:
        """What this bounce does, for a person."""
        return (
            f"bounce {self.number}: {self.deployed}"
            + (", local state cleared first" if self.clear_state else "")
            + (", once the repartition topics are drained" if self.after_drain else "")
        )


@dataclass(frozen=True, slots=True)
class DeployedInstance:
    """What an instance is deployed as: `version` is the Kafka Streams release inside `release`."""

    instance: str
    release: str
    settings: tuple[tuple[str, str], ...]
    version: str

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What the steps were chosen from; drift in any of it makes another plan."""

    group_type: str
    topics: tuple[tuple[str, str, int], ...]
    instances: tuple[str, ...]
    at_start: tuple[DeployedInstance, ...]
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
    """What a run will do. `limits` are name and value, in the units of the fleet declaration.

    `title` names it in one line, `worst_case` says what may go wrong while it runs. With `at_once` every instance is
    down before the first starts again; otherwise they are taken one after another. `then` says what is left for other
    runs of the same runbook once this one has ended.
    """

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
    title: str
    worst_case: str
    at_once: bool = False
    then: tuple[str, ...] = ()

    def limit(self, name: str) -> float:
        """Value of one limit."""
        return dict(self.limits)[name]

    def bounce(self, number: int) -> Bounce | None:
        """The numbered bounce, None where this path does not need it."""
        return next((bounce for bounce in self.bounces if bounce.number == number), None)

    def last_of(self, instance: str) -> Bounce | None:
        """The bounce on which an instance ends, None where the plan leaves it as it is."""
        return next((bounce for bounce in reversed(self.bounces) if bounce.takes(instance)), None)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 over the canonical JSON of what binds.

        What explains the plan to a person may carry measured figures: it does not bind.
        """
        binding = {name: value for name, value in asdict(self).items() if name not in _EXPLAINING}
        text = json.dumps(binding, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]
