"""The page of all change rules as Markdown, generated from the rows."""

import re
from collections.abc import Iterator

from kstreams_runbooks.model.releases.settings import SettingRefusal
from kstreams_runbooks.model.topology.change import ChangeRule, Procedure
from kstreams_runbooks.wording import cell

_HEAD = """\
# Change rules

Every row from which `kstreams-runbooks plan`, `verify` and the DAG `plan_change` derive the consequences of a change,
with its source. This page is printed from `plugins/kstreams_runbooks/rules` by `make docs`; a test fails if it is out
of date.

A row applies to one part of an application if all its conditions hold. Conditions that the text of a topology does not
contain are declared (docs/declaration.md); if a declaration lacks one that matters, the plan is inconclusive. A rule
that another *covers* on the same object, or on the application as a whole, stays in the JSON as info.
docs/version_paths.md has the duties of a library change.
"""
# The words of `decide/comparison/words.py` come right behind another word.
_VALUES = re.compile(r"(?<=\w)\{\w+\}")
OBJECTS = {
    "store": "a state store",
    "internal_topic": "an internal topic",
    "kept_topic": "an internal topic that stays",
    "operator": "an operator",
    "source_topic": "a topic that is read",
    "sink": "a topic that is written",
    "subtopology": "a subtopology",
    "application": "an application",
    "suppression": "a suppress operator",
    "setting": "a setting",
    "optimization": "an optimization",
    "library": "a Kafka Streams release",
}


_REFUSALS = """
# Settings that releases refuse

`make settings` gives the example of each row to every release, which constructs an application with it: the releases
in the table refuse it, and take a near one. A value that a release's own list of settings excludes is refused too
(`rules/settings.yaml`). All of them are `setting-refused` in a plan, and every runbook refuses them before it stops an
instance. What only a start shows is in docs/facts.md.

| example | releases | why | the library's words |
|---|---|---|---|"""


def rules_page(
    rules: tuple[ChangeRule, ...], procedures: tuple[Procedure, ...], refusals: tuple[SettingRefusal, ...] = ()
) -> str:
    """The page; the same rows give the same page."""
    return "\n".join((*_page(rules, procedures), *_refused(refusals), ""))


def _refused(refusals: tuple[SettingRefusal, ...]) -> Iterator[str]:
    yield from [_REFUSALS] if refusals else []
    for row in refusals:
        example = ", ".join(f"`{name}={value}`" for name, value in row.refused.items())
        releases = ", ".join("all" if one == ".." else one for one in row.releases)
        yield f"| {example} | {releases} | {row.because} | {cell(row.words)} |"


def _page(rules: tuple[ChangeRule, ...], procedures: tuple[Procedure, ...]) -> Iterator[str]:
    yield _HEAD
    ids = dict.fromkeys(rule.id for rule in rules)
    yield f"{len(ids)} rules in {len(rules)} rows."
    for rule_id in ids:
        yield from ("", f"## {rule_id}")
        for rule in rules:
            if rule.id == rule_id:
                yield from _row(rule)
    yield from ("", "# Runbooks that are not DAGs yet")
    for procedure in procedures:
        yield from ("", f"## {procedure.runbook}", "", f"Manually: {procedure.what}. Source: {procedure.source}.", "")
        yield from (f"{number}. {step}" for number, step in enumerate(procedure.steps, 1))


def _row(rule: ChangeRule) -> Iterator[str]:
    yield from ("", f"- **{rule.severity}**, on {OBJECTS[rule.on]}: {message(rule)}")
    if rule.data:
        yield f"- data: {rule.data}"
    yield f"- when: {conditions(rule)}"
    yield f"- why: {rule.why}"
    yield f"- source: {rule.source}"
    if rule.refuse:
        yield "- runbook: none, refused"
    else:
        yield f"- runbook: {', else '.join(rule.runbooks) or 'none needed'}"
    if rule.first:
        yield f"- first: {rule.first}"
    if rule.covers:
        yield f"- covers: {', '.join(rule.covers)}"


def message(rule: ChangeRule) -> str:
    """The sentence of a row; values of both versions, which a finding adds, as ` (old → new)`."""
    return _VALUES.sub(" (old → new)", rule.message)


def conditions(rule: ChangeRule) -> str:
    """The facts of a row with their values, as Markdown."""
    return ", ".join(f"`{fact}` is {_value(value)}" for fact, value in rule.fires_when.items())


def _value(value: bool | str | int) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"`{value}`"
