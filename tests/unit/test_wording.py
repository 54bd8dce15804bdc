"""What others wrote is one short line, stays what it is in Markdown, and is one word in a shell."""

import shlex
import subprocess

import pytest
from kstreams_runbooks.wording import (
    LONGEST_COMMAND,
    LONGEST_REASON,
    LONGEST_SENTENCE,
    cell,
    code,
    first_of,
    markdown,
    one_cause_each,
    outside,
    pasted,
    sentence,
    unmarked,
    why_no_reason,
)


def test_outside_is_one_line() -> None:
    """Line breaks of every kind, and tabs, are one blank."""
    assert outside("a\nb\r\nc\td\u2028e\x85f\x0bg") == "a b c d e f g"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\0b\x07", "a\\x00b\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("or\u202eders\u2066", "or\\u202eders\\u2066"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\ud800x\udcff", "\\ud800x\\udcff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("fill\u3164\u2800", "fill\\u3164\\u2800"),
        ("größe 名前 🎉", "größe 名前 🎉"),
    ],
)
def test_outside_shows_what_hides(text: str, shown: str) -> None:
    """What steers a terminal or cannot be seen is written as an escape; letters of any script stay."""
    assert outside(text) == shown
    assert outside(text).encode()


def test_outside_is_cut() -> None:
    """At the limit, with a mark; a flood is not looked at beyond a few times the limit."""
    assert outside("x" * 500) == "x" * 500
    assert outside("x" * 501) == "x" * 499 + "…"
    assert outside("abc", 2) == "a…"
    assert outside(" " * 10_000 + "x") == "…"
    assert len(sentence("x" * 1_000_000)) == LONGEST_SENTENCE


def test_accents_do_not_pile_up() -> None:
    """At most four on a letter."""
    assert outside("a" + "\u0301" * 50 + "b") == "a" + "\u0301" * 4 + "b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example/x", "see https[:]//evil.example/x"),
        ("WWW.evil.example", "WWW[.]evil.example"),
        ("@here and <!channel>", "[@]here and ‹!channel>"),
        ("[x](y) <img src=z>", "[x] (y) ‹img src=z>"),
        ("lag < 5, me@example.org, orders @ demo", "lag < 5, me@example.org, orders @ demo"),
    ],
)
def test_outside_makes_no_link(text: str, shown: str) -> None:
    """A mail program or a chat finds no address, mention or tag in it; all of it can still be read."""
    assert outside(text) == shown
    assert outside(shown) == shown


def test_a_sentence_stays_as_it_is() -> None:
    """Blanks and addresses may be of a command."""
    assert sentence("    run: printf 'a  b' http://h") == "    run: printf 'a  b' http://h"
    assert sentence("a\nb\x1b") == "a b\\x1b"


def test_pasted_without_links() -> None:
    """A shell reads the same words where nobody finds a link."""
    line = pasted(["echo", "https://a.example", "b c://d", "e\n://f"], links=False)
    assert "://" not in line
    assert shlex.split(line)[1:3] == ["https://a.example", "b c://d"]
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "https://a.example b c://d e\n://f\n"


def test_markdown_is_escaped() -> None:
    """A person reads the same text; what would be a link of its own is code."""
    assert markdown("a|b *c* [x](y) <img> _d_ `e`") == "a\\|b \\*c\\* \\[x\\](y) \\<img\\> \\_d\\_ \\`e\\`"
    assert markdown("see https://evil.example/x now") == "see `https://evil.example/x` now"
    assert markdown("ops@example.org") == "`ops@example.org`"
    assert markdown("# head") == "\\# head"
    assert markdown("1. item") == "1\\. item"
    assert cell("") == " "


def test_code_is_not_left() -> None:
    """The fence is longer than every run of backticks in it; a bar would end the row of a table."""
    assert code("orders") == "`orders`"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`x`") == "`` `x` ``"
    assert code("a|b") == "a\\|b"
    assert code("") == ""


@pytest.mark.parametrize("text", ["a|b *c* [x](y) <img>", "1. # x", "see `https://x.example` `y`", "back\\slash \\* `"])
def test_unmarked_is_the_text_again(text: str) -> None:
    """What a log shows of Markdown of ours is what was meant."""
    assert unmarked(f"**Reason:** {markdown(text)}") == f"Reason: {text}"
    assert unmarked(f"{code(text)} end") == f"{text} end"


HARMFUL = ["$(id)", "; rm -rf /", "`id`", "it's", 'say "x"', "a\nb", "\x1b]8;;x\x07", "\u202e", "!!", "=ls"]
WORDS = [*HARMFUL, "", "a b", "\\n", "'\n!\\", "größe", "\udcff"]


@pytest.mark.parametrize("word", WORDS)
def test_pasted_is_one_word_in_a_shell(word: str) -> None:
    """A shell gives back what was put in, and what is printed is one line without characters that hide."""
    line = pasted(["printf", "%s.", word, "end"])
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout == f"{word}.end.".encode("utf-8", "surrogateescape")
    assert line.isprintable()


def test_pasted_leaves_plain_words() -> None:
    """As shlex joins them."""
    words = ["kstreams-runbooks", "evidence", "manual__2026-01-01T00:00:00+00:00"]
    assert pasted(words) == shlex.join(words)


@pytest.mark.parametrize("word", ["a\0b", "\ud800", "x" * LONGEST_COMMAND])
def test_what_no_shell_takes_is_a_comment(word: str) -> None:
    """A line that does nothing when it is pasted."""
    line = pasted(["kstreams-runbooks", "trigger", word])
    assert line.startswith("# no command: ")
    assert line.isprintable()


@pytest.mark.parametrize(
    "text", ["OPS-42", "disk full on broker 3", "Störung", "磁盘满", "copier stopped,\u00a0ticket 7"]
)
def test_a_reason_has_letters(text: str) -> None:
    """Words of any script, or a ticket."""
    assert not why_no_reason(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (".", "without 3 letters"),
        ("", "is empty"),
        ("12345 67", "without 3 letters"),
        ("a!", "without 3 letters"),
        ("🎉🎉🎉", "without 3 letters"),
        ("two\nlines here", "line break"),
        ("red \x1b[31m alert", "does not print"),
        ("surrogate \ud800 here", "\\ud800"),
        ("x" * (LONGEST_REASON + 1), "501 characters (limit 500)"),
        (None, "is not text"),
        (["because"], "is not text"),
    ],
)
def test_what_is_no_reason(text: object, why: str) -> None:
    """The end of a sentence that can be printed."""
    assert why in why_no_reason(text)
    assert why_no_reason(text).isprintable()


@pytest.mark.parametrize(
    ("items", "between", "text"),
    [
        ((), ", ", ""),
        (("a", "b", "c"), ", ", "a, b, c"),
        (("a", "b", "c", "d"), ", ", "a, b, c and 1 more"),
        (("a", "b", "c", "d", "e"), "; ", "a; b; c; and 2 more"),
        (tuple("x" * 1_203), ", ", "x, x, x and 1,200 more"),
    ],
)
def test_the_first_few_and_how_many_more(items: tuple[str, ...], between: str, text: str) -> None:
    """The rest is counted, never dropped."""
    assert first_of(items, 3, between) == text


def test_one_cause_is_one_reason() -> None:
    """What it is about comes first, each once; reasons of other causes stay as they are."""
    group, topics = "group of orders: no broker answers", "topics of orders: no broker answers"
    assert one_cause_each((group, topics, group)) == ("group of orders, topics of orders: no broker answers",)
    assert one_cause_each(("a: x", "no colon", "b: y", "no colon")) == ("a: x", "no colon", "b: y")
