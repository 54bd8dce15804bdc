"""Text that others wrote, through everything that prints it: no line, row, link, image or command comes of it."""

import io
import json
import logging
import re
import resource
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.approval import Asking, approval_body
from kstreams_runbooks.decide.runs.choice import commands
from kstreams_runbooks.decide.runs.commands import trigger_command
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunOutcome
from kstreams_runbooks.decide.runs.message import About, ended, needs_you
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.deployers.requests import request_sentence
from kstreams_runbooks.deployers.scripts import tail_of
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.message import Notification
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source, Subtopology, Topology
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.present.change.text import as_markdown as plan_markdown
from kstreams_runbooks.present.change.text import as_text as plan_text
from kstreams_runbooks.present.diagram import mermaid
from kstreams_runbooks.present.evidence.html import as_html as evidence_html
from kstreams_runbooks.present.evidence.page import as_markdown as evidence_markdown
from kstreams_runbooks.present.evidence.text import as_text as evidence_text
from kstreams_runbooks.present.skeleton import skeleton
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.run.conf import check_conf
from kstreams_runbooks.steps.run.run import log
from kstreams_runbooks.terminal.airflow.question import question_of
from kstreams_runbooks.terminal.airflow.trigger import _note
from kstreams_runbooks.wording import cell, code, markdown, outside, pasted, sentence, why_no_reason
from markdown_it import MarkdownIt
from world.called import counted_calls
from world.samples import NEW, card, declared, reading

CORPUS = {
    "lines": "first\nsecond\r\nthird\u2028fourth\u0085fifth\x0b\x0csixth",
    "forged log": "ok\n[2026-01-01] INFO [orders @ demo] completed: nothing lost",
    "ansi": "\x1b[2J\x1b[31mred\x1b[0m\x9b1A",
    "osc 8": "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",
    "bidi": "\u202egnp.exe\u202c \u2066a\u2069",
    "zero width": "or\u200bd\u200der\u2060s\ufeff\u00ad\u3164",
    "surrogates": "\ud800 \udfff \udc80",
    "nul": "a\0b",
    "row": "a | b |\n|---|---|\n| forged | row |",
    "heading": "# forged\n===\n---",
    "list": "- forged\n1. forged\n> forged",
    "backticks": "``` \n`id`\n```\n``",
    "link": "[click](javascript:alert(1)) [x][y]\n[y]: http://evil.example",
    "image": "![pixel](http://evil.example/p.png)",
    "html": "<img src=http://evil.example/p.png onerror=alert(1)><script>x</script><!-- x",
    "autolink": "<http://evil.example> https://evil.example www.evil.com evil.com ops@evil.com",
    "escaped": "\\[x\\](http://evil.example) \\\\| \\`https://evil.example/a|b\\`",
    "entities": "&lt;b&gt; &#91;x&#93;(http://evil.example) &vert;",
    "mentions": "@here @everyone <!channel> <@U123>",
    "emphasis": "**x** __y__ ~~z~~ _a_",
    "rich": "[red]x[/red] [link=http://evil.example]y[/link]",
    "mermaid": '"];\nclick a0 "http://evil.example"\n%%{init: {}}%% `md` #quot; end',
    "shell": "$(touch /tmp/x) `id`; rm -rf / & | > 'x' \"y\" !! ~ *",
    "json": '", "outcome": "completed", "x": "',
    "accents": "a" + "\u0301" * 5_000,
    "long word": "x" * 1_000_000,
    "long lines": "line\n" * 200_000,
    "long links": "http://evil.example/ " * 50_000,
}
corpus = pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)

PLAN = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
PARSER = MarkdownIt("gfm-like")
AT = 1_790_000_000_000
LINK = "https://airflow.example/dags/library_bump/runs/r"


def record(text: str) -> RunRecord:
    """A run whose every text is `text`."""
    params = {"application": "orders", "dry_run": False, "reason": text, "settings": {"a": text}, "inputs_paused": text}
    return RunRecord("library_bump/r", "library_bump", text, "orders", "demo", text, False, text, params, AT)


def tokens(markdown_text: str) -> Iterator[Any]:
    """Everything that a parser of GitHub's Markdown, which makes links of bare addresses too, finds."""
    for token in PARSER.parse(markdown_text):
        yield token
        yield from token.children or ()


def made_of(markdown_text: str) -> set[str]:
    """What could be clicked, shown or run."""
    return {one.type for one in tokens(markdown_text)} & {"link_open", "image", "html_inline", "html_block", "fence"}


def count(markdown_text: str) -> dict[str, int]:
    """Rows, headings and items."""
    types = [one.type for one in tokens(markdown_text)]
    return {name: types.count(name) for name in ("tr_open", "td_open", "heading_open", "list_item_open", "hr")}


