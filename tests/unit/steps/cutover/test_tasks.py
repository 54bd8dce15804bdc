"""The tasks of a cutover on a real ledger: what a rerun, a clearing or a restart elsewhere must not make it believe."""

import pytest
from kstreams_runbooks.decide.plans.cutover import after_unequal, cutover_plan
from kstreams_runbooks.errors import Inconclusive, Refused, WriteRefused
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.cutover import tasks
from kstreams_runbooks.steps.cutover.tasks import asked_at_seam, old_again, stood_s
from kstreams_runbooks.steps.inputs.tasks import switching
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.order import keep_complete
from kstreams_runbooks.steps.stages.seam import keep_seam
from world.cutting import cutover, restart
from world.samples import card


@pytest.fixture
def plan() -> Plan:
    """A cutover of two outputs, which moves two groups."""
    return cutover_plan(restart(), cutover())


@pytest.fixture
def resumed(run: Run, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, list[str]]:
    """A run whose inputs flow again behind a seam, and what it has started since."""
    started: list[str] = []
    keep_seam(run, NotedEnds(7, (NotedEnd("totals", 0, 0, 5), NotedEnd("totals-v2", 0, 0, 4))))
    for stage in run.whole_plan().stages[: switching(run).resuming[-1].number]:
        keep_complete(run, stage)
    monkeypatch.setattr(tasks, "authorize", lambda *_, **__: None)
    monkeypatch.setattr(tasks, "start_all", lambda side, _: started.append(side.record.application))
    return run, started


def begin_to_move(run: Run) -> None:
    """The first group is being stopped."""
    [stage] = [one for one in run.whole_plan().stages if (one.kind, one.side) == ("start_all", "downstream_1")]
    run.ledger.write_card(card("billing-1", run_key=run.key, stage=stage.number, application="billing"))


def test_unequal_sides_start_the_old_one_again(resumed: tuple[Run, list[str]]) -> None:
    """Nothing was moved, and nothing is moved afterwards."""
    run, started = resumed
    with pytest.raises(Refused, match="orders runs again, and no group was moved; find out why"):
        old_again(run, Refused("3 keys differ"))
    assert started == ["orders"]
    with pytest.raises(Inconclusive, match="no answer of Spark; orders runs again"):
        old_again(run, Inconclusive("no answer of Spark"))


def test_a_comparison_that_is_cleared_after_a_move_starts_nothing(resumed: tuple[Run, list[str]]) -> None:
    """It ended well before the first group moved: it is not repeated, and no sentence has it that none was moved."""
    run, started = resumed
    begin_to_move(run)
    old_again(run, Refused("3 keys differ"))
    assert started == []
    with pytest.raises(WriteRefused, match="clear compare_at_seam"):
        asked_at_seam(run)
    run.keep("note", "compare_at_seam", {"plan": run.whole_plan().digest})
    assert asked_at_seam(run) is None


def test_how_long_the_old_side_was_down_is_that_of_its_own_stop(run: Run) -> None:
    """From the request until its instances had started; not known before both."""
    names = {"orders": ["orders-1", "orders-2"], "orders-copier": ["copy-1"]}
    own = after_unequal(run.whole_plan()).number
    assert stood_s(run, names["orders"]) is None
    run.ledger.record(
        run.key, "pause", 1, "write", "stop", {"instances": names["orders-copier"], "requested_ms": 10}, 11
    )
    run.ledger.record(
        run.key, "stop", 1, "write", "stop", {"instances": names["orders"], "requested_ms": 20_000}, 21_000
    )
    run.ledger.record(run.key, "resume", 1, "write", "restart", {"bounce": own - 1}, 30_000)
    assert stood_s(run, names["orders"]) is None
    run.ledger.record(run.key, "start", 1, "write", "restart", {"bounce": own}, 104_000)
    assert stood_s(run, names["orders"]) == 84
