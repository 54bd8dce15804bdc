"""Fields that a person names as unchanged by a release: in the form of a run, or as an option of `plan`.

They count like the line `unchanged` of the new version's declaration, and the plan shows who named them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import get_args

from kstreams_runbooks.decide.change.answer import CODE_NOT_READ, change_plan, open_questions
from kstreams_runbooks.decide.change.contradicted import CONTRADICTED
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.order import PROGRAM
from kstreams_runbooks.decide.comparison.whole import WHOLE
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.change import (
    ChangeFinding,
    ChangeRunbook,
    Subject,
    SubjectKind,
    Undecided,
    Undeclared,
)
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, Declaration, NamedUnchanged, Unchanged
from kstreams_runbooks.model.verdicts import SEVERITIES, Outcome
from kstreams_runbooks.wording import outside

NAMED = "named-unchanged"
UNCHANGED: tuple[Unchanged, ...] = get_args(Unchanged)
_SECTIONS: dict[SubjectKind, str] = {
    "store": "stores",
    "internal_topic": "topics",
    "source_topic": "topics",
    "sink": "topics",
}
_SOURCE = "docs/declaration.md"
_OPTIMIZATION, _BOTH = "topology.optimization", 2
_OTHER_CODE = (
    "kinds of joins, filters and branches of tables, kinds of operators that fill a store, partition counts, "
    "partitioners, timestamp and topic extractors, suppliers of stores and their windows, record caches, processors"
)
_COST_OF_CODE = "Nothing fails, or a task dies; old state is continued by code that means something else"
_OPERATOR = re.compile(r"operator (\S+) ")


@dataclass(frozen=True, slots=True)
class Asserted:
    """What naming fields as unchanged states about one operator, such as `key of store counts`, and its cost.

    `costs` of an error are the meanings for the data, the worst first.
    """

    operator: str
    what: tuple[str, ...]
    costs: tuple[str, ...]


def asserted(undecided: Iterable[Undecided], side: Side, fields: Collection[Unchanged]) -> tuple[Asserted, ...]:
    """Each operator whose code a person has to compare before naming these fields, in the order of the questions."""
    what: dict[str, dict[str, None]] = {}
    costs: dict[str, dict[str, None]] = {}
    for one in sorted(undecided, key=lambda one: SEVERITIES.index(one.severity)):
        for missing in one.asked:
            if missing.field in fields:
                operator = _operator_of(missing, side)
                what.setdefault(operator, {})[_said(missing, side)] = None
                costs.setdefault(operator, {}).update({one.data: None} if one.data else {})
    return tuple(Asserted(operator, tuple(what[operator]), tuple(costs[operator])) for operator in what)


def _said(missing: Undeclared, side: Side) -> str:
    if missing.field == OTHER_CODE and missing.reason:
        return f"{OTHER_CODE}, which {missing.reason.rpartition('; it ')[2]}"
    if missing.field == OTHER_CODE:
        return f"{OTHER_CODE} of {missing.where}: {_OTHER_CODE}"
    section, _, name = missing.where.partition(".")
    foreign = section == "stores" and name in side.subscription_stores and missing.field == "key"
    field = "the foreign key that is taken from each row, and so the key" if foreign else missing.field
    return f"{field} of {section.removesuffix('s')} {name}"


def _operator_of(missing: Undeclared, side: Side) -> str:
    """The operator whose code was not read; else those that keep the store, or read and write the topic."""
    if found := _OPERATOR.search(missing.reason):
        return found[1].rstrip(",;")
    section, _, name = missing.where.partition(".")
    keepers = [one.name for one in side.keepers.get(name, ())] if section == "stores" else []
    readers = [one.name for one in side.readers.get(name, ())] if section == "topics" else []
    ends = [*keepers, *readers, *(side.sinks.get(name, ()) if section == "topics" else ())]
    return ", ".join(ends) or name or missing.where


def unchanged_fields(given: object, where: str) -> tuple[Unchanged, ...]:
    """The fields in a list or in a text with commas, in the order of UNCHANGED; BadInput for any other word."""
    words = given.split(",") if isinstance(given, str) else given
    if not isinstance(words, list | tuple) or not all(isinstance(one, str) for one in words):
        raise BadInput(f"{where}: {outside(repr(given), 80)} is not a list of fields (expected {_all()}); correct it")
    named = [one.strip() for one in words if one.strip()]
    if strange := [one for one in named if one not in UNCHANGED]:
        raise BadInput(
            f"{where}: {outside(strange[0], 40)!r} is not a field that it can name (expected {_all()}); correct it"
        )
    return tuple(one for one in UNCHANGED if one in named)


def code_was_not_read(compared: Compared) -> bool:
    """Whether a version is known by its description alone, and not known to be the build of the other one."""
    before, after = compared.before.declared, compared.after.declared
    return not ((before.was_read and after.was_read) or after.same_program)


def other_code(compared: Compared) -> Iterator[Undecided]:
    """What no description and no declared field shows of a program that was not read, unless a person answers for it.

    The kinds of joins, filters in front of a table's aggregate, partition counts, partitioners, extractors, suppliers.
    """
    if code_was_not_read(compared) and OTHER_CODE not in compared.after.declared.unchanged:
        missing = Undeclared(PROGRAM, OTHER_CODE, "new")
        heavier: tuple[ChangeRunbook, ...] = ("reset_and_cleanup", "blue_green_cutover")
        yield Undecided(CODE_NOT_READ, "danger", WHOLE, (missing,), heavier, data=_COST_OF_CODE)


def with_unchanged(declared: Declaration, fields: tuple[Unchanged, ...], by: str) -> Declaration:
    """The declaration of the new version that also has these fields; `by` is how: `in the form by ada`."""
    if not fields:
        return declared
    return replace(declared, unchanged=declared.unchanged | set(fields), named=NamedUnchanged(fields, by))


def with_same_program(declared: Declaration, by: str) -> Declaration:
    """The declaration of a new version that is the build of the one before; `by` is how that is known."""
    return replace(declared, same_program=by)


def check_same_program(before: Side, after: Side) -> None:
    """BadInput if the descriptions prove that the new version is another program than it is declared to be."""
    optimized = {(side.declared.config or {}).get(_OPTIMIZATION) for side in (before, after)}
    if after.declared.same_program and before.topology != after.topology and len(optimized) < _BOTH:
        raise BadInput(
            f"{after.declared.same_program}: the two descriptions differ, and {_OPTIMIZATION} does not (expected: one "
            "program); plan without it"
        )


def same_is_enough(before: Side, after: Side, fired_with: Callable[[Side], Fired], verdict: Outcome) -> bool:
    """Whether an inconclusive plan of two equal descriptions with other settings is decided if both are one build."""
    configs = before.declared.config, after.declared.config
    settings_only = before.topology == after.topology and None not in configs and configs[0] != configs[1]
    if verdict is not Outcome.INCONCLUSIVE or not settings_only or after.declared.same_program:
        return False
    same = replace(after, declared=with_same_program(after.declared, "one build"))
    return change_plan(fired_with(same)).verdict is not Outcome.INCONCLUSIVE


def unchanged_findings(after: Side, found: Iterable[Subject]) -> Iterator[ChangeFinding]:
    """What was named for this comparison and by whom, and each place where a field of `unchanged` differs."""
    declared = after.declared
    if declared.named is not None:
        fields, by = ", ".join(declared.named.fields), declared.named.by
        yield ChangeFinding(NAMED, "info", "unchanged", f"declared {by}: {fields} unchanged", _SOURCE, ())
    if declared.same_program:
        message = f"declared {declared.same_program}: both versions are one program; what only code decides is the same"
        yield ChangeFinding(NAMED, "info", "program", message, _SOURCE, ())
    places = dict.fromkeys((f"{_SECTIONS[one.kind]}.{one.name}", field) for one, field in _differing(declared, found))
    for where, field in places:
        message = f"{where}: unchanged names {field}, which differs between the versions; the plan uses the difference"
        yield ChangeFinding(CONTRADICTED, "info", where, f"{message}; leave {field} out of unchanged", _SOURCE, ())


def enough(fired: Fired, after: Side, fired_with: Callable[[Side], Fired], verdict: Outcome) -> tuple[Unchanged, ...]:
    """The fields that decide an inconclusive plan if the new version names them; none if it lacks other facts too."""
    if verdict is not Outcome.INCONCLUSIVE:
        return ()
    asked = {missing.field for one in open_questions(fired) for missing in one.asked}
    fields = tuple(one for one in UNCHANGED if one in asked)
    if not asked or len(fields) < len(asked):
        return ()
    named = replace(after, declared=with_unchanged(after.declared, fields, ""))
    return fields if change_plan(fired_with(named)).verdict is not Outcome.INCONCLUSIVE else ()


def again_with(runbook: str, fields: tuple[Unchanged, ...]) -> str:
    """The end of a sentence: how the field of a runbook's form decides it; empty without fields."""
    if not fields:
        return ""
    field = f"--param unchanged={','.join(fields)}"
    return f"; trigger a new run of {runbook} with {field} if the code of these did not change"


def _differing(declared: Declaration, found: Iterable[Subject]) -> Iterator[tuple[Subject, Unchanged]]:
    for one in found:
        for field in UNCHANGED if one.kind in _SECTIONS else ():
            if field in declared.unchanged and one.facts.get(f"{field}_changed") is True:
                yield one, field


def _all() -> str:
    return f"{', '.join(UNCHANGED[:-1])} or {UNCHANGED[-1]}"
