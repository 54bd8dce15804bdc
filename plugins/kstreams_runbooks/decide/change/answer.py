"""From findings to a plan: one runbook that covers all of them, if one does."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRunbook, Undecided, Undeclared
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, Unchanged
from kstreams_runbooks.model.verdicts import Outcome

# Included in every runbook after them: instances come up on the new version, one after another or all at once.
MILD: tuple[ChangeRunbook, ...] = ("rolling_bounce", "library_bump", "stop_and_restart")
# From the smallest to the largest loss.
MILDEST_FIRST: tuple[ChangeRunbook, ...] = (
    *MILD,
    "suppress_removal",
    "control_topic_flush",
    "store_migration",
    "partition_increase",
    "reset_and_cleanup",
    "blue_green_cutover",
)

# What a runbook costs that a milder one does not.
_COSTS: Mapping[ChangeRunbook, str] = {
    "control_topic_flush": "the inputs must be paused",
    "store_migration": "a changelog must be copied while the application is down",
    "partition_increase": "keys move to other tasks",
    "reset_and_cleanup": "it deletes all state and processes the inputs again from their beginning",
    "blue_green_cutover": "it needs a second application, with its own topics and state, next to the first",
}
# What a larger runbook keeps that the plan gives up.
_GAINS: Mapping[tuple[ChangeRunbook, ChangeRunbook], str] = {
    ("partition_increase", "blue_green_cutover"): "no key loses its state",
    ("partition_increase", "reset_and_cleanup"): "every key gets its state again",
    ("reset_and_cleanup", "blue_green_cutover"): "results do not pause",
}
_SECOND_APPLICATION: ChangeRunbook = "blue_green_cutover"
CODE_NOT_READ = "other-code-not-compared"
_SECTIONS = ("stores", "topics", "operators")
_UNCHANGED = get_args(Unchanged)
_EVERY_UNCHANGED = frozenset(_UNCHANGED)
_WITH_OTHERS = {"key", "key_serde", "value_serde"}


@dataclass(frozen=True, slots=True)
class Alternative:
    """A runbook that is not the plan, and why."""

    runbook: ChangeRunbook
    why_not: str


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """The runbooks to run, in this order, or why none may run yet; `reasons` are one sentence each."""

    verdict: Outcome
    reasons: tuple[str, ...]
    runbooks: tuple[ChangeRunbook, ...]
    alternatives: tuple[Alternative, ...] = ()


def change_plan(fired: Fired) -> ChangePlan:
    """Refuse if a finding does, inconclusive if an undeclared fact matters, else the runbooks that answer all findings.

    A finding that another covers demands nothing of its own. Without any finding a rolling bounce brings the change.
    If state is given up anyway, undeclared facts do not matter: the plan then answers their rules too.
    """
    findings = [finding for finding in fired.findings if finding.covered_by is None]
    if refused := tuple(f"{one.object}: {one.message}" for one in findings if one.refuse):
        return ChangePlan(Outcome.REFUSE, refused, ())
    asked = [finding.runbooks for finding in findings if finding.runbooks]
    plan = _answering(asked)
    open_ = open_questions(fired)
    if open_ and not set(plan) & set(MILD):
        careful = _answering([*asked, *(one.runbooks for one in fired.undecided if one.runbooks)])
        # A second application next to the first is not built for a question that may spare it, and state is not given
        # up for code that a person can compare.
        answers = _SECOND_APPLICATION not in set(careful) - set(plan) and {one.id for one in open_} != {CODE_NOT_READ}
        if answers and not any(_matters(one, careful) for one in fired.undecided):
            reason = f"{' and '.join(plan)} is enough if it is declared that none of this holds: {_ids(open_)}"
            return ChangePlan(Outcome.PROCEED, (reason,), careful, _alternatives(careful, findings))
    if open_:
        return ChangePlan(Outcome.INCONCLUSIVE, tuple(_missing(open_)), ())
    return ChangePlan(Outcome.PROCEED, (), plan, _alternatives(plan, findings))


def open_questions(fired: Fired) -> tuple[Undecided, ...]:
    """The rules that may fire and on which the runbook depends: the facts to declare."""
    plan = _answering([one.runbooks for one in fired.findings if one.covered_by is None and one.runbooks])
    return tuple(one for one in fired.undecided if _matters(one, plan))


def _answering(asked: list[tuple[ChangeRunbook, ...]]) -> tuple[ChangeRunbook, ...]:
    """The mildest runbook that answers all, or the mildest of each in the order of execution."""
    covering = [one for one in MILDEST_FIRST if all(_covers(one, answers) for answers in asked)]
    if covering:
        return (covering[0],)
    every = {answers[0] for answers in asked}
    return tuple(one for one in MILDEST_FIRST if one in every and one not in MILD)


def _covers(runbook: ChangeRunbook, answers: tuple[ChangeRunbook, ...]) -> bool:
    if runbook in answers:
        return True
    if answers[0] not in MILD:
        return False
    return MILDEST_FIRST.index(runbook) >= MILDEST_FIRST.index(answers[0])


def _matters(one: Undecided, plan: tuple[ChangeRunbook, ...]) -> bool:
    """Whether a rule that may fire would change the plan, or a person has to know of it first."""
    if one.refuse:
        return True
    if one.severity == "info" or not one.runbooks:
        return False
    if set(plan) & set(MILD):
        # A person has to assess a warning that demands no more than the plan, unless the plan answers it.
        return not (one.runbooks[0] in plan and one.runbooks[0] != "rolling_bounce")
    return not any(_covers(runbook, one.runbooks) for runbook in plan)


def _missing(undecided: Iterable[Undecided]) -> Iterator[str]:
    """One sentence for each thing to declare: its fields, and the rules that depend on them.

    The fields that a change can declare for all stores and topics at once are one sentence for all of them.
    """
    places: dict[tuple[str, str], list[tuple[Undeclared, Undecided]]] = {}
    shared: dict[str, list[tuple[Undeclared, Undecided]]] = {}
    undecided = tuple(undecided)
    lacking: dict[str, set[str]] = {}
    for missing in (missing for one in undecided for missing in one.asked):
        lacking.setdefault(missing.where, set()).add(missing.field)
    for one in undecided:
        for missing in one.asked:
            if not missing.value and can_be_unchanged(missing.where, missing.field, lacking[missing.where]):
                shared.setdefault(missing.field, []).append((missing, one))
            else:
                places.setdefault((missing.where, missing.sides), []).append((missing, one))
    for (where, sides), found in places.items():
        fields = ", ".join(dict.fromkeys(missing.field for missing, _ in found if missing.field))
        candidates = "; ".join(dict.fromkeys(one.candidates for _, one in found if one.candidates))
        asked = f"declare {fields}{fields and ' of '}{where} ({sides})" if sides else where
        candidates = f" (it may have been {candidates})" if candidates else ""
        yield f"{asked}; {_hang_on_it(one for _, one in found)}{candidates}{_not_read(found)}"
    if fields := ", ".join(field for field in _UNCHANGED if field in shared):
        every = [each for found in shared.values() for each in found]
        names = ", ".join(dict.fromkeys(missing.where.partition(".")[2] or missing.where for missing, _ in every))
        yield (
            f"declare {fields} of {names}, or `unchanged: [{fields}]` if the change touches none of them; "
            f"{_hang_on_it(one for _, one in every)}{_not_read(every)}"
        )


def _not_read(found: Iterable[tuple[Undeclared, Undecided]]) -> str:
    """Why the program does not show it, in brackets; empty if no program was read."""
    reasons = list(dict.fromkeys(missing.reason for missing, _ in found if missing.reason))
    more = f", and {len(reasons) - 1:,} more" if len(reasons) > 1 else ""
    return f" ({reasons[0]}{more})" if reasons else ""


def can_be_unchanged(where: str, field: str, lacking: Collection[str]) -> bool:
    """Whether `unchanged` can declare a field of an object; `lacking` are all its fields that are asked for.

    A key and a serde are declared next to other fields that a person has to declare of the same object anyway.
    """
    if field not in _EVERY_UNCHANGED:
        return False
    if field == OTHER_CODE:
        return True
    section, _, name = where.partition(".")
    shared = section in _SECTIONS and bool(name)
    return shared and (field not in _WITH_OTHERS or _EVERY_UNCHANGED.issuperset(lacking))


def _hang_on_it(undecided: Iterable[Undecided]) -> str:
    ids = _ids(undecided)
    return f"{ids} depend{'' if ', ' in ids else 's'} on it"


def _ids(undecided: Iterable[Undecided]) -> str:
    return ", ".join(dict.fromkeys(one.id for one in undecided))


def _alternatives(plan: tuple[ChangeRunbook, ...], findings: list[ChangeFinding]) -> tuple[Alternative, ...]:
    """Every other runbook that was considered, and why it is not the plan."""
    named = {runbook for finding in findings for runbook in finding.runbooks} - set(plan)
    if set(plan) <= set(MILD):
        named -= {"reset_and_cleanup", "blue_green_cutover"}
    found = []
    for runbook in (one for one in MILDEST_FIRST if one in named and one not in MILD):
        left = [one for one in findings if one.runbooks and not _covers(runbook, one.runbooks)]
        if left:
            why = f"not enough: it does not repair {left[0].id} ({left[0].object})"
        elif len(plan) == 1 and MILDEST_FIRST.index(runbook) > MILDEST_FIRST.index(plan[0]):
            gain, cost = _GAINS.get((plan[0], runbook)), _COSTS.get(runbook, "it costs more")
            why = f"{gain}, but {cost}" if gain else f"works too, but {cost}; {plan[0]} is enough"
        else:
            why = "enough for the findings, but not for everything that is not declared"
        found.append(Alternative(runbook, why))
    return tuple(found)
