"""The evidence of a run as plain text for a terminal: the parts of the Markdown page in lines that fit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.present.change.kept import kept_lines
from kstreams_runbooks.present.change.text import WIDEST
from kstreams_runbooks.present.evidence.page import (
    about_lines,
    asked_lines,
    attempt_line,
    next_lines,
    restart_rows,
    unsent_lines,
)
from kstreams_runbooks.present.evidence.timeline import Event, divided, events
from kstreams_runbooks.present.plan_lines import plan_lines
from kstreams_runbooks.wording import fitted, sentence

_MARGIN = "  "


def as_text(document: Mapping[str, Any], plan: Plan | None = None, columns: int | None = None) -> str:
    """The evidence in lines of at most `columns` characters (None: whole); a command stays whole for pasting.

    Of a run with a damaged entry it has only the run and the result of `--verify`.
    """
    run = document["run"]
    lines = [f"{run['dag_id']} of {run['application']} @ {run['cluster']}"]
    if "chain" in document:
        lines += [*_asked(document), *_part("plan", _plan(document, plan, columns)), *_parts(document)]
    lines += _verified(document)
    return "\n".join(_shown(line, columns) for line in lines)


def _shown(line: str, columns: int | None) -> str:
    return sentence(line) if line.startswith(INDENT) else fitted(sentence(line), columns)


def _asked(document: Mapping[str, Any]) -> Iterator[str]:
    run = document["run"]
    yield f"  run: {run['run_id']}{' (dry run)' * run['dry_run']}"
    for name, text in asked_lines(document):
        yield f"  {name}: {text}"
    yield f"  {(run['outcome'] or 'not concluded yet').upper()}: {run['outcome_sentence'] or ''}".rstrip(": ")
    yield from (line if line.startswith(INDENT) else f"  {line}" for line in next_lines(document))
    yield f"  plan: {run['plan_digest'] or 'none'}"
    yield from (f"  {name}{text}" for name, text in about_lines(document))


def _plan(document: Mapping[str, Any], plan: Plan | None, columns: int | None) -> list[str]:
    width = WIDEST if columns is None else columns - len(_MARGIN)
    kept = plan_lines(plan) if plan else kept_lines(document["plan"], document["run"]["plan_digest"], width)
    return [f"{_MARGIN}{line}".rstrip() for line in kept]


def _parts(document: Mapping[str, Any]) -> Iterator[str]:
    counts, old = divided(events(document))
    yield from _part("measured restarts", list(_restarts(document)))
    yield from _part("timeline (UTC)", list(_timeline(counts)))
    yield from _part("superseded tries", [f"  {attempt_line(one)}" for one in old])
    cards = (
        f"  {card['seq']}. {card['what']}; back: {card['undo']} ({card['cost']}){', done' if card['done'] else ''}"
        for card in document["cards"]
    )
    yield from _part("way back", list(cards))
    yield from _part("not sent", [f"  {line}" for line in unsent_lines(document)])
    chain = document["chain"]
    yield ""
    yield f"journal: {chain['rows']} entries, {chain['readings']} raw readings (--format json), head {chain['head']}"
    if back := chain["clock_went_back"]:
        yield f"clocks: {len(back)} of the entries have an earlier time than the one before them"


def _timeline(every: Sequence[Event]) -> Iterator[str]:
    """Each event with its time of day, below its date: a run may wait over night for an approval."""
    day = ""
    for one in every:
        date, _, time = utc_second(one.at_ms).partition(" ")
        if date != day:
            yield f"  {date}"
        day = date
        yield f"  {time.removesuffix(' UTC')}  {one.task and f'{one.task}: '}{one.sentence}"


def _restarts(document: Mapping[str, Any]) -> Iterator[str]:
    """The sentence of each measured restart; of another one its figures."""
    rows = restart_rows(document)
    for one, (bounce, instance, at, down, _, gate, gap, _) in zip(document.get("restarts", ()), rows, strict=True):
        passed = "" if one["gate_passed_at_ms"] is None else f", its gate passed after {gate}"
        if one.get("sentence"):
            yield f"  {one['sentence']}{passed}"
        else:
            expected = f" (expected gap {gap})" if gap else ""
            yield f"  {instance}, bounce {bounce}: stopped at {at}, down for {down}{expected}{passed}"


def _verified(document: Mapping[str, Any]) -> Iterator[str]:
    if again := document.get("recheck"):
        yield f"decided again: {again['equal']} equal, {len(again['different'])} different"
    if verify := document.get("verify"):
        yield f"chain: {verify['sentence']}"
        yield from (f"  {one['sentence']}" for one in verify["breaks"])


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", title, *lines)
