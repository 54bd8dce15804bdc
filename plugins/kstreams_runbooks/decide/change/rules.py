"""Rules that fire on the effects of a change: three answers, because a fact may be unknown."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.comparison.whole import WHOLE
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRule, Subject, Undecided


@dataclass(frozen=True, slots=True)
class Fired:
    """Findings, and the rules that may fire, depending on unknown facts."""

    findings: tuple[ChangeFinding, ...]
    undecided: tuple[Undecided, ...]


def fired(subjects: Iterable[Subject], rules: tuple[ChangeRule, ...]) -> Fired:
    """Every row against every subject; a finding that another covers stays, as info.

    KeyError if a row depends on a fact that subjects of its kind do not have: then the row is wrong.
    """
    findings: list[ChangeFinding] = []
    undecided: list[Undecided] = []
    answers = _Answers(rules)
    for subject in subjects:
        firing, open_ = answers.of(subject)
        findings += _findings(firing, subject)
        undecided += [_undecided(rule, subject, unknown) for rule, unknown in open_]
    return Fired(tuple(_covered(findings, rules)), tuple(undecided))


def found(subjects: Iterable[Subject], rules: tuple[ChangeRule, ...]) -> tuple[ChangeFinding, ...]:
    """The findings of `fired` alone: what may fire is left aside."""
    answers = _Answers(rules)
    return tuple(_covered([one for subject in subjects for one in _findings(answers.of(subject)[0], subject)], rules))


# The rules that fire, and those that may, each with the unknown facts on which it depends.
_Answer = tuple[list[ChangeRule], list[tuple[ChangeRule, list[str]]]]


class _Answers:
    """The rows on subjects: those of one kind with the same facts are answered once, and most of a program's are."""

    def __init__(self, rules: tuple[ChangeRule, ...]) -> None:
        self._of_kind: defaultdict[str, list[ChangeRule]] = defaultdict(list)
        for rule in rules:
            self._of_kind[rule.on].append(rule)
        self._known: dict[Hashable, _Answer] = {}

    def of(self, subject: Subject) -> _Answer:
        """The rows that fire on a subject, and those that may."""
        key = subject.kind, frozenset(subject.facts.items())
        if key not in self._known:
            self._known[key] = self._answer(subject)
        return self._known[key]

    def _answer(self, subject: Subject) -> _Answer:
        each = [(rule, _unknown(rule, subject)) for rule in self._of_kind[subject.kind]]
        firing = [rule for rule, unknown in each if unknown is not None and not unknown]
        return firing, [(rule, unknown) for rule, unknown in each if unknown]


def _unknown(rule: ChangeRule, subject: Subject) -> list[str] | None:
    """The unknown facts on which a rule depends; None if a known one is against it."""
    unknown = []
    for name, value in rule.fires_when.items():
        fact = subject.facts[name]
        if fact is None:
            unknown.append(name)
        elif fact != value:
            return None
    return unknown


def _undecided(rule: ChangeRule, subject: Subject, unknown: list[str]) -> Undecided:
    asked = tuple(dict.fromkeys(one for name in unknown for one in subject.asked[name]))
    candidates = subject.said.get("candidates", "")
    return Undecided(rule.id, rule.severity, subject.name, asked, rule.runbooks, candidates, rule.refuse, rule.data)


def _findings(firing: list[ChangeRule], subject: Subject) -> list[ChangeFinding]:
    """One for each rule; the words are made for all of them at once, and only if there is one."""
    if not firing:
        return []
    words = subject.words()
    return [_finding(rule, subject, words) for rule in firing]


def _finding(rule: ChangeRule, subject: Subject, words: Mapping[str, str]) -> ChangeFinding:
    message = rule.message.format_map(words)
    return ChangeFinding(
        rule.id,
        rule.severity,
        subject.name,
        message,
        rule.source,
        rule.runbooks,
        refuse=rule.refuse,
        data=rule.data,
        first=rule.first,
    )


def _covered(findings: list[ChangeFinding], rules: tuple[ChangeRule, ...]) -> Iterable[ChangeFinding]:
    covers: dict[str, set[str]] = {}
    for rule in rules:
        covers.setdefault(rule.id, set()).update(rule.covers)
    on_object: defaultdict[str, list[ChangeFinding]] = defaultdict(list)
    for finding in findings:
        on_object[finding.object].append(finding)
    for finding in findings:
        others = findings if finding.object == WHOLE else on_object[finding.object]
        by = next((other.id for other in others if finding.id in covers[other.id]), None)
        yield finding if by is None else replace(finding, severity="info", covered_by=by)
