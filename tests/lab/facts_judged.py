"""What each case of tests/apps/topologies gets from facts alone: the expected plan, or why another one."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal

from kstreams_runbooks.decide.change.answer import MILDEST_FIRST, open_questions
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.present.change.document import exit_code
from world.pairs import compared, expected

from lab.facts_alone import SIDES, planned, sides

Kind = Literal["right", "not known", "not in the program", "more in the program", "wrong", "unsafe"]
# The parts of the name of a field, and what it is about. The first that fits.
_ABOUT = (
    ("operators", "what an operator sets"),
    ("partitions", "partitions, which the cluster has"),
    ("auto_create_topics", "a setting of the brokers"),
    ("loss_acceptable", "what may be lost"),
    ("memory", "memory of the instances"),
    ("serde", "a format"),
    ("key", "the meaning of a key"),
    ("aggregate", "the function of an aggregate"),
    ("joined_with", "which topics are joined"),
    ("kind", "the kind of a store"),
    ("logging", "the changelog of a buffer"),
)
_OPTIMIZED = "topology.optimization"
# What a declaration has about the version before, and what a reader adds.
_NOT_OF_A_SIDE = {"unchanged", "not_read", "contradictions"}


@dataclass(frozen=True)
class Judged:
    """The answer to one case, and what it depends on."""

    kind: Kind
    about: str = ""


def judged(case: str) -> Judged:
    """Whether the plan of a case is right with facts alone. Unsafe: it is milder, and the program has the change."""
    found, row = planned(case), expected()[case]
    if _answer(found) == _expected(row):
        return Judged("right")
    if found.plan.verdict is Outcome.INCONCLUSIVE or found.plan.reasons:
        return Judged("not known", _about(_asked(found)))
    pair = case.split("/", maxsplit=1)[0]
    of_pair = [one for name, one in expected().items() if name.split("/", maxsplit=1)[0] == pair]
    if row.get("undecided") and _answer(found) in map(_expected, of_pair):
        return Judged("right")  # the facts have what this case does not declare, and another one of the pair does
    declared = set(_declared_alone(case))
    if declared:
        return Judged("not in the program", _about(declared))
    if _strength(*_answer(found)) < _strength(*_expected(row)):
        return Judged("unsafe", case)
    more = set(_read_alone(case))
    return Judged("more in the program", _about(more)) if more else Judged("wrong", case)


@cache
def table() -> dict[Kind, Counter[str]]:
    """The number of cases of each kind, by what they depend on."""
    found: dict[Kind, Counter[str]] = defaultdict(Counter)
    for case in sorted({case for case, _ in sides()}):
        one = judged(case)
        found[one.kind][one.about] += 1
    return found


_Answer = tuple[str, tuple[str, ...], int]


def _answer(found: ChangeReading) -> _Answer:
    return found.plan.verdict.value, found.plan.runbooks, exit_code(found)


def _expected(row: Mapping[str, Any]) -> _Answer:
    return row["verdict"], tuple(row["runbooks"]), row["exit_code"]


def _strength(verdict: str, runbooks: tuple[str, ...], code: int) -> tuple[int, int]:
    if verdict != "proceed":
        return len(MILDEST_FIRST), code
    return max(MILDEST_FIRST.index(one) for one in MILDEST_FIRST if one in runbooks), code


def _asked(found: ChangeReading) -> set[str]:
    every = open_questions(Fired(found.findings, found.undecided)) or found.undecided
    return {missing.field or missing.where for one in every for missing in one.asked}


def _about(names: set[str]) -> str:
    about = {next((words for part, words in _ABOUT if part in name), "another fact") for name in names}
    return ", ".join(sorted(about))


def _declared_alone(case: str) -> Iterator[str]:
    """Fields that a case declares as changed, or in another way than its pair, and that its programs do not have."""
    declared = [compared(case).before.declared, compared(case).after.declared]
    pair = case.split("/", maxsplit=1)[0]
    plain = [compared(pair).before.declared, compared(pair).after.declared] if pair in expected() else declared
    read = [sides()[case, side].declared for side in SIDES]
    changes = _differences(*declared) - _differences(*read)
    yield from changes
    if any(own.library not in {None, built.library} for own, built in zip(declared, read, strict=True)):
        # The program is built with another release than the case declares.
        yield "library"
    for own, other in zip(declared, plain, strict=True):
        yield from _differences(own, other) - changes
    if any(
        (own.config or {}).get(_OPTIMIZED) != (other.config or {}).get(_OPTIMIZED)
        for own, other in zip(declared, plain, strict=True)
    ):
        # The program is built without it.
        yield _OPTIMIZED
    yield from ("loss_acceptable" for one in declared for store in one.stores.values() if store.loss_acceptable)


def _read_alone(case: str) -> Iterator[str]:
    """Fields that the programs have in another way on both sides, and the case declares as one."""
    read = [sides()[case, side].declared for side in SIDES]
    yield from _differences(*read) - _differences(compared(case).before.declared, compared(case).after.declared)


def _differences(one: Declaration, other: Declaration) -> set[str]:
    """Paths of fields that both have, and that differ."""
    left, right = dict(_leaves(one)), dict(_leaves(other))
    return {path for path in left.keys() & right.keys() if left[path] != right[path]}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if is_dataclass(value):
        for field in fields(value):
            if field.name not in _NOT_OF_A_SIDE:
                yield from _leaves(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    else:
        yield path, value


if __name__ == "__main__":
    for kind, about in table().items():
        sys.stdout.write(f"{sum(about.values()):4} {kind}\n")
        sys.stdout.writelines(f"{count:8} {words}\n" for words, count in about.most_common() if words)
