"""The page of all change rules as Markdown, printed from the rows and never edited manually."""

from collections.abc import Iterator

from kstreams_runbooks.model.topology.change import ChangeRule, Procedure

_HEAD = """\
# Change rules

Every row by which `kstreams-runbooks plan`, `verify` and the DAG `plan_change` say what follows from a change, with its
source. This page is printed from `plugins/kstreams_runbooks/rules` by `make docs`; a test says when it is out of date.

A row fires on one part of an application where all its conditions hold. Conditions that the text of a topology does not
tell are declared (docs/declaration.md); where nobody declares them and they matter, the plan is inconclusive. A rule
that another *covers* on the same object, or on the application as a whole, stays in the JSON as info. What the version
planner adds where the library changes is in docs/version_paths.md.
"""
_OBJECTS = {
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


def rules_page(rules: tuple[ChangeRule, ...], procedures: tuple[Procedure, ...]) -> str:
    """The page; the same rows make the same page."""
    return "\n".join((*_page(rules, procedures), ""))


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
        yield from ("", f"## {procedure.runbook}", "", f"By hand: {procedure.what}. Source: {procedure.source}.", "")
        yield from (f"{number}. {step}" for number, step in enumerate(procedure.steps, 1))


def _row(rule: ChangeRule) -> Iterator[str]:
    conditions = ", ".join(f"`{fact}` is {_value(value)}" for fact, value in rule.fires_when.items())
    yield from ("", f"- **{rule.severity}**, on {_OBJECTS[rule.on]}: {rule.message}")
    yield f"- when: {conditions}"
    yield f"- why: {rule.why}"
    yield f"- source: {rule.source}"
    if rule.refuse:
        yield "- runbook: none, refused"
    else:
        yield f"- runbook: {', else '.join(rule.runbooks) or 'none needed'}"
    if rule.covers:
        yield f"- covers: {', '.join(rule.covers)}"


def _value(value: bool | str | int) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"`{value}`"
