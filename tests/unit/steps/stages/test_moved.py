"""A group between its stop and its first members: its seeds are there right before its start, and its time is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages import moved
from kstreams_runbooks.steps.stages.moved import (
    MovedGroup,
    moved_group,
    note_no_member,
    prove_moved,
    require_kept_seeds,
    require_seeds,
    wait_joined,
)
from kstreams_runbooks.steps.stages.seam import keep_seam
from world.cutting import cutover, restart
from world.samples import down, instance, member, partition, reading

TOPIC = "totals-v2"
GONE = PartitionLag(TOPIC, 0, "source", "never_committed")


@pytest.fixture
def plan() -> Plan:
    """A cutover that moves two groups; the first one reads one topic."""
    return cutover_plan(restart(), cutover())


class Broker:
    """What the group has committed on its new topic, and its members: changed by the test."""

    def __init__(self) -> None:
        self.rows: list[PartitionLag | Missing] = []
        self.saved: list[Any] = []
        self.group: GroupReading | Missing = Missing("hidden")
        self.written = 0


@pytest.fixture
def broker(run: Run, monkeypatch: pytest.MonkeyPatch) -> Broker:
    """Its seed is 4, of the only partition."""
    found = Broker()
    keep_seam(run, NotedEnds(7, (NotedEnd(TOPIC, 0, 0, 4),)))

    def rows(*_: Any) -> tuple[PartitionLag, ...] | Missing:
        row = found.rows[0] if len(found.rows) == 1 else found.rows.pop(0)
        return row if isinstance(row, Missing) else (row,)

    def written(*_: Any) -> None:
        found.written += 1

    @contextmanager
    def reader(_: Run) -> Iterator[Any]:
        yield SimpleNamespace(
            topics=lambda names: [SimpleNamespace(name=name, partitions=1) for name in names],
            group=lambda _: found.group,
        )

    monkeypatch.setattr(Run, "reader", reader)
    monkeypatch.setattr(Run, "limit", lambda *_: 0.0)
    monkeypatch.setattr(moved, "_rows", rows)
    monkeypatch.setattr(moved, "read_saved", lambda *_, **__: SimpleNamespace(offsets=found.saved))
    monkeypatch.setattr(moved, "perform", written)
    return found


@pytest.fixture
def billing(run: Run, plan: Plan) -> tuple[Run, MovedGroup]:
    """The run for the first group."""
    return run.on("billing"), moved_group(run.key, plan, "downstream_1")


def at(committed: int | None) -> PartitionLag:
    """The partition with what the group has committed there."""
    return GONE if committed is None else partition(committed, 100, topic=TOPIC)


def since(run: Run) -> list[str]:
    """The groups of which it is kept that they may have no member from now on."""
    return [note.payload["group"] for note in run.ledger.evidence(run.key, kind="note", name="no member from")]


def test_the_group_of_a_role_has_its_two_stages_and_the_way_back(plan: Plan) -> None:
    """The command is that of the same runbook with the sides exchanged."""
    of = moved_group("r", plan, "downstream_1")
    assert (of.seed.group, of.start.side) == ("billing-group", "downstream_1")
    assert of.back.endswith("--application orders-v2 --param green=orders --param copier=orders-copier")


def test_seeds_that_are_there_are_not_written_again(broker: Broker, billing: tuple[Run, MovedGroup]) -> None:
    """Nothing is written for a start that is as planned."""
    broker.rows = [at(4)]
    require_seeds(*billing)
    assert broker.written == 0


def test_seeds_that_brokers_have_forgotten_are_written_again(broker: Broker, billing: tuple[Run, MovedGroup]) -> None:
    """With the group itself gone its time begins anew; with other offsets left it does not."""
    broker.rows, broker.saved = [at(None), at(4)], ["an offset of an old output"]
    require_seeds(*billing)
    assert (broker.written, since(billing[0])) == (1, [])
    broker.rows, broker.saved = [at(None), at(4)], []
    require_seeds(*billing)
    assert (broker.written, since(billing[0])) == (2, ["billing-group"])


def test_a_group_does_not_start_on_seeds_that_do_not_last(broker: Broker, billing: tuple[Run, MovedGroup]) -> None:
    """Nor on offsets of somebody else, nor on offsets that cannot be read."""
    broker.rows = [at(None)]
    with pytest.raises(Refused, match=r"are gone .* after they were written again; start billing within"):
        require_seeds(*billing)
    broker.rows = [at(9)]
    with pytest.raises(Refused, match=r"totals-v2-0 at 9 \(seed: 4\)"):
        require_seeds(*billing)
    broker.rows = [Missing("hidden")]
    with pytest.raises(Inconclusive, match="offsets of group billing-group: hidden"):
        require_seeds(*billing)
    assert broker.written == 1


def test_what_a_group_that_has_begun_to_start_has_committed_is_its_own(
    broker: Broker, billing: tuple[Run, MovedGroup]
) -> None:
    """A rerun must not take it for somebody else's."""
    side, of = billing
    broker.rows = [at(9)]
    side.keep("note", START_BEGUN, {"bounce": of.start.number, "instances": ["billing-1"]})
    require_seeds(side, of)
    assert broker.written == 0


