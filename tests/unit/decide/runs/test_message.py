"""What a person is told about a run."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunOutcome
from kstreams_runbooks.decide.runs.message import (
    MOST_LINES,
    About,
    approved_alone,
    drifted,
    ended,
    held_too_long,
    inputs_held,
    needs_you,
)
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.model.runs.held_inputs import HeldInputs
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.message import Kind, Notification

AT = 1_790_000_000_000
RECORD = RunRecord(
    "library_bump/r",
    "library_bump",
    "r",
    "orders",
    "demo",
    "oncall",
    False,
    "OPS-7",
    {"application": "orders", "target": "4.3.1", "dry_run": False, "reason": "OPS-7", "bake_s": 0.5, "max_lag": None},
    AT,
)
ABOUT = About(RECORD, "team-orders", "Europe/Berlin", "https://airflow.example/r", "conclude/1")
DRY = replace(ABOUT, record=replace(RECORD, dry_run=True))
MANUALLY = ("undo 1: orders-1 back to 3.4.1 (one restart)", "    supervisorctl stop orders-1")
ON = "kstreams-runbooks clear r bounce_1_first"


def end(outcome: RunOutcome, about: About = ABOUT, *, drifted: bool = False, manually: tuple[str, ...] = ()) -> str:
    """Kind and text of the message at a run's end."""
    told = ended(
        about,
        AT,
        conclusion=Conclusion(outcome, "lag 20 (limit 10)"),
        drifted=drifted,
        action=NextAction(("GO ON: repair it:", f"    {ON}"), manually, ON),
        emergencies=(),
        head="ab12",
    )
    return f"{told.kind}: {told.subject}\n{told.body}"


def test_a_question_says_what_until_when_where_and_who() -> None:
    """With the command that shows the evidence, in the owner's zone too."""
    told = needs_you(
        ABOUT,
        AT,
        asks="approve library bump to 4.3.1",
        lines=[
            "Now: RUNNING on 3.4.1",
            "Plan digest: ab12; written: when it was asked. It is in the run's note (http://a/r)",
        ],
        deadline_ms=AT + 28_800_000,
        link="https://airflow.example/r/question",
    )
    assert told.subject == "[orders @ demo] needs you: approve library bump to 4.3.1"
    assert told.lines == (
        "Now: RUNNING on 3.4.1",
        "Plan digest: ab12",
        "Run: r, asked by oncall (OPS-7)",
        "At: 2026-09-21 14:13 UTC (16:13 Europe/Berlin); until 2026-09-21 22:13 UTC (00:13 Europe/Berlin)",
        "Command: kstreams-runbooks evidence r",
        "Link: https://airflow.example/r/question",
    )
    assert (told.about, told.kind, told.occasion) == ("library_bump/r", Kind.NEEDS_YOU, "conclude/1")
    assert (told.owner, told.deadline_ms) == ("team-orders", AT + 28_800_000)


def test_only_the_last_line_of_a_question_is_cut() -> None:
    """A reason that looks like its end hides nothing of another line."""
    lines = ["asked by: oncall (see; written: x); may approve: approver", "Plan digest: ab12; written: 14:13 UTC"]
    told = needs_you(ABOUT, AT, asks="approve it", lines=lines)
    assert told.lines[:2] == (lines[0], "Plan digest: ab12")


def test_an_approval_without_a_second_person_asks_another_one_to_look() -> None:
    """An emergency is told at once, beside the question that it answered."""
    told = approved_alone(ABOUT, AT, by="admin", reason="nobody else awake")
    assert told.subject == "[orders @ demo] needs you: to look: admin approved in an emergency"
    assert "nobody else awake" in told.body
    assert told.occasion == "conclude/1/emergency"


def test_a_hold_is_told_with_its_age_and_its_limit() -> None:
    """And where the run stands; once, whichever step is running."""
    told = held_too_long(
        ABOUT, AT, since_ms=AT - 18_000_000, limit_h=4.0, held=("application demo orders",), step="approve_plan"
    )
    assert told.subject == "[orders @ demo] held too long: library_bump since 5.0 h"
    assert "5.0 h (limit held_too_long_h 4); no other run" in told.body
    assert "Step: approve_plan" in told.body
    assert "Command: kstreams-runbooks runs --open" in told.body
    assert told.occasion == ""


@pytest.mark.parametrize(
    ("outcome", "drifted", "manually", "kind"),
    [
        (RunOutcome.COMPLETED, False, MANUALLY, Kind.CONCLUDED),
        (RunOutcome.NOTHING_CHANGED, False, (), Kind.CONCLUDED),
        (RunOutcome.NOTHING_CHANGED, True, (), Kind.DRIFTED),
        (RunOutcome.STOPPED, False, MANUALLY, Kind.STOPPED),
        (RunOutcome.STOPPED, True, MANUALLY, Kind.STOPPED),
        (RunOutcome.INCONCLUSIVE, False, MANUALLY, Kind.STOPPED),
        (RunOutcome.INCONCLUSIVE, False, (), Kind.CONCLUDED),
    ],
)
def test_a_run_ends_with_one_message(outcome: RunOutcome, drifted: bool, manually: tuple[str, ...], kind: Kind) -> None:
    """Stopped tells the way back whatever the reason; drift is told as such while nothing was changed."""
    text = end(outcome, drifted=drifted, manually=manually)
    assert text.startswith(f"{kind}: [orders @ demo] {kind.words}: library_bump {outcome}")
    assert "lag 20 (limit 10)" in text
    assert ("undo 1: orders-1" in text) == (kind is Kind.STOPPED)


