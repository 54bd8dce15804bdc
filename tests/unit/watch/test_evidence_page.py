"""The page of a run for a person: what it changed, and of whom. Covers watch/evidence."""

from pathlib import Path

from kstreams_runbooks.decide.runs.next_action import NEXT, NextAction
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts, SidePart
from kstreams_runbooks.present.evidence.html import as_html
from kstreams_runbooks.present.evidence.page import as_markdown
from kstreams_runbooks.present.evidence.text import as_text
from kstreams_runbooks.watch.evidence import as_document
from world.new_ledger import new_ledger

BY_HAND = ("MANUALLY, the last change first:", "    supervisorctl restart orders-1")


def test_the_page_names_every_application(tmp_path: Path) -> None:
    """The heading has the run's own; another one has its cluster and its role."""
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "cutover", "r", "orders", "demo", "oncall", False, "", {}, 1_000))
    facts = PlanFacts("classic", (), (), (), static_membership=True, code="c0de")
    sides = (SidePart("green", "orders-green", "demo", facts),)
    plan = Plan("cutover", "orders", "demo", (), (), (), facts, (), (), (), "a cutover", "none", sides=sides)
    assert "changes too" not in as_markdown(as_document(ledger, record))
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    page = as_markdown(as_document(ledger, ledger.run(record.run_key)))
    assert page.startswith("# cutover of orders @ demo\n")
    assert "- changes too: orders-green @ demo, its green\n" in page


def test_an_ended_run_has_its_next_action_as_a_command_to_paste(tmp_path: Path) -> None:
    """Under its outcome, as Markdown and as HTML, what is done by hand last; a run that goes on again has none."""
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "cutover", "r", "orders", "demo", "oncall", False, "", {}, 1_000))
    action = NextAction(("GO ON: repair it:", "    kstreams-runbooks clear r verify"), BY_HAND, "")
    ledger.record(record.run_key, "conclude", 1, "note", NEXT, encode(action), 2_000)
    assert "GO ON" not in as_markdown(as_document(ledger, record))
    ledger.conclude(record.run_key, "stopped, changed", "lag 7", 3_000)
    document = as_document(ledger, ledger.run(record.run_key))
    last = "  - MANUALLY, the last change first:\n  - `supervisorctl restart orders-1`\n"
    assert f"lag 7\n  - GO ON: repair it:\n  - `kstreams-runbooks clear r verify`\n{last}" in as_markdown(document)
    page = as_html(document)
    assert "<p>GO ON: repair it:</p>\n<p><code>kstreams-runbooks clear r verify</code></p>\n<p>MANUALLY" in page
    assert "<p><code>supervisorctl restart orders-1</code></p>" in page
    last = "  MANUALLY, the last change first:\n    supervisorctl restart orders-1\n"
    assert f"    kstreams-runbooks clear r verify\n{last}" in as_text(document)
