"""Rules that fire on the effects of a change: three answers, because a fact may be unknown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
    of_kind = _by_kind(rules)
    for subject in subjects:
        firing: list[ChangeRule] = []
        for rule in of_kind[subject.kind]:
            unknown = _unknown(rule, subject)
            if unknown:
                undecided.append(_undecided(rule, subject, unknown))
            elif unknown is not None:
                firing.append(rule)
        findings += _findings(firing, subject)
    return Fired(tuple(_covered(findings, rules)), tuple(undecided))


def found(subjects: Iterable[Subject], rules: tuple[ChangeRule, ...]) -> tuple[ChangeFinding, ...]:
    """The findings of `fired` alone: what may fire is left aside."""
    of_kind = _by_kind(rules)
    findings: list[ChangeFinding] = []
    for subject in subjects:
        findings += _findings([rule for rule in of_kind[subject.kind] if _fires(rule, subject)], subject)
    return tuple(_covered(findings, rules))


def _by_kind(rules: tuple[ChangeRule, ...]) -> defaultdict[str, list[ChangeRule]]:
    of_kind: defaultdict[str, list[ChangeRule]] = defaultdict(list)
    for rule in rules:
        of_kind[rule.on].append(rule)
    return of_kind


def _fires(rule: ChangeRule, subject: Subject) -> bool:
    """Whether all facts on which a rule depends are known, and for it."""
    facts = subject.facts
    for name, value in rule.fires_when.items():
        if facts[name] != value:
            return False
    return True


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
    return Undecided(rule.id, rule.severity, subject.name, asked, rule.runbooks, candidates, rule.refuse)


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
