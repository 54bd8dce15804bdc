"""A plan on a terminal: the same blocks as the text, in colours, and never markup."""

import io

from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.present.change.document import document
from kstreams_runbooks.present.change.text import as_text
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from kstreams_runbooks.terminal.change.plan_display import show
from rich.console import Console
from world.pairs import compared


def shown(case: str, **changed: object) -> str:
    both = compared(case)
    plan = document(read_change(both.before, both.after, topology_change_rules(), upgrade_path_rules()))
    file = io.StringIO()
    show({**plan, **changed}, Console(file=file, width=100, force_terminal=True, color_system="standard"))
    return file.getvalue()


def test_the_answer_has_the_colour_of_its_danger() -> None:
    """Green is for SAFE alone."""
    green, red = "\x1b[1;32m", "\x1b[1;31m"
    safe = shown("filter-before-named-count").splitlines()[0]
    assert safe.startswith(f"{green}SAFE: rolling_bounce")
    assert shown("filter-before-unnamed-count").splitlines()[0].startswith(f"{red}RUNBOOK NEEDED: ")
    assert green not in shown("repartition-added")


def test_a_block_has_its_rule_its_objects_and_its_meaning_once() -> None:
    """And the sources are at the end."""
    text = shown("filter-before-unnamed-foreign-key-join")
    assert text.count("generated-name-shifted") == 4
    assert "- customers-STATE-STORE-0000000003 → customers-STATE-STORE-0000000004" in text
    assert text.count("a count goes on from 0.") == 1
    assert text.index("\x1b[1msources\x1b[0m") > text.index("why not another runbook")


def test_names_are_never_markup() -> None:
    """They come from files."""
    assert "[red]name[/red]" in shown("filter-before-named-count", not_compared=["[red]name[/red]"])


def test_at_80_columns_only_commands_are_longer() -> None:
    """A command that is broken cannot be pasted."""
    both = compared("filter-before-unnamed-count")
    plan = document(read_change(both.before, both.after, topology_change_rules(), upgrade_path_rules()))
    file = io.StringIO()
    show(plan, Console(file=file, width=80))
    for text in (file.getvalue(), as_text(plan, 80)):
        longer = [line for line in text.splitlines() if len(line) > 80]
        assert all(line.lstrip().startswith("kstreams-runbooks ") for line in longer), longer
