"""The result of a decision: a finding (one rule that fired) and a verdict (the next action)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from kstreams_runbooks.wording import first_of, one_cause_each, sentence


class Outcome(StrEnum):
    """The action that a verdict demands of a runbook."""

    PROCEED = "proceed"
    WAIT = "wait"
    REFUSE = "refuse"
    INCONCLUSIVE = "inconclusive"


Severity = Literal["info", "warning", "danger"]
# From the worst.
SEVERITIES: tuple[Severity, ...] = ("danger", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that fired on one object: `message` has the observed value and the limit; `source` is public."""

    id: str
    severity: Severity
    object: str
    message: str
    source: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", sentence(self.message))


def by_cause(findings: Iterable[Finding]) -> list[Finding]:
    """One finding a cause, the worst first: those of the same words are one, about all of their objects."""
    objects: dict[tuple[Severity, str, str], list[Finding]] = {}
    for one in findings:
        objects.setdefault((one.severity, one.id, one.message), []).append(one)
    causes = [
        replace(same[0], object=first_of(list(dict.fromkeys(one.object for one in same)))) for same in objects.values()
    ]
    return sorted(causes, key=lambda one: SEVERITIES.index(one.severity))


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer: the outcome, the sentences that explain it (worst first), the findings behind it."""

    outcome: Outcome
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        # Text quoted in a reason came from a broker, an agent, a script or a form.
        object.__setattr__(self, "reasons", tuple(map(sentence, self.reasons)))

    @property
    def text(self) -> str:
        """The reasons as one sentence, each cause once."""
        return "; ".join(one_cause_each(self.reasons))

    @property
    def sentence(self) -> str:
        """`outcome: reasons`, one line for a log."""
        return f"{self.outcome}: {self.text}" if self.reasons else str(self.outcome)
