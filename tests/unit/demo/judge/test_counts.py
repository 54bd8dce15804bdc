"""The fifth output judged: each record of a customer counted once, and every lost or repeated one named.

Covers demo/judge/counts.
"""

import pytest
from kstreams_runbooks.demo.judge.figures import OutputVerdict
from kstreams_runbooks.demo.judge.judge import judge
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.records import Customer, CustomerUpdates
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import TopicRole
from world.faults import drop, duplicate, entry, of_key, swap
from world.reference_application import (
    Log,
    append,
    collect,
    empty_log,
    run_application,
    scheduled,
    seeded_merge,
    write_inputs,
)

WINDOW = JudgedWindow()
COUNTED = TopicRole.CUSTOMERS_COUNTED
KEY = "c-7"


@pytest.fixture
def log() -> Log:
    """2,000 events and 20 customers, each with its first record and about two updates; free to be spoilt."""
    made = empty_log(roles=TopicRole)
    schedule = Schedule(seed=7, rate=400, customers=20, start_ms=1_790_000_000_000)
    write_inputs(made, scheduled(schedule, 2_000))
    for seq in range(3):
        append(made, TopicRole.CUSTOMERS, Customer(KEY, "r-1", 1_790_000_100_000 + seq, 1_790_000_100_000))
    run_application(made, WINDOW, seeded_merge(1))
    return made


def judged(log: Log) -> OutputVerdict:
    """The verdict of the fifth output; the figures of the four others are zero."""
    *four, counted = judge(collect(log), WINDOW)
    assert counted.output is COUNTED
    assert {sum(figures(verdict)) for verdict in four} == {0}
    assert counted.seen == counted.expected - counted.missing + counted.extra + counted.duplicate
    return counted


def figures(verdict: OutputVerdict) -> tuple[int, int, int, int]:
    """Missing, extra, duplicate, out of order."""
    return verdict.missing, verdict.extra, verdict.duplicate, verdict.out_of_order


def updates(log: Log, key: str = KEY) -> list[CustomerUpdates]:
    """The counts of a key in their order."""
    values = [entry(log, COUNTED, place)[1] for place in of_key(log, COUNTED, key.encode())]
    return [CustomerUpdates.read(key, value) for value in values]


def recount(log: Log, seqs: list[int], key: str = KEY) -> None:
    """Write the counts of a key as a release does that gets these updates, after the ones there."""
    before = len(updates(log, key))
    for count, seq in enumerate(seqs, start=before + 1):
        append(log, COUNTED, CustomerUpdates(key, count, seq))


def cut(log: Log, kept: int, key: str = KEY) -> list[int]:
    """Take out the counts of a key above `kept`; return the seq of each."""
    gone = [one.seq for one in updates(log, key)[kept:]]
    for place in reversed(of_key(log, COUNTED, key.encode())[kept:]):
        drop(log, COUNTED, place)
    return gone


def test_counts_without_a_fault_are_ok(log: Log) -> None:
    """As many results as records of customers."""
    verdict = judged(log)
    assert (verdict.verdict, figures(verdict)) == ("ok", (0, 0, 0, 0))
    assert verdict.expected == verdict.inputs_seen == verdict.seen == 20 + 50 + 3


def test_an_application_without_that_output_is_judged_by_the_four_others(log: Log) -> None:
    """No topic, no verdict."""
    del log[COUNTED]
    assert [verdict.output for verdict in judge(collect(log), WINDOW)] == [
        TopicRole.RUNNING,
        TopicRole.WINDOWED,
        TopicRole.ENRICHED,
        TopicRole.PER_CUSTOMER,
    ]


def test_a_count_that_lost_records_names_each_of_them(log: Log) -> None:
    """A release that never got two updates counts on without a gap: only the input shows the loss."""
    first, second, *later = cut(log, 2)
    recount(log, later)
    verdict = judged(log)
    assert figures(verdict) == (2, 0, 0, 0)
    assert {(one.key, one.detail.partition(" of ")[0]) for one in verdict.offences} == {
        (KEY, f"event {KEY}#{first}"),
        (KEY, f"event {KEY}#{second}"),
    }
    assert "amount" not in verdict.offences[0].detail


def test_a_count_that_doubled_is_duplicate_record_by_record(log: Log) -> None:
    """Everything of a key that is read again is counted again."""
    again = [one.seq for one in updates(log)]
    recount(log, again)
    verdict = judged(log)
    assert figures(verdict) == (0, 0, len(again), 0)
    assert {one.key for one in verdict.offences} == {KEY}


def test_a_count_that_began_anew_is_missing_and_extra(log: Log) -> None:
    """State that was lost: the later records are counted, but not behind the earlier ones."""
    later = cut(log, 2)
    for count, seq in enumerate(later, start=1):
        append(log, COUNTED, CustomerUpdates(KEY, count, seq))
    verdict = judged(log)
    assert verdict.verdict == "wrong"
    assert verdict.missing == verdict.extra == 2
    assert any(one.detail == "count 1 does not follow" for one in verdict.offences)


def test_one_record_of_each_fault(log: Log) -> None:
    """Lost in the output, written twice, and two that changed places."""
    own = of_key(log, COUNTED, KEY.encode())
    swap(log, COUNTED, own[0][0], own[0][1], own[1][1])
    assert figures(judged(log)) == (0, 0, 0, 2)
    swap(log, COUNTED, own[0][0], own[0][1], own[1][1])
    duplicate(log, COUNTED, own[1])
    assert figures(judged(log)) == (0, 0, 1, 0)
    drop(log, COUNTED, own[3])
    assert figures(judged(log)) == (1, 0, 1, 0)


def test_a_customer_in_another_partition_leaves_the_count_in_doubt(log: Log) -> None:
    """A count by its key stays where the record is; whether that was meant cannot be judged."""
    key, value = log[TopicRole.CUSTOMERS][0].pop()
    log[TopicRole.CUSTOMERS][1].append((key, value))
    *_, counted = judge(collect(log), WINDOW)
    assert counted.verdict == "inconclusive"
    assert any("partitioner=murmur2_random" in reason for reason in counted.reasons)