def body(text: str) -> str:
    """An approval where every text is `text`."""
    entry = replace(declared(), approvers=(text, "approver"))
    asking = Asking(entry, text, text, AT, AT, LINK)
    return approval_body(asking, PLAN, 1, text, fleet_limits=entry.limits, cards=(card(text),))


def document(text: str) -> dict[str, Any]:
    """A run's evidence where every text is `text`."""
    about = {"dag_id": "library_bump", "application": text, "cluster": text, "run_id": text, "dry_run": False}
    about |= {"reason": text, "started_at_ms": 1, "ended_at_ms": 9}
    piece = {"task": text, "name": text, "at_ms": 1, "try": 2}
    waits = {"outcome": "wait", "reasons": [text]}
    times = {"stop_requested_ms": 1, "started_ms": 2, "gate_passed_at_ms": None, "forecast_s": [4, 11]}
    return {
        "run": {**about, "requested_by": text, "outcome": text, "outcome_sentence": text, "plan_digest": text},
        "plan": {"sides": [{"application": text, "cluster": text, "role": text}]},
        "approvals": [{"task_id": text, "by": text, "digest": text, "emergency_reason": text}],
        "verdicts": [{**piece, "id": 3, "payload": {"result": waits}, "about": text}],
        "notes": [
            {**piece, "id": 1, "try": 1, "name": "begun", "payload": {"what": text}},
            {**piece, "id": 2, "payload": {"sentence": text}},
        ],
        "writes": [{**piece, "id": 4, "payload": {"instance": text}}],
        "restarts": [{"bounce": 1, "instance": text, **times}],
        "cards": [{"seq": 1, "done": False, "what": text, "undo": text, "cost": text}],
        "failures": [{**piece, "id": 5, "payload": {"sentence": text}}],
        "notifications": [
            {"channel": text, "sent_at_ms": None, "error": text, "notification": {"subject": text}},
        ],
        "readings": [],
        "holds": [
            {"resource": f"topic:demo:{text}", "taken_at_ms": 1, "changing": changing} for changing in (True, False)
        ],
        "chain": {"rows": 1, "readings": 0, "head": text, "clock_went_back": []},
    }


def plan(text: str) -> dict[str, Any]:
    """A plan for a topology whose names are `text`."""
    finding = {"id": "r", "severity": "danger", "object": text, "message": text, "source": text, "covered_by": None}
    finding["data"] = text
    missing = {"where": f"stores.{text}", "field": "key", "sides": "old"}
    return {
        "verdict": "proceed",
        "runbooks": ["library_bump"],
        "first": [],
        "way_back": {"doors": [text], "sentences": [text], "loses": True, "runbooks": [], "restores": [text]},
        "at_least": [],
        "asserted": [],
        "emptied": [{"store": text, "why": text}],
        "reasons": [text],
        "not_compared": [],
        "findings": [finding | {"runbook": None}],
        "defects": [{name: finding[name] for name in ("id", "severity", "object", "message", "source")}],
        "internal_topics": {"created": [{"name": text, "partitions": 1}], "orphaned": [], "kept": []},
        "costs": {"records_to_reprocess": None},
        "restores": [{"store": text, "changelog": text, "why": text, "bytes": None, "certain": True}],
        "stale_task_directories": [text],
        "changes": [],
        "undecided": [
            {"object": text, "id": "r", "matters": matters, "missing": [missing]} for matters in (True, False)
        ],
        "alternatives": [],
        "cures": [],
        "procedures": [],
        "commands": list(commands(("library_bump",), text, "orders")),
    }


def test_the_parser_finds_what_is_looked_for() -> None:
    """Else nothing below could fail."""
    assert made_of("https://evil.example") == {"link_open"}
    assert "image" in made_of(CORPUS["image"])
    assert made_of(CORPUS["html"]) & {"html_block", "html_inline"}
    assert made_of("evil.com ") == {"link_open"}
    assert count("| a |\n|---|\n| b |")["td_open"] == 1


@corpus
def test_one_line_and_nothing_that_hides(text: str) -> None:
    """What is printed anywhere can be printed: one line, no control character, bounded, UTF-8."""
    for made, limit in ((outside(text), 500), (sentence(text), 8_000), (str(Refused(f"group {text}: x")), 8_000)):
        assert made.isprintable()
        assert len(made) <= limit
        assert made.encode()
        assert not re.search(r"[\u034f\u115f\u1160\u2800\u3164\ufe0f]", made)


@corpus
def test_no_link_in_plain_text(text: str) -> None:
    """What a mail program or a chat would make one of is broken."""
    assert not re.search(r"\w://|(?i:www\.)|\]\(|<[a-z!@]|(?:^|\s)@\w", outside(text))


