"""Holds on a real SQLite file, with real processes."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.ledger import Ledger
from sqlalchemy import event
from sqlalchemy.orm import Session

Start = Callable[..., str]
ORDERS = ("application:demo:orders",)
PAYMENTS = ("application:demo:payments",)


def take(ledger: Ledger, key: str, resources: tuple[str, ...] = ORDERS, **other: object) -> None:
    """Take a hold with the usual arguments."""
    arguments: dict[str, object] = {"cluster": "demo", "limit": 1, "at_ms": 2_000, "is_finished": lambda _: False}
    ledger.take_hold(key, resources, **{**arguments, **other})  # type: ignore[arg-type]  # overrides of any kind


def test_a_hold_of_another_run_is_refused_by_name(ledger: Ledger, start: Start) -> None:
    """The sentence says what is held, by which run, since when, and what to do."""
    one, two = start("one"), start("two")
    take(ledger, one, at_ms=1_700_000_000_000)
    with pytest.raises(
        Refused, match=r"application orders is held by run library_bump/one since 2023-11-14 22:13:20 UTC; wait until"
    ):
        take(ledger, two, limit=5)
    ledger.release_holds(one)
    take(ledger, two)
    assert [hold.run_key for hold in ledger.holds()] == [two]


def test_taking_again_renews(ledger: Ledger, start: Start) -> None:
    """Every mutating step takes the hold again: it stays the run's, since the first time."""
    key = start("one")
    take(ledger, key, at_ms=1)
    take(ledger, key, at_ms=5)
    (hold,) = ledger.holds()
    assert (hold.taken_at_ms, hold.renewed_at_ms) == (1, 5)


def test_all_or_nothing(ledger: Ledger, start: Start) -> None:
    """One resource that is held is enough to get none of them."""
    one, two = start("one"), start("two")
    take(ledger, one, PAYMENTS)
    with pytest.raises(Refused, match="application payments"):
        take(ledger, two, ORDERS + PAYMENTS, limit=5)
    assert [hold.resource for hold in ledger.holds()] == list(PAYMENTS)


def test_a_cluster_has_a_limit_of_runs(ledger: Ledger, start: Start) -> None:
    """Counted are runs, not resources, and only those of the same cluster."""
    one, two = start("one"), start("two")
    take(ledger, one, (*ORDERS, "topic:demo:orders"))
    with pytest.raises(Refused, match=r"cluster demo: 1 runs change something already \(limit max_concurrent_runs 1\)"):
        take(ledger, two, PAYMENTS)
    take(ledger, two, PAYMENTS, limit=2)
    take(ledger, start("three"), ("application:other:orders",), cluster="other")


def test_a_run_that_waits_does_not_count(ledger: Ledger, start: Start) -> None:
    """For a person, or for a day; it keeps what it holds, and counts again from its next write on."""
    one, two = start("one"), start("two")
    take(ledger, one)
    ledger.hold_waits(one, 2_100)
    ledger.hold_waits(one, 2_200)
    assert [(hold.run_key, hold.changing) for hold in ledger.holds()] == [(one, False)]
    take(ledger, two, PAYMENTS)
    with pytest.raises(
        Refused, match=r"1 runs change something already .*: library_bump/two since .* waits for an ans"
    ):
        take(ledger, one)
    with pytest.raises(Refused, match="application orders is held by run library_bump/one"):
        take(ledger, two, ORDERS, changes=False)
    ledger.release_holds(two)
    take(ledger, one)
    assert [hold.changing for hold in ledger.holds()] == [True]
    said = [entry.name for entry in ledger.timeline(one) if entry.kind == "hold"]
    assert said == ["taken", "waiting", "renewed"]


def test_a_run_that_only_reserves_neither_counts_nor_is_counted(ledger: Ledger, start: Start) -> None:
    """A plan may be made and approved while another run changes something; what is held is refused all the same."""
    one, two = start("one"), start("two")
    take(ledger, one)
    take(ledger, two, PAYMENTS, changes=False)
    take(ledger, start("three"), ("topic:demo:orders",), changes=False)
    with pytest.raises(Refused, match="application orders is held"):
        take(ledger, two, ORDERS + PAYMENTS, changes=False)
    with pytest.raises(Refused, match="1 runs change something already"):
        take(ledger, two, PAYMENTS)
    ledger.release_holds(one)
    take(ledger, two, PAYMENTS)
    ledger.hold_waits(one, 3_000)
    assert {hold.run_key: hold.changing for hold in ledger.holds()} == {two: True, "library_bump/three": False}


