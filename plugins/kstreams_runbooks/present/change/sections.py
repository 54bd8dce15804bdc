"""The parts of a plan around its findings: what happens on the cluster, what each runbook does, in which order."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kstreams_runbooks.decide.change.buffers import NO_INSTANCE
from kstreams_runbooks.decide.change.library import LIBRARY_CHANGED
from kstreams_runbooks.decide.runbooks import runbook, start_command
from kstreams_runbooks.model.local_state import shown
from kstreams_runbooks.model.verdicts import SEVERITIES
from kstreams_runbooks.present.change.gaps import gap_lines, left_open
from kstreams_runbooks.wording import sentence

RUN_IT, DECLARE_IT = "run it", "how to go on"
# What a runbook that comes first proves.
_FIRST = {"certify_drain": "pause what writes to the topics that go, and prove that everything in them is read"}
ASSERTED = "what `unchanged` states about the code of each operator"
_DEFECTS = "known defects of these releases (plan --explain ID has the source)"
_STARTS_OVER = {"reset_and_cleanup", "blue_green_cutover"}
_PLURAL = {"topic": "topics", "directory": "directories", "group": "groups"}
# Costs of a wrong statement that are listed, the worst first.
_COSTS = 2
_METHODS = "docs/deployment_methods.md has the three ways to deploy, and when to use which"


class Section(NamedTuple):
    """Lines under a title."""

    title: str
    lines: list[str]


def sections(plan: Mapping[str, Any]) -> Iterator[Section]:
    """Facts to declare, the consequences, the steps in one order, the commands, and why no other runbook fits."""
    # Names come from a topology's text, a broker or a declaration.
    if plan["verdict"] == "inconclusive":
        yield Section("missing", list(map(sentence, gap_lines(plan))))
        yield Section(DECLARE_IT, list(plan.get("declare_with", ())))
    yield Section(ASSERTED, list(map(sentence, asserted_lines(plan))))
    yield Section(_DEFECTS, list(map(sentence, defect_lines(plan))))
    yield Section("consequences", list(map(sentence, _happens(plan))))
    yield Section("suppress buffers now, and their new limits", list(map(sentence, buffer_lines(plan))))
    yield Section(f"changes by {' and '.join(plan['runbooks'])}", list(map(sentence, _changes(plan))))
    yield Section("order of steps", [f"{number}. {step}" for number, step in enumerate(_order(plan), 1)])
    for procedure in plan["procedures"]:
        steps = [f"{number}. {step}" for number, step in enumerate(procedure["steps"], 1)]
        title = f"{procedure['runbook']} is not a DAG yet, manual procedure: {procedure['what']}"
        yield Section(title, steps)
    yield Section(RUN_IT, list(_commands(plan)))
    others = [f"{one['runbook']}: {one['why_not']}" for one in plan["alternatives"]]
    yield Section("why not another runbook", [*others, _METHODS] if others else [])
    if plan["verdict"] == "proceed":
        yield Section("declare, and a smaller runbook may be enough", list(map(sentence, gap_lines(plan))))
        yield Section(DECLARE_IT, list(plan.get("declare_with", ())))
        yield Section("not declared, and not relevant to this plan", list(map(sentence, left_open(plan))))


def second(plan: Mapping[str, Any]) -> str:
    """The upgrade path of the library if the plan has another procedure first; empty if the plan is the upgrade."""
    if not plan["runbooks"] or "library_bump" in plan["runbooks"] or "blue_green_cutover" in plan["runbooks"]:
        return ""
    changed = [one for one in plan["findings"] if one["id"] == LIBRARY_CHANGED and one["severity"] != "danger"]
    return f"library_bump, in a run of its own: {changed[0]['message']}" if changed else ""


def defect_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """One line for each known defect that bites, or may, the worst first."""
    for one in sorted(plan["defects"], key=lambda one: SEVERITIES.index(one["severity"])):
        yield f"{one['severity']} {one['id']} on {one['object']}: {one['message']}"


def asserted_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """One line for each operator: what a person states of it, and what an error costs."""
    for one in plan["asserted"]:
        costs = "; ".join(cost[:1].lower() + cost[1:] for cost in one["costs"][:_COSTS])
        yield f"{one['operator']}: {', '.join(one['what'])}" + (f". If one changed: {costs}" if costs else "")


def _order(plan: Mapping[str, Any]) -> Iterator[str]:
    """One order for a plan with several procedures; nothing for one."""
    steps = list(plan["runbooks"])
    if bump := second(plan):
        steps = [*steps[:-1], f"{steps[-1]}: bring the change of the topology and keep the present library", bump]
    elif len(steps) > 1:
        steps = [*(f"{one}, without the steps that start the new version" for one in steps[:-1]), steps[-1]]
    steps = [*(f"{one}: {_FIRST[one]}" for one in plan["first"]), *steps]
    if len(steps) > 1:
        yield from map(sentence, steps)


def _happens(plan: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each topic, store and directory; topics that stay are only counted."""
    for what, words in (("created", "is created"), ("orphaned", "is left behind")):
        for topic in plan["internal_topics"][what]:
            partitions = topic["partitions"]
            yield f"topic {topic['name']} {words}" + (f" with {_count(partitions, 'partition')}" if partitions else "")
    if (records := plan["costs"]["records_to_reprocess"]) is not None:
        yield f"the inputs hold {records:,} records: no more than these can be processed again"
    if _STARTS_OVER & set(plan["runbooks"]):
        # No old state is read again: kept and restored topics do not matter here.
        return
    if kept := plan["internal_topics"]["kept"]:
        yield f"{_count(len(kept), 'internal topic')} {'stays as it is' if len(kept) == 1 else 'stay as they are'}"
    for store in plan["restores"]:
        size = "" if store["bytes"] is None else f", {store['bytes']:,} bytes"
        logged = "" if store["certain"] else " if its logging, which is not declared, is on"
        yield f"store {store['store']} restores in full from {store['changelog']}{logged}: {store['why']}{size}"
    for store in plan["emptied"]:
        yield f"store {store['store']} begins empty, because only local disks have its content: {store['why']}"
    for directory in shown(plan["stale_task_directories"]):
        yield f"task directories {directory} are no longer used"


