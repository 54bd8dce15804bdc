"""A plan that holds its inputs twice by its copier: at a point, and while the application is stopped."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Certify, StartAll, StopAll

from world.samples import OLD, declared, reading


def two_holds() -> Plan:
    """Seven stages of both holds, and the start of the application as it was."""
    restart = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    side = SidePart("copier", "copy", restart.cluster, restart.facts)
    stages = (
        StopAll(1, side="copier"),
        Certify(2, ("orders",), "copier", 1, 1),
        StartAll(3, OLD, (), side="copier"),
        StopAll(4, side="copier"),
        Certify(5, ("orders",), "copier", 1, 1, behind=("", "copier")),
        StopAll(6),
        StartAll(7, OLD, (), side="copier"),
        StartAll(8, OLD, ()),
    )
    return replace(restart, stages=stages, sides=(side,))
