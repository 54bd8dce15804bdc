"""Pages, help, fields, forms, docstrings and comments keep docs/writing.md, as far as a test can see."""

import ast
import importlib
import io
import pkgutil
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from airflow.sdk.definitions.param import ParamsDict
from kstreams_runbooks import fleet, steps
from kstreams_runbooks.cli import cli
from kstreams_runbooks.steps.run import fields, form
from pydantic import BaseModel
from world.imports import PACKAGE

ROOT = Path(__file__).resolve().parents[2]
# Pages that a command or a test series prints: their words are in the program.
PRINTED = {
    "change_rules.md",
    "chaos_brokers.md",
    "drain_soak.md",
    "forms.md",
    "kill_control_topic_flush.md",
    "kill_reset_and_cleanup.md",
    "kill_library_bump.md",
    "kill_planned_downgrade.md",
    "lag_scenarios.md",
    "rights.md",
    "version_paths.md",
}
# The texts of a form's field that Airflow shows.
SHOWN_OF_PARAM = {"title", "description", "description_md", "section"}
LINE = 120
WORDS = 40
# Pattern and the rule of docs/writing.md that it breaks; case does not matter. Code is masked first: backticks,
# indented blocks and fences.
BANNED = (
    (r"\b(?:nobody|somebody|anybody|whoever|no one)\b", 1),
    (r"(?<!there )\b(?:is|are|was|were|be) no (?!longer\b|more than\b|less than\b)\w+", 2),
    (r"\b(?:tells?|told|telling|says?|said|saying)\b", 3),
    (r"\b(?:stands?|stood|standing)\b", 4),
    (r"\b(?:lies|lay|lying)\b", 4),
    (r"\bbesides?\b", 4),
    (r"(?:^|[.:;] )where\b(?! to\b)", 5),
    (r"\b(?:only|except|unless|even|also) where\b", 5),
    (r"\bwhere (?:there (?:is|are)|nothing|no|needed|given|possible|it is not|that is not|one)\b", 5),
    (r"\b(?:what (?:lies|lay|comes|goes)|whatever)\b", 6),
    (r"\bof (?:which|whom) (?:it|no|nobody|one|the)\b", 6),
    (r"\b(?:by hand|anew|for ever|the world|the other way round|first contact)\b", 7),
    (r"\bhow (?:it|an application|they) stands?\b", 7),
    (r"\bso that\b", 8),
    (r"\b(?:please|basically|simply|of course|in order to|note that)\b", 10),
)
_QUESTION = re.compile(
    r"^(?!where to\b|how to\b)(?:what|which|who|whose|whom|how|why|when|where|is|are|does|do|can)\b|\?$", re.IGNORECASE
)
_CODE = re.compile(r"`[^`]*`")
_TARGET = re.compile(r"\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")


def breaches(name: str, text: str, first: int = 1) -> Iterator[str]:
    """Each breach of a rule as `file:line: phrase (rule n of docs/writing.md)`."""
    for at, line in _prose(text, first):
        if not line.startswith("|") and len(_TARGET.sub("]()", line)) > LINE:
            yield f"{name}:{at}: a line of {len(line)} characters (rule 10 of docs/writing.md)"
        if line.startswith("#") and (found := _QUESTION.search(line.lstrip("# "))):
            yield f"{name}:{at}: heading {found.group()!r} (rule 9 of docs/writing.md)"
    for starts, paragraph in _paragraphs(text, first):
        for found, rule in _banned(paragraph):
            at = _line_of(starts, found.end() - 1)
            yield f"{name}:{at}: {found.group().strip(' .:;')!r} (rule {rule} of docs/writing.md)"
        if not paragraph.startswith("|"):
            for found in re.finditer(r"[^.!?;:]+(?:[.!?;:](?!\s|$)[^.!?;:]*)*", paragraph):
                if (length := len(found.group().split())) > WORDS:
                    at = _line_of(starts, found.start() + 1)
                    yield f"{name}:{at}: a sentence of {length} words (rule 8 of docs/writing.md)"


