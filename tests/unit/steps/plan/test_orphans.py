"""Which changelogs a run left behind, kept when its change is proven; on a real SQLite ledger."""

from dataclasses import replace

import pytest
from kstreams_runbooks.model.readings.readings import ApplicationReading, TopicReading
from kstreams_runbooks.steps.plan.orphans import keep_orphans
from kstreams_runbooks.steps.run.run import Run
from world.samples import declared, down, instance, reading
from world.sides import COUNTS

CHANGELOG = TopicReading("orders-counts-changelog", "id-1", 4)


def runs(text: str, at_ms: int) -> ApplicationReading:
    """The application with this topology at that time."""
    return replace(reading(instance("orders-1", topology=text), at_ms=at_ms), topics=(CHANGELOG,))


def test_a_changelog_without_a_store_is_kept_once(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Since the reading that proved the change; a rerun of the step keeps the first time."""
    vars(run)["declared"] = declared()
    renamed = COUNTS.replace("counts]", "totals]")
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        for at_ms in (2_000, 3_000):
            keep_orphans(run, runs(COUNTS, 1_000), runs(renamed, at_ms))
    [kept] = run.ledger.orphans(*run.about)
    assert (kept.topic, kept.topic_id, kept.run_key, kept.since_ms) == (CHANGELOG.name, "id-1", run.key, 2_000)
    assert "changelogs that nothing reads any more, kept for an undo: orders-counts-changelog" in caplog.text


def test_what_is_unknown_does_not_fail_a_proven_change(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """It is in the log; the command shows the topics."""
    vars(run)["declared"] = declared()
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        keep_orphans(run, reading(down("orders-1")), runs(COUNTS, 2_000))
        keep_orphans(run, runs(COUNTS, 1_000), runs(COUNTS, 2_000))
    assert run.ledger.orphans(*run.about) == ()
    assert "changelogs left behind are not known (no instance of orders reported its topology)" in caplog.text


def test_a_shipped_copier_leaves_no_changelog(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """It has no state, and reports no topology."""
    vars(run)["declared"] = replace(declared(), routes=(("sent", "orders"),))
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        keep_orphans(run, reading(down("orders-1")), reading(down("orders-1")))
    assert caplog.text == ""
