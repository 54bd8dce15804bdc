"""What comes after a run: the way on first, then the way back, last what is done by hand."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import Ending
from kstreams_runbooks.decide.runs.next_action import next_action
from kstreams_runbooks.model.runs.ledger import RunRecord
from world.samples import card

RECORD = RunRecord(
    *("library_bump/r", "library_bump", "r", "orders", "demo", "oncall"),
    False,
    "",
    {"target": "4.3.1"},
    1_790_000_000_000,
)
STOPPED = Ending(
    RECORD,
    RunOutcome.STOPPED,
    reached="bounce_1_first",
    failure="gate of orders-1: lag 20 (limit 10); stop the flood",
    exit_code=1,
    is_void=False,
    cards=(card(run_key="library_bump/r"),),
    by_hand={1: ("supervisorctl restart orders-1",)},
    tasks=(
        *("observe", "describe_release", "check", "plan", "certify", "bounce_1_first", "bounce_1_rest", "verify"),
        "conclude",
    ),
)
AGAIN = "kstreams-runbooks trigger library_bump --application orders --param target=4.3.1"


def test_a_reading_that_is_too_old_is_taken_again() -> None:
    """The task that refuses it would refuse it again."""
    failure = "reading of orders: 36 s old (limit 30 s); clear `observe` and what follows it"
    refused = replace(STOPPED, outcome=RunOutcome.NOTHING_CHANGED, reached="check", failure=failure, cards=())
    found = next_action(refused)
    assert found.command == "kstreams-runbooks clear r observe"


def test_a_stopped_run_goes_on_then_back_then_by_hand() -> None:
    """Each with its command; the first is the one of the message."""
    found = next_action(STOPPED)
    assert found.lines == (
        "GO ON: clear bounce_1_first and what follows it, which starts again what is down:",
        "    kstreams-runbooks clear r bounce_1_first",
        "GO BACK: undo this run, first as a dry run:",
        "    kstreams-runbooks trigger undo r",
    )
    assert found.manually[0] == "MANUALLY, the last change first:"
    assert found.manually[1].startswith("undo 1: orders-1 back to 3.4.1")
    assert found.manually[2] == "    supervisorctl restart orders-1"
    assert found.command == "kstreams-runbooks clear r bounce_1_first"


@pytest.mark.parametrize(
    ("failure", "task"),
    [
        ("orders-2 has not passed its gate; clear bounce_1_rest and what follows it", "bounce_1_rest"),
        ("the targets changed; clear plan and what follows it", "plan"),
        ("it is down: start it, then clear this step", "bounce_1_first"),
        ("its state was not deleted; clear it again", "bounce_1_first"),
        ("this run has no drain certificate: clear `certify` and what follows it", "certify"),
        ("this run has no plan: `plan` has not run; clear it and what follows it", "plan"),
        ("nothing described: `describe_release` has not run; clear it and what follows it", "describe_release"),
    ],
)
def test_the_sentence_may_name_an_earlier_task(failure: str, task: str) -> None:
    """It goes on from there."""
    assert next_action(replace(STOPPED, failure=failure)).command == f"kstreams-runbooks clear r {task}"


@pytest.mark.parametrize(
    ("failure", "task"),
    [
        (
            "stage 2 cannot be done, as oncall answered (clear plan, then trigger a new run); undo this run, or clear "
            "verify, which asks again",
            "verify",
        ),
        ("orders-1: its operator wrote: clear plan or trigger again; mend it, then clear this step", "bounce_1_first"),
    ],
    ids=["a task and a new run", "this step"],
)
def test_what_a_sentence_quotes_is_not_what_it_asks_for(failure: str, task: str) -> None:
    """A person's reason may ask for other things; what the sentence itself asks for comes last."""
    assert next_action(replace(STOPPED, failure=failure)).command == f"kstreams-runbooks clear r {task}"


def test_a_quoted_field_is_not_in_the_command_of_the_new_run() -> None:
    """Nobody but the plan accepts a loss."""
    quoted = "rejected by approver (trigger a new run with --param leave_unknown=true); settle that, then "
    found = next_action(replace(STOPPED, failure=f"{quoted}trigger a new run", cards=()))
    assert found.command == f"{AGAIN} --execute"


def test_without_the_tasks_of_its_dag_a_run_goes_on_where_it_stopped() -> None:
    """They are not known before a step has begun."""
    failure = "orders-2 has not passed its gate; clear bounce_1_rest and what follows it"
    found = next_action(replace(STOPPED, failure=failure, tasks=()))
    assert found.command == "kstreams-runbooks clear r bounce_1_first"


