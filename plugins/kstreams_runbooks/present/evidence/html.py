"""The evidence of a run as one HTML file: no script, no font, no image from elsewhere; old tries are folded."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.present.change.kept import kept_lines
from kstreams_runbooks.present.evidence.drawn import drawn_run
from kstreams_runbooks.present.evidence.drawn_topology import drawn_topology
from kstreams_runbooks.present.evidence.page import (
    RESTART_HEADS,
    about_lines,
    asked_lines,
    attempt_line,
    next_lines,
    restart_rows,
    unsent_lines,
)
from kstreams_runbooks.present.evidence.timeline import Event, divided, events
from kstreams_runbooks.present.plan_lines import plan_lines
from kstreams_runbooks.wording import sentence

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem;color:#1d2430}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #d5dae2}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;
border-bottom:1px solid #eef0f4;overflow-wrap:anywhere}td:first-child,th,.timeline td:nth-child(2){white-space:nowrap}
code{background:#f2f4f7;padding:0 .25rem}.bad{color:#b3261e}.outcome{font-size:1.1rem;font-weight:600}
pre{white-space:pre-wrap}
details{margin:.4rem 0}summary{cursor:pointer}svg{max-width:100%;height:auto}svg text{font:11px system-ui,sans-serif}
"""


def as_html(document: Mapping[str, Any], plan: Plan | None = None, topologies: Sequence[Topology] = ()) -> str:
    """The evidence as HTML, with the same parts as the Markdown, a drawing of the tries, and folded old ones.

    `topologies` are those before and after the run, one if it is the same.
    """
    run = document["run"]
    title = f"{run['dag_id']} of {run['application']} @ {run['cluster']}"
    body = _verified(document) if "chain" not in document else _body(document, plan, topologies)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{_text(title)}</h1>",
            *body,
            "</body></html>",
        ]
    )


def _body(document: Mapping[str, Any], plan: Plan | None, topologies: Sequence[Topology]) -> Iterator[str]:
    run, every = document["run"], events(document)
    counts, old = divided(every)
    outcome = f"{run['outcome'] or 'not concluded yet'}: {run['outcome_sentence'] or ''}"
    yield f'<p class="outcome">{_text(outcome)}</p>'
    for line in next_lines(document):
        yield f"<p><code>{_text(line.strip())}</code></p>" if line.startswith(INDENT) else f"<p>{_text(line)}</p>"
    facts = [("run", f"{run['run_id']}{' (dry run)' * run['dry_run']}"), *asked_lines(document)]
    facts.append(("plan", run["plan_digest"] or "none"))
    yield from _table((), facts)
    yield f"<ul>{''.join(f'<li>{_text(name + text)}</li>' for name, text in about_lines(document))}</ul>"
    if plan:
        yield "<h2>Plan</h2>"
        yield f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in plan_lines(plan))}</ul>"
    elif kept := kept_lines(document["plan"], run["plan_digest"]):
        text = "\n".join(map(_text, kept))
        yield f"<h2>Plan</h2>\n<pre>{text}</pre>"
    if every:
        yield "<h2>Course</h2>"
        yield drawn_run(every)
    names = ("Topology",) if len(topologies) == 1 else ("Topology before", "Topology after")
    for name, topology in zip(names, topologies, strict=False):
        yield f"<details><summary>{name}</summary>{drawn_topology(topology)}</details>"
    if restarts := list(restart_rows(document)):
        yield "<h2>Measured restarts</h2>"
        yield from _table(RESTART_HEADS, restarts)
    yield "<h2>Timeline</h2>"
    yield from _events(counts)
    for one in old:
        yield f"<details><summary>Superseded: {_text(attempt_line(one))}</summary>"
        yield from _events(one.events)
        yield "</details>"
    if document["cards"]:
        yield "<h2>Way back</h2>"
        yield from _table(("undo", "what was done", "way back", "cost"), _cards(document["cards"]))
    if unsent := unsent_lines(document):
        yield "<h2>Not sent</h2>"
        yield f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in unsent)}</ul>"
    yield from _verified(document)
    chain = document["chain"]
    yield f"<p>Journal: {chain['rows']} entries, {chain['readings']} raw readings (<code>--format json</code>), "
    yield f"head <code>{_text(chain['head'])}</code></p>"


def _events(every: Sequence[Event]) -> Iterator[str]:
    yield '<table class="timeline"><tr><th>time</th><th>task</th><th>event</th></tr>'
    for one in every:
        task = f"{one.task} (try {one.attempt})" if one.attempt > 1 else one.task
        bad = ' class="bad"' if one.bad else ""
        cells = f"<td>{_text(utc_second(one.at_ms))}</td><td>{_text(task)}</td><td{bad}>{_text(one.sentence)}</td>"
        yield f"<tr>{cells}</tr>"
    yield "</table>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "<table>"
    if heads:
        yield f"<tr>{''.join(f'<th>{_text(one)}</th>' for one in heads)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_text(one)}</td>' for one in row)}</tr>"
    yield "</table>"


def _cards(cards: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for card in cards:
        yield f"{card['seq']}{' (done)' if card['done'] else ''}", card["what"], card["undo"], card["cost"]


def _verified(document: Mapping[str, Any]) -> Iterator[str]:
    if verify := document.get("verify"):
        yield f"<p>Chain: {_text(verify['sentence'])}</p>"
        broken = "".join(f"<li>{_text(one['sentence'])}</li>" for one in verify["breaks"])
        yield f"<ul>{broken}</ul>"
    if again := document.get("recheck"):
        yield f"<p>Decided again: {again['equal']} equal, {len(again['different'])} different.</p>"


def _text(text: object) -> str:
    return html.escape(sentence(text))
