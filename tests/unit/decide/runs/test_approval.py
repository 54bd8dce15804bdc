"""Who may approve, and what they read."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.approval import Asking, approval_body, may_answer, may_approve
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.object_stages import DeleteRecords, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Finding, Outcome, Severity
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.wording import unmarked
from world.samples import NEW, card, declared, reading

PLAN = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")


def test_only_an_approver_approves() -> None:
    """Airflow's rights are per DAG: who may act on which application is checked here."""
    assert may_approve(declared(), "oncall", "stranger", None).outcome is Outcome.WAIT
    assert may_approve(declared(), "oncall", "approver", None).outcome is Outcome.PROCEED


def test_four_eyes_ask_again_and_an_emergency_reason_passes() -> None:
    """The reason stands in the sentence that is kept."""
    asked = may_approve(declared(), "admin", "admin", None)
    assert asked.outcome is Outcome.WAIT
    assert "needs four eyes" in asked.reasons[0]
    alone = may_approve(declared(), "admin", "admin", "nobody else awake")
    assert (alone.outcome, alone.reasons) == (
        Outcome.PROCEED,
        ("approved by admin in an emergency: nobody else awake",),
    )
    assert may_approve(declared(four_eyes=False), "admin", "admin", None).outcome is Outcome.PROCEED


ASKED_AT, EXPIRES_AT = 1_790_000_000_000, 1_790_028_800_000
FIRST, SECOND = 1, 2


def body(
    bounce: int = FIRST,
    entry: DeclaredApplication | None = None,
    *,
    plan: Plan = PLAN,
    requested_by: str = "oncall",
    reason: str = "OPS-7",
    cards: tuple[Card, ...] = (),
) -> list[str]:
    """The lines of the text, with a link and a fleet entry of max_lag 1,000 and a bake of 10 s."""
    entry = entry or declared()
    link = "https://airflow.example/dags/library_bump/runs/r"
    text = approval_body(
        Asking(entry, requested_by, reason, ASKED_AT, EXPIRES_AT, link),
        plan,
        bounce,
        "orders-1: RUNNING on 3.4.1",
        fleet_limits=declared().limits,
        cards=cards,
    )
    return [line for line in text.splitlines() if line]


def line_of(lines: list[str], word: str) -> str:
    return next(line for line in lines if line.startswith(f"**{word}"))


def test_the_body_is_short_and_complete() -> None:
    """15 lines at most with everything in it, no None and no raw value."""
    changed = replace(PLAN, limits=(("max_lag", 5000.0), ("bake_s", 0.0)))
    for bounce in (FIRST, SECOND):
        lines = body(bounce, plan=changed, reason="OPS-7\nand a second line", cards=(card(),))
        assert len(lines) <= 15
        text = "\n".join(lines)
        assert "None" not in text
        assert "{" not in text
        for word in (
            "Now",
            "Will do",
            "Worst case",
            "Undo",
            "Risks",
            "Other limits",
            "Reject means" if bounce == FIRST else "'stay on bounce 1' means",
            "Expires",
            "asked by",
            "written",
            changed.digest,
            "[the task's log](https://airflow.example/dags/library_bump/runs/r)",
        ):
            assert word in text


def test_risks_are_a_list_with_dangers_first_and_one_line_a_cause() -> None:
    """Every danger is there; of the warnings the first; what was accepted before is one line."""

    def found(severity: Severity, name: str, of: str, message: str) -> Finding:
        return Finding(name, severity, of, message, "a test")

    plan = replace(
        PLAN,
        findings=(
            *(found("warning", "orphan", f"topic-{number}", "nothing reads it any more") for number in range(7)),
            *(found("warning", f"other-{number}", "orders", f"warning {number}") for number in range(6)),
            *(found("warning", "recreated-acknowledged", f"old-{number}", "it was recreated") for number in range(2)),
            found("danger", "lost", "store counts", "begins empty"),
            found("danger", "recreated-acknowledged", "log", "its state is lost"),
            found("info", "nothing", "orders", "is not shown"),
        ),
    )
    lines = body(plan=plan)
    first = lines.index("**Risks:**") + 1
    assert [line.replace("\\", "") for line in lines[first : first + 7]] == [
        "- danger: store counts: begins empty",
        "- danger: log: its state is lost",
        "- warning: topic-0, topic-1, topic-2 and 4 more: nothing reads it any more",
        "- warning: orders: warning 0",
        "- warning: orders: warning 1",
        "- and 4 more, which the log of `plan` has",
        "- accepted before, at fleet_check: old-0, old-1",
    ]


