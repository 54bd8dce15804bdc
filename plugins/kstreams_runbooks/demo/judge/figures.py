"""The judge's answer about one output: figures, the records behind them, a verdict with its reasons."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from kstreams_runbooks.demo.traffic.topics import TopicRole

FaultKind = Literal["missing", "extra", "duplicate", "out_of_order"]
TrafficVerdict = Literal["ok", "wrong", "inconclusive"]

KINDS: Final[tuple[FaultKind, ...]] = ("missing", "extra", "duplicate", "out_of_order")
OFFENCE_BOUND: Final = 1_000
"""Offences listed per output in a document: enough to see a pattern; the figures count all of them."""


@dataclass(frozen=True, slots=True)
class Offence:
    """One wrong record.

    `partition` and `offset` are those of the output; a missing record has no offset, and its `detail` names the
    input that it should have come from.
    """

    kind: FaultKind
    key: str
    partition: int | None
    offset: int | None
    detail: str


class Tally:
    """Counts offences, and keeps the first `OFFENCE_BOUND` of them."""

    def __init__(self) -> None:
        self.counts: Counter[FaultKind] = Counter()
        self.offences: list[Offence] = []

    def add(self, kind: FaultKind, key: str, partition: int | None, offset: int | None, detail: str) -> None:
        """Count one offence."""
        self.counts[kind] += 1
        if len(self.offences) < OFFENCE_BOUND:
            self.offences.append(Offence(kind, key, partition, offset, detail))

    def merge(self, other: "Tally") -> None:
        """Take over what another tally has counted."""
        self.counts.update(other.counts)
        self.offences.extend(other.offences[: OFFENCE_BOUND - len(self.offences)])


@dataclass(frozen=True, slots=True)
class OutputVerdict:
    """One output judged; all figures are numbers of records, for outputs judged by their latest value of keys.

    `seen = expected - missing + extra + duplicate` holds always. `undecided` windows are in neither figure.
    """

    output: TopicRole
    verdict: TrafficVerdict
    reasons: tuple[str, ...]
    inputs_seen: int
    expected: int
    seen: int
    missing: int
    extra: int
    duplicate: int
    out_of_order: int
    undecided: int
    offences: tuple[Offence, ...]

    def document(self, topic: str) -> dict[str, Any]:
        """Return the verdict as JSON values; `offences_left_out` counts those above the bound."""
        faults = self.missing + self.extra + self.duplicate + self.out_of_order
        document = {"output": str(self.output), "topic": topic, **asdict(self)}
        document["output"] = str(self.output)
        return {**document, "offences_left_out": faults - len(self.offences)}


def conclude(
    output: TopicRole,
    tally: Tally,
    *,
    inputs_seen: int,
    expected: int,
    seen: int,
    undecided: Iterable[str] = (),
    doubts: Iterable[str] = (),
    definite: Iterable[FaultKind] = (),
) -> OutputVerdict:
    """Weigh figures against doubts: a certain fault outranks every doubt, a doubt outranks the rest.

    `doubts` are reasons why the topics could not be read as they are; under a doubt only the kinds in `definite`
    still prove a fault. `undecided` has one sentence per window that cannot be judged.
    """
    doubts, undecided = tuple(doubts), tuple(undecided)
    proving = tuple(definite) if doubts else KINDS
    faults = ", ".join(f"{tally.counts[kind]} {kind.replace('_', ' ')}" for kind in proving if tally.counts[kind])
    verdict: TrafficVerdict = "wrong" if faults else "inconclusive" if doubts or undecided else "ok"
    more = (f"and {len(undecided) - 3} more undecided windows",) if len(undecided) > 3 else ()  # noqa: PLR2004 - examples
    return OutputVerdict(
        output=output,
        verdict=verdict,
        reasons=((faults,) if faults else ()) + doubts + undecided[:3] + more,
        inputs_seen=inputs_seen,
        expected=expected,
        seen=seen,
        missing=tally.counts["missing"],
        extra=tally.counts["extra"],
        duplicate=tally.counts["duplicate"],
        out_of_order=tally.counts["out_of_order"],
        undecided=len(undecided),
        offences=tuple(tally.offences),
    )
