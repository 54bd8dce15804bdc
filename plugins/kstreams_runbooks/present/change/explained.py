"""One finding of a plan in full: what it means and why; of a change rule also its runbooks and a case that shows it."""

import textwrap
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from kstreams_runbooks.decide.releases.defects import done_differently
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.rules import Change, Defect
from kstreams_runbooks.model.topology.change import ChangeRule, FindingKind
from kstreams_runbooks.present.defects import needs
from kstreams_runbooks.present.rules_page import OBJECTS, conditions, message
from kstreams_runbooks.rules import finding_kinds, topology_cases, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.wording import outside

_WIDTH = 110
_LABEL = 12
_BETWEEN = (("running", "running"), ("target", "target"), ("releases", "releases"), ("brokers", "brokers"))


def explained(finding: str) -> str:
    """The rows with this id as text, those about topologies and those about releases; BadInput for an unknown id."""
    rules, kinds = topology_change_rules(), {one.id: one for one in finding_kinds()}
    rows = [rule for rule in rules if rule.id == finding]
    of_releases = [row for row in _rows_of_releases() if row.id == finding]
    if not rows and not of_releases and finding not in kinds:
        near = ", ".join(get_close_matches(finding, sorted(explainable()), 3))
        raise BadInput(
            f"rule {outside(finding, 80)}: not a finding of a plan ({f'near: {near}; ' if near else ''}"
            "docs/change_rules.md has the rules of topology changes, docs/version_paths.md those of releases); give "
            "one of them"
        )
    lines = [finding, *(line for row in rows for line in _row(row))]
    lines += [line for row in of_releases for line in _row_of_releases(row)]
    lines += _kind(kinds[finding]) if finding in kinds else ()
    by = sorted({rule.id for rule in rules if finding in rule.covers})
    ends = {"covered by": ", ".join(by), "a case": topology_cases().get(finding, "")}
    if any(ends.values()):
        lines += ["", *(line for label, text in ends.items() if text for line in _labelled(label, text))]
    return "\n".join(lines)


def explainable() -> set[str]:
    """Every id that can be explained."""
    return {one.id for one in (*topology_change_rules(), *finding_kinds(), *_rows_of_releases())}


def _rows_of_releases() -> tuple[Any, ...]:
    """Every row about releases that has an id: the rest are values that a release accepts."""
    rules = upgrade_path_rules()
    return (
        *rules.changes,
        *rules.upgrades,
        *rules.downgrades,
        *rules.guarantee_changes,
        *rules.protocol_changes,
        *rules.brokers,
        *rules.defects,
    )


def _row(rule: ChangeRule) -> Iterator[str]:
    yield ""
    yield from _labelled(rule.severity, f"{message(rule)} (on {OBJECTS[rule.on]})")
    if rule.data:
        yield from _labelled("data", rule.data)
    yield from _labelled("why", rule.why)
    yield from _labelled("when", conditions(rule).replace("`", ""))
    runbooks = "none, refused" if rule.refuse else ", else ".join(rule.runbooks) or "none needed"
    yield from _labelled("runbook", runbooks)
    if rule.first:
        yield from _labelled("first", rule.first)
    if rule.covers:
        yield from _labelled("covers", ", ".join(rule.covers))
    yield from _labelled("source", rule.source)


def _row_of_releases(row: Any) -> Iterator[str]:
    """A row about releases: a change of one, or what holds between two."""
    yield ""
    if isinstance(row, Change):
        yield from _labelled(row.severity, row.message)
        yield from _labelled("when", f"the change crosses release {row.since}")
    else:
        effects = row.effects if isinstance(row, Defect) else (row.effect,)
        yield from _labelled("effect", f"{', '.join(effects).replace('_', ' ')}: {row.reason}")
        ranges = [f"{word} {', '.join(getattr(row, name))}" for name, word in _BETWEEN if getattr(row, name, ())]
        yield from _labelled("when", "; ".join(ranges))
    if isinstance(row, Defect) and row.needs:
        yield from _labelled("needs", needs(row))
    then = done_differently(row) if isinstance(row, Defect) else getattr(row, "action", "")
    for label, text in (("set first", getattr(row, "setting", "")), ("then", then)):
        if text:
            yield from _labelled(label, text)
    yield from _labelled("source", row.source)


def _kind(one: FindingKind) -> list[str]:
    words = (("what", one.what), ("then", one.then), ("source", one.source))
    return ["", *(line for label, text in words for line in _labelled(label, text.replace("`", "")))]


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {label:{_LABEL}}",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
