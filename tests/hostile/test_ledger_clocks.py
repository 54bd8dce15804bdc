"""Clocks that are wrong: the order of what happened never depends on them, they can only make an approval expire.

Covers decide/runs/validity
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kstreams_runbooks.decide.instances.members import every_member_runs
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.conclusion import Conclusion, conclusion
from kstreams_runbooks.errors import Drifted, WriteRefused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import Approval, RunRecord
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.approval import authorize as authorizing
from kstreams_runbooks.steps.approval.authorize import VOIDED, authorize
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.approval.void import void_plan
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.run import run as running
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.evidence import as_document
from world.samples import NEW, card, declared, instance, reading

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
BEGIN = 1_790_000_000_000
APPROVAL, PROOF = "approve_plan", every_member_runs.__name__
DONE = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))
# Refusals for which a clock may be the reason: each names what the clock said.
BY_THE_CLOCK = ("expired", "after this worker's clock", "longer than")


@dataclass
class Clock:
    """The one clock of a test: the true time, and how wrong the clock is that is looked at."""

    true_ms: int = BEGIN
    wrong_ms: int = 0

    def now(self) -> int:
        """What it says."""
        return self.true_ms + self.wrong_ms


@pytest.fixture(scope="module")
def clock() -> Iterator[Clock]:
    """Every step and the ledger look at it."""
    made = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "now_ms", made.now)
        patch.setattr(authorizing, "now_ms", made.now)
        patch.setattr("kstreams_runbooks.steps.run.until.now_ms", made.now)
        patch.setattr("kstreams_runbooks.ledger.journal.wall_clock_ms", made.now)
        patch.setattr(authorizing, "take_hold", renews)
        yield made


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory where there is such a place: thousands of commits, and none of them is about the disk."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    with TemporaryDirectory(prefix="ledger-clocks-", dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def begin(clock: Clock, folder: Path) -> Callable[[], Run]:
    """Begins a run, planned and with its hold, of an application that nothing else is about."""
    ledger, numbers = Ledger.open(f"sqlite:///{folder / 'ledger.db'}"), count()
    limits, code = (("max_lag", 1000.0),), code_digest("library_bump")
    inputs = {"declared": declared(), "target": NEW, "rules": upgrade_path_rules(), "findings": (), "limits": limits}

    def begin() -> Run:
        clock.true_ms, clock.wrong_ms = BEGIN, 0
        name = f"orders-{next(numbers)}"
        # A cluster of its own: nobody has to look at the holds of thousands of others.
        record = RunRecord("", "library_bump", name, name, name, "oncall", False, "", {}, clock.now())
        run = Run(ledger.start_run(record), "bounce_2_first", 1, ledger)
        vars(run)["declared"] = declared()
        plan = replace(run.decide(bump_plan, reading=reading(), code=code, **inputs), application=name, cluster=name)
        ledger.store_plan(run.key, plan.digest, encode(plan))
        renews(run)
        return run

    return begin


def renews(run: Run, *_: object) -> None:
    name = run.record.application
    run.ledger.take_hold(run.key, (f"application:{name}:{name}",), name, 1, running.now_ms(), lambda _: False)


def approves(run: Run) -> None:
    now = running.now_ms()
    run.ledger.approve(Approval(run.key, APPROVAL, run.plan().digest, "approver", now, now + 8 * HOUR))


def another_run(run: Run) -> Run:
    record = replace(run.record, dag_id="undo", started_at_ms=running.now_ms())
    return Run(run.ledger.start_run(record), "undo", 1, run.ledger)


def changes(run: Run) -> None:
    seq = len(run.ledger.cards(run.key)) + 1
    run.ledger.write_card(card(run_key=run.key, seq=seq, at_ms=running.now_ms(), facts={"bounce": 1}))
    run.ledger.mark_written(run.key, running.now_ms())


EVENTS: dict[str, Callable[[Run], object]] = {
    "ask": lambda run: replace(run, task_id=APPROVAL).keep("note", VOIDED, {"by": "asked again"}),
    "approve": approves,
    "reject": lambda run: replace(run, task_id=APPROVAL).keep("note", VOIDED, {"by": "approver"}),
    "proof": lambda run: run.decide(every_member_runs, reading=DONE, bounces=run.plan().bounces),
    "change": changes,
    "another run": lambda run: changes(another_run(run)),
    "renew": renews,
    "void": lambda run: void_plan(run, run.plan(), ("topic orders has another id",)),
}


def answer(run: Run) -> str:
    """Why a write is refused, empty where it is allowed."""
    try:
        authorize(run, APPROVAL, (PROOF,))
    except (WriteRefused, Drifted) as refused:
        return str(refused)
    return ""


def played(begin: Callable[[], Run], clock: Clock, story: Sequence[tuple[str, int]]) -> tuple[str, Conclusion]:
    """What a write and `conclude` answer after these events, a minute apart, each by a clock that is so wrong."""
    run = begin()
    for name, wrong_ms in story[:-1]:
        clock.true_ms, clock.wrong_ms = clock.true_ms + MINUTE, wrong_ms
        EVENTS[name](run)
    ended = conclusion(facts_of(run))
    clock.true_ms, clock.wrong_ms = clock.true_ms + MINUTE, story[-1][1]
    named = {run.key: "RUN", run.plan().digest: "PLAN", run.record.application: "APP"}
    said = answer(run)
    for name, word in named.items():
        said = said.replace(name, word)
    return re.sub(r"void since .+? UTC", "void", said), ended


@pytest.fixture(scope="module")
def by_good_clocks(begin: Callable[[], Run], clock: Clock) -> Callable[[tuple[str, ...]], tuple[str, Conclusion]]:
    """The same by clocks that are right, found out once for each story."""
    return cache(lambda names: played(begin, clock, [(name, 0) for name in names]))


wrong = st.sampled_from([0, 2_000, -2_000, 30_000, -30_000, HOUR, -HOUR, 3 * HOUR, -3 * HOUR, DAY, -DAY])
stories = st.tuples(
    st.tuples(st.just("approve"), wrong),
    st.tuples(st.just("proof"), wrong),
    st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), wrong), max_size=5),
).map(lambda some: [*some[:2], *some[2]])


@pytest.fixture(scope="module")
def compare(
    begin: Callable[[], Run], clock: Clock, by_good_clocks: Callable[[tuple[str, ...]], tuple[str, Conclusion]]
) -> Callable[[Sequence[tuple[str, int]]], None]:
    """The answer by wrong clocks is that of good ones, or refused by a clock and saying so; the end is the same."""

    def compare(story: Sequence[tuple[str, int]]) -> None:
        good, right = by_good_clocks(tuple(name for name, _ in story))
        bad, ended = played(begin, clock, story)
        assert bad == good or any(reason in bad for reason in BY_THE_CLOCK), bad
        assert ended == right

    return compare


def told(story: list[tuple[str, int]], last: int) -> list[tuple[str, int]]:
    """What is approved and proven, what comes then, and the write."""
    return [*story, ("write", last)]


Compare = Callable[[Sequence[tuple[str, int]]], None]
FEW = settings(max_examples=15, deadline=None)
MANY = settings(max_examples=1_000, deadline=None)


@FEW
@given(story=stories, last=wrong)
@example(story=[("approve", 0), ("proof", 0), ("reject", -HOUR)], last=0)
@example(story=[("approve", 0), ("proof", 0), ("another run", -2_000)], last=0)
@example(story=[("approve", 0), ("proof", 0), ("change", -HOUR)], last=0)
@example(story=[("approve", DAY), ("proof", 0)], last=0)
def test_no_clock_decides_what_came_first(compare: Compare, story: list[tuple[str, int]], last: int) -> None:
    """Whatever each clock says, seconds, hours or a day wrong."""
    compare(told(story, last))


@pytest.mark.long
@MANY
@given(story=stories, last=wrong)
def test_no_clock_decides_what_came_first_in_a_thousand_stories(
    compare: Compare, story: list[tuple[str, int]], last: int
) -> None:
    """The same, many more of them."""
    compare(told(story, last))


@pytest.mark.parametrize("wrong_ms", [*(pytest.param(one, marks=pytest.mark.long) for one in (HOUR, -2_000)), -HOUR])
@pytest.mark.parametrize("before", sorted(EVENTS))
def test_every_pair_of_events(compare: Compare, before: str, wrong_ms: int) -> None:
    """The second of them, and then the first, by a clock that is wrong."""
    for after in sorted(EVENTS):
        first = [("approve", 0), ("proof", 0)]
        compare(told([*first, (before, 0), (after, wrong_ms)], 0))
        compare(told([*first, (before, wrong_ms), (after, 0)], 0))


def test_an_approval_from_tomorrow_is_refused(begin: Callable[[], Run], clock: Clock) -> None:
    """With both times; a few seconds are no tomorrow."""
    run = begin()
    EVENTS["proof"](run)
    clock.wrong_ms = 20_000
    approves(run)
    clock.wrong_ms = 0
    assert answer(run) == ""
    clock.wrong_ms = DAY
    approves(run)
    clock.wrong_ms = 0
    said = answer(run)
    assert "the approval by approver is from 2026-09-22" in said
    assert "24 h after this worker's clock (2026-09-21" in said
    assert said.endswith("clear approve_plan and what follows it")


def test_an_approval_from_tomorrow_is_no_fresh_one_tomorrow(begin: Callable[[], Run], clock: Clock) -> None:
    """It was given a day before: the next entry of the journal says so, whatever its own time is."""
    run = begin()
    EVENTS["proof"](run)
    clock.wrong_ms = DAY
    approves(run)
    clock.wrong_ms = 0
    assert "24 h after this worker's clock" in answer(run)
    run.keep("note", "begun", {})
    clock.true_ms += DAY + MINUTE
    said = answer(run)
    assert "expired 961 min ago (it was given at 2026-09-22" in said
    assert f"journal entry {run.ledger.newest_entry(run.record)} (run {run.key}, bounce_2_first), which came" in said
    assert said.endswith("if a clock is wrong, set it right; clear approve_plan and what follows it")


def test_all_clocks_set_back_do_not_lengthen_an_approval(begin: Callable[[], Run], clock: Clock) -> None:
    """Within the tolerance it still counts from the first entry after it; by hours it is from the future."""
    run = begin()
    EVENTS["approve"](run)
    EVENTS["proof"](run)
    clock.true_ms, clock.wrong_ms = clock.true_ms + MINUTE, -2 * HOUR
    run.keep("note", "begun", {})
    assert "after this worker's clock" in answer(run)
    clock.true_ms += 8 * HOUR + MINUTE
    assert clock.now() < BEGIN + 8 * HOUR
    assert "expired 1 min ago (it was given at" in answer(run)


def test_an_approval_that_holds_longer_than_it_may_is_refused(begin: Callable[[], Run], clock: Clock) -> None:
    """Whoever wrote it into the ledger."""
    run, now = begin(), clock.now()
    EVENTS["proof"](run)
    run.ledger.approve(Approval(run.key, APPROVAL, run.plan().digest, "approver", now, now + 9 * HOUR))
    assert "longer than 8 h from now (limit approval_expiry_h)" in answer(run)


def test_what_was_seen_expired_stays_so(begin: Callable[[], Run], clock: Clock) -> None:
    """The clock is set back after a step has seen the approval expired: the entry of that step says the time."""
    run = begin()
    EVENTS["approve"](run)
    EVENTS["proof"](run)
    clock.true_ms += 9 * HOUR
    run.keep("note", "begun", {})
    assert "expired 60 min ago" in answer(run)
    clock.true_ms -= 5 * HOUR
    said = answer(run)
    assert "expired at" in said
    assert f"journal entry {run.ledger.newest_entry(run.record)} (run {run.key}, bounce_2_first) is from" in said
    approves(run)
    assert answer(run) == ""


def test_one_worker_with_a_wild_clock_is_named_and_asking_again_helps(begin: Callable[[], Run], clock: Clock) -> None:
    """It wrote one entry: what was approved before it has expired by that clock, what is approved now has not."""
    run = begin()
    EVENTS["approve"](run)
    EVENTS["proof"](run)
    clock.wrong_ms = 400 * DAY
    replace(run, task_id="observe").keep("note", "begun", {})
    clock.wrong_ms = 0
    assert ", observe) is from 2027-" in answer(run)
    approves(run)
    assert answer(run) == ""


def test_a_ceiling_is_not_moved_out_by_a_clock_that_goes_back(begin: Callable[[], Run], clock: Clock) -> None:
    """Another process goes on with the wait, its clock an hour behind: what the run has kept since says the time."""
    run = begin()
    assert not Until(run, "ceiling/x", 600).is_over()
    clock.true_ms += 11 * MINUTE
    run.keep("reading", "application", {})
    clock.wrong_ms = -HOUR
    assert Until(run, "ceiling/x", 600).is_over()
    again = Until(run, "ceiling/y", 600)
    assert not again.is_over()
    clock.wrong_ms = DAY
    run.keep("reading", "application", {})
    clock.wrong_ms = 0
    late = Until(run, "ceiling/y", 600)
    assert late.is_over()
    assert "ahead of this process's clock: set the clock that is wrong" in late.note


def test_clocks_that_went_back_stand_in_the_evidence(begin: Callable[[], Run], clock: Clock) -> None:
    """By how much, at which entry."""
    run = begin()
    clock.wrong_ms = -HOUR
    EVENTS["ask"](run)
    [step] = as_document(run.ledger, run.record)["chain"]["clock_went_back"]
    assert (step["back_ms"], step["kind"], step["task_id"]) == (HOUR, "note", APPROVAL)