@corpus
@pytest.mark.parametrize("made", [markdown, cell, code])
def test_markdown_stays_text(text: str, made: Any) -> None:
    """In a paragraph, an item, a row and behind bold: nothing but text and code, and nothing of it is lost."""
    for around in ("{}", "- {}", "1. {}", "**Reason:** {} end", "> {}"):
        found = around.format(made(text))
        assert not made_of(found)
        assert {name: most for name, most in count(found).items() if most > ("list" in name)} == {}
    table = f"| a | b |\n|---|---|\n| {made(text)} | {made(text)} |\n| x | y |"
    assert (count(table)["tr_open"], count(table)["td_open"], made_of(table)) == (3, 4, set())
    shown = "".join(one.content for one in tokens(made(text)) if one.type in {"text", "code_inline", "text_special"})
    assert shown.split() == " ".join(text[:2000].split()).split() or not text[:2000].isprintable() or len(text) > 500


@corpus
def test_an_approval(text: str) -> None:
    """15 lines, one link (ours), and what a terminal reads of it is one line."""
    made = body(text)
    assert len([line for line in made.splitlines() if line]) <= 15
    links = [one.attrs["href"] for one in tokens(made) if one.type == "link_open"]
    assert links == [LINK]
    assert made_of(made) == {"link_open"}
    # The one item is the plan's own risk.
    assert count(made) == {**dict.fromkeys(count(made), 0), "list_item_open": 1}
    task = {"task_id": "approve_plan", "dag_id": "library_bump", "dag_run_id": "r"}
    pending = {"task_instance": task, "body": made, "subject": text, "created_at": "now"}
    api: Any = SimpleNamespace(page_of=lambda *_: LINK, xcom=lambda *_: None, url=LINK)
    assert question_of(pending, api).sentence.isprintable()


@corpus
def test_evidence_and_plans(text: str) -> None:
    """Every row has its cells, every item its line."""
    made = evidence_markdown(document(text))
    assert not made_of(made)
    # Restarts, timeline and way back, each with its heads; one heading for each and for the superseded try.
    assert (count(made)["tr_open"], count(made)["td_open"], count(made)["heading_open"]) == (11, 30, 5)
    assert all(line.isprintable() for line in evidence_text(document(text), columns=80).split("\n"))
    made = plan_markdown(plan(text))
    assert not made_of(made)
    assert (count(made)["tr_open"], count(made)["td_open"], count(made)["heading_open"]) == (2, 5, 8)
    assert all(line.isprintable() for line in plan_text(plan(text)).split("\n"))
    note = _note({"application": text, "dry_run": True}, text)
    assert not made_of(note)
    assert len(note) < 2_000


