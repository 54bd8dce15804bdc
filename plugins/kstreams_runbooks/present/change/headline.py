"""The first lines of a plan: the answer in a few words, its reasons, and the findings that count."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.change.library import LIBRARY_CHANGED
from kstreams_runbooks.decide.change.reading import OF_CODE
from kstreams_runbooks.present.change.gaps import asked_in_short
from kstreams_runbooks.wording import first_of, sentence

_RULES = 3


def headline(plan: Mapping[str, Any]) -> str:
    """The answer in one sentence; SAFE only if a rolling bounce is enough and every finding is an info.

    A known defect that is certain to cost data is not safe; the number of the others is in the sentence.
    What only code shows is in topology facts: without them it is safe as far as the descriptions show it.
    """
    runbooks = ", then ".join((*plan["first"], *plan["runbooks"]))
    if plan["verdict"] == "inconclusive":
        asked = asked_in_short(plan)
        if plan["at_least"] == ["rolling_bounce"] and not _worst(plan):
            return f"NOT KNOWN: {asked}"
        certain = ", then ".join(plan["at_least"])
        return f"NOT KNOWN: at least {certain}{_worst(plan)}; not known: {asked}"
    if plan["verdict"] != "proceed":
        return f"CANNOT: no runbook makes this safe{_worst(plan)}"
    back = plan["way_back"]
    ends = "; no way back in place" if back["doors"] else "; going back loses what came since" if back["loses"] else ""
    if plan["runbooks"] == ["rolling_bounce"] and not _worst(plan) and not back["loses"]:
        described = ", as far as described" if OF_CODE in plan["not_compared"] else ""
        biting = len([one for one in plan["defects"] if one["severity"] != "info"])
        return f"SAFE: {runbooks}{described}{f'; known defects that bite or may: {biting}' if biting else ''}{ends}"
    if steps := _steps_of_bump(plan):
        return f"LIBRARY BUMP: {steps}{_worst(plan)}{ends}"
    return f"RUNBOOK NEEDED: {runbooks}{_worst(plan)}{ends}"


def _steps_of_bump(plan: Mapping[str, Any]) -> str:
    """The bounces of a plan that is an upgrade alone, in their order; empty for another one."""
    if plan["first"] or plan["runbooks"] != ["library_bump"]:
        return ""
    paths = (one["message"] for one in plan["findings"] if one["id"] == LIBRARY_CHANGED)
    return next((path.partition(": ")[2] for path in paths), "")


def notes(plan: Mapping[str, Any]) -> list[str]:
    """Smaller changes of the program first, then the way back, the reasons, and the facts that both versions lack.

    What an inconclusive plan lacks has a section of its own, and a reason that is a finding is among the findings.
    """
    lacking = [f"not compared, not given: {', '.join(plan['not_compared'])}"]
    found = {f"{one['object']}: {one['message']}" for one in plan["findings"]}
    reasons = [] if plan["verdict"] == "inconclusive" else [one for one in plan["reasons"] if one not in found]
    told = map(sentence, (*plan["way_back"]["sentences"], *reasons))
    return [*map(_cure, plan["cures"]), *told, *(lacking if plan["not_compared"] else [])]


def _cure(cure: Mapping[str, Any]) -> str:
    enough = " and ".join(cure["runbooks"])
    return sentence(f"cheaper: {cure['what']}; then {enough} is enough for these findings. It costs: {cure['cost']}")


def uncovered(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Findings that no stronger finding covers, from the worst."""
    return [one for one in plan["findings"] if one["covered_by"] is None]


def _worst(plan: Mapping[str, Any]) -> str:
    """The rules of the worst findings, such as ` (danger: store-renamed)`; empty if every finding is an info."""
    if any(one["fits"] is False and one["when_full"] == "shut_down" for one in plan.get("buffers", ())):
        return " (danger: a suppress buffer holds more than its new limit)"
    for severity in ("danger", "warning"):
        found = uncovered(plan) + [one for one in plan["defects"] if one["severity"] == "danger"]
        if ids := [*dict.fromkeys(one["id"] for one in found if one["severity"] == severity)]:
            return f" ({severity}: {first_of(ids, _RULES)})"
    return ""
