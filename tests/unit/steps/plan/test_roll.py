"""The plan of a roll has what its undo deletes."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.plan import plan as planning
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, declared, reading
from world.sides import declaration, described


def _version(release: str, *, timestamped: bool) -> Described:
    stores = {"counts": replace(declaration().stores["counts"], timestamped=timestamped)}
    return described(release=release, declares=replace(declaration(), stores=stores))


@pytest.fixture
def planned(run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """The plan of a bump, whose store keeps timestamps or not on both sides; the cluster has its topics."""

    def made(*, before: bool, after: bool, at_once: bool = False) -> Plan:
        sides = ((_version(OLD, timestamped=before),), _version(NEW, timestamped=after))
        monkeypatch.setattr(planning, "before_a_roll", lambda *_: sides)
        monkeypatch.setattr(planning, "require_topics", lambda *_, **__: ())
        monkeypatch.setattr(planning, "bytes_of_topics", lambda *_: 0)
        can = SimpleNamespace(abilities=SimpleNamespace(clear_directories=True, topology_settings=False))
        vars(run).update(declared=declared(), deployer=can)
        return planning._with_what_it_changes(run, reading(), replace(plan, at_once=at_once))

    return made


def test_a_store_that_gets_timestamps_goes_with_the_undo(planned: Callable[..., Plan]) -> None:
    """Of the bounce that brings the release; the roll itself deletes nothing, and the plan says what its undo does."""
    made = planned(before=False, after=True)
    left = TaskDirectories(("1_",), ("orders-counts-changelog",))
    assert [one.undo_deletes for one in made.bounces] == [left, *[NO_DIRECTORIES] * (len(made.bounces) - 1)]
    assert all(one.clears is None for one in made.bounces)
    assert (
        made.undo[-1]
        == "no way back in place: clears task directories 1_* of each instance while it is down, and restores"
    )


def test_a_store_that_keeps_its_timestamps_stays(planned: Callable[..., Plan], plan: Plan) -> None:
    """The closest change."""
    assert planned(before=True, after=True).bounces == plan.bounces


def test_all_instances_at_once_have_a_choice_of_their_own(planned: Callable[..., Plan], plan: Plan) -> None:
    """The local state of a stop and restart is judged with the field of its form."""
    assert planned(before=False, after=True, at_once=True).bounces == plan.bounces
