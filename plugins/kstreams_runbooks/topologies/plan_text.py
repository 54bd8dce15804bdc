"""A plan as a person reads it at night, from its document: the verdict, what it changes, why, and what to do."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_WIDTH = 110
_HAPPENS = {"created": "is created", "orphaned": "is left behind", "kept": "stays"}


def as_text(plan: Mapping[str, Any]) -> str:
    """Verdict and runbooks first, then what happens, findings from the worst, what is missing, and how it is done."""
    return "\n".join(_lines(plan))


def as_markdown(plan: Mapping[str, Any]) -> str:
    """The same for a review: tables and numbered steps."""
    return "\n".join(_markdown(plan)) + "\n"


def headline(plan: Mapping[str, Any]) -> str:
    """The verdict in one sentence."""
    if plan["verdict"] == "proceed":
        return f"PROCEED with {', then '.join(plan['runbooks'])}"
    if plan["verdict"] == "inconclusive":
        return f"INCONCLUSIVE: {len(plan['reasons'])} things are not declared, and the runbook hangs on them"
    return "REFUSE: no runbook makes this safe"


def told(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Findings that no stronger one covers, from the worst."""
    return [one for one in plan["findings"] if one["covered_by"] is None]


def happens(plan: Mapping[str, Any]) -> Iterator[str]:
    """What the change does to topics, stores and directories, one sentence each; topics that stay are counted."""
    for what in ("created", "orphaned"):
        for topic in plan["internal_topics"][what]:
            yield f"topic {topic['name']} {_HAPPENS[what]}{_with(topic)}"
    if kept := plan["internal_topics"]["kept"]:
        yield f"{_count(len(kept), 'internal topic')} {'stays' if len(kept) == 1 else 'stay'} as they are"
    for store in plan["restores"]:
        size = "size not known without a cluster" if store["bytes"] is None else f"{store['bytes']:,} bytes"
        yield f"store {store['store']} restores in full from {store['changelog']} ({store['why']}; {size})"
    for directory in plan["stale_task_directories"]:
        yield f"task directories {directory}* are used by nothing any more"
    costs = plan["costs"]
    if costs["records_to_reprocess"] is not None:
        yield f"inputs hold {costs['records_to_reprocess']:,} records that a reset would process again"


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    yield headline(plan)
    for reason in plan["reasons"]:
        yield from _wrapped(reason, "  ")
    yield from _section("what happens", happens(plan))
    yield from _section("findings", ())
    for finding in told(plan):
        if finding["severity"] != "info":
            yield from _wrapped(f"{finding['severity']:8}{finding['id']}: {finding['message']}", "  ", " " * 10)
            yield from _wrapped(f"source: {finding['source']}", " " * 10)
    yield from (f"  {line}" for line in _infos(plan))
    yield from _section("not declared, and without weight for this plan", _light(plan))
    yield from _section("why not", (f"{one['runbook']}: {one['why_not']}" for one in plan["alternatives"]))
    for procedure in plan["procedures"]:
        yield from _section(f"{procedure['runbook']}: no DAG yet, by hand: {procedure['what']}", ())
        for number, step in enumerate(procedure["steps"], 1):
            yield from _wrapped(f"{number}. {step}", "  ", "     ")
        yield from _wrapped(f"source: {procedure['source']}", "  ")
    if commands := list(_commands(plan)):
        yield from _section("run it", commands)


def _infos(plan: Mapping[str, Any]) -> Iterator[str]:
    """Findings that ask for nothing, by id: a person can look them up, and does not have to."""
    objects: dict[str, list[str]] = {}
    for finding in told(plan):
        if finding["severity"] == "info":
            objects.setdefault(finding["id"], []).append(finding["object"])
    for rule, names in objects.items():
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
        yield f"info    {rule}: {shown}"
    if covered := len(plan["findings"]) - len(told(plan)):
        yield f"({_count(covered, 'finding')} that a stronger one covers: --format json)"


def _light(plan: Mapping[str, Any]) -> Iterator[str]:
    if plan["verdict"] == "proceed":
        yield from dict.fromkeys(f"{one['object']}: {one['id']}" for one in plan["undecided"])


def _commands(plan: Mapping[str, Any]) -> Iterator[str]:
    by_hand = {one["runbook"] for one in plan["procedures"]}
    for runbook in plan["runbooks"]:
        if runbook not in by_hand:
            yield f"kstreams-runbooks trigger {runbook} --application NAME --target RELEASE"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A title with its lines; the title alone where lines follow that are made elsewhere, nothing for an empty list."""
    if isinstance(lines, tuple):
        yield from ("", title)
        return
    first = True
    for line in lines:
        if first:
            yield from ("", title)
            first = False
        yield from _wrapped(line, "  ", "    ")


def _markdown(plan: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {headline(plan)}", "")
    yield from (f"- {reason}" for reason in plan["reasons"])
    if plan["reasons"]:
        yield ""
    yield from ("### What happens", "")
    yield from (f"- {line}" for line in happens(plan))
    yield from ("", "### Findings", "", "| severity | rule | object | what | source |", "|---|---|---|---|---|")
    for one in told(plan):
        cells = (one["severity"], f"`{one['id']}`", f"`{one['object']}`", one["message"], one["source"])
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    if plan["alternatives"]:
        yield from ("", "### Why not", "")
        yield from (f"- `{one['runbook']}`: {one['why_not']}" for one in plan["alternatives"])
    for procedure in plan["procedures"]:
        yield from ("", f"### {procedure['runbook']} (no DAG yet: by hand)", "")
        yield from (f"{number}. {step}" for number, step in enumerate(procedure["steps"], 1))
    for command in _commands(plan):
        yield from ("", f"`{command}`")


def _with(topic: Mapping[str, Any]) -> str:
    partitions = topic["partitions"]
    return "" if partitions is None else f" with {_count(partitions, 'partition')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