def test_a_stopped_run_says_first_how_it_goes_on() -> None:
    """Then how it goes back, and last what is done by hand; its command is the first."""
    lines = end(RunOutcome.STOPPED, manually=MANUALLY).splitlines()
    places = [lines.index(one) for one in ("GO ON: repair it:", f"    {ON}", *MANUALLY, f"Command: {ON}")]
    assert places == sorted(places)


def test_several_questions_of_one_step_are_told_each() -> None:
    """A person who deploys is asked for one instance after another."""
    first, second = (needs_you(ABOUT, AT, asks=f"deploy {name}", lines=(), of=name) for name in ("a", "b"))
    assert (first.occasion, second.occasion) == ("conclude/1/a", "conclude/1/b")
    assert first.link == ABOUT.link


def test_a_dry_run_says_so() -> None:
    """In its subject; a run without a command of its own has its evidence."""
    assert "[orders @ demo] DRY RUN concluded: library_bump dry run" in end(RunOutcome.DRY_RUN, DRY)
    done = Conclusion(RunOutcome.COMPLETED, "as planned")
    message = ended(
        ABOUT, AT, conclusion=done, drifted=False, action=NextAction((), (), ""), emergencies=(), head="ab12"
    )
    assert message.command == "kstreams-runbooks evidence r"


def test_many_instances_do_not_make_a_long_message() -> None:
    """15 lines at most, no line without end; the last one says where the rest is."""

    def told(lines: list[str]) -> Notification:
        return needs_you(ABOUT, AT, asks="look", lines=lines, deadline_ms=None, link="")

    assert len(told([f"undo {n}" for n in range(11)]).lines) == MOST_LINES
    cut = told([f"undo {n}" for n in range(40)])
    assert len(cut.lines) == MOST_LINES
    assert cut.lines[10] == "… and 30 lines more: kstreams-runbooks evidence r"
    (long, *_) = told(["x" * 9_000 + "\n" + "y"]).lines
    assert len(long) == 500
    assert long.endswith("…")


ACTION = NextAction(
    ("GO ON: repair it:", f"    {ON}", "GO BACK: undo it:", "    kstreams-runbooks trigger undo r"), MANUALLY * 24, ON
)


@pytest.mark.parametrize("reasons", [1, 24, 120])
def test_a_long_sentence_leaves_room_for_the_next_action(reasons: int) -> None:
    """GO ON, GO BACK with their commands, and where the manual commands are."""
    why = "; ".join(f"orders-{number}: {'no answer ' * 20}" for number in range(reasons))
    action = replace(ACTION, manually=("MANUALLY, the last change first:", *ACTION.manually))
    lines = ended(
        ABOUT,
        AT,
        conclusion=Conclusion(RunOutcome.STOPPED, why),
        drifted=False,
        action=action,
        emergencies=(),
        head="ab12",
    ).lines
    assert len(lines) == MOST_LINES
    assert lines[0].startswith("orders-0: no answer")
    places = [lines.index(one) for one in (*ACTION.lines, "Evidence head: ab12", action.manually[0], f"Command: {ON}")]
    assert places == sorted(places)
    assert places[:5] == list(range(places[0], places[0] + 5))
    more = [line for line in lines if line.endswith(" lines more: kstreams-runbooks evidence r")]
    assert len(more) == 1 + (reasons > 1)


def test_a_long_drift_and_inputs_held_for_long_leave_room_for_what_it_means() -> None:
    """Reasons are cut; that the plan is void, and the ways back, are not."""
    reasons = [f"topic zones-{number} has another id" for number in range(40)]
    void = drifted(ABOUT, AT, digest="d1", reasons=reasons).lines
    assert len(void) == MOST_LINES
    assert void[10] == "Plan d1 of this run is void: its next step that would change anything refuses."
    held = HeldInputs(RECORD.run_key, "demo", "orders", ("zones",), "switch", AT)
    why = "; ".join("x" * 400 for _ in range(20))
    told = inputs_held(ABOUT, AT, held=held, sentence=why, ended=True, action=ACTION).lines
    assert len(told) == MOST_LINES
    assert [line for line in told if line in ACTION.lines] == list(ACTION.lines)


def test_a_long_sentence_loses_none_of_its_reasons() -> None:
    """It takes several lines."""
    sentence = "; ".join(f"topic zones-{number} does not exist: create it, then trigger again" for number in range(20))
    ending = Conclusion(RunOutcome.NOTHING_CHANGED, sentence)
    nothing = NextAction((), (), "")
    message = ended(ABOUT, AT, conclusion=ending, drifted=False, action=nothing, emergencies=(), head="ab12")
    assert all(f"zones-{number} " in " ".join(message.lines) for number in range(20))
    assert len(message.lines) <= 15
