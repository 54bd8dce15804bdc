"""The first words of a sentence are its cause: an address of what it is about comes last."""

import ast
from collections.abc import Iterator
from pathlib import Path

from kstreams_runbooks import errors

_PACKAGE = Path(errors.__file__).parent
# Names of what has a URL. A host with its port (`Kafka at broker:9092`) names the object, and is none.
_ADDRESSES = frozenset({"url", "address"})
# What may stand behind an address.
_ENDS = frozenset({"", ")", " "})


def sentences(source: Path) -> Iterator[ast.JoinedStr]:
    """The f-strings of a module that are sentences: a path or a command line that is built of parts has no blank."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr) and any(" " in text for text in constants(node)):
            yield node


def constants(sentence: ast.JoinedStr) -> Iterator[str]:
    """The text between its values."""
    yield from (str(one.value) for one in sentence.values if isinstance(one, ast.Constant))


def name_of(value: ast.expr) -> str:
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


def behind(sentence: ast.JoinedStr, place: int) -> str:
    """The text behind one part of it; `…` stands for each value."""
    rest = sentence.values[place + 1 :]
    return "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in rest)


def test_an_address_comes_last() -> None:
    """In brackets at the end, behind the cause and the next action."""
    early = [
        f"{source.name}:{sentence.lineno}: {ast.unparse(sentence)}"
        for source in _PACKAGE.rglob("*.py")
        for sentence in sentences(source)
        for place, part in enumerate(sentence.values)
        if isinstance(part, ast.FormattedValue) and name_of(part.value) in _ADDRESSES
        if behind(sentence, place) not in _ENDS
    ]
    assert early == []


def test_the_sentences_are_found() -> None:
    """The test above would pass on none."""
    assert sum(1 for source in _PACKAGE.rglob("*.py") for _ in sentences(source)) > 1_000
