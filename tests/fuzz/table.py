"""The graded answers as a table and as a document; pure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fuzz.changes import Known
from fuzz.grading import BAD, Answer, Grade, Truth

_SEVERAL = "several edits"


@dataclass(frozen=True, slots=True)
class Row:
    """One graded answer; `length` is that of both descriptions.

    `visible` is whether descriptions or declarations differ at all: if not, no planner could see the change.
    """

    number: int
    kinds: tuple[str, ...]
    edits: tuple[str, ...]
    known: Known
    truth: Truth
    answer: Answer
    grade: Grade
    length: int
    visible: bool

    @property
    def kind(self) -> str:
        """The kind of its only edit."""
        return self.kinds[0] if len(self.kinds) == 1 else _SEVERAL


def passed(rows: Sequence[Row]) -> bool:
    """Whether anything was graded, and no answer is unsafe or short."""
    return bool(rows) and not any(one.grade in BAD for one in rows)


def markdown(seed: int, rows: Sequence[Row]) -> str:
    """A table for each of what the planner has, and every bad answer, the smallest descriptions first."""
    return "\n".join(_lines(seed, rows)) + "\n"


def _lines(seed: int, rows: Sequence[Row]) -> Iterator[str]:
    yield "# Random changes\n"
    yield f"Written by `make fuzz-plan SEED={seed} COUNT={len({one.number for one in rows})}`.\n"
    for known in Known:
        yield f"## With {known}\n"
        heads = [str(one) for one in Grade]
        yield f"| edit | changes | {' | '.join(heads)} | share exact |"
        yield f"|---|{'---|' * (len(heads) + 2)}"
        mine = [one for one in rows if one.known is known]
        by_kind: dict[str, list[Row]] = defaultdict(list)
        for one in mine:
            by_kind[one.kind].append(one)
        for kind in sorted(by_kind, key=lambda kind: (kind == _SEVERAL, kind)):
            yield _counted(kind, by_kind[kind])
        yield _counted("**all**", mine)
        yield ""
    bad = sorted((one for one in rows if one.grade in BAD), key=lambda one: one.length)
    yield f"## Bad answers: {len(bad)}\n"
    for one in bad:
        yield (
            f"- {one.number}, with {one.known}: {one.grade}. {'; '.join(one.edits)}. "
            f"Truth: {_truth(one.truth)}. Answer: {one.answer}{'' if one.visible else ' (same input before and after)'}"
        )
    rejected = sorted(
        (one for one in rows if one.answer.rejected and one.known is Known.DECLARED), key=lambda one: one.length
    )
    yield f"\n## Declarations taken for bad input: {len(rejected)}\n"
    yield from (f"- {one.number}: {one.answer}" for one in rejected)


def _counted(kind: str, rows: Sequence[Row]) -> str:
    counts = Counter(one.grade for one in rows)
    share = counts[Grade.EXACT] / len(rows) if rows else 0.0
    return f"| {kind} | {len(rows)} | {' | '.join(str(counts[one]) for one in Grade)} | {share:.0%} |"


def _truth(truth: Truth) -> str:
    reasons = [f"{name} {why}" for name, why in truth.facts.items() if not name.startswith("subtopology")]
    reasons += [f"{name} needs a warning" for name in sorted(truth.warned)]
    return " ".join((truth.answer, *sorted(truth.needs))) + (f" ({'; '.join(reasons)})" if reasons else "")


def document(seed: int, rows: Sequence[Row]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "seed": seed,
        "ok": passed(rows),
        "grades": {str(known): Counter(str(one.grade) for one in rows if one.known is known) for known in Known},
        "bad": [
            {
                "number": one.number,
                "edits": list(one.edits),
                "known": str(one.known),
                "grade": str(one.grade),
                "truth": {"answer": one.truth.answer, "needs": sorted(one.truth.needs), "facts": dict(one.truth.facts)},
                "answer": str(one.answer),
                "length": one.length,
                "visible": one.visible,
            }
            for one in rows
            if one.grade in BAD
        ],
    }
