"""The stages of a control-topic flush, by the switch that holds the inputs.

Covers decide/plans/switches
"""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.switches import AnySwitch, CopierSwitch, ManualSwitch, SwapSwitch
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.swap import EmptyTopic
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import InstanceCost, Plan, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, StartAll
from world.samples import OLD, declared, reading

_EMPTY = EmptyTopic("orders", "topic.orders", "empty-of-orders-for-orders", 2, 3)


def restart() -> Plan:
    """A stop and restart with another setting."""
    return restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)


def swap(*empties: EmptyTopic) -> SwapSwitch:
    return SwapSwitch("orders-id", restart().facts.at_start[0], "", empties, "latest")


def kinds(plan: Plan) -> list[str]:
    """The stages, with the side of those of another application."""
    return [f"{one.kind}{'@' * bool(one.side)}{one.side}" for one in plan.stages]


def test_swapped_inputs_are_held_by_a_start_on_empty_topics() -> None:
    """Offsets are committed again and the empty topics seeded before that start, and set back before the last one."""
    made = flush_plan(restart(), swap(_EMPTY))
    assert kinds(made) == [
        "stop_all",
        "set_offsets",
        "create_topics",
        "set_offsets",
        "start_all",
        "certify",
        "stop_all",
        "set_offsets",
        "delete_offsets",
        "start_all",
        "delete_topics",
    ]
    assert [one.number for one in made.stages] == list(range(1, 12))
    assert [(one.to, one.topics) for one in made.stages if isinstance(one, SetOffsets)] == [
        ("same", ("orders",)),
        ("start", ("empty-of-orders-for-orders",)),
        ("kept", ("orders",)),
    ]
    swapped, last = [one for one in made.stages if isinstance(one, StartAll)]
    assert swapped.settings == (("topic.orders", "empty-of-orders-for-orders"),)
    assert (last.settings, last.release) == ((("audit", "true"),), OLD)
    assert made.start == last
    assert made.stop is not None
    assert made.stop.number == 7


def test_a_topic_that_was_emptied_gets_its_beginning_while_the_group_is_empty() -> None:
    """The group may have no offset on it any more."""
    made = flush_plan(restart(), swap(_EMPTY), emptied=("orders-id-by-user-repartition",), group="orders-id")
    *_, again = [one for one in made.stages if isinstance(one, SetOffsets)]
    assert (again.topics, again.group, again.to) == (("orders-id-by-user-repartition",), "orders-id", "start")
    [hold] = made.input_holds
    assert again in hold.resuming
    assert made.start is not None
    assert again.number < made.start.number


def test_a_topic_that_exists_is_neither_created_nor_deleted() -> None:
    """The form gave it."""
    made = flush_plan(restart(), swap(replace(_EMPTY, partitions=2)))
    assert not {"create_topics", "delete_topics"} & set(kinds(made))


def test_a_copier_is_stopped_and_started_around_the_certificate() -> None:
    """It is another side of the run; the records wait in front of it."""
    base = restart()
    part = SidePart("copier", "copy", base.cluster, base.facts)
    made = flush_plan(base, CopierSwitch(("orders",), part, ("orders-sent",)))
    assert kinds(made) == ["stop_all@copier", "certify", "stop_all", "start_all@copier", "start_all"]
    assert made.sides == (part,)
    dear = replace(part, costs=(InstanceCost("copy-1", (1, 900), "a restart"),))
    again = flush_plan(base, CopierSwitch(("orders",), dear, ("orders-sent",)))
    assert again.digest == made.digest, "measured figures do not bind, also those of another side"
    other = replace(part, facts=replace(part.facts, instances=("copy-1", "copy-2")))
    assert flush_plan(base, CopierSwitch(("orders",), other, ("orders-sent",))).digest != made.digest
    assert made.of_application(base.application).start == made.stages[-1]


def test_a_copier_starts_on_the_release_and_settings_that_it_ran() -> None:
    """Of the shipped one the release is not named after its library; `until` would be kept, too."""
    base = restart()
    [first, *_] = base.facts.at_start
    runs = replace(first, release="0.1.0", version="4.4.0", settings=(("mode", "by-key"),))
    part = SidePart("copier", "copy", base.cluster, replace(base.facts, at_start=(runs,)))
    made = flush_plan(base, CopierSwitch(("orders",), part, ("orders-sent",)))
    [start] = [one for one in made.stages if isinstance(one, StartAll) and one.side]
    assert (start.release, start.library, start.settings) == ("0.1.0", "4.4.0", (("mode", "by-key"),))
    assert start.bounce.version == "4.4.0"


def test_a_person_is_asked_before_the_certificate_and_after_the_stop() -> None:
    """Nothing else is done to the inputs."""
    made = flush_plan(restart(), ManualSwitch(("orders",)))
    assert kinds(made) == ["pause_inputs", "certify", "stop_all", "resume_inputs", "start_all"]


@pytest.mark.parametrize("switch", [swap(_EMPTY), ManualSwitch(("orders",))])
def test_state_is_cleared_right_before_the_start(switch: AnySwitch) -> None:
    """Exactly the directories that go, and the start has those that an undo deletes."""
    base = restart()
    gone, back = TaskDirectories(("1_",)), TaskDirectories(("2_",))
    [bounce] = base.bounces
    made = flush_plan(replace(base, stages=(replace(bounce, deletes=gone, undo_deletes=back),)), switch)
    numbers = {one.kind: one.number for one in made.stages}
    assert numbers["clear_state"] == numbers["start_all"] - 1
    assert made.start is not None
    assert not isinstance(made.start, Bounce)
    assert made.start.bounce.clears is None
    assert made.start.undo_deletes == back


def test_a_streams_group_is_refused() -> None:
    """Brokers refuse another topology of one that exists."""
    base = restart()
    with pytest.raises(Refused, match="a streams group"):
        flush_plan(replace(base, facts=replace(base.facts, group_type="streams")), ManualSwitch(("orders",)))
