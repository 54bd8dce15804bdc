"""Unknown facts of an application: every possible value is tried, and the answers are compared."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from kstreams_runbooks.decide.releases.answers import summary
from kstreams_runbooks.decide.releases.rules import broker_rows
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.verdicts import Outcome

PathAnswers = list[tuple[PathQuestion, UpgradePath]]

# input of the question: its name for a person, and the option that gives it
_INPUTS = {
    "broker": ("broker release", "--broker"),
    "guarantee": ("processing guarantee", "--processing-guarantee"),
    "group_protocol": ("group protocol", "--group-protocol"),
}


def possible_questions(question: PathQuestion, rules: UpgradePathRules) -> list[PathQuestion]:
    """The question with every combination of missing values that the running release can have.

    An application that runs can reach its brokers: combinations in which it could not are excluded.
    """
    running = question.running
    brokers = [question.broker] if question.broker else _brokers(rules)
    guarantees = [question.guarantee] if question.guarantee else _values(rules.guarantees, running)
    protocols = [question.group_protocol] if question.group_protocol else _values(rules.protocols, running)
    every = [
        replace(question, broker=broker, guarantee=guarantee, group_protocol=protocol)
        for broker, guarantee, protocol in product(brokers, guarantees, protocols)
    ]
    return [full for full in every if _can_run(full, rules)] or every


def one_answer(question: PathQuestion, answers: PathAnswers, rules: UpgradePathRules) -> UpgradePath:
    """The common answer of all, or inconclusive: the inputs that would change it, and the answer for each value."""
    if len({_key(path) for _, path in answers}) == 1:
        paths = [path for _, path in answers]
        findings = tuple(dict.fromkeys(finding for path in paths for finding in path.findings))
        reasons = tuple(dict.fromkeys(path.reason for path in paths))
        return replace(paths[0], reason=reasons[0], findings=findings)
    missing = [name for name in _INPUTS if getattr(question, name) is None and _matters(name, answers)]
    shared = [finding for finding in answers[0][1].findings if all(finding in path.findings for _, path in answers)]
    findings = (*(_missing_finding(name, answers, rules) for name in missing), *shared)
    names = " and ".join(_INPUTS[name][0] for name in missing)
    options = " and ".join(_INPUTS[name][1] for name in missing)
    return UpgradePath(
        Outcome.INCONCLUSIVE,
        f"{question.pair}: {names} not known, and the answer hangs on it; give {options}",
        findings=findings,
    )


def _values(settings: Iterable[Any], running: Release) -> list[Any]:
    return [one.value for one in settings if within(running, one.releases)]


def _brokers(rules: UpgradePathRules) -> list[Release]:
    """One minor for each set of brokers that no row distinguishes, the newest of it."""
    newest: dict[tuple[bool, ...], Release] = {}
    for minor in _minors(rules):
        newest[tuple(within(minor, row.brokers) for row in rules.brokers)] = minor
    return sorted(newest.values())


def _minors(rules: UpgradePathRules) -> list[Release]:
    return [Release(minor) for minor in dict.fromkeys(release.minor for release in rules.releases)]


def _can_run(question: PathQuestion, rules: UpgradePathRules) -> bool:
    return not any(row.effect == "refuse" for row in broker_rows(question.running, question.guarantee, question, rules))


def _key(path: UpgradePath) -> tuple[Any, ...]:
    return path.verdict, path.legs, path.bridge


def _matters(name: str, answers: PathAnswers) -> bool:
    """Whether two questions that differ in this input alone have different answers."""
    by_rest: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for question, path in answers:
        by_rest[tuple(getattr(question, other) for other in _INPUTS if other != name)].add(_key(path))
    return any(len(keys) > 1 for keys in by_rest.values())


def _missing_finding(name: str, answers: PathAnswers, rules: UpgradePathRules) -> PathFinding:
    """The answer for each value of one input, values with the same answers together."""
    outcomes: dict[Any, dict[str, None]] = defaultdict(dict)
    for question, path in answers:
        outcomes[getattr(question, name)][summary(path)] = None
    together: dict[str, list[Any]] = defaultdict(list)
    for value, given in outcomes.items():
        together[" or ".join(sorted(given))].append(value)
    told = "; ".join(
        f"{', '.join(_broker_ranges(values, rules) if name == 'broker' else values)}: {given}"
        for given, values in together.items()
    )
    everywhere = set.intersection(*(set(path.findings) for _, path in answers))
    sources = dict.fromkeys(
        part
        for question, path in answers
        for finding in path.findings
        if finding not in everywhere and (finding.severity == "danger" or finding.object != question.pair)
        for part in finding.source.split("; ")
    )
    return PathFinding(
        f"missing-{name.replace('_', '-')}", "warning", _INPUTS[name][0], f"Not known. {told}.", "; ".join(sources)
    )


def _broker_ranges(brokers: list[Release], rules: UpgradePathRules) -> Iterator[str]:
    """The brokers behind these, as ranges: each represents those since the one before it."""
    minors, ends = _minors(rules), _brokers(rules)
    began: Release | None = None
    for before, end in zip((None, *ends), ends, strict=False):
        if end not in brokers:
            continue
        if began is None:
            began = next(minor for minor in minors if before is None or minor > before)
        after = ends.index(end) + 1
        if after == len(ends) or ends[after] not in brokers:
            yield str(end) if began == end else f"{began} to {end}"
            began = None