@pytest.mark.parametrize(
    "ending",
    [
        replace(STOPPED, is_void=True),
        replace(STOPPED, failure="approve_plan: rejected by approver; ask them why, then trigger a new run"),
        replace(
            STOPPED, failure="release 9: not declared for orders; add it to the fleet entry", exit_code=2, cards=()
        ),
        replace(STOPPED, reached="", failure=""),
    ],
    ids=["void", "rejected", "form", "nothing began"],
)
def test_a_run_that_cannot_go_on_names_a_new_one(ending: Ending) -> None:
    """With the same form."""
    found = next_action(ending)
    assert found.command == f"{AGAIN} --execute"
    assert found.lines[0].endswith("start a new run (this one cannot go on):")


@pytest.mark.parametrize(
    ("failure", "params", "command"),
    [
        (
            "1 card is of an unknown kind; to take back the others alone, trigger a new run with "
            "--param leave_unknown=true",
            {"run": "r"},
            "--param leave_unknown=true --param run=r",
        ),
        (
            "not known: aggregate; trigger a new run of this runbook with --param unchanged=key,aggregate if the code "
            "of these did not change",
            {"release": "5"},
            "--param release=5 --param unchanged=key,aggregate",
        ),
        (
            "not known: key; trigger a new run of plan_change with --param unchanged=key if the code of these did not",
            {"unchanged": ["join"]},
            """--param 'unchanged=["join", "key"]'""",
        ),
    ],
)
def test_a_field_that_only_a_new_run_can_have_is_in_its_command(
    failure: str, params: dict[str, Any], command: str
) -> None:
    """As a dry run, for real runs too: such a field accepts a loss, and the plan shows it."""
    ending = replace(STOPPED, record=replace(RECORD, params=params), failure=failure, exit_code=3, cards=())
    found = next_action(ending)
    assert found.command == f"kstreams-runbooks trigger library_bump --application orders {command}"
    assert found.lines[0].endswith("start a new run (this one cannot go on), first as a dry run:")


def test_a_declaration_that_broke_after_the_plan_is_corrected_and_the_run_goes_on() -> None:
    """Its approvals stay; a new run would ask again."""
    failure = "application orders is disabled: orders.yaml: owner: is missing"
    broken = replace(STOPPED, outcome=RunOutcome.NOTHING_CHANGED, failure=failure, exit_code=2, cards=())
    planned = replace(broken, record=replace(RECORD, plan_digest="0123456789abcdef"))
    assert next_action(planned).command == "kstreams-runbooks clear r bounce_1_first"
    assert next_action(broken).command == f"{AGAIN} --execute"


def test_a_refused_dry_run_is_repeated_as_a_dry_run() -> None:
    """Nothing is to be taken back."""
    found = next_action(replace(STOPPED, record=replace(RECORD, dry_run=True), is_void=True, cards=()))
    assert found.command == AGAIN
    assert not any("GO BACK" in line for line in found.lines)


def test_nothing_is_taken_back_twice() -> None:
    """A card that is done leaves nothing, and an undo has no undo."""
    done = next_action(replace(STOPPED, cards=(card(run_key="library_bump/r", done=True),)))
    assert done.lines[-1] == "GO BACK: not needed, nothing is left to take back"
    assert done.manually == ()
    ending = replace(STOPPED, record=replace(RECORD, dag_id="undo", params={"run": "b"}))
    undo = next_action(ending)
    back = "GO BACK: an undo has no undo; trigger the runbook that it takes back once more"
    assert undo.lines[2:] == (back,)
    assert undo.command == "kstreams-runbooks clear r bounce_1_first"
    known = next_action(replace(ending, undone=replace(RECORD, run_id="b")))
    assert known.lines[2:] == (f"{back}, first as a dry run:", f"    {AGAIN}")


def test_a_completed_run_names_its_undo_and_its_next_leg() -> None:
    """Nothing about hands: it is as planned."""
    done = next_action(replace(STOPPED, outcome=RunOutcome.COMPLETED, reached="verify", failure=""))
    assert done.lines == ("GO BACK: undo this run, first as a dry run:", "    kstreams-runbooks trigger undo r")
    assert (done.manually, done.command) == ((), "")
    more = next_action(replace(STOPPED, outcome=RunOutcome.COMPLETED, then=("4.0.0 to 4.3.1",)))
    assert more.lines[:3] == ("still to come: 4.0.0 to 4.3.1", "GO ON: the next leg:", f"    {AGAIN} --execute")


def test_a_dry_run_names_the_real_one() -> None:
    """And nothing to take back."""
    found = next_action(replace(STOPPED, record=replace(RECORD, dry_run=True), outcome=RunOutcome.DRY_RUN, cards=()))
    assert found.lines == ("GO ON: nothing was changed; to do it:", f"    {AGAIN} --execute")


def test_held_inputs_come_first() -> None:
    """They cost with every minute."""
    assert next_action(replace(STOPPED, held=("INPUTS orders ARE HELD",))).lines[0] == "INPUTS orders ARE HELD"


