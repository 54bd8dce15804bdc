"""The places that a wait for a history compares with: those of the newest look, or those of the start."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.green import GreenParts, green_plan
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import Copier
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.cards import OffsetsSet
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape
from kstreams_runbooks.steps.green import caught_up
from kstreams_runbooks.steps.green.caught_up import errors_of, inputs_of, places_before
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from world.samples import declared

_PARTS = GreenParts(
    "orders", ("control",), (TopicShape("totals-green", 1, 1),), (TopicShape("orders-by-customer-repartition", 1, 1),)
)


@pytest.fixture
def started(run: Run, plan: Plan) -> Run:
    """A run with the plan of a second application."""
    made = green_plan(declared(), replace(plan.facts, at_start=plan.facts.at_start[:1]), _PARTS, (), ())
    run.ledger.store_plan(run.key, made.digest, encode(made))
    fields: Any = run.__dict__
    fields["application"] = SimpleNamespace(application_id="orders-v2")
    return run


def committed(started: Run) -> None:
    """The run has committed its first offsets."""
    stage = next(one for one in started.plan().stages if isinstance(one, SetOffsets))
    after = (CommittedOffset("control", 0, 7), CommittedOffset("orders-by-customer-repartition", 0, 0))
    before = SavedOffsets("orders-v2", 1, ())
    Announced(started, stage).write("orders-v2", OffsetsSet(before, after, ""), "offsets set")


def test_inputs_are_the_topics_of_others(started: Run) -> None:
    """Not the repartition topics that the run creates: records of those are deleted once they are read."""
    assert inputs_of(started.whole_plan()) == ("control",)


def test_places_of_the_start(started: Run) -> None:
    """Before the first look; without them where it began would not be known."""
    with pytest.raises(Refused, match="this run has committed no offsets"):
        places_before(started)
    committed(started)
    assert places_before(started) == {"control-0": 7}


def test_places_of_the_newest_look(started: Run) -> None:
    """After a restart of the triggerer."""
    committed(started)
    for offset in (50, 90):
        started.keep("note", "places in the history", {"places": {"control-0": offset}})
    assert places_before(started) == {"control-0": 90}


def test_the_last_error_of_a_copier_is_shown_with_its_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance that does not answer has an unknown one; an application that is no copier has none."""
    entry = Copier.model_construct(
        kind="copier",
        application_id="widening",
        deployer=SimpleNamespace(instances=[SimpleNamespace(name=f"w-{one}", metrics=f"m{one}") for one in range(4)]),
    )
    answers = {
        "m0": SimpleNamespace(last_error="", last_error_at_ms=None),
        "m1": SimpleNamespace(last_error="orders-wide: not authorized", last_error_at_ms=1_795_850_000_000),
        "m2": SimpleNamespace(last_error="stopped", last_error_at_ms=None),
        "m3": Missing("no process listens"),
    }
    monkeypatch.setattr(caught_up, "read_copier_figures", lambda url, group: answers[url] if group else None)
    fields: Any = run.__dict__
    fields["declared"] = declared()
    fields["application"] = SimpleNamespace(application_id="orders-v2")
    assert list(errors_of(run)) == []
    fields["application"] = entry
    assert list(errors_of(run)) == [
        "w-1 reported an error at 2026-11-28 07:13 UTC (08:13 Europe/Berlin): orders-wide: not authorized",
        "w-2 reported an error at a time that is not known: stopped",
        "w-3: whether it has an error is not known (no process listens)",
    ]
