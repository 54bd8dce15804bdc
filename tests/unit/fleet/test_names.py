"""The kind of a declaration, which its lines show or YAML does: what is read equals what YAML has."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as some
from kstreams_runbooks.documents.text import decoded
from kstreams_runbooks.documents.yaml_document import yaml_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import application_names, load_fleet
from kstreams_runbooks.fleet.names import _kind, entry_kind

_DEPLOYER = {"kind": "manual", "instances": [{"name": "p-1", "kind": "copier", "program": "p"}]}
_KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"kind": "copier"},
    {"kind": "copier", "program": "topic-copier"},
    {"kind": "consumer"},
    {"kind": "streams"},
    {"kind": "a copier"},
    {"kind": None, "program": "topic-copier"},
    {"kind": ["copier"]},
)
_FORMS: tuple[dict[str, Any], ...] = ({"line_break": "\r\n"}, {"explicit_start": True}, {"canonical": True})
# Lines of every form, in any order: most of these texts are nonsense, and nonsense has no kind.
_LINES = (
    "kind: copier",
    "kind: consumer # it reads",
    "kind : copier",
    "kind:copier",
    "kind:",
    "kind: &k copier",
    "kind: *k",
    "kind: !!str copier",
    "kind: >-",
    "kind: |",
    "&k kind: copier",
    "*k : copier",
    '"kind": copier',
    "'kind': 'copier'",
    '"k\\x69nd": copier',
    "? kind",
    ": copier",
    "  copier",
    "  kind: copier",
    "- kind: copier",
    "\tkind: copier",
    "{kind: copier}",
    "{kind: copier,",
    "program: topic-copier}",
    "program: topic-copier",
    "  program: p",
    "deployer:",
    "deployer: {",
    "owner: team",
    "owner: &a {kind: copier}",
    "owner: 'team",
    'owner: "team',
    '"',
    "'",
    "}",
    "<<: *a",
    "inputs: [sent,",
    "  - sent]",
    "- sent",
    "# kind: copier",
    "",
    "---",
    "--- {kind: copier}",
    "...",
    "%YAML 1.1",
    "!!map",
    "é: copier",
)
_BREAKS = ("\n", "\n", "\n", "\r\n", "\r", "\x85", "\u2028", "\u2029")


def by_yaml(text: str) -> str:
    """The kind by the values of PyYAML, none of a text that it refuses."""
    try:
        return entry_kind(yaml.safe_load(text.removeprefix("\ufeff")))
    except (yaml.YAMLError, TypeError, ValueError):
        return ""


@pytest.mark.parametrize("kind", _KINDS, ids=str)
@pytest.mark.parametrize("owner", ["a\nkind: copier\n", "{kind: copier}", "é\u2028\x85"])
def test_every_way_to_write_a_declaration_has_its_kind(kind: dict[str, Any], owner: str) -> None:
    """Braces, quotes, tags, a head, lines of Windows; keys of what is inside do not count."""
    entry = {"owner": owner, **kind, "inputs": ["sent"], "deployer": _DEPLOYER}
    for style, flow, sorts, more in product((None, '"', "'", "|", ">"), (True, False, None), (True, False), _FORMS):
        text = yaml.safe_dump(entry, default_style=style, default_flow_style=flow, sort_keys=sorts, **more)
        assert _kind(text.encode()) == by_yaml(text) == entry_kind(entry), text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{kind: copier, owner: team}", "as-deployed"),
        ("{kind: copier,\nprogram: topic-copier}", "shipped"),
        ('{"kind": "consumer"}', "consumer"),
        ("owner: team\n'kind' : 'copier'\n", "as-deployed"),
        ("  kind: copier\n  program: x\n", "shipped"),
        ("# about\n\n--- # head\n  # more\nkind: copier\n", "as-deployed"),
        ("--- {kind: copier}\n", "as-deployed"),
        ("\ufeffkind: copier\n", "as-deployed"),
        ("owner: &one copier\nkind: *one\n", "as-deployed"),
        ("deployer: &one {kind: copier}\n<<: *one\n", "as-deployed"),
        ("? kind\n: copier\n", "as-deployed"),
        ("# about\rkind: copier\n", "as-deployed"),
        ('"k\\x69nd": copier', "as-deployed"),
        ("kind: copier\n  of mine\n", ""),
        ("owner: 'the\nkind: copier\nprogram: x'\n", ""),
        ("deployer: {\nkind: copier\n}\n", ""),
        ("inputs:\n- kind: copier\n", ""),
        ("inputs:\n-\n  kind: copier\n", ""),
        ("owner: team\n# kind: copier", ""),
        ("kind: copier\nkind: consumer", ""),
        ("kind: copier\nowner: [", ""),
        ("kind: [copier]", ""),
        ("- kind: copier", ""),
        ("kind: copier\n---\n", ""),
        ("owner: team\n---\nkind: copier\n", ""),
        ("copier", ""),
        ("", ""),
    ],
)
def test_the_kind_of_a_text(text: str, kind: str) -> None:
    """Where it is not at its usual place, and where it only seems to be."""
    assert _kind(text.encode()) == kind


@settings(max_examples=1_000, deadline=None)
@given(some.lists(some.tuples(some.sampled_from(_LINES), some.sampled_from(_BREAKS)), max_size=8))
def test_any_lines_have_the_kind_that_yaml_reads(lines: list[tuple[str, str]]) -> None:
    """None if our reader refuses them, as it does a key that is given twice and a second document."""
    text = "".join(line + end for line, end in lines)
    try:
        kind = entry_kind(yaml_document(decoded(text.encode())))
    except BadInput:
        kind = ""
    assert _kind(text.encode()) == kind, text
    assert kind in {by_yaml(text), ""}, text


_COPIER = """{kind: "${KIND_OF_IT}", application_id: passing, cluster: demo, owner: team, approvers: [approver],
inputs: [sent], outputs: [orders], delivery: exactly_once,
deployer: {kind: supervisord, url: "http://127.0.0.1:1", instances: [{name: p-1, program: p-1}]}}
"""


@pytest.mark.parametrize("kind", ["copier", "consumer"])
def test_an_entry_in_braces_is_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """In the forms and in the fleet, also with a variable; it was an application of Kafka Streams to both."""
    monkeypatch.setenv("KIND_OF_IT", kind)
    for folder, text in (("clusters/demo", "connection: kafka\n"), ("applications/passing", _COPIER)):
        (tmp_path / folder).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{folder}.yaml").write_text(text, encoding="utf-8")
    found = load_fleet(tmp_path)
    assert application_names(tmp_path) == ()
    assert (set(found.copiers), set(found.applications)) == ({"passing"} if kind == "copier" else set(), set())
    assert set(found.disabled) == (set() if kind == "copier" else {"passing"}), "a consumer has no outputs"
