"""A plan as lines for a person: before → after, the stages, the expected gaps, the risks, the way back."""

from collections.abc import Iterator

from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.verdicts import by_cause


def plan_lines(plan: Plan) -> list[str]:
    """Everything of a plan that an approver weighs, one fact a line; the digest comes last."""
    return [
        plan.title,
        *before_after(plan),
        *(f"{stage.number}. {plan.sentence_of(stage)}" for stage in sorted(plan.stages, key=lambda one: one.number)),
        *(f"{who}: expected gap {gap_s[0]}–{gap_s[1]} s ({why})" for who, gap_s, why in _gaps(plan)),
        f"worst case: {plan.worst_case}",
        *(f"{one.severity}: {one.object}: {one.message}" for one in by_cause(plan.findings)),
        *undo_lines(plan),
        *(f"after this run, triggered again: {line}" for line in plan.then),
        f"plan {plan.digest}",
    ]


def undo_lines(plan: Plan) -> list[str]:
    """What takes the run of a plan back; an undo itself has no undo."""
    begins = "an undo has no undo: " if plan.runbook == UNDO else "undo "
    return [f"{begins}{line}" for line in plan.undo]


def before_after(plan: Plan) -> list[str]:
    """The deployments of each instance from before the run to its end; instances with the same ones share a line."""
    return [line for part in plan.parts for line in _of_part(plan, part)]


def _of_part(plan: Plan, part: SidePart) -> Iterator[str]:
    paths: dict[tuple[str, ...], list[str]] = {}
    for at_start in part.facts.at_start:
        bounces = (one for one in plan.bounces if one.side == part.role and one.takes(at_start.instance))
        path = (at_start.deployed, *(one.deployed for one in bounces))
        changed = tuple(one for place, one in enumerate(path) if place == 0 or one != path[place - 1])
        paths.setdefault(changed, []).append(at_start.instance)
    for path, names in paths.items():
        then = " → ".join(path) if len(path) > 1 else f"{path[0]}, as before"
        back = f"; undo sets back {path[0]}" if len(path) > 1 and plan.runbook != UNDO else ""
        yield f"{', '.join(names)}: {then}{back}"


def _gaps(plan: Plan) -> list[tuple[str, tuple[int, int], str]]:
    """The expected gaps; instances with the same one share a line."""
    found: dict[tuple[tuple[int, int], str], list[str]] = {}
    for cost in (cost for part in plan.parts for cost in part.costs):
        found.setdefault((cost.gap_s, cost.why), []).append(cost.instance)
    return [(", ".join(names), gap_s, why) for (gap_s, why), names in found.items()]
