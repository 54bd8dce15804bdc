"""The evidence of a run as Markdown: who, when and why, the plan, the gaps, the timeline, the way back."""

from collections.abc import Iterator, Mapping
from typing import Any

from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.decide.runs.next_action import NEXT
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.question import UNCOUNTED, WITH_REASON
from kstreams_runbooks.model.times import SECOND_MS, utc_second
from kstreams_runbooks.present.change.kept import kept_markdown
from kstreams_runbooks.present.evidence.timeline import Attempt, divided, events
from kstreams_runbooks.present.plan_lines import plan_lines
from kstreams_runbooks.wording import LONGEST_SENTENCE, cell, code, markdown

_REBALANCE = {True: "yes", False: "no", None: "not known"}


def as_markdown(document: Mapping[str, Any], plan: Plan | None = None) -> str:
    """The evidence as Markdown, without the raw readings, which are in the JSON; `plan` is the stored one as a value.

    A document of a run with a damaged entry has only its run and the result of `--verify`.
    """
    run = document["run"]
    heading = f"# {markdown(run['dag_id'])} of {markdown(run['application'])} @ {markdown(run['cluster'])}"
    if "chain" not in document:
        return "\n".join([heading, *verify_lines(document)])
    return "\n".join(
        [
            heading,
            "",
            *_asked(document),
            *_section("Plan", _plan(document, plan)),
            *_section("Measured restarts", _restarts(document)),
            *_timeline(document),
            *_cards(document),
            *_unsent(document),
            *_rechecked(document),
            *verify_lines(document),
            *_journal(document["chain"]),
        ]
    )


def _plan(document: Mapping[str, Any], plan: Plan | None) -> list[str]:
    if plan:
        return [f"- {_whole(line)}" for line in plan_lines(plan)]
    return kept_markdown(document["plan"], document["run"]["plan_digest"])