def test_by_hand_it_drains_between_the_new_format_and_the_old_release() -> None:
    """Read backwards: past the point of no return, the drain, then what came before it."""
    cards = (card(run_key="library_bump/r"), replace(card(run_key="library_bump/r", misreads=True), seq=2))
    found = next_action(replace(STOPPED, cards=cards, by_hand={}))
    assert found.manually[1].startswith("undo 2: ")
    assert found.manually[1].endswith("PAST THE POINT OF NO RETURN")
    assert (
        found.manually[2] == "before the next: read the repartition topics to their end, an older release misreads them"
    )
    assert found.manually[3].startswith("undo 1: ")
    assert "past the point of no return" in found.lines[2]


def test_a_flush_whose_new_release_has_run_goes_back_by_a_flush() -> None:
    """An undo would be refused; it is named for a release that does not run, with what it loses."""
    flush = "kstreams-runbooks trigger control_topic_flush --application orders --param release=4.3.1.1"
    done = next_action(replace(STOPPED, outcome=RunOutcome.COMPLETED, flush_back=flush))
    assert done.lines == (
        "GO BACK: flush once more, to what ran before; first as a dry run:",
        f"    {flush}",
        "or, if what it started does not run: undo it, and lose the records that no older release reads:",
        "    kstreams-runbooks trigger undo r --param without_flush=true",
    )


def test_an_adoption_that_has_started_goes_back_by_its_other_mode() -> None:
    """An undo would be refused, and nothing of it loses records that a flush keeps."""
    back = "kstreams-runbooks trigger adopt_control_topic --application orders --param mode=abandon"
    adopted = replace(STOPPED, record=replace(RECORD, dag_id="adopt_control_topic"), flush_back=back)
    assert next_action(replace(adopted, outcome=RunOutcome.COMPLETED)).lines == (
        "GO BACK: its other mode, first as a dry run:",
        f"    {back}",
    )


def test_an_undo_refused_for_a_flush_goes_on_by_the_flush_back() -> None:
    """The way that loses records comes second, and keeps the other fields of the form."""
    flush = "kstreams-runbooks trigger control_topic_flush --application orders --param release=4.3.1.1"
    failure = (
        f"run control_topic_flush/f has begun to start 4.3.1.2; a flush back loses none of them: {flush}; to undo the "
        "run without one and lose them, trigger a new run with --param without_flush=true"
    )
    record = replace(RECORD, dag_id="undo", params={"run": "f", "local_state": "keep"})
    refused = replace(
        STOPPED, record=record, outcome=RunOutcome.NOTHING_CHANGED, reached="plan", failure=failure, cards=()
    )
    found = next_action(replace(refused, flush_back=flush, undone=replace(RECORD, run_id="f")))
    assert found.command == flush
    assert found.lines == (
        "GO ON: flush once more, to what ran before; first as a dry run:",
        f"    {flush}",
        "or, if what the flush started does not run: undo it, and lose the records that no older release reads; first "
        "as a dry run:",
        "    kstreams-runbooks trigger undo --application orders --param local_state=keep --param run=f "
        "--param without_flush=true",
        "GO BACK: not needed, this undo changed nothing; what it was to take back still stands",
    )
    # The command is not known any more: at least no command loses records.
    assert "without_flush" not in next_action(refused).command
    # Refused for another reason: the flush that it takes back is not the answer.
    other = next_action(replace(refused, flush_back=flush, failure="plan is older than its reading; clear plan"))
    assert other.command == "kstreams-runbooks clear r plan"


def test_an_undo_that_changed_nothing_does_not_claim_that_nothing_is_left() -> None:
    """What it was to take back is there as before; one that found nothing to do has nothing left."""
    undo = replace(STOPPED, record=replace(RECORD, dag_id="undo"), outcome=RunOutcome.NOTHING_CHANGED, cards=())
    back = next_action(undo).lines[-1]
    assert back == "GO BACK: not needed, this undo changed nothing; what it was to take back still stands"
    done = next_action(replace(undo, outcome=RunOutcome.COMPLETED)).lines[-1]
    assert done == "GO BACK: not needed, nothing is left to take back"


def test_a_growth_has_no_way_back() -> None:
    """Once it is completed; stopped, it may have announced what did not happen, and an undo looks."""
    record = replace(RECORD, dag_id="partition_increase", run_key="partition_increase/r")
    grown = card("orders", run_key=record.run_key, seq=2, kind="topic_grown")
    undo = "    kstreams-runbooks trigger undo r"
    stopped = replace(STOPPED, record=record, reached="start_application", cards=(*STOPPED.cards, grown))
    [once, command] = next_action(stopped).lines[-2:]
    assert once.startswith("GO BACK: only if none of the topics has grown, partitions are never taken away (orders)")
    assert command == undo
    completed = replace(stopped, outcome=RunOutcome.COMPLETED)
    assert next_action(completed).lines[-1] == "GO BACK: not possible, partitions are never taken away (orders)"
    assert next_action(replace(completed, cards=STOPPED.cards)).lines[-1] == undo