def test_the_body_has_how_long_inputs_are_held_if_they_are() -> None:
    """Next to the gap, for who approves: no plan without a hold has the line."""
    asking = Asking(declared(), "oncall", "", 0, 0, "")
    text = approval_body(asking, PLAN, FIRST, "", fleet_limits=(), cards=(), held="18–107 s (stop 1–10 s)")
    assert line_of(text.splitlines(), "Inputs held") == "**Inputs held:** 18–107 s (stop 1–10 s)"
    assert "Inputs held" not in "".join(body())


def test_the_body_ends_with_the_digest_and_the_place_of_the_present_text() -> None:
    """In one line, and without a link: Airflow need not know its own address."""
    text = approval_body(Asking(declared(), "oncall", "", 0, 0, ""), PLAN, FIRST, "", fleet_limits=(), cards=())
    last = text.splitlines()[-1]
    assert last.startswith(f"**Plan digest:** `{PLAN.digest}`; **written:** 1970-01-01 00:00 UTC")
    assert last.endswith("; it cannot change: the present text is in the task's log")


def test_the_requester_is_not_named_as_approver_under_four_eyes() -> None:
    """The text says who may really answer."""
    assert line_of(body(requested_by="admin"), "Expires").endswith("**may approve:** approver")


def test_the_body_says_where_nobody_but_the_requester_may_approve() -> None:
    """Never an empty list of names; without four eyes the requester is one of them."""
    alone = declared(approvers=("admin",))
    assert line_of(body(entry=alone, requested_by="admin"), "Expires").endswith(
        "**may approve:** only admin, who asked, and only with an emergency reason"
    )
    trusted = declared(approvers=("admin",), four_eyes=False)
    assert line_of(body(entry=trusted, requested_by="admin"), "Expires").endswith("**may approve:** admin")


def test_the_body_shows_every_limit_that_the_form_changed() -> None:
    """With the fleet's value beside it, and no line where nothing differs."""
    changed = replace(PLAN, limits=(("max_lag", 5000.0), ("gate_interval_s", 0.5), ("bake_s", 0.0)))
    fleet = (("max_lag", 1000.0), ("gate_interval_s", 0.5), ("bake_s", 10.0))
    assert line_of(body(plan=changed), "Other limits") == (
        "**Other limits than the fleet's:** max_lag 5,000 (the fleet entry has 1,000), "
        "bake_s 0 (the fleet entry has 10)"
    )
    assert not any(line.startswith("**Other limits") for line in body(plan=replace(PLAN, limits=fleet)))


@pytest.mark.parametrize(
    ("bounce", "cards", "sentence"),
    [
        (FIRST, (), "nothing is changed; the run ends failed"),
        (
            FIRST,
            (card("orders-1"), card("orders-1", seq=2)),
            "nothing more is changed, the changes so far stay: bounce 1 on orders-1; the run ends failed",
        ),
        (
            SECOND,
            (card("orders-1"), card("orders-2", seq=2)),
            "every instance stays on the new release, `upgrade.from` as it is set now; the run ends failed",
        ),
        (
            SECOND,
            (
                card("orders-1"),
                card("orders-2", seq=2),
                card("orders-1", seq=3, step="bounce 2", misreads=True),
            ),
            "nothing more is changed, the changes so far stay: bounce 1 on orders-2; bounce 2 on orders-1; "
            "the run ends failed",
        ),
    ],
    ids=["nothing begun", "bounce 1 begun", "bounce 1 done", "bounce 2 begun"],
)
def test_reject_means_what_stands_then(bounce: int, cards: tuple[Card, ...], sentence: str) -> None:
    """An approval that expired is asked again in the middle of a bounce: what is done is not undone by a reject."""
    means = "Reject means" if bounce == FIRST else "'stay on bounce 1' means"
    assert line_of(body(bounce, cards=cards), means) == f"**{means}:** {sentence}"


