"""The stages that put a copier in front of an application, and those of the way back."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.adopt import (
    Adoption,
    abandon_plan,
    adopt_plan,
    entry_lines,
    task_of_stage,
    way_back_command,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.copying import NOT_YET_KNOWN
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import StartAll, StopAll
from kstreams_runbooks.model.writes import TopicShape
from world.samples import declared, reading

_SHAPES = (TopicShape("orders-control", 4), TopicShape("rates-control", 1))


def restart() -> Plan:
    """A stop and restart with the setting that names the input changed."""
    return restart_plan(reading(), declared(), None, {"topic.orders": "orders-control"}, (), (), "code", at_once=True)


def adoption(**changes: Any) -> Adoption:
    """A stream, and an input of a global store."""
    facts = restart().facts
    of = Adoption(
        routes=(("orders", "orders-control"), ("rates", "rates-control")),
        globals=("rates",),
        group="orders-id",
        side=SidePart("copier", "copier", "test", facts),
        copier_group="copier-id",
        reset="latest",
        shapes=_SHAPES,
    )
    return replace(of, **changes)


def stages(plan: Plan) -> list[tuple[str, str]]:
    """Each stage, with the side of those of the copier, and the task that takes it."""
    return [(f"{one.kind}{'@' * bool(one.side)}{one.side}", task_of_stage(plan, one)) for one in plan.stages]


def test_the_copier_comes_while_the_application_runs_and_goes_on_while_it_is_down() -> None:
    """Everything up to the stop of the application leaves it alone; its start is the last but the old offsets."""
    made = adopt_plan(restart(), adoption())
    assert stages(made) == [
        ("create_topics", ""),
        ("set_offsets@copier", "copy_inputs"),
        ("stop_all@copier", "copy_inputs"),
        ("start_all@copier", "copy_inputs"),
        ("stop_all@copier", "stop_copier"),
        ("stop_all", ""),
        ("set_offsets", "copy_rest"),
        ("start_all@copier", "copy_rest"),
        ("set_offsets", ""),
        ("clear_state", ""),
        ("start_all@copier", "start_copier"),
        ("start_all", ""),
        ("delete_offsets", ""),
    ]
    assert [one.number for one in made.stages] == list(range(1, 14))
    seed, same, there = [one for one in made.stages if isinstance(one, SetOffsets)]
    assert (seed.group, seed.topics, seed.to) == ("copier-id", ("orders", "rates"), "start")
    assert (same.topics, same.to, same.reset) == (("orders",), "same", "latest")
    assert (there.topics, there.to, there.pairs) == (("orders-control",), "end", (("orders-control", "orders"),))


def test_only_the_middle_start_of_the_copier_has_an_end() -> None:
    """It is known once the application is down; the digest that was approved stays."""
    made = adopt_plan(restart(), adoption())
    starts = [dict(one.settings) for one in made.stages if isinstance(one, StartAll) and one.side]
    assert [one.get("until") for one in starts] == [None, NOT_YET_KNOWN, None]
    assert {one["mode"] for one in starts} == {"same-partition"}
    known = made.with_until("orders:0:7")
    starts = [dict(one.settings) for one in known.stages if isinstance(one, StartAll) and one.side]
    assert [one.get("until") for one in starts] == [None, "orders:0:7", None]
    assert known.digest == made.digest
    assert known.of_side("copier").digest == made.of_side("copier").digest


def test_without_history_the_copy_begins_where_the_application_stands() -> None:
    """Its committed offsets in place of the beginning."""
    made = adopt_plan(restart(), adoption(history=False))
    seed = next(one for one in made.stages if isinstance(one, SetOffsets))
    assert (seed.to, seed.like, seed.reset) == ("group", "orders-id", "latest")


def test_streams_alone_clear_nothing() -> None:
    """A global store restores from its topic; a table has a changelog."""
    assert "clear_state" not in {one.kind for one in adopt_plan(restart(), adoption(globals=())).stages}


def test_on_the_way_back_the_copier_stays_down() -> None:
    """The application gets the copier's offsets, with the stream time of its control topics."""
    made = abandon_plan(restart(), adoption(shapes=()))
    assert stages(made) == [
        ("stop_all@copier", "stop_copier"),
        ("stop_all", ""),
        ("set_offsets", ""),
        ("clear_state", ""),
        ("start_all", ""),
        ("delete_offsets", ""),
    ]
    [stop, _] = [one for one in made.stages if isinstance(one, StopAll)]
    assert stop.stays == adoption().runs.target
    [there] = [one for one in made.stages if isinstance(one, SetOffsets)]
    assert (there.like, there.pairs) == ("copier-id", (("orders", "orders-control"),))
    assert [one.side for one in made.bounces] == ["copier", ""]


@pytest.mark.parametrize("mode", ["adopt", "abandon"])
def test_only_the_stop_of_the_application_keeps_an_expired_approval(mode: str) -> None:
    """A copy may take longer than an approval holds: the copier that is down then holds nothing yet."""
    made = (adopt_plan if mode == "adopt" else abandon_plan)(restart(), adoption())
    held = [made.holds(one) for one in made.stages if isinstance(one, StopAll)]
    assert held == ([False, False, True] if mode == "adopt" else [True, True])


def test_the_other_mode_is_the_way_back() -> None:
    """The command that an undo names once the application has started."""
    assert way_back_command("orders", "copier", "adopt").endswith("--param mode=abandon --param copier=copier")
    assert "--param mode=adopt" in way_back_command("orders", "copier", "abandon")


def test_the_fleet_entry_changes_with_the_run() -> None:
    """Inputs, control topics and the settings that name them, there and back."""
    settings = (("topic.orders", "orders"),)
    there = entry_lines("adopt", adoption(), settings)
    assert "+ inputs: [orders-control, rates-control]" in there
    assert "+ control: [orders-control, rates-control]" in there
    assert "+ input_settings: {topic.orders: orders-control}" in there
    back = entry_lines("abandon", adoption(), (("topic.orders", "orders-control"),))
    changed, restored = ([one[2:] for one in lines if one[0] == sign] for lines, sign in ((there, "-"), (back, "+")))
    assert [one.partition(",")[0] for one in restored[3:]] == changed[3:]
    assert restored[:3] == changed[:3]
