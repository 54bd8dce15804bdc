"""What a plan says of its own stages."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.runs.plan import Plan
from world.samples import declared, reading


def plan(settings: dict[str, str | None]) -> Plan:
    return restart_plan(reading(), declared(), None, settings, (), (), "code", at_once=False)


def test_a_stage_shows_the_settings_that_it_changes_as_they_are_and_as_they_become() -> None:
    """From those of the start, or of the stage before; what stays is not repeated."""
    made = plan({"audit": "true"})
    [bounce] = made.bounces
    assert made.changed_settings(bounce) == ("audit unset → true",)
    assert made.sentence_of(bounce).endswith(" (changed: audit unset → true)")
    second = replace(bounce, number=2, settings=(("audit", "false"),))
    third = replace(bounce, number=3, settings=())
    both = replace(made, stages=(bounce, second, third))
    assert both.changed_settings(second) == ("audit true → false",)
    assert both.changed_settings(third) == ("audit false → unset",)
    assert replace(made, stages=(bounce, replace(bounce, number=2))).changed_settings(replace(bounce, number=2)) == ()


def test_instances_that_differ_before_show_both_values() -> None:
    """Each instance counts for itself."""
    made = plan({"audit": "true"})
    first, *others = made.facts.at_start
    at_start = (replace(first, settings=(("audit", "false"),)), *others)
    made = replace(made, facts=replace(made.facts, at_start=at_start))
    assert made.changed_settings(made.bounces[0]) == ("audit false and unset → true",)
