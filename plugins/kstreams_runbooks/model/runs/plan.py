"""A plan is a value with a digest: the actions of a run, and the facts from which its steps were chosen.

It never binds offsets, lag, starts or times: planning again from unchanged facts yields the same digest.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace

from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Finding

_EXPLAINING = frozenset({"costs", "findings", "undo", "title", "worst_case", "then"})

# Fields that plans of older releases lack: their digests stay as they were.
_LATER = frozenset({"deletes", "undo_deletes"})


def deployed(release: str, settings: tuple[tuple[str, str], ...]) -> str:
    """Release and settings, for a person."""
    text = ", ".join(f"{key}={value}" for key, value in settings)
    return f"{release} with {text}" if text else release


@dataclass(frozen=True, slots=True)
class Bounce:
    """One step of a plan: its instances end on `release` with exactly `settings` set by the runbook.

    `library` is the Kafka Streams release inside `release`, empty if the release is named after it. `instances` are
    its instances, empty for all of them. With `clear_state` all local state is deleted between stop and start, with
    `deletes` these task directories; `undo_deletes` are those that an undo of this bounce deletes. With `after_drain`
    the records in the repartition topics are read to their end before the first instance is stopped.
    """

    number: int
    release: str
    settings: tuple[tuple[str, str], ...]
    library: str = ""
    instances: tuple[str, ...] = ()
    clear_state: bool = False
    after_drain: bool = False
    deletes: TaskDirectories = NO_DIRECTORIES
    undo_deletes: TaskDirectories = NO_DIRECTORIES

    @property
    def clears(self) -> TaskDirectories | None:
        """The local state that is deleted between stop and start: all of it if it names no directory, None for none."""
        if self.clear_state:
            return replace(self.deletes, names=())
        return self.deletes if self.deletes.names else None

    @property
    def version(self) -> str:
        """The Kafka Streams release that an instance reports after this bounce."""
        return self.library or self.release

    @property
    def target(self) -> Target:
        """What its instances are set to."""
        return Target(self.release, self.settings)

    def takes(self, instance: str) -> bool:
        """Whether an instance is one of its own."""
        return not self.instances or instance in self.instances

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)

    @property
    def sentence(self) -> str:
        """The actions of this bounce, for a person."""
        return (
            f"bounce {self.number}: {self.deployed}"
            + (f", {self.clears.what} cleared first" if self.clears is not None else "")
            + (", once the repartition topics are drained" if self.after_drain else "")
        )


@dataclass(frozen=True, slots=True)
class DeployedInstance:
    """The deployment of an instance: `version` is the Kafka Streams release inside `release`."""

    instance: str
    release: str
    settings: tuple[tuple[str, str], ...]
    version: str

    @property
    def target(self) -> Target:
        """What it is set to."""
        return Target(self.release, self.settings)

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The facts from which the steps were chosen; any change of them leads to another plan."""

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
    """The actions of a run. `limits` are name and value, in the units of the fleet declaration.

    `title` names it in one line, `worst_case` describes possible damage while it runs. With `at_once` every instance
    is down before the first starts again; otherwise they are taken one after another. `then` lists the steps left for
    other runs of the same runbook once this one has ended.
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
        """The numbered bounce, None if this path does not need it."""
        return next((bounce for bounce in self.bounces if bounce.number == number), None)

    def last_of(self, instance: str) -> Bounce | None:
        """The bounce on which an instance ends, None if the plan does not change it."""
        return next((bounce for bounce in reversed(self.bounces) if bounce.takes(instance)), None)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 over the canonical JSON of the binding parts.

        Explanations of the plan may carry measured figures: they do not bind.
        """
        binding = {name: value for name, value in asdict(self).items() if name not in _EXPLAINING}
        binding["bounces"] = [
            {name: value for name, value in bounce.items() if name not in _LATER or any(value.values())}
            for bounce in binding["bounces"]
        ]
        text = json.dumps(binding, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]
