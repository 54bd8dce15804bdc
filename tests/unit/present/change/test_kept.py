"""The stored plan of a run of `plan_change`: a dry run and the evidence show what its log shows."""

from typing import Any

import pytest
from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.present.change.document import document
from kstreams_runbooks.present.change.kept import kept_lines, kept_markdown
from kstreams_runbooks.present.change.text import as_text
from kstreams_runbooks.present.evidence.html import as_html
from kstreams_runbooks.present.evidence.page import as_markdown
from kstreams_runbooks.present.evidence.text import as_text as evidence_as_text
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import compared

RUN = {
    "dag_id": "plan_change",
    "run_id": "r",
    "application": "orders",
    "cluster": "demo",
    "dry_run": True,
    "requested_by": "oncall",
    "reason": "OPS-7",
    "started_at_ms": 0,
    "ended_at_ms": 2_000,
    "plan_digest": "d1",
    "outcome": "dry run",
    "outcome_sentence": "nothing was changed",
}
CHAIN = {"rows": 2, "readings": 0, "head": "0" * 64, "clock_went_back": []}
PARTS = ("approvals", "cards", "holds", "notifications", "restarts", "verdicts", "failures", "notes", "writes")


def stored() -> dict[str, Any]:
    both = compared("filter-before-unnamed-foreign-key-join")
    made = document(read_change(both.before, both.after, topology_change_rules(), upgrade_path_rules()))
    choices = {"runbooks": [], "left_out": ["reset_and_cleanup: orders has no <inputs>"]}
    return {**made, "application": "orders", "choices": choices, "commands": []}


def evidence() -> dict[str, Any]:
    return {"run": RUN, "plan": stored(), "chain": CHAIN, **{part: [] for part in PARTS}}


def test_the_lines_are_the_plan_what_is_left_out_and_the_digest() -> None:
    """The first is the answer."""
    made = stored()
    lines = kept_lines(made, "d1")
    assert lines[0].startswith("RUNBOOK NEEDED: ")
    assert lines == [*as_text(made).splitlines(), "reset_and_cleanup: orders has no <inputs>", "plan d1"]
    made["costs"]["inputs_reach_back_to_ms"] = 0
    assert kept_lines(made, "d1")[-3] == "inputs reach back to 1970-01-01 00:00 UTC"


@pytest.mark.parametrize("other", [None, {"facts": {}, "stages": []}, {"choices": {}}, {**stored(), "findings": 7}])
def test_another_document_has_no_lines(other: dict[str, Any] | None) -> None:
    """Nothing stored, the plan of another runbook, and the format of another release."""
    assert (kept_lines(other, "d1"), kept_markdown(other, "d1")) == ([], [])


def test_the_evidence_has_the_plan_in_every_format() -> None:
    """Its headings are below "Plan", commands stay whole, and HTML shows what is outside text as text."""
    page = as_markdown(evidence()).splitlines()
    at = page.index("## Plan")
    assert page[at + 2].startswith("### RUNBOOK NEEDED: ")
    assert "#### Findings" in page[at:]
    assert not [line for line in page[at + 1 : page.index("## Timeline")] if line.startswith("## ")]
    for columns in (None, 80):
        lines = evidence_as_text(evidence(), columns=columns).splitlines()
        assert lines[lines.index("plan") + 1].startswith("  RUNBOOK NEEDED: ")
        assert "  plan d1" in lines
        assert columns is None or max(map(len, lines[lines.index("plan") : lines.index("  plan d1")])) <= columns
    assert "<h2>Plan</h2>\n<pre>RUNBOOK NEEDED: " in as_html(evidence())
    assert "orders has no &lt;inputs&gt;\nplan d1</pre>" in as_html(evidence())
