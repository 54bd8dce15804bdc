"""Which runbooks an application is ready for, and what is missing for the others."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.model.readiness import Facts, Readiness, ReadinessRule, Standing


def readiness(facts: Facts, rules: Iterable[ReadinessRule]) -> tuple[Readiness, ...]:
    """One answer for each rule. KeyError for a rule that asks for a fact that there is none of."""
    return tuple(_ready(facts, rule) for rule in rules)


def _ready(facts: Facts, rule: ReadinessRule) -> Readiness:
    if rule.only_where is not None and facts[rule.only_where].holds is False:
        return Readiness(rule.runbook, "not needed", better=(facts[rule.only_where].why,))
    asked = (*rule.needs, *((rule.only_where,) if rule.only_where else ()))
    missing = tuple(_of(facts, asked, holds=False))
    unknown = tuple(_of(facts, asked, holds=None))
    # What is certain comes first: filling it in is the next action, whatever else turns out.
    standing: Standing = "missing" if missing else "not known" if unknown else "ready"
    return Readiness(
        rule.runbook,
        standing,
        missing,
        unknown,
        (*_of(facts, rule.wants, holds=False), *_of(facts, rule.wants, holds=None)),
    )


def _of(facts: Facts, names: Iterable[str], *, holds: bool | None) -> Iterator[str]:
    """Why of each of `names` that holds so; the same cause is said once."""
    yield from dict.fromkeys(facts[name].why for name in names if facts[name].holds is holds)
