"""A stage that is not complete is named by the task that takes it: the DAG of its runbook has that task."""

from dataclasses import replace

import pytest
from airflow.dag_processing.dagbag import DagBag
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.cutover import Cutover, MovingGroup, cutover_plan
from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.green import GreenParts, cancel_plan, green_plan
from kstreams_runbooks.decide.plans.reset import ResetParts, reset_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.retire import retire_plan
from kstreams_runbooks.decide.plans.switches import CopierSwitch, ManualSwitch, SwapSwitch
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.readings import BrokerReading, GroupReading, Taken, TopicReading
from kstreams_runbooks.model.readings.reset import BlastRadius, CatchUp, LocalSize, ResetMode, ResetTopic
from kstreams_runbooks.model.readings.rest import TopicEnds
from kstreams_runbooks.model.readings.retire import RetiredTopic, RetireFacts
from kstreams_runbooks.model.readings.swap import EmptyTopic
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, Drain
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.stages.order import task_in
from lab.settings import CHECKOUT
from world.samples import NEW, OLD, declared, down, instance, reading
from world.two_holds import two_holds

TAKEN = Taken(1_000, "test")
INTERNAL = ("orders-counts-changelog", "orders-counts-repartition")


def restart() -> Plan:
    """A stop and restart with another setting, which deletes task directories."""
    made = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    [bounce] = made.bounces
    return replace(
        made, limits=(("gate_ceiling_s", 300.0),), stages=(replace(bounce, deletes=TaskDirectories(("1_",))),)
    )


def bumps() -> list[Plan]:
    """Upward, and downward with a drain."""
    newer = reading(*(instance(f"orders-{n}", release=NEW) for n in (1, 2)))
    rules, entry = upgrade_path_rules(), declared(releases=(OLD, NEW))
    return [bump_plan(now, entry, target, rules, (), (), "code") for now, target in ((reading(), NEW), (newer, OLD))]


def flushes() -> list[Plan]:
    """One by each switch."""
    empty = EmptyTopic("orders", "topic.orders", "empty-of-orders-for-orders", 2, 3)
    base, emptied = restart(), INTERNAL[1:]
    copier = SidePart("copier", "copy", base.cluster, base.facts)
    switches = (
        SwapSwitch("orders-id", base.facts.at_start[0], "", (empty,), "latest"),
        CopierSwitch(("orders",), copier, ("orders-sent",)),
        ManualSwitch(("orders",)),
    )
    return [flush_plan(base, one, emptied=emptied, group="orders-id") for one in switches]


def reset(mode: ResetMode) -> Plan:
    """A reset in a mode, with an output that is cleaned."""
    internal = tuple(ResetTopic(one, one, "changelog", 2, 1, goes=mode == "reset") for one in INTERNAL)
    radius = BlastRadius(
        application="orders",
        application_id="orders",
        cluster="demo",
        mode=mode,
        taken=TAKEN,
        internal=internal,
        offsets=(),
        counts=(),
        unmoved=(),
        tables=(),
        missing_keys=(),
        history=(),
        stores=(),
        outputs=("results",),
        emptied=(),
        downstream=(),
        readers=(),
        local=(LocalSize("orders-1", {}), LocalSize("orders-2", {})),
        catch_up=CatchUp(0, at_least=False, seconds=6.0),
    )
    created = tuple(TopicShape(one, 2, 1) for one in INTERNAL) if mode == "reset" else None
    cleaned = DeleteRecords(0, ("results",), shown=True)
    parts = ResetParts(created=created, targets=(("orders", "earliest"),), cleaned=cleaned)
    return reset_plan(restart(), radius, parts, BrokerReading(TAKEN, "4.3", (), auto_create_topics=False, brokers=1))


def retirement() -> Plan:
    """An application out of use: its group goes too."""
    left = TopicReading(INTERNAL[0], "id-7", 4)
    group = GroupReading(TAKEN, "orders", "classic", "Empty", ())
    goes = (RetiredTopic(left, goes=True, why="left behind"),)
    facts = RetireFacts(1, (left,), {}, (), frozenset(), (), (), group, (), TopicEnds(1, {}))
    now = replace(reading(down("orders-1"), down("orders-2")), group=group)
    return retire_plan(now, declared(), "application", goes, facts, (), (), "code", "reset_and_cleanup")


def second_applications() -> list[Plan]:
    """A second application starts, or goes."""
    facts = replace(restart().facts, group_type="")
    parts = GreenParts("orders", ("orders",), (TopicShape("totals-green", 2, 1),), ())
    gone = cancel_plan(declared(), facts, "orders", ("totals-green",), up=True, group=True, findings=(), limits=())
    return [green_plan(declared(), facts, parts, (), ()), gone]


def takeover() -> Plan:
    """A second side takes over, and one group moves."""
    side = SidePart("", "another", "demo", restart().facts)
    moving = MovingGroup(side, "billing", (("totals", "totals-green"),), (("in", "totals"),))
    plain = replace(restart(), stages=(replace(restart().bounces[0], deletes=TaskDirectories()),))
    return cutover_plan(plain, Cutover(("orders",), (("totals", "totals-green"),), side, side, moving=(moving,)))


@pytest.fixture(scope="module")
def bag() -> DagBag:
    """Every DAG file of the project."""
    return DagBag(dag_folder=str(CHECKOUT / "dags"), bundle_name="dags")


def test_every_stage_is_cleared_by_a_task_of_its_dag(bag: DagBag) -> None:
    """A command with another task would be refused by Airflow, at night, with inputs held."""
    modes: tuple[ResetMode, ...] = ("reset", "offsets", "state")
    plans = [restart(), *bumps(), *flushes(), *map(reset, modes), retirement(), *second_applications(), takeover()]
    assert len({plan.runbook for plan in plans}) == 6
    for plan in plans:
        own = set(bag.dags[plan.runbook].task_ids)
        # Bounces and drains are proven by verdicts: no refusal of the order names them.
        named = {task_in(plan, one) for one in plan.stages if not isinstance(one, Bounce | Drain)}
        assert named <= own, plan.title


def test_a_stage_that_holds_inputs_is_cleared_by_the_task_that_holds_them() -> None:
    """Whatever its kind; the stop after the certificate and the last start have tasks of their own."""
    swapped, copied, _ = flushes()
    tasks = [task_in(swapped, one) for one in swapped.stages]
    assert tasks == [
        *["pause_inputs"] * 5,
        *("certify", "stop_application"),
        *["resume_inputs"] * 3,
        *("clear_state", "start_application", "delete_topics"),
    ]
    assert [task_in(copied, one) for one in copied.stages] == [
        *("pause_inputs", "certify", "stop_application", "resume_inputs", "resume_inputs"),
        *("clear_state", "start_application"),
    ]


def test_each_hold_of_a_plan_has_its_own_tasks() -> None:
    """One that only finds a point has one task: a clear of it never takes the other hold."""
    plan = two_holds()
    assert [task_in(plan, one) for one in plan.stages] == [
        *["note_point"] * 3,
        *("pause_inputs", "certify", "stop_application", "resume_inputs", "start_application"),
    ]