def buffer_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """One line for each suppress buffer with new limits; nothing if no instance was polled for any."""
    buffers = plan.get("buffers", ())
    for one in buffers if any(each["place"] or each["why"] != NO_INSTANCE for each in buffers) else ():
        pairs = ((one["max_records"], "records"), (one["max_bytes"], "bytes"))
        limits = " and ".join(f"{most:,} {what}" for most, what in pairs if most is not None)
        ends = "shuts down" if one["when_full"] == "shut_down" else "emits early"
        name = f"suppress {one['operator']}"
        if one["fits"] is None:
            yield f"{name}: whether its records fit into the new limit of {limits} is unknown: {one['why']}"
            continue
        held = f"{one['place']} held {one['records']:,} records and {one['bytes']:,} bytes within the last 60 s"
        fits = "fits into" if one["fits"] else "is over"
        then = "" if one["fits"] else f": the new version {ends} at once"
        yield f"{name}: {held}, which {fits} the new limit of {limits}{then}"


def _changes(plan: Mapping[str, Any]) -> Iterator[str]:
    for one in plan["changes"]:
        what = one["kind"] if len(one["names"]) == 1 else _PLURAL[one["kind"]]
        yield f"{one['action']}: {what} {', '.join(one['names'])}"


def _commands(plan: Mapping[str, Any]) -> Iterator[str]:
    """The commands that start the runbooks; `commands` of a plan with its application and release."""
    for name in plan["first"]:
        words = (*start_command(name, plan.get("application", "NAME"), ""), "--param", "inputs_paused=REASON")
        yield " ".join(words)
    if "commands" in plan:
        yield from plan["commands"]
        return
    for name in plan["runbooks"]:
        if runbook(name).is_dag:
            yield " ".join(start_command(name, "NAME", "RELEASE"))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