def asked_lines(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who asked, when and why, and how it ended: name and text of each line."""
    run = document["run"]
    yield "asked by", run["requested_by"] + (f": {run['reason']}" if run.get("reason") else "")
    if run.get("started_at_ms") is not None:
        started = utc_second(run["started_at_ms"])
        if (ended := run.get("ended_at_ms")) is None:
            yield "time", f"{started}, not ended"
        else:
            took = (ended - run["started_at_ms"]) / SECOND_MS
            yield "time", f"{started} to {utc_second(ended)} ({took:,.0f} s)"
    if spent := document.get("time_shares"):
        yield "time spent", spent["sentence"]


def next_lines(document: Mapping[str, Any]) -> tuple[str, ...]:
    """GO ON, GO BACK and MANUALLY after the end of the run, as `conclude` kept them; empty while it has no end."""
    kept = [note["payload"] for note in document.get("notes", ()) if note["name"] == NEXT]
    return (*kept[-1]["lines"], *kept[-1]["manually"]) if kept and document["run"]["outcome"] else ()


def restart_rows(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Bounce, instance, stop, seconds down, until RUNNING, until its gate passed, forecast and rebalance of each."""
    for one in document.get("restarts", ()):
        forecast = one.get("forecast_s")
        yield (
            str(one["bounce"]),
            one["instance"],
            utc_second(one["stop_requested_ms"]),
            _seconds(one["stop_requested_ms"], one["started_ms"]),
            _seconds(one["stop_requested_ms"], one.get("running_ms"), "not measured"),
            _seconds(one["stop_requested_ms"], one["gate_passed_at_ms"]),
            "" if forecast is None else f"{forecast[0]}–{forecast[1]} s",
            _REBALANCE[one.get("rebalanced")] if one.get("running_ms") else "",
        )


RESTART_HEADS = (
    *("bounce", "instance", "stopped at", "down", "until RUNNING"),
    *("until its gate passed", "expected gap", "rebalance"),
)


def attempt_line(old: Attempt) -> str:
    """One superseded try in one sentence: when, how many entries, and how it ended."""
    ended = next((one for one in reversed(old.events) if one.bad), old.events[-1])
    first, last = old.events[0], old.events[-1]
    return (
        f"{old.task}, try {old.number}: {utc_second(first.at_ms)} to {utc_second(last.until_ms or last.at_ms)}, "
        f"{len(old.events)} entries, the last that counts: {ended.sentence}"
    )


def _asked(document: Mapping[str, Any]) -> Iterator[str]:
    run = document["run"]
    yield f"- run: {code(run['run_id'])}{' (dry run)' * run['dry_run']}"
    for name, text in asked_lines(document):
        yield f"- {name}: {_whole(text)}" if name.startswith("time") else f"- {name} {_whole(text)}"
    yield f"- outcome: **{markdown(run['outcome'] or 'not concluded yet')}** {_whole(run['outcome_sentence'] or '')}"
    for line in next_lines(document):
        yield f"  - {code(line.strip()) if line.startswith(INDENT) else _whole(line)}"
    yield f"- plan: {code(run['plan_digest'] or 'none')}"
    yield from (f"- {name}{_whole(text)}" for name, text in about_lines(document))


def about_lines(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The other sides of a run, its approvals with their reasons, and what it holds: name and text of each line."""
    for side in (document["plan"] or {}).get("sides", ()):
        yield "changes too: ", f"{side['application']} @ {side['cluster']}, its {side['role']}"
    newest = {given["task_id"]: place for place, given in enumerate(document["approvals"])}
    for place, given in enumerate(document["approvals"]):
        at = f" at {utc_second(given['at_ms'])}" if "at_ms" in given else ""
        why = f", in an emergency: {given['emergency_reason']}" if given["emergency_reason"] else ""
        reason = f", because: {text}" if (text := _reason(document, given)) else ""
        later = "" if newest[given["task_id"]] == place else "; superseded by a later approval"
        said = f"approved by {given['by']}{at} for plan {given['digest']}{why}{reason}{later}"
        yield "", f"{given['task_id']}: {said}"
    for hold in document["holds"]:
        does = "changes something" if hold["changing"] else "waits: it does not count for the cluster's limit of runs"
        yield "", f"holds {hold['resource'].replace(':', ' ')} since {utc_second(hold['taken_at_ms'])}, and {does}"


def _reason(document: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """The reason that came with an approval; that of an earlier answer which did not count is not its own."""
    notes = [
        one
        for one in document.get("notes", ())
        if one["name"] in {UNCOUNTED, WITH_REASON}
        and one.get("task") == given["task_id"]
        and one.get("id", 0) < given.get("entry", 0)
    ]
    last = notes[-1]["payload"] if notes and notes[-1]["name"] == WITH_REASON else {}
    return str(last.get("reason", "")) if last.get("by") == given["by"] else ""


def _restarts(document: Mapping[str, Any]) -> list[str]:
    rows = [row(*cells) for cells in restart_rows(document)]
    told = [f"- {_whole(one['sentence'])}" for one in document.get("restarts", ()) if one.get("sentence")]
    return (
        [row(*RESTART_HEADS), f"|{'---|' * len(RESTART_HEADS)}", *rows, *([""] if told else []), *told] if rows else []
    )


def _timeline(document: Mapping[str, Any]) -> Iterator[str]:
    counts, old = divided(events(document))
    rows = [row(utc_second(one.at_ms), _task(one.task, one.attempt), one.sentence) for one in counts]
    yield from _section("Timeline", ["| time | task | event |", "|---|---|---|", *rows])
    yield from _section("Superseded tries", [f"- {_whole(attempt_line(one))}" for one in old])


def _task(task: str, attempt: int) -> str:
    return f"{task} (try {attempt})" if attempt > 1 else task


def _cards(document: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        row(f"{card['seq']}{' (done)' if card['done'] else ''}", card["what"], card["undo"], card["cost"])
        for card in document["cards"]
    ]
    heads = ["| undo | what was done | way back | cost |", "|---|---|---|---|"]
    yield from _section("Way back", [*heads, *rows] if rows else [])


def _unsent(document: Mapping[str, Any]) -> Iterator[str]:
    lines = [f"- {_whole(line)}" for line in unsent_lines(document)]
    yield from (["", *lines] if lines else [])


def unsent_lines(document: Mapping[str, Any]) -> list[str]:
    """The messages that are not sent yet."""
    return [
        f"{one['channel']} was not notified: {one['notification']['subject']} ({one['error'] or 'not tried'})"
        for one in document["notifications"]
        if one["sent_at_ms"] is None
    ]


def _rechecked(document: Mapping[str, Any]) -> list[str]:
    if "recheck" not in document:
        return []
    again = document["recheck"]
    return ["", f"Decided again: {again['equal']} equal, {len(again['different'])} different."]


def _journal(chain: Mapping[str, Any]) -> Iterator[str]:
    if back := chain["clock_went_back"]:
        worst = max(step["back_ms"] for step in back) / 1000
        yield ""
        yield (
            f"Clocks: {len(back)} of the entries have an earlier time than the one before them, by up to {worst:,.3f} "
            "s. The order is that of the journal."
        )
    yield from ("", f"Journal: {chain['rows']} entries, head {code(chain['head'])}.")
    yield from ("", f"{chain['readings']} raw readings: `--format json`.")


def verify_lines(document: Mapping[str, Any]) -> list[str]:
    """The result of `--verify`, empty without it."""
    if "verify" not in document:
        return []
    verify = document["verify"]
    gaps = [f"- entries {gap['first']} to {gap['last']} were pruned (entry {gap['said_at']})" for gap in verify["gaps"]]
    breaks = [f"- {_whole(one['sentence'])}" for one in verify["breaks"]]
    return ["", f"Chain: {_whole(verify['sentence'])}.", *breaks, *gaps]


def row(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(cell(one, LONGEST_SENTENCE) for one in cells)} |"


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _seconds(from_ms: int, to_ms: int | None, otherwise: str = "not reached") -> str:
    return otherwise if to_ms is None else f"{(to_ms - from_ms) / SECOND_MS:,.1f} s"


def _whole(sentence: object) -> str:
    return markdown(sentence, LONGEST_SENTENCE)
