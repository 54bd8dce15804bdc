"""A group that a person moves has a deadline; one that its deployer moves has none."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.cutover import KeptFor
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.cutover import moving
from kstreams_runbooks.steps.cutover.moving import move_group
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.seam import keep_seam
from world.cutting import cutover, restart
from world.samples import down, instance, reading

SEAM_MS = 1_795_850_000_000
WAITS = Refused("move_downstream waits for a person: stop billing-1")


@pytest.fixture
def plan() -> Plan:
    """A cutover of two outputs, which moves two groups."""
    return cutover_plan(restart(), cutover())


@pytest.fixture
def asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Move the first group at a time; its person has not come."""
    keep_seam(run, NotedEnds(SEAM_MS, (NotedEnd("totals", 0, 0, 5), NotedEnd("totals-v2", 0, 0, 4))))
    side = run.side("downstream_1")
    stages = tuple(one for one in run.whole_plan().stages if one.side == "downstream_1")
    seen: list[set[str]] = []

    def kept(_: Any, topics: set[str]) -> tuple[KeptFor, ...]:
        seen.append(topics)
        return (KeptFor("retention.ms of totals", 90_000),)

    def waits(*_: Any) -> None:
        raise WAITS

    def ask(at_ms: int, *, acts: bool = False, is_down: bool = True) -> tuple[str, list[set[str]]]:
        one = instance("billing-1")
        fields: Any = vars(side)
        fields["deployer"] = SimpleNamespace(abilities=SimpleNamespace(act=acts))
        monkeypatch.setattr(Run, "read", lambda *_, **__: reading(down("billing-1") if is_down else one))
        monkeypatch.setattr(moving, "now_ms", lambda: at_ms)
        with pytest.raises(Refused) as refused:
            move_group(run, side, stages)
        return str(refused.value), seen

    @contextmanager
    def reader(_: Run) -> Iterator[None]:
        yield None

    monkeypatch.setattr(Run, "reader", reader)
    monkeypatch.setattr(moving, "read_kept_for", kept)
    monkeypatch.setattr(moving, "_move_now", waits)
    return ask


UNTIL = "billing may move until 2026-11-28 07:14 UTC (half of retention.ms of totals, 90 s, from the seam on)"


def test_a_person_sees_the_deadline(asked: Any) -> None:
    """By the retention of the old and of the new topics."""
    said, topics = asked(SEAM_MS + 10)
    assert said == f"{WAITS}; {UNTIL}"
    assert topics == [{"totals", "totals-v2"}]


def test_after_the_deadline_a_new_seam_is_needed(asked: Any) -> None:
    """Nothing is asked of the person any more."""
    said, _ = asked(SEAM_MS + 45_001)
    assert "billing did not move until 2026-11-28 07:14 UTC" in said
    assert "a new seam is needed: undo this run, then trigger a new one" in said
    assert str(WAITS) not in said


def test_one_that_has_started_is_not_late(run: Run, asked: Any) -> None:
    """Its verification judges the time without a member; one that is down again, or still to start, is late."""
    [start] = [one for one in run.whole_plan().stages if (one.kind, one.side) == ("start_all", "downstream_1")]
    run.side("downstream_1").keep("note", START_BEGUN, {"bounce": start.number, "instances": ["billing-1"]})
    assert asked(SEAM_MS + 45_001, is_down=False)[0] == str(WAITS)
    assert "a new seam is needed" in asked(SEAM_MS + 45_001, is_down=True)[0]


def test_what_a_deployer_moves_has_no_deadline(asked: Any) -> None:
    """It does not wait for a person."""
    assert asked(SEAM_MS + 45_001, acts=True) == (str(WAITS), [])
