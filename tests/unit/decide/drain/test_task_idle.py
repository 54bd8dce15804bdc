"""max.task.idle.ms of what runs: it matters to a task with several inputs alone, and an unknown one is not 0."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.task_idle import TASK_IDLE, task_idle_ms
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.topology import Source, Subtopology, Topology
from world.samples import declaration_of

JOIN = Topology((Subtopology(0, (Source("a", frozenset({"x", "y"}), None, frozenset()),)),))
KNOWN = replace(declaration_of(JOIN), config={"commit.interval.ms": "100"})


def test_set_by_a_runbook_before_declared_before_its_default() -> None:
    """As the instance gets it."""
    declared = replace(KNOWN, config={TASK_IDLE: "700"})
    assert task_idle_ms(JOIN, {TASK_IDLE: "500"}, declared) == 500
    assert task_idle_ms(JOIN, {}, declared) == 700
    assert task_idle_ms(JOIN, {}, KNOWN) == 0


@pytest.mark.parametrize("known", [None, replace(KNOWN, config=None)])
def test_settings_that_are_not_known_may_have_one(known: object) -> None:
    """And a value that is no number is not known."""
    assert isinstance(task_idle_ms(JOIN, {}, known), Missing)  # type: ignore[arg-type]
    assert isinstance(task_idle_ms(JOIN, {TASK_IDLE: "soon"}, KNOWN), Missing)


def test_one_input_waits_for_nothing() -> None:
    """Nor does a global table; a pattern may match several topics."""
    alone = Source("a", frozenset({"x"}), None, frozenset())
    assert task_idle_ms(Topology((Subtopology(0, (alone,)), Subtopology(1, (alone,)))), {}, None) == 0
    assert task_idle_ms(Topology((replace(JOIN.subtopologies[0], is_global=True),)), {}, None) == 0
    pattern = Topology((Subtopology(0, (replace(alone, topics=frozenset(), pattern="x.*"),)),))
    assert isinstance(task_idle_ms(pattern, {}, None), Missing)
