"""Grades an answer of the change planner against what the change does; pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome

Class = Literal["roll", "stop", "state"]
_ORDER: tuple[Class, ...] = ("roll", "stop", "state")
_EVERYTHING = frozenset({"migrate", "buffer", "flush", "suppress", "reset", "increase"})
# What each runbook takes care of, by its printed steps (docs/change_rules.md).
_CARES: Mapping[ChangeRunbook, frozenset[str]] = {
    "control_topic_flush": frozenset({"flush"}),
    "store_migration": frozenset({"migrate", "buffer", "flush"}),
    "suppress_removal": frozenset({"suppress", "buffer"}),
    "partition_increase": frozenset({"increase"}),
    "reset_and_cleanup": _EVERYTHING,
    "blue_green_cutover": _EVERYTHING,
}


class Grade(StrEnum):
    """How an answer compares with the truth, the worst last."""

    EXACT = "exact"
    HEAVY = "heavy"
    UNKNOWN = "not known"
    SHORT = "short"
    UNSAFE = "unsafe"


BAD = frozenset({Grade.SHORT, Grade.UNSAFE})


@dataclass(frozen=True, slots=True)
class Truth:
    """What a change does: `roll` (members agree), `stop` (they do not, all data is kept) or `state` (data is lost).

    `needs` are what a runbook has to take care of, `warned` the stores about which a person has to be warned, `facts`
    the reasons by the name of a part, `kept` the stores whose content stays right.
    """

    answer: Class
    needs: frozenset[str] = frozenset()
    warned: frozenset[str] = frozenset()
    facts: Mapping[str, str] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the planner answers: verdict, runbooks, and the objects of its warnings and dangers.

    `rejected` is the sentence by which it takes the declarations for bad input.
    """

    verdict: Outcome
    runbooks: tuple[ChangeRunbook, ...] = ()
    warned: frozenset[str] = frozenset()
    rejected: str = ""

    @classmethod
    def of(cls, reading: ChangeReading) -> "Answer":
        """The answer of a reading."""
        warned = frozenset(one.object for one in reading.uncovered if one.severity != "info")
        return cls(reading.plan.verdict, reading.plan.runbooks, warned)

    @property
    def asks(self) -> Class:
        """The heaviest class among its runbooks."""
        if _CARES.keys() & set(self.runbooks):
            return "state"
        return "stop" if "stop_and_restart" in self.runbooks else "roll"

    def __str__(self) -> str:
        """The verdict, with the runbooks if it proceeds."""
        return self.rejected or " ".join((str(self.verdict), *self.runbooks))


def grade(truth: Truth, answer: Answer) -> Grade:
    """Unsafe: the answer asks for less than the truth, or omits a warning. Short: its runbooks lose something.

    Exact: the same class. Heavy: the answer asks for more. Not known: the answer is inconclusive.
    """
    if answer.verdict is Outcome.INCONCLUSIVE:
        return Grade.UNKNOWN
    if answer.verdict is not Outcome.PROCEED:
        return Grade.EXACT if truth.answer == "state" else Grade.HEAVY
    asked, true = _ORDER.index(answer.asks), _ORDER.index(truth.answer)
    if asked < true or (asked < _ORDER.index("state") and truth.warned - answer.warned):
        return Grade.UNSAFE
    if asked > true:
        return Grade.HEAVY
    return Grade.EXACT if truth.needs <= cared_for(answer.runbooks) else Grade.SHORT


def cared_for(runbooks: Collection[ChangeRunbook]) -> frozenset[str]:
    """What these runbooks take care of together."""
    return frozenset().union(*(_CARES.get(one, frozenset()) for one in runbooks))
