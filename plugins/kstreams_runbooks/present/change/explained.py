"""One change rule in full: what it finds, why, what it means for the data, its runbooks, and a case that shows it."""

import textwrap
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.change import ChangeRule
from kstreams_runbooks.present.rules_page import OBJECTS, conditions, message
from kstreams_runbooks.wording import outside

_WIDTH = 110
_LABEL = 12


def explained(rule_id: str, rules: tuple[ChangeRule, ...], cases: Mapping[str, str]) -> str:
    """The rows of a rule as text; BadInput for an id that no row has. `cases` has one case of each rule, in words."""
    rows = [rule for rule in rules if rule.id == rule_id]
    ids = sorted({rule.id for rule in rules})
    if not rows:
        near = ", ".join(get_close_matches(rule_id, ids, 3))
        raise BadInput(
            f"rule {outside(rule_id, 80)}: not a rule of topology changes ({f'near: {near}; ' if near else ''}"
            "docs/change_rules.md has all of them, docs/version_paths.md those of releases); give one of them"
        )
    by = sorted({rule.id for rule in rules if rule_id in rule.covers})
    lines = [rule_id, *(line for row in rows for line in _row(row))]
    ends = {"covered by": ", ".join(by), "a case": cases.get(rule_id, "")}
    lines += ["", *(line for label, text in ends.items() if text for line in _labelled(label, text))]
    return "\n".join(lines)


def _row(rule: ChangeRule) -> Iterator[str]:
    yield ""
    yield from _labelled(rule.severity, f"{message(rule)} (on {OBJECTS[rule.on]})")
    if rule.data:
        yield from _labelled("data", rule.data)
    yield from _labelled("why", rule.why)
    yield from _labelled("when", conditions(rule).replace("`", ""))
    runbooks = "none, refused" if rule.refuse else ", else ".join(rule.runbooks) or "none needed"
    yield from _labelled("runbook", runbooks)
    if rule.covers:
        yield from _labelled("covers", ", ".join(rule.covers))
    yield from _labelled("source", rule.source)


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {label:{_LABEL}}",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