def test_every_kind_is_held_and_named(ledger: Ledger, start: Start) -> None:
    """Applications, topics and routes; a refusal lists what each run in the way has of them."""
    one, two, three = start("one"), start("two"), start("three")
    take(ledger, one, (*ORDERS, "topic:demo:orders-in"), at_ms=1_700_000_000_000, changes=False)
    take(ledger, two, ("route:demo:to:orders",), at_ms=1_700_000_060_000, changes=False)
    assert [hold.held.words for hold in ledger.holds()] == [
        "application orders",
        "route to:orders",
        "topic orders-in",
    ]
    with pytest.raises(Refused) as refused:
        take(ledger, three, ("route:demo:to:orders", "topic:demo:orders-in", *ORDERS), limit=5)
    assert str(refused.value) == (
        "application orders, topic orders-in are held by run library_bump/one since 2023-11-14 22:13:20 UTC; "
        "route to:orders is held by run library_bump/two since 2023-11-14 22:14:20 UTC; "
        "wait until it has ended, or end it in Airflow (a run that has ended holds nothing)"
    )
    assert {hold.run_key for hold in ledger.holds()} == {one, two}


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ("instance:demo:orders-1", "a hold of instance:demo:orders-1 is not possible"),
        ("topic:demo:", "a hold of topic:demo: is not possible"),
        ("topic:other:orders", r"a hold of topic orders is in cluster other \(expected demo\)"),
        ("", "a hold of :: is not possible"),
    ],
)
def test_what_cannot_be_held_is_refused_before_anything(ledger: Ledger, start: Start, resource: str, said: str) -> None:
    """One sentence, nothing held."""
    with pytest.raises(BadInput, match=said):
        take(ledger, start("one"), (*ORDERS, resource))
    with pytest.raises(BadInput, match="names no resource"):
        take(ledger, start("two"), ())
    assert ledger.holds() == ()


def test_how_long_a_run_has_held(ledger: Ledger, start: Start) -> None:
    """From the first resource on, without a break: a renewal and another resource change nothing."""
    key = start("one")
    assert ledger.held_since_ms(key) is None
    take(ledger, key, at_ms=5, changes=False)
    take(ledger, key, (*ORDERS, "topic:demo:orders"), at_ms=9)
    assert ledger.held_since_ms(key) == 5
    ledger.release_holds(key)
    assert ledger.held_since_ms(key) is None
    take(ledger, key, at_ms=11)
    assert ledger.held_since_ms(key) == 11


def test_the_hold_of_a_finished_run_is_free(ledger: Ledger, start: Start) -> None:
    """All of what it held goes, and Airflow is asked about that run only."""
    one, two = start("one"), start("two")
    take(ledger, one, (*ORDERS, "topic:demo:orders"))
    asked: list[str] = []

    def is_finished(key: str) -> bool:
        asked.append(key)
        return True

    take(ledger, two, is_finished=is_finished)
    assert asked == [one]
    assert [(hold.resource, hold.run_key) for hold in ledger.holds()] == [(ORDERS[0], two)]


def test_a_hold_renewed_after_the_question_is_not_free(ledger: Ledger, start: Start) -> None:
    """A run that is cleared between Airflow's answer and the write keeps its hold."""
    one, two = start("one"), start("two")
    take(ledger, one)
    answers = iter([True, False])

    def is_finished(key: str) -> bool:
        take(ledger, key, at_ms=3_000)
        return next(answers)

    with pytest.raises(Refused, match="held by run library_bump/one"):
        take(ledger, two, is_finished=is_finished)


def test_the_hold_of_a_concluded_run_is_free_until_it_comes_back(ledger: Ledger, start: Start) -> None:
    """Without asking Airflow; but a concluded run that was cleared and renewed its hold is at work again."""
    one, two = start("one"), start("two")
    take(ledger, one, at_ms=2_000)
    ledger.conclude(one, "stopped, changed", "x", 3_000)
    take(ledger, one, at_ms=4_000)
    with pytest.raises(Refused, match="held by run"):
        take(ledger, two)
    ledger.conclude(one, "completed", "x", 5_000)
    take(ledger, two)
    assert [hold.run_key for hold in ledger.holds()] == [two]


def _process(
    url: str, key: str, barrier: "multiprocessing.synchronize.Barrier", won: "multiprocessing.Queue[str]"
) -> None:
    ledger = Ledger.open(url)
    barrier.wait()
    try:
        take(ledger, key, (*ORDERS, "topic:demo:orders"))
    except Refused:
        return
    won.put(key)


def test_one_of_fifty_processes_and_threads_wins(url: str, ledger: Ledger, start: Start) -> None:
    """10 processes and 40 threads ask at once: one gets everything, 49 are refused, nobody fails otherwise."""
    keys = [start(f"run-{number}") for number in range(50)]
    context = multiprocessing.get_context("fork")
    barrier, won = context.Barrier(11), context.Queue()
    processes = [context.Process(target=_process, args=(url, key, barrier, won)) for key in keys[:10]]
    for process in processes:
        process.start()

    def ask(key: str) -> str | None:
        try:
            take(ledger, key, (*ORDERS, "topic:demo:orders"))
        except Refused:
            return None
        return key

    with ThreadPoolExecutor(40) as pool:
        barrier.wait()
        winners = [key for key in pool.map(ask, keys[10:]) if key]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    while not won.empty():
        winners.append(won.get())
    assert len(winners) == 1
    assert [hold.run_key for hold in ledger.holds()] == winners * 2


def _dies_before_commit(url: str, key: str) -> None:
    def die(session: Session) -> None:
        session.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Session, "before_commit", die)
    take(Ledger(url), key, (*ORDERS, "topic:demo:orders"))


def test_a_process_killed_in_the_middle_leaves_no_half_hold(url: str, ledger: Ledger, start: Start) -> None:
    """SIGKILL between the rows and the commit: nothing is held, and the next one is not kept waiting."""
    one, two = start("one"), start("two")
    process = multiprocessing.get_context("fork").Process(target=_dies_before_commit, args=(url, one))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert ledger.holds() == ()
    take(ledger, two)
    assert [hold.run_key for hold in ledger.holds()] == [two]
