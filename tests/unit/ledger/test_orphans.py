"""Topics that runs left behind, in the ledger."""

from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.orphans import KeptOrphan
from kstreams_runbooks.model.runs.ledger import RunRecord


def test_the_first_time_of_a_run_stays_and_another_run_has_its_own(url: str) -> None:
    """A rerun of the step that keeps them changes nothing."""
    ledger = Ledger.open(url)
    runs = [
        ledger.start_run(RunRecord("", "bump", name, "orders", "demo", "oncall", False, "", {}, 1)) for name in "ab"
    ]
    topic = ("orders-x-changelog", "id", "demo", "orders")
    rows = [KeptOrphan(one.run_key, *topic, since_ms) for one, since_ms in zip(runs, (7, 9), strict=True)]
    ledger.keep_orphans(rows)
    ledger.keep_orphans([KeptOrphan(runs[0].run_key, *topic, 8)])
    assert ledger.orphans("demo", "orders") == tuple(rows)
    assert ledger.orphans("demo", "payments") == ledger.orphans("other", "orders") == ()