def test_a_group_that_is_down_does_not_start_again_without_its_seeds(
    broker: Broker, billing: tuple[Run, MovedGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has read since is its own; one that runs has its offsets."""
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading(down("billing-1")))
    broker.rows = [at(None)]
    with pytest.raises(Refused, match=r"are gone .*, and its instances are down: .* then clear"):
        require_kept_seeds(*billing)
    broker.rows = [Missing("hidden")]
    with pytest.raises(Inconclusive, match="hidden"):
        require_kept_seeds(*billing)
    broker.rows = [at(9)]
    require_kept_seeds(*billing)
    broker.rows = [at(None)]
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading(instance("billing-1")))
    require_kept_seeds(*billing)
    assert broker.written == 0


def test_a_group_without_members_has_not_started(broker: Broker, billing: tuple[Run, MovedGroup]) -> None:
    """The next group does not move before this one reads."""
    with pytest.raises(Inconclusive, match="group billing-group: hidden"):
        wait_joined(*billing)
    broker.group = GroupReading(Taken(1, "test"), "billing-group", "classic", "Empty", ())
    with pytest.raises(Refused, match="is Empty without a member 0 s after its start"):
        wait_joined(*billing)


@pytest.mark.parametrize(
    ("kept_ms", "noted", "kind"),
    [
        (60_000, True, None),
        (1, True, Inconclusive),
        (60_000, False, Inconclusive),
        (Missing("no right"), True, Inconclusive),
    ],
)
def test_a_group_has_moved_if_its_seeds_lasted_until_it_had_members(
    broker: Broker,
    billing: tuple[Run, MovedGroup],
    monkeypatch: pytest.MonkeyPatch,
    kept_ms: int | Missing,
    noted: bool,
    kind: type[Inconclusive] | None,
) -> None:
    """What it has committed since does not show where it began."""
    side, of = billing
    broker.rows = [at(50)]
    broker.group = GroupReading(Taken(1, "test"), "billing-group", "classic", "Stable", (member("billing-1"),))
    now = iter((1_000, 1_005, 900_000))
    monkeypatch.setattr(moved, "now_ms", lambda: next(now))
    monkeypatch.setattr(Run, "read", lambda *_, **__: None)
    fine = Verdict(Outcome.PROCEED, ("reads on",))
    monkeypatch.setattr(moved, "group_has_moved", lambda *_, **__: fine)
    monkeypatch.setattr(moved, "read_offsets_retention_ms", lambda _: kept_ms)
    monkeypatch.setattr(Run, "decide", lambda _, function, **of: function(**of))
    if noted:
        note_no_member(side, of)
    wait_joined(side, of)
    if kind is None:
        prove_moved(side, of)
        return
    with pytest.raises(kind):
        prove_moved(side, of)
