"""The note of a run: the next action first, commands whole, and what a person wrote in it stays."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunOutcome
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.decide.runs.note import (
    BEGIN,
    END,
    LONGEST_NOTE,
    merged,
    note_of_answer,
    note_of_end,
    note_of_progress,
    note_of_question,
    with_line,
)
from kstreams_runbooks.model.runs.ledger import Approval
from world.samples import declared

AT_MS = 1_790_000_000_000
ON = "kstreams-runbooks clear orders.library_bump.20261121T101500Z bounce_1_first"
BACK = "kstreams-runbooks trigger undo orders.library_bump.20261121T101500Z"
CARD = "undo 1: orders-1 back to 3.4.1 (a restart)"
BY_HAND = "supervisorctl restart orders-1"
ACTION = NextAction(
    (
        "GO ON: clear bounce_1_first and what follows it, which starts again what is down:",
        f"    {ON}",
        "GO BACK: undo this run, first as a dry run:",
        f"    {BACK}",
    ),
    ("MANUALLY, the last change first:", CARD, f"    {BY_HAND}"),
    ON,
)


def block(command: str) -> str:
    """A command that can be pasted."""
    return f"```\n{command}\n```"


def ended(sentence: str = "gate of orders-1: lag 20 (limit 10)", action: NextAction = ACTION, before: str = "") -> str:
    """The note of a run that stopped."""
    note = merged(before, note_of_end(Conclusion(RunOutcome.STOPPED, sentence), action, AT_MS, "UTC"), "conclude")
    assert note is not None
    assert len(note) <= LONGEST_NOTE
    return note


def asked(why: str = "", lines: tuple[str, ...] = ("Now: 2 of 2 RUNNING", "Expires: later")) -> str:
    """The note of a run that asks."""
    asking = Asking(declared(zone="UTC"), "oncall", "OPS-7", AT_MS, AT_MS + 3_600_000, "")
    pieces = note_of_question(
        asking, task_id="approve_plan", asks="approve it", lines=lines, digest="abc", command="answer r", why=why
    )
    note = merged("", pieces, "approve_plan")
    assert note is not None
    return note


def test_the_way_on_is_before_the_way_back_and_the_hand_is_last() -> None:
    """Each with its command as a block of code that can be pasted."""
    assert ended().split("\n\n") == [
        f"{BEGIN}**STOPPED, CHANGED**: gate of orders-1: lag 20 (limit 10)",
        "2026-09-21 14:13 UTC",
        "**GO ON:** clear bounce_1_first and what follows it, which starts again what is down:",
        block(ON),
        "**GO BACK:** undo this run, first as a dry run:",
        block(BACK),
        f"**MANUALLY, the last change first:** {CARD}",
        block(BY_HAND),
        END,
    ]


def test_each_command_has_a_block_of_its_own() -> None:
    """The page joins the lines of a block: `supervisorctl stop orders-2 rm -rf …` must not be there to be pasted."""
    commands = ("supervisorctl stop orders-2", f"rm -rf `{BY_HAND}`", "supervisorctl start orders-2")
    note = ended(action=replace(ACTION, manually=(*ACTION.manually[:2], *(f"    {one}" for one in commands))))
    assert "\n\n".join(map(block, commands)) in note


@pytest.mark.parametrize("length", [100, 500, 900, 1_500, 5_000])
def test_a_long_sentence_is_cut_and_no_command_is(length: int) -> None:
    """Half a command that is pasted does something else."""
    note = ended("lag 20; " * (length // 8), NextAction(ACTION.lines, ACTION.manually * 9, ON))
    assert block(ON) in note
    assert block(BACK) in note
    assert note.count("```") % 2 == 0
    assert "MANUALLY" in note
    assert "The rest is in the log of `conclude`." in note


def test_commands_that_leave_no_room_lose_their_words_and_then_one_of_them() -> None:
    """The way on is the last to go; what is left out is said."""
    long = NextAction((ACTION.lines[0], f"    {'a' * 415}", ACTION.lines[2], f"    {'b' * 415}"), (), "")
    note = ended(action=long)
    assert f"**GO ON:**\n\n{block('a' * 415)}" in note
    assert f"**GO BACK:**\n\n{block('b' * 415)}" in note
    longer = NextAction((ACTION.lines[0], f"    {'a' * 700}", ACTION.lines[2], f"    {'b' * 700}"), (), "")
    note = ended(action=longer)
    assert f"**GO ON:**\n\n{block('a' * 700)}" in note
    assert "bbb" not in note
    assert "The rest is in the log of `conclude`." in note


def test_what_a_person_wrote_stays() -> None:
    """Before the block or behind it, also when the block is written again."""
    before = ended(before="trigger: OPS-7\nseen by ann")
    assert before.endswith(f"{END}\n\ntrigger: OPS-7\nseen by ann")
    again = ended("another", before=f"ann: do not clear this\n\n{before}")
    assert again.startswith(f"ann: do not clear this\n\n{BEGIN}**STOPPED, CHANGED**")
    assert again.count(BEGIN) == again.count(END) == 1
    assert again.endswith("trigger: OPS-7\nseen by ann")


@pytest.mark.parametrize("torn", [f"{BEGIN}GO ON", f"GO ON\n\n{END}", f"{END}\n{BEGIN}GO ON"])
def test_half_a_block_counts_as_a_persons_text(torn: str) -> None:
    """Whoever edits the note may delete a mark: nothing behind it is lost."""
    note = ended(before=torn)
    assert note.endswith(torn)
    assert note.startswith(BEGIN)


def test_a_persons_text_may_leave_no_room() -> None:
    """It is never cut."""
    pieces = note_of_end(Conclusion(RunOutcome.STOPPED, "x"), ACTION, AT_MS, "UTC")
    assert merged("p" * 960, pieces, "conclude") is None
    note = merged("p" * 800, pieces, "conclude")
    assert note is not None
    assert len(note) <= LONGEST_NOTE
    assert f"**GO ON:**\n\n{block(ON)}" in note


def test_a_question_has_who_may_answer_until_when_and_the_present_text() -> None:
    """The lines that say the same are left out."""
    assert asked().split("\n\n") == [
        f"{BEGIN}**WAITS** at approve_plan: approve it",
        "may approve: approver, admin; expires 2026-09-21 15:13 UTC; plan digest abc; state read at 2026-09-21 "
        "14:13 UTC",
        "To answer, in the tab Required Actions or with",
        block("answer r"),
        "**Now:** 2 of 2 RUNNING",
        END,
    ]


def test_an_answer_that_did_not_count_is_the_first_line() -> None:
    """Before what is asked again."""
    note = asked("oncall's answer did not count: oncall may not approve for orders")
    assert note.split("\n\n")[0] == f"{BEGIN}**oncall's answer did not count:** oncall may not approve for orders"


def test_the_page_of_the_question_has_that_it_is_asked_again() -> None:
    """What it says stays true when the question is answered."""
    note = merged("", note_of_answer("oncall's answer did not count: four eyes", AT_MS, "UTC"), "approve_plan")
    assert note == (f"{BEGIN}**oncall's answer did not count:** four eyes\n\nAsked again 2026-09-21 14:13 UTC\n\n{END}")


def test_a_long_question_keeps_who_may_answer() -> None:
    """Its last lines go first."""
    note = asked(lines=(f"Now: {'a ' * 300}", f"Risks: {'b ' * 300}"))
    assert len(note) <= LONGEST_NOTE
    assert "may approve: approver" in note
    assert "**Now:** a a" in note


def test_a_run_that_goes_on_names_its_approvals() -> None:
    """The wait that the note showed is over."""
    given = Approval("library_bump/r", "approve_plan", "abc", "approver", AT_MS, AT_MS)
    note = merged(asked(), note_of_progress("bounce_1_first", AT_MS, "UTC", [given]), "bounce_1_first")
    assert note is not None
    assert "WAITS" not in note
    assert "**GOES ON** at bounce_1_first since 2026-09-21 14:13 UTC" in note
    assert "approve_plan: approved by approver, 2026-09-21 14:13 UTC" in note


def test_a_line_of_a_person_goes_behind_the_block() -> None:
    """If there is no room, the block goes, which is written again; then the oldest text."""
    block = ended()
    assert with_line(block, "ann: no") == f"{block}\n\nann: no"
    assert with_line(block, "x" * 900) == "x" * 900
    assert with_line("old " * 249, "ann: no").endswith("ann: no")
    assert len(with_line("old " * 249, "ann: no")) <= LONGEST_NOTE