def _banned(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Each banned phrase of a text, with its rule."""
    for pattern, rule in BANNED:
        yield from ((found, rule) for found in re.finditer(pattern, text, re.IGNORECASE))


def _prose(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without blocks of code."""
    fenced = listed = False
    for at, line in enumerate(text.splitlines(), start=first):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if line.strip() and not line.startswith(" "):
            listed = bool(_ITEM.match(line))
        if not fenced and (listed or not line.startswith("    ")):
            yield at, line


def _paragraphs(text: str, first: int) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """Joined lines, each with the offsets at which its lines begin; a row, an item and a heading are their own."""
    starts: list[tuple[int, int]] = []
    joined = ""
    for at, line in [*_prose(text, first), (0, "")]:
        alone = line.startswith(("|", "#")) or _ITEM.match(line)
        if joined and (not line.strip() or alone or joined.startswith(("|", "#"))):
            yield starts, _without_code(joined)
            starts, joined = [], ""
        if line.strip():
            starts.append((len(joined), at))
            joined += line.strip() + " "


def _without_code(text: str) -> str:
    """As long as before, with a word in place of code and of a link's target: offsets stay."""
    masked = _CODE.sub(lambda found: "x" * len(found.group()), text)
    return _TARGET.sub(lambda found: "]" + "x" * (len(found.group()) - 1), masked).rstrip()


def _line_of(starts: list[tuple[int, int]], offset: int) -> int:
    return max(at for start, at in starts if start <= offset)


def pages() -> list[tuple[str, str, int]]:
    """Name, text and number of the first line: the README, the pages of docs that are written, those of the DAGs."""
    files = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in PRINTED)]
    written = [(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"), 1) for file in files]
    for file in sorted((ROOT / "dags").glob("*.py")):
        source = file.read_text(encoding="utf-8")
        page = ast.parse(source).body[0]
        assert isinstance(page, ast.Expr), file
        assert isinstance(page.value, ast.Constant), file
        written.append((str(file.relative_to(ROOT)), str(page.value.value), page.lineno))
    return written


@pytest.mark.parametrize(("name", "text", "first"), [pytest.param(*page, id=page[0]) for page in pages()])
def test_every_page_keeps_the_rules_of_writing(name: str, text: str, first: int) -> None:
    """File, line, phrase and rule of each breach."""
    found = list(breaches(name, text, first))
    assert not found, "\n".join(["", *found])


def test_the_readme_fits_and_links_every_page() -> None:
    """At most 130 lines; a page that it does not link is never found."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 130
    assert {page.name for page in (ROOT / "docs").glob("*.md")} <= set(re.findall(r"\]\(docs/([a-z_]+\.md)\)", text))


def rules() -> dict[int, tuple[str, str]]:
    """The before and the after of each rule of docs/writing.md."""
    text = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
    found = {}
    for section in text.split("\n## Rule ")[1:]:
        [before] = re.findall(r"^- Before: `(.+)`$", section, re.MULTILINE)
        [after] = re.findall(r"^- After: (.+)$", section, re.MULTILINE)
        found[int(section.partition(":")[0])] = (before, after)
    return found


def test_the_page_has_ten_rules_each_with_a_before_and_an_after() -> None:
    """And every rule that a pattern names."""
    assert set(rules()) == set(range(1, 11)) >= {rule for _, rule in BANNED}


@pytest.mark.parametrize(("rule", "before", "after"), [(rule, *example) for rule, example in rules().items()])
def test_each_before_breaks_its_rule_and_its_after_breaks_none(rule: int, before: str, after: str) -> None:
    """The page's own examples; those of rule 9 are headings."""
    heading = "# " if rule == 9 else ""
    assert any(f"(rule {rule} of" in breach for breach in breaches("page", heading + before))
    assert not list(breaches("page", heading + after))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fine.\n\nIt is\nno runbook.", "page:4: 'is\\nno runbook' (rule 2"),
        ("`Nobody` may be written as code.", ""),
        ("    nobody in a block of code", ""),
        ("```\nnobody in a fence\n```", ""),
        ("| a | nobody |", "page:1: 'nobody' (rule 1"),
        ("## Who is asked", "page:1: heading 'Who' (rule 9"),
        ("# Is it drained?", "page:1: heading 'Is' (rule 9"),
        ("x" * 121, "page:1: a line of 121 characters (rule 10"),
        ("[name](" + "x" * 121 + ")", ""),
        ("| " + "x" * 121 + " |", ""),
        ("word " * 20 + "\n" + "word " * 21, "page:1: a sentence of 41 words (rule 8"),
        ("word " * 20 + "\nend. " + "word " * 20, ""),
        ("In a folder where files are, it is no longer empty.", ""),
        ("- Read it. Where it is missing, stop.", "page:1: 'Where' (rule 5"),
    ],
)
def test_a_breach_is_named_with_its_line(text: str, expected: str) -> None:
    """The line of its end, if it spans two; code is left alone."""
    found = "\n".join(breaches("page", text))
    assert found.startswith(expected.replace("\\n", " "))
    assert bool(found) == bool(expected)


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Name and help of a command, of its options and of its commands."""
    yield name, f"{command.help or ''}\n\n{command.epilog or ''}"
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"{name} {option.opts[0]}", option.help or ""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from helps(each, f"{name} {each.name}")


def descriptions() -> Iterator[tuple[str, str]]:
    """Name and description of each field of the models that read a fleet's files."""
    for module in pkgutil.walk_packages(fleet.__path__, f"{fleet.__name__}."):
        for model in vars(importlib.import_module(module.name)).values():
            if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == module.name:
                for field, info in model.model_fields.items():
                    yield f"{model.__name__}.{field}", info.description or ""


def fields_of_forms() -> Iterator[tuple[str, str]]:
    """Name, title and description of each field that a runbook's form may have."""
    for one in (
        form.runbook("library_bump", doc="", params={}, tags=(), limits=[*form.ROLLING, *form.DRAIN]).params,
        {"target": fields.target_release(), **fields.run_to_undo()},
        fields.new_deployment(),
        fields.compared_release(),
        fields.paused_inputs(),
    ):
        for name in one:
            param = one.get_param(name) if isinstance(one, ParamsDict) else one[name]
            yield f"form {name}", f"{param.schema['title']}. {param.description}"


def declared_params() -> Iterator[tuple[str, str]]:
    """File and line of each `Param` of the DAGs and the steps, with its literal texts."""
    for file in (*sorted((ROOT / "dags").glob("*.py")), *sorted(Path(steps.__path__[0]).rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Param":
                shown = [each.value for each in node.keywords if each.arg in SHOWN_OF_PARAM]
                texts = [one for value in shown for one in ast.walk(value) if isinstance(one, ast.Constant)]
                yield f"{file.name}:{node.lineno}", " ".join(str(one.value) for one in texts)


@pytest.mark.parametrize(
    ("texts", "least"),
    [
        pytest.param(lambda: helps(cli, "kstreams-runbooks"), 100, id="help"),
        pytest.param(descriptions, 100, id="fleet"),
        pytest.param(fields_of_forms, 15, id="forms"),
        pytest.param(declared_params, 15, id="params"),
    ],
)
def test_what_the_program_prints_of_itself_keeps_the_rules(
    texts: Callable[[], Iterator[tuple[str, str]]], least: int
) -> None:
    """Phrases only: help has commands and line breaks of its own, a description is half a sentence."""
    read = list(texts())
    assert len(read) >= least
    found = [
        f"{name}: {phrase.group().strip(' .:;')!r} (rule {rule} of docs/writing.md)"
        for name, text in read
        for phrase, rule in _banned(_without_code(" ".join(text.split())))
    ]
    assert not found, "\n".join(["", *found])


def prose_of_code(source: str) -> Iterator[tuple[str, int]]:
    """Each docstring and each block of comments with the number of its first line; no other text of the program."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and (text := ast.get_docstring(node, clean=False)):
                yield text, first.lineno
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and (token.start[0] != last + 1 or token.line[: token.start[1]].strip()):
            yield "\n".join(block), last - len(block) + 1
            block = []
        block.append(token.string.lstrip("#! "))
        last = token.start[0]
    if block:
        yield "\n".join(block), last - len(block) + 1


def breaches_of_code(name: str, source: str) -> Iterator[str]:
    """Each banned phrase in docstrings and comments as `file:line: phrase (rule n of docs/writing.md)`."""
    for text, first in prose_of_code(source):
        joined = _without_code(" ".join(text.split()))
        for found, rule in _banned(joined):
            yield f"{name}:{first}: {found.group().strip(' .:;')!r} (rule {rule} of docs/writing.md)"


def test_docstrings_and_comments_keep_the_rules() -> None:
    """File, first line of the text, phrase and rule of each breach; results of decisions are texts of their own."""
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) >= 300
    found = [
        breach
        for file in files
        for breach in breaches_of_code(str(file.relative_to(PACKAGE)), file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Nobody reads it."""\n', ["m.py:1: 'Nobody' (rule 1"]),
        ('def f():\n    """One.\n\n    It is\n    no runbook.\n    """\n', ["m.py:2: 'is no runbook' (rule 2"]),
        ("x = 1\n# It stands\n# here.\n", ["m.py:2: 'stands' (rule 4"]),
        ("# First, so\n# that it works.\n", ["m.py:1: 'so that' (rule 8"]),
        ("x = 1  # so\ny = 2  # that\n", []),
        ('x = "nobody"\n', []),
        ('"""`nobody` is a name."""\n', []),
        (
            'class C:\n    """Told."""\n\n    x = 1  # besides\n',
            ["m.py:2: 'Told' (rule 3", "m.py:4: 'besides' (rule 4"],
        ),
    ],
)
def test_a_breach_in_code_is_named_with_the_line_of_its_text(source: str, expected: list[str]) -> None:
    """Docstrings and comments, joined over their lines; strings and names in backticks are left alone."""
    found = list(breaches_of_code("m.py", source))
    assert len(found) == len(expected)
    assert all(breach.startswith(start) for breach, start in zip(found, expected, strict=True)), found
