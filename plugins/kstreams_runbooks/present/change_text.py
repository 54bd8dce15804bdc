"""A plan as text, from its document: the verdict, what it changes, why, and what to do."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kstreams_runbooks.decide.runbooks import runbook, start_command
from kstreams_runbooks.wording import LONGEST_SENTENCE, cell, code, first_of, markdown, sentence

_WIDTH = 110
_SHOWN = 3
_RUN_IT = "run it"
# A setting is read with its old and its new value, also if nothing has to be done.
_IN_FULL = frozenset(
    {
        "commit-interval-changed",
        "record-cache-changed",
        "replication-factor-changed",
        "setting-changed",
        "setting-default-changed",
        "setting-deprecated",
        "standby-replicas-changed",
    }
)
_STARTS_OVER = {"reset_and_cleanup", "blue_green_cutover"}
_PLURAL = {"topic": "topics", "directory": "directories", "group": "groups"}


class Section(NamedTuple):
    """Lines under a title."""

    title: str
    lines: list[str]


def as_text(plan: Mapping[str, Any]) -> str:
    """Verdict and runbooks first, then the consequences, findings from the worst, missing facts, and the procedure."""
    lines = [headline(plan), *(line for reason in notes(plan) for line in _wrapped(reason))]
    happening, *rest = sections(plan)
    for section in (happening, Section("findings", list(_findings(plan))), *rest):
        if section.lines:
            lines += ["", section.title, *(wrapped for line in section.lines for wrapped in _wrapped(line))]
    return "\n".join(lines)


def as_markdown(plan: Mapping[str, Any]) -> str:
    """The same as Markdown for a review: tables and numbered steps."""
    return "\n".join(_markdown(plan)) + "\n"


def headline(plan: Mapping[str, Any]) -> str:
    """The verdict in one sentence."""
    if plan["verdict"] == "proceed":
        return f"PROCEED with {', then '.join(plan['runbooks'])}"
    if plan["verdict"] == "inconclusive":
        return "INCONCLUSIVE: the runbook depends on facts that are not declared"
    return "REFUSE: no runbook makes this safe"


def notes(plan: Mapping[str, Any]) -> list[str]:
    """The reasons, and the facts that were not compared because both versions lack them."""
    lacking = [f"not compared, missing in both versions: {', '.join(plan['not_compared'])}"]
    return [*map(sentence, plan["reasons"]), *(lacking if plan["not_compared"] else [])]


def uncovered(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Findings that no stronger finding covers, from the worst."""
    return [one for one in plan["findings"] if one["covered_by"] is None]


def sections(plan: Mapping[str, Any]) -> Iterator[Section]:
    """The consequences first; after the findings open questions, why no other runbook fits, and the procedure."""
    # Names come from a topology's text, a broker or a declaration.
    yield Section("consequences", list(map(sentence, _happens(plan))))
    yield Section(f"changes by {' and '.join(plan['runbooks'])}", list(map(sentence, _changes(plan))))
    if plan["verdict"] == "proceed":
        yield Section("not declared, and not relevant to this plan", list(map(sentence, _light(plan))))
    yield Section("why not", [f"{one['runbook']}: {one['why_not']}" for one in plan["alternatives"]])
    for procedure in plan["procedures"]:
        steps = [f"{number}. {step}" for number, step in enumerate(procedure["steps"], 1)]
        title = f"{procedure['runbook']} is not a DAG yet, manual procedure: {procedure['what']}"
        yield Section(title, [*steps, f"source: {procedure['source']}"])
    yield Section(_RUN_IT, list(_commands(plan)))


def infos(plan: Mapping[str, Any]) -> Iterator[str]:
    """Findings that need no action: settings in full, others by id, which a reader can look up."""
    objects: dict[str, list[str]] = {}
    for finding in uncovered(plan):
        if finding["severity"] == "info" and finding["id"] in _IN_FULL:
            yield sentence(f"info    {finding['id']}: {finding['message']}")
        elif finding["severity"] == "info":
            objects.setdefault(finding["id"], []).append(finding["object"])
    for rule, names in objects.items():
        yield sentence(f"info    {rule}: {first_of(names, _SHOWN)}")
    if covered := len(plan["findings"]) - len(uncovered(plan)):
        yield f"({_count(covered, 'finding')} more that a stronger one covers: --format json)"


def _findings(plan: Mapping[str, Any]) -> Iterator[str]:
    for finding in uncovered(plan):
        if finding["severity"] != "info":
            yield sentence(f"{finding['severity']:8}{finding['id']}: {finding['message']} [{finding['source']}]")
    yield from infos(plan)


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
        yield f"store {store['store']} restores in full from {store['changelog']}: {store['why']}{size}"
    for directory in plan["stale_task_directories"]:
        yield f"task directories {directory}* are no longer used"


def _changes(plan: Mapping[str, Any]) -> Iterator[str]:
    for one in plan["changes"]:
        what = one["kind"] if len(one["names"]) == 1 else _PLURAL[one["kind"]]
        yield f"{one['action']}: {what} {', '.join(one['names'])}"


def _light(plan: Mapping[str, Any]) -> Iterator[str]:
    objects: dict[str, list[str]] = {}
    for one in plan["undecided"]:
        objects.setdefault(one["object"], []).append(one["id"])
    for name, ids in objects.items():
        yield f"{name}: {', '.join(dict.fromkeys(ids))}"


def _commands(plan: Mapping[str, Any]) -> Iterator[str]:
    """The commands that start the runbooks; `commands` of a plan with its application and release."""
    if "commands" in plan:
        yield from plan["commands"]
        return
    for name in plan["runbooks"]:
        if runbook(name).is_dag:
            yield " ".join(start_command(name, "NAME", "RELEASE"))


def _markdown(plan: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {headline(plan)}", "")
    yield from (f"- {_whole(reason)}" for reason in notes(plan))
    happening, *rest = sections(plan)
    if happening.lines:
        yield from ("", "### Consequences", "", *(f"- {_whole(line)}" for line in happening.lines))
    yield from ("", "### Findings", "", "| severity | rule | object | what | source |", "|---|---|---|---|---|")
    for one in uncovered(plan):
        what = (cell(one["message"], LONGEST_SENTENCE), cell(one["source"]))
        yield f"| {' | '.join((one['severity'], code(one['id']), code(one['object']), *what))} |"
    for title, lines in rest:
        numbered = bool(lines) and lines[0].startswith("1. ")
        if lines:
            yield from ("", f"### {title[0].upper()}{title[1:]}", "")
        yield from (_numbered(line) if numbered and line[0].isdigit() else f"- {_item(title, line)}" for line in lines)


def _numbered(line: str) -> str:
    number, _, step = line.partition(" ")
    return f"{number} {_whole(step)}"


def _item(title: str, line: str) -> str:
    """A line as Markdown: a command is code, everything else text."""
    return code(line, LONGEST_SENTENCE) if title == _RUN_IT else _whole(line)


def _whole(text: str) -> str:
    return markdown(text, LONGEST_SENTENCE)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _wrapped(text: str) -> list[str]:
    """A line indented by two, its continuation also by the width of its start: a severity, a number or nothing."""
    head = text.split(" ", 1)[0]
    hanging = 10 if head in {"danger", "warning", "info"} else 5 if head.rstrip(".").isdigit() else 4
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