def test_the_point_of_no_return_is_the_first_block() -> None:
    """Before what runs now, and in no question about anything else."""
    first, *_ = body(SECOND)
    assert first.startswith("**POINT OF NO RETURN:** from the first instance of 'bounce 2: no way back' on, records")
    assert "that 3.4.1 cannot read" in first
    assert "POINT" not in "".join(body(FIRST))


def test_a_plan_that_deletes_for_good_begins_with_what_goes() -> None:
    """With how much of what, from which stage on; the way to stop has its own name."""
    stages = (
        DeleteTopics(4, tuple(f"orders-{name}-changelog" for name in "abcd"), at_rest=True),
        DeleteRecords(6, ("totals",), shown=True),
    )
    lines = body(FIRST, plan=replace(PLAN, stages=(*PLAN.stages, *stages)))
    assert unmarked(lines[0]) == (
        "POINT OF NO RETURN: from stage 4 on, 4 topics (orders-a-changelog, orders-b-changelog, orders-c-changelog and "
        "1 more) and the records of 1 topic (totals) are deleted for good: no undo brings back what is in them. State "
        "and group are read again when you answer"
    )
    means = "**'delete nothing' means:** nothing is changed; the run ends failed"
    assert line_of(lines, "'delete nothing' means") == means
    assert len(lines) <= 15


GREEN = declared(name="green", approvers=("green-lead", "admin"))


@pytest.mark.parametrize(
    ("responder", "given", "outcome", "reason"),
    [
        (
            "approver",
            (),
            Outcome.WAIT,
            "approver approved for orders; the run changes other applications too, and an approver of each has to "
            "answer (green: green-lead, admin)",
        ),
        ("green-lead", ("approver",), Outcome.PROCEED, "approved by approver, green-lead"),
        ("approver", ("green-lead",), Outcome.PROCEED, "approved by green-lead, approver"),
        ("admin", (), Outcome.PROCEED, "approved by admin"),
        ("stranger", ("approver",), Outcome.WAIT, "stranger may not approve for orders; one of its approvers has to"),
        ("approver", ("stranger", "oncall"), Outcome.WAIT, "approver approved for orders; the run changes other"),
    ],
)
def test_another_teams_application_needs_an_approver_of_that_team(
    responder: str, given: tuple[str, ...], outcome: Outcome, reason: str
) -> None:
    """One person may be an approver of both; an answer of somebody who is of neither counts for nothing."""
    verdict = may_approve(declared(), "oncall", responder, None, (GREEN,), given)
    assert verdict.outcome is outcome
    assert verdict.reasons[0].startswith(reason)


def test_the_requester_counts_for_no_team_that_needs_four_eyes() -> None:
    """Neither now nor as an earlier answer."""
    verdict = may_approve(declared(), "green-lead", "approver", None, (GREEN,), ("green-lead",))
    assert verdict.outcome is Outcome.WAIT
    relaxed = may_approve(
        declared(), "green-lead", "approver", None, (replace(GREEN, four_eyes=False),), ("green-lead",)
    )
    assert relaxed.outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("responder", "outcome"),
    [("oncall", Outcome.PROCEED), ("approver", Outcome.PROCEED), ("driver", Outcome.PROCEED), ("x", Outcome.WAIT)],
)
def test_an_answer_that_work_is_done_counts_from_those_who_may_run_or_approve(responder: str, outcome: Outcome) -> None:
    """Of the side that was asked, and of the application of the run."""
    side = declared(name="payments", operators=("driver",), approvers=("boss",))
    verdict = may_answer((side, declared()), responder)
    assert verdict.outcome is outcome
    if outcome is Outcome.WAIT:
        assert verdict.reasons == (
            "x may not answer for payments; one of its operators or approvers has to: driver, boss, oncall, approver, "
            "admin",
        )


def test_without_declared_operators_airflow_decides_who_answers() -> None:
    """As it does about who may run anything."""
    assert may_answer((declared(operators=()),), "x").outcome is Outcome.PROCEED