class _Tags(HTMLParser):
    """Every tag of a page, with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag, *(name for name, _ in attrs if name not in {"content", "aria-label"})]


@corpus
def test_a_page_of_evidence(text: str) -> None:
    """It has the tags of a page of harmless texts, and nothing in it is fetched or runs."""
    found, harmless = _Tags(), _Tags()
    found.feed(evidence_html(document(text)))
    harmless.feed(evidence_html(document("x")))
    assert found.found == harmless.found
    assert not {"script", "img", "link", "a", "iframe", "href", "src"} & {*found.found}


@corpus
def test_a_diagram(text: str) -> None:
    """A name is inside its quotes: it ends no label, draws no edge and directs nothing."""
    source = Source("KSTREAM-SOURCE-0000000000", frozenset({text}), None, frozenset({"KSTREAM-MAP-0000000001"}))
    mapped = Processor("KSTREAM-MAP-0000000001", frozenset({text}), frozenset({"KSTREAM-SINK-0000000002"}))
    sink = Sink("KSTREAM-SINK-0000000002", "out", None)
    plain = replace(source, topics=frozenset({"in"})), replace(mapped, stores=frozenset({"store"})), sink
    drawn = mermaid(Topology((Subtopology(0, (source, mapped, sink)),)))
    wanted = mermaid(Topology((Subtopology(0, plain),)))
    assert len(drawn.splitlines()) == len(wanted.splitlines())
    assert drawn.count('"') == wanted.count('"')
    assert "%%" not in drawn
    assert "`" not in drawn


@corpus
def test_a_skeleton(text: str) -> None:
    """YAML that has the name as it is, and no key of its own; YAML takes no longer key than 1,024 characters."""
    text = text[:150]
    source = Source("KSTREAM-SOURCE-0000000000", frozenset({text}), None, frozenset({"KSTREAM-MAP-0000000001"}))
    mapped = Processor("KSTREAM-MAP-0000000001", frozenset({text}), frozenset())
    read = yaml.safe_load(skeleton(Topology((Subtopology(0, (source, mapped)),))))
    facts = {"library", "config", "default_key_serde", "default_value_serde", "unchanged"}
    assert read.keys() == facts | {"stores", "topics"}
    assert [*read["stores"]] == [*read["topics"]] == [text]


@corpus
def test_a_notification(text: str) -> None:
    """15 lines, no link but ours; its JSON is UTF-8."""
    about = About(record(text), "team", "UTC", LINK, "conclude/1")
    conclusion = Conclusion(RunOutcome.STOPPED, text)
    action = NextAction((f"GO ON: {text}",), (f"undo: {text}",), "")
    for told in (
        needs_you(about, AT, asks=text, lines=(text, text), link=LINK),
        ended(about, AT, conclusion=conclusion, drifted=False, action=action, emergencies=(text,), head="ab"),
    ):
        assert len(told.body.splitlines()) == len(told.lines) <= 15
        assert all(line.isprintable() for line in (told.subject, *told.lines))
        assert re.findall(r"\w+://\S+", f"{told.subject}\n{_without_command(told)}") == [LINK]
        assert json.dumps(told.body, ensure_ascii=False).encode()


def _without_command(told: Notification) -> str:
    return "\n".join(line for line in told.lines if "://" not in line or not line.startswith("Command: "))


@corpus
def test_a_pasted_command(text: str) -> None:
    """It runs one command with the same words, or none."""
    line = trigger_command(record(text))
    assert line.isprintable()
    assert not re.search(r"\w://", line)
    words = shlex.split(line, comments=True)
    assert not words or words[:4] == ["kstreams-runbooks", "trigger", "library_bump", "--application"]
    typed = pasted(["printf", "%s\\0", text, "end"])
    done = subprocess.run(["bash", "-c", typed], capture_output=True, check=True)
    expected = b"" if typed.startswith("# ") else f"{text}\0end\0".encode("utf-8", "surrogateescape")
    # One value: a megabyte of difference would be printed for minutes.
    assert (done.stdout == expected) is True
    assert request_sentence("deploy", "orders-1", Target("1", (("a", "b"),)))


@pytest.mark.parametrize("key", ["`id`", "$(id)", "a b", "x;y", "\x1b[31m", "\u202e", "", "a=b"])
def test_a_key_that_the_form_does_not_have(key: str) -> None:
    """Refused at the first step in one sentence, and in no command of a run that had it."""
    form = {"application": "", "dry_run": True}
    dag = SimpleNamespace(dag_id="library_bump", params=form)
    with pytest.raises(BadInput, match="that the form of library_bump does not have") as refused:
        check_conf({"dag": dag, "dag_run": SimpleNamespace(conf={"application": "orders", key: 1}), "params": form})
    assert str(refused.value).isprintable()
    old = replace(record("because"), params={"application": "orders", key: "x"})
    assert trigger_command(old).endswith("--application orders --reason because --execute")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("topology_text", "a\0b"),
        ("settings", {"a": "\0"}),
        ("run", "\0"),
        ("settings", {"a": json.loads("[" * 300 + "]" * 300)}),
        ("settings", json.loads('{"a":' * 41 + "{}" + "}" * 41)),
    ],
)
def test_a_form_value_that_cannot_be_kept(field: str, value: object) -> None:
    """One sentence that names the field and can itself be printed."""
    params = {"application": "orders", field: value}
    dag = SimpleNamespace(dag_id="certify_drain", params=params)
    with pytest.raises(BadInput, match=f"^field {field}: ") as refused:
        check_conf({"dag": dag, "dag_run": SimpleNamespace(conf=params), "params": params})
    assert str(refused.value).isprintable()
    assert str(refused.value).encode()


@corpus
def test_a_log_line(text: str) -> None:
    """Whoever writes it, and however: one line."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    log.addHandler(handler)
    try:
        log.warning("%s: %s", text, Missing(text).missing)
        log.warning("%s", Verdict(Outcome.WAIT, (text,), (Finding("r", "info", "o", text, "s"),)).sentence)
    finally:
        log.removeHandler(handler)
    lines = out.getvalue().removesuffix("\n").split("\n")
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


@corpus
def test_a_script_says(text: str) -> None:
    """Its last line, short."""
    tail = tail_of(text)
    assert tail.isprintable()
    assert len(tail) <= 300


def test_a_flood_costs_little() -> None:
    """A hundred megabytes through each of them: no copy of it, and each takes its beginning alone."""
    flood = "https://evil.example/`|\x1b\n" * 4_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with counted_calls() as calls:
        for made in (outside, sentence, markdown, code, cell, why_no_reason):
            assert len(made(flood)) < 100_000
    assert calls.number < len(flood) / 100
    # ru_maxrss is in KiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
