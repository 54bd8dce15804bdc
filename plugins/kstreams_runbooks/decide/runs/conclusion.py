"""The outcome of a run, from its writes and its proofs: never from the colour of its tasks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

# The end of a sentence about an agent: each instance has another one, and may have the same cause.
_ADDRESS = re.compile(r" \(([a-z]+://[^\s()]+)\)$")


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
    """The ledger's facts of a run when it ends, and a final reading of the changed objects.

    `verified` is the verdict of `verify` if it was reached after the last write, None if it was not; `last` the last
    verdict of any step; `failures` the sentences of the step that ended the run (a step that failed and ran again is
    not it), `inconclusive` whether it failed for a reading that is missing; `reached` the last step that began;
    `touched` the instances that cards name; `saw` the last observation of a wait in that step. `ended_by` is how
    Airflow ended the run before its own `conclude`, empty if it did not; `never_began` the sentence about a later step
    that left no beginning, empty without one. `reading` is None if no final reading was needed; `others` are those of
    the other applications whose instances were changed. `emptied` are stores that began empty, as the plan accepted,
    `in_part` those that a topic restored, but for what their files alone had; `cleared` is local
    state that was deleted after a kill.
    """

    dry_run: bool
    wrote: tuple[str, ...]
    verified: Verdict | None
    last: Verdict | None
    failures: tuple[str, ...]
    inconclusive: bool = False
    reached: str = ""
    touched: tuple[str, ...] = ()
    reading: ApplicationReading | Missing | None = None
    saw: str = ""
    ended_by: str = ""
    others: tuple[ApplicationReading | Missing, ...] = ()
    never_began: str = ""
    emptied: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One outcome and the sentence for it."""

    outcome: RunOutcome
    sentence: str


def conclusion(facts: RunFacts) -> Conclusion:
    """The outcome of a run. A skipped task, or one marked successful manually, counts for nothing here."""
    if facts.verified is not None and facts.verified.outcome is Outcome.PROCEED and not facts.failures:
        if facts.dry_run:
            return Conclusion(RunOutcome.DRY_RUN, "; ".join(facts.verified.reasons))
        return Conclusion(RunOutcome.COMPLETED, "; ".join((*facts.verified.reasons, *_emptied(facts))))
    cause = _why(facts)
    why = "; ".join((cause, *_unwell(facts, cause)))
    if facts.inconclusive or (facts.last is not None and facts.last.outcome is Outcome.INCONCLUSIVE):
        changed = f"; changed so far: {', '.join(facts.wrote)}" if facts.wrote else "; nothing was changed"
        return Conclusion(RunOutcome.INCONCLUSIVE, why + changed)
    if facts.wrote:
        changed = "; ".join((f"changed so far: {', '.join(facts.wrote)}", *_emptied(facts)))
        return Conclusion(RunOutcome.STOPPED, f"{why}; {changed}")
    return Conclusion(RunOutcome.NOTHING_CHANGED, why)


def _emptied(facts: RunFacts) -> Iterator[str]:
    if facts.emptied:
        yield f"begins empty, as accepted: {first_of(facts.emptied)}"
    if facts.in_part:
        yield f"begins without what its files alone have, as accepted: {first_of(facts.in_part)}"
    if facts.cleared:
        yield f"deleted after a kill, and restored: {first_of(facts.cleared)}"


def _why(facts: RunFacts) -> str:
    if facts.ended_by:
        at = f"{facts.ended_by}; {facts.reached or 'no step'} was its last step"
        return f"{at}; the last that it saw: {facts.saw}" if facts.saw else at
    if facts.never_began:
        # The step before it is the last that began, and ended well.
        return facts.never_began
    if facts.failures:
        return facts.failures[-1]
    if facts.reached:
        why = f"{facts.reached} began and gave no answer (killed, marked by hand, or an error that its log shows)"
        return f"{why}; the last that it saw: {facts.saw}" if facts.saw else why
    return facts.last.sentence if facts.last else "no step was reached"


def _unwell(facts: RunFacts, cause: str) -> Iterator[str]:
    """The final state of the touched instances that are not RUNNING; a reason that is in `cause` is not repeated."""
    if facts.reading is None:
        return
    readings = (facts.reading, *facts.others)
    if unread := [one.missing for one in readings if isinstance(one, Missing)]:
        more = [one for one in unread if one not in cause]
        why = "; ".join(more) if more else "for the same cause"
        yield f"how {', '.join(facts.touched)} is now cannot be read: {why}"
    known = {one.instance: one for reading in readings if not isinstance(reading, Missing) for one in reading.instances}
    touched = [(name, known.get(name)) for name in facts.touched]
    said = {name: "" if unread and instance is None else _how_unwell(name, instance) for name, instance in touched}
    yield from _new_ones({name: sentence for name, sentence in said.items() if sentence}, cause)


def _how_unwell(name: str, instance: InstanceReading | None) -> str:
    """Why an instance is not RUNNING, None if it is not among those that were read; empty if it runs."""
    if instance is None:
        return f"{name} was not read"
    if why := instance.ended or instance.silent:
        return why
    if isinstance(instance.streams, StreamsReading) and instance.streams.state != "RUNNING":
        return f"{name} is in {instance.streams.state} (expected RUNNING){instance.log_end}"
    return ""


def _new_ones(said: Mapping[str, str], cause: str) -> Iterator[str]:
    """The sentences about instances, by instance, as one for all with the same cause; none that `cause` has."""
    alike: dict[str, dict[str, str]] = {}
    for name, sentence in said.items():
        alike.setdefault(_ADDRESS.sub("", sentence).removeprefix(name), {})[name] = sentence
    for same, of in alike.items():
        # The cause may be that of the failed gate already, which has it for one instance or for all.
        new = {name: sentence for name, sentence in of.items() if sentence not in cause}
        if new and _one_for_all(of, same) not in cause:
            yield _one_for_all(new, same)


def _one_for_all(said: Mapping[str, str], same: str) -> str:
    """The sentences about instances, by instance, as one; `same` is what each has behind its name."""
    found = filter(None, map(_ADDRESS.search, said.values()))
    at = first_of(tuple(dict.fromkeys(one[1] for one in found)))
    each = ": each" if len(said) > 1 and not same.startswith(":") else ""
    return f"{', '.join(said)}{each}{same}{f' ({at})' if at else ''}"
