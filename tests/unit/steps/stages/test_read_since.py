"""What a side has read since a run started it: noted by the times of its records, or why they are not known."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.ledger.codec import encode, encode_call
from kstreams_runbooks.model.readings.disorder import HistorySpan
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.kafka.offsets import Ends
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages import read_since
from kstreams_runbooks.steps.stages.read_since import keep_read_since
from kstreams_runbooks.steps.stages.seam import inputs_at_seam
from world.cutting import cutover, restart
from world.samples import partition

SPANS = (HistorySpan("orders", 0, 1_000, 9_000), HistorySpan("orders", 1, None, None))


@pytest.fixture
def plan() -> Plan:
    """A cutover of two outputs."""
    return cutover_plan(restart(), cutover())


def kept(run: Run) -> Any:
    """The spans of the last note."""
    [*_, last] = run.ledger.evidence(run.key, kind="note", name="read before it was verified")
    return last.payload["spans"]


def at_rest(*rows: PartitionLag) -> DrainReading:
    """The reading with which the seam was certified."""
    return DrainReading(Taken(1_000, "test"), rows, {}, {}, {})


def certify(run: Run, now: DrainReading, outcome: Outcome = Outcome.PROCEED) -> None:
    """The old side is certified with this reading."""
    call = encode_call(
        certified, {"readings": (now,), "question": DrainQuestion(1, None), "now": now}, Verdict(outcome, ("so",))
    )
    run.keep("verdict", certified.__name__, call | {"application": run.record.application})


def test_what_cannot_be_read_is_kept_as_not_known(run: Run) -> None:
    """The run that serves goes on: nothing but a way back asks for it."""
    keep_read_since(run, inputs_at_seam(run, run.key))
    assert kept(run)["missing"] == "the ends of its inputs at the seam are not kept"
    certify(run, at_rest(partition(stable=7)), Outcome.INCONCLUSIVE)
    certify(run, at_rest(partition(stable=7), partition(stable=Missing("no leader"), number=1)))
    keep_read_since(run, inputs_at_seam(run, run.key))
    assert kept(run)["missing"] == "the ends of its inputs at the seam are not kept"


def test_what_came_since_the_seam_begins_at_its_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the ends of the inputs, not by committed offsets: an idle partition has none."""
    seen: list[Any] = []
    certify(run, at_rest(partition(committed=None, stable=0), partition(committed=8, stable=9, number=1)))

    def times(_: Run, begins: Any) -> Any:
        seen.append(begins)
        return SPANS

    monkeypatch.setattr(read_since, "_times_since", times)
    keep_read_since(run, inputs_at_seam(run, run.key))
    assert seen == [{("orders", 0): 0, ("orders", 1): 9}]
    assert kept(run) == encode(SPANS)


def test_a_long_history_is_not_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than a grace to come in most cases."""

    @contextmanager
    def reader(_: Run) -> Iterator[Any]:
        yield SimpleNamespace(topics=lambda _: ())

    monkeypatch.setattr(Run, "reader", reader)
    monkeypatch.setattr(read_since, "ends_of", lambda *_: {("orders", 0): Ends(0, 5_000_009, 5_000_009)})
    keep_read_since(run, {("orders", 0): 8})
    assert "it has read 5,000,001 offsets (limit 5,000,000)" in kept(run)["missing"]
