"""A cutover with two outputs and two groups that read them."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.plans.cutover import Cutover, MovingGroup
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.runs.plan import Plan, SidePart

from world.samples import declared, reading


def restart() -> Plan:
    """A stop and restart of the old side as it is."""
    made = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    [bounce] = made.bounces
    return replace(made, stages=(replace(bounce, settings=()),))


def part(name: str, **settings: str) -> SidePart:
    """Another application, whose instances have these settings."""
    facts = restart().facts
    runs = tuple(replace(one, settings=tuple(sorted(settings.items()))) for one in facts.at_start)
    return SidePart("", name, "demo", replace(facts, at_start=runs))


BILLING = MovingGroup(
    part("billing", **{"in.totals": "totals", "mode": "fast"}),
    "billing-group",
    (("totals", "totals-v2"),),
    (("in.totals", "totals"),),
)
REPORTS = MovingGroup(
    part("reports", **{"in.a": "totals", "in.b": "windows"}),
    "reports-group",
    (("totals", "totals-v2"), ("windows", "windows-v2")),
    (("in.a", "totals"), ("in.b", "windows")),
)


def cutover(**changes: Any) -> Cutover:
    """Two outputs, and two groups that read them."""
    of = Cutover(
        inputs=("orders-control",),
        outputs=(("totals", "totals-v2"), ("windows", "windows-v2")),
        green=part("orders-v2"),
        copier=part("orders-copier", mode="same-partition"),
        moving=(BILLING, REPORTS),
    )
    return replace(of, **changes)
