"""How a run ended, from what it wrote and what it proved: never from the colour of its tasks."""

from dataclasses import dataclass
from enum import StrEnum

from kstreams_runbooks.model.verdicts import Outcome, Verdict


class RunOutcome(StrEnum):
    """The five endings of a run; only the first two leave it green."""

    COMPLETED = "completed"
    DRY_RUN = "dry run"
    NOTHING_CHANGED = "refused or rejected, nothing changed"
    STOPPED = "stopped, changed"
    INCONCLUSIVE = "inconclusive"

    @property
    def succeeded(self) -> bool:
        """Whether the run may end green."""
        return self in {RunOutcome.COMPLETED, RunOutcome.DRY_RUN}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the ledger says of a run when it ends.

    `verified` is the verdict of `verify` if it was reached after the last write, None where it was not; `last` the last
    verdict of any step; `failures` the sentences of steps that failed, `inconclusive` whether the last of them failed
    for a reading that is missing.
    """

    dry_run: bool
    wrote: tuple[str, ...]
    verified: Verdict | None
    last: Verdict | None
    failures: tuple[str, ...]
    inconclusive: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One outcome and the sentence for it."""

    outcome: RunOutcome
    sentence: str


def conclusion(facts: RunFacts) -> Conclusion:
    """The outcome of a run. A skipped or hand-marked task counts for nothing here."""
    if facts.verified is not None and facts.verified.outcome is Outcome.PROCEED and not facts.failures:
        if facts.dry_run:
            return Conclusion(RunOutcome.DRY_RUN, "nothing was changed; trigger again without dry run to do it")
        return Conclusion(RunOutcome.COMPLETED, "; ".join(facts.verified.reasons))
    why = facts.failures[-1] if facts.failures else facts.last.sentence if facts.last else "no step was reached"
    if facts.inconclusive or (facts.last is not None and facts.last.outcome is Outcome.INCONCLUSIVE):
        changed = f"; changed so far: {', '.join(facts.wrote)}" if facts.wrote else "; nothing was changed"
        return Conclusion(RunOutcome.INCONCLUSIVE, why + changed)
    if facts.wrote:
        return Conclusion(RunOutcome.STOPPED, f"{why}; changed so far: {', '.join(facts.wrote)}")
    return Conclusion(RunOutcome.NOTHING_CHANGED, why)
