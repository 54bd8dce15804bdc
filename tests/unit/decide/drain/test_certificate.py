"""When an application is proven to have nothing left to process, and what is never taken for a proof.

Covers decide/drain/findings
"""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.certificate import drained, still_drained
from kstreams_runbooks.model.readings.drain import (
    DrainQuestion,
    DrainReading,
    HeldBack,
    OpenTransaction,
    Pause,
    RunningInstance,
)
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome

ENDS = {"orders-0": 10, "app-by-customer-repartition-0": 7}
INPUT = PartitionLag(
    "orders", 0, "source", "ok", topic_id="a", committed=10, log_end_offset=10, last_stable_offset=10, records=0
)
INNER = PartitionLag("app-by-customer-repartition", 0, "repartition", "ok", committed=7, records=0)
ONE = RunningInstance("one", state="RUNNING", failed_threads=0, tasks=frozenset({"0_0", "1_0"}))
PAUSED = Pause("declared", "ada", "the copier is stopped")
QUESTION = DrainQuestion(readings=3, pause=PAUSED)

OPEN = OpenTransaction("orders-0", "tx", 7, age_ms=26_000, timeout_ms=10_000, start_offset=8, seen_ms=15_000)
# Of one that no coordinator names: the longest that a broker allows any.
UNNAMED = replace(OPEN, transactional_id=None, age_ms=None, timeout_ms=900_000)


def reading(at_s: int, **changes: object) -> DrainReading:
    quiet = DrainReading(
        Taken(at_s * 1000, "kafka"),
        (INPUT, INNER),
        ENDS,
        ENDS,
        {"counts-0": 5},
        group_state="Stable",
        instances=(ONE,),
        all_tasks=frozenset({"0_0", "1_0"}),
    )
    return replace(quiet, **changes)  # type: ignore[arg-type]


QUIET = (reading(0), reading(5), reading(10))


def test_quiet_for_as_many_readings_as_asked_is_drained() -> None:
    """With the pause as evidence."""
    verdict = drained(QUIET, QUESTION)
    assert verdict.outcome is Outcome.PROCEED
    assert "nothing left to read on 2 partitions, in 3 readings in a row over 10 s" in verdict.reasons[0]
    assert verdict.reasons[1] == "inputs paused: declared, ada: the copier is stopped"


def test_without_a_pause_zero_proves_nothing() -> None:
    """A second later it may be something else."""
    verdict = drained(QUIET, replace(QUESTION, pause=None))
    assert (verdict.outcome, [one.id for one in verdict.findings]) == (Outcome.INCONCLUSIVE, ["inputs-not-paused"])
    assert "with a reason in inputs_paused" in verdict.reasons[0]


def test_one_reading_less_is_not_enough() -> None:
    """Nor is none."""
    assert drained(QUIET[1:], QUESTION).reasons == ("reading 2 of 3 in a row with nothing left",)
    assert drained((), QUESTION).outcome is Outcome.WAIT


def test_a_single_record_on_any_internal_topic_is_not_yet() -> None:
    """Also where the inputs have been at zero all the time: it goes round in a foreign-key join."""
    one = reading(10, partitions=(INPUT, replace(INNER, records=1)))
    verdict = drained((*QUIET[:2], one), QUESTION)
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons[0] == (
        "at most 1 records left to read on repartition topics (limit 0): app-by-customer-repartition-0 (1)"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"ends_after": {**ENDS, "orders-0": 11}},
        {"sinks": {"counts-0": 4}},
        {"partitions": (replace(INPUT, committed=9), INNER)},
        {"ends_before": {**ENDS, "orders-0": 9}, "ends_after": {**ENDS, "orders-0": 9}},
    ],
)
def test_whatever_moved_between_readings_begins_the_count_anew(changes: dict[str, object]) -> None:
    """Ends within a reading, ends from one to the next, what is committed, and what is written for others."""
    assert drained((reading(0), reading(5, **changes), reading(10)), QUESTION).outcome is Outcome.WAIT


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"problems": ("broker 2 does not answer",)}, "broker 2 does not answer"),
        (
            {"partitions": (replace(INPUT, records=None, state="never_committed", why="never committed"), INNER)},
            "orders-0: never committed (expected the number of readable records)",
        ),
        ({"partitions": (replace(INPUT, state="missing", why="no such topic"), INNER)}, "orders-0: no such topic"),
        ({"instances": (replace(ONE, why="is of another start"),)}, "one: is of another start"),
        ({"instances": (replace(ONE, state=None),)}, "its state, failed threads or tasks are not known"),
        ({"all_tasks": None}, "the tasks that the application should have are not known"),
    ],
)
def test_what_is_not_known_is_never_zero(changes: dict[str, object], sentence: str) -> None:
    """Inconclusive, with what is missing; an earlier reading that lacked something does not count."""
    verdict = drained((*QUIET, reading(15, **changes)), QUESTION)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert sentence in verdict.reasons[0]
    assert drained((reading(0, **changes), *QUIET[1:]), QUESTION).outcome is Outcome.WAIT


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"instances": (replace(ONE, state="ERROR"),)},
            "one: ERROR with 0 failed threads (expected RUNNING",
        ),
        ({"instances": (replace(ONE, failed_threads=1),)}, "one: RUNNING with 1 failed threads"),
        ({"instances": (replace(ONE, tasks=frozenset({"0_0"})),)}, "1 tasks are assigned, of 2: 1_0 differ"),
        (
            {"open_transactions": (OpenTransaction("orders-0", "tx", 7, 9_000, 10_000),)},
            "orders-0: a transaction of tx (producer id 7), open for 9 s (its timeout 10 s); records behind it",
        ),
        (
            {"open_transactions": (replace(UNNAMED, seen_ms=20_000, why="no coordinator tells of it"),)},
            "a transaction of an unnamed producer (producer id 7), seen for 20 s (no broker allows more than 900 s, "
            "transaction.max.timeout.ms); records behind it cannot be read (no coordinator tells of it)",
        ),
        (
            {"open_transactions": (OpenTransaction("orders-0", None, None, None, None),)},
            "orders-0: a transaction of a producer that is not known; records behind it cannot be read",
        ),
        ({"group_state": "PreparingRebalance"}, "the group is PreparingRebalance (expected Stable or Empty)"),
    ],
)
def test_an_application_that_does_not_work_only_looks_idle(changes: dict[str, object], sentence: str) -> None:
    """An instance in ERROR reads nothing and writes nothing, and an open transaction hides what comes."""
    verdict = drained((*QUIET[:2], reading(10, **changes)), QUESTION)
    assert verdict.outcome is Outcome.WAIT
    assert sentence in verdict.reasons[0]


def test_what_streams_purges_of_its_repartition_topics_is_not_lost() -> None:
    """It deletes what it has committed; a commit and a purge between two requests look as if it had not."""
    working = replace(INNER, committed=1_000, log_start_offset=900, last_stable_offset=1_020, records=20)
    purged = replace(INNER, committed=2_000, log_start_offset=2_500, last_stable_offset=2_600, records=100)
    verdict = drained(tuple(reading(at, partitions=(INPUT, one)) for at, one in ((0, working), (5, purged))), QUESTION)
    assert (verdict.outcome, verdict.findings) == (Outcome.WAIT, ())
    deleted = tuple(reading(at, partitions=(replace(one, role="source"),)) for at, one in ((0, working), (5, purged)))
    assert [one.id for one in drained(deleted, QUESTION).findings] == ["deleted-unread"]


@pytest.mark.parametrize(
    ("changes", "finding", "sentence"),
    [
        (
            {"instances": (), "partitions": (INPUT, INNER, replace(INNER, topic="old", role="orphaned", records=4))},
            "leftovers-unread",
            "old-0 (4): have records that the release which is set does not read, and nothing runs that could",
        ),
        (
            {"partitions": (replace(INPUT, log_start_offset=12, committed=10, records=0), INNER)},
            "deleted-unread",
            "orders-0: had unread records that were deleted while it was watched",
        ),
        (
            {"partitions": (replace(INPUT, topic_id="b"), INNER)},
            "topic-recreated",
            "orders: was deleted and created again while it was watched",
        ),
    ],
)
def test_what_no_waiting_mends_is_a_finding(changes: dict[str, object], finding: str, sentence: str) -> None:
    """A person is needed: it is said at once, with what to do."""
    unread = reading(5, partitions=(replace(INPUT, log_start_offset=3, records=2), INNER))
    verdict = drained((QUIET[0], unread, reading(10, **changes)), QUESTION)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert [one.id for one in verdict.findings] == [finding]
    assert sentence in verdict.reasons[0]


@pytest.mark.parametrize(
    ("transaction", "sentence"),
    [
        (OPEN, "tx (producer id 7) is open for 26 s (its timeout 10 s, and 15 s more to notice); make sure"),
        (
            replace(UNNAMED, seen_ms=915_001),
            "an unnamed producer (producer id 7) is seen for 915 s (no broker allows more than 900 s, "
            "transaction.max.timeout.ms, and 15 s more to notice); make sure",
        ),
        # Its coordinator says that it has ended, and the partition that it has not.
        (replace(OPEN, age_ms=None, seen_ms=25_001), "tx (producer id 7) is seen for 25 s (its timeout 10 s"),
    ],
)
def test_a_transaction_that_outlives_its_timeout_hangs(transaction: OpenTransaction, sentence: str) -> None:
    """By its coordinator's word, or seen for all of that time; with the command that ends it."""
    verdict = drained((reading(0, open_transactions=(transaction,)),), QUESTION)
    assert (verdict.outcome, [one.id for one in verdict.findings]) == (Outcome.INCONCLUSIVE, ["transaction-hangs"])
    assert sentence in verdict.reasons[0]
    assert verdict.reasons[0].endswith("abort --topic orders --partition 0 --start-offset 8")


@pytest.mark.parametrize(
    "transaction",
    [
        # Within its time, for as long as it may.
        replace(OPEN, age_ms=25_000, seen_ms=25_000),
        # Just seen: its clock, or ours, may be wrong.
        replace(OPEN, age_ms=9_000_000, seen_ms=14_999),
        # Nobody names it, and it may be somebody's whom this user may not see.
        replace(UNNAMED, seen_ms=915_000),
        # Nobody tells for how long it may be open.
        replace(UNNAMED, timeout_ms=None, seen_ms=9_000_000),
    ],
)
def test_a_transaction_is_waited_for_while_it_may_end_by_itself(transaction: OpenTransaction) -> None:
    """To abort one that lives would lose somebody's records."""
    assert drained((reading(0, open_transactions=(transaction,)),), QUESTION).outcome is Outcome.WAIT


def test_a_client_that_has_ended_is_lost_once_it_stays_so() -> None:
    """One that is being restarted is gone for a moment too."""
    gone = tuple(reading(at, instances=(replace(ONE, state=None, why="no client", gone=True),)) for at in (0, 5, 10))
    assert drained(gone[1:], QUESTION).findings == ()
    verdict = drained(gone, QUESTION)
    assert [one.id for one in verdict.findings] == ["instance-lost"]
    assert "one: its process lives and its Streams client has ended (no client)" in verdict.reasons[0]


def test_a_topic_is_compared_with_the_first_reading_of_the_wait() -> None:
    """Which may be hours and a triggerer ago; and a certificate is void where one was created again."""
    verdict = drained(QUIET, replace(QUESTION, topic_ids={"orders": "before"}))
    assert [one.id for one in verdict.findings] == ["topic-recreated"]
    again = still_drained(QUIET[2], reading(20, partitions=(replace(INPUT, topic_id="b"), INNER)))
    assert (again.outcome, again.reasons) == (Outcome.REFUSE, ("the certificate is void, created again: orders",))


def test_an_output_that_is_created_again_is_no_end_that_has_not_moved() -> None:
    """It may have as many records as the one before it, or none as before: nobody can say what was written to it."""
    was, again = {"other_ids": {"counts": "a"}}, {"other_ids": {"counts": "b"}}
    verdict = drained((reading(0, **was), reading(5, **was), reading(10, **again)), QUESTION)
    assert [(one.id, one.object) for one in verdict.findings] == [("topic-recreated", "counts")]
    void = still_drained(reading(10, **was), reading(20, **again))
    assert (void.outcome, void.reasons) == (Outcome.REFUSE, ("the certificate is void, created again: counts",))


def test_what_is_left_is_told_also_where_nobody_paused() -> None:
    """It is certain that it is not drained; only of zero the pause has to say that it stays."""
    left = reading(10, partitions=(replace(INPUT, records=5), INNER))
    verdict = drained((left,), replace(QUESTION, pause=None))
    assert verdict.outcome is Outcome.WAIT
    assert "5 records left to read on source topics" in verdict.reasons[0]


def test_what_keeps_moving_is_named() -> None:
    """Somebody writes all the same, or commits in a circle."""
    ends = {**ENDS, "orders-0": 11}
    verdict = drained((*QUIET[:2], reading(10, ends_before=ends, ends_after=ends)), QUESTION)
    assert verdict.reasons == (
        "reading 1 of 3 in a row with nothing left",
        "moved since the reading before: orders-0",
    )


def test_many_partitions_have_one_reason() -> None:
    """Three hundred sentences are none."""
    lost = replace(INPUT, records=None, state="unknown", why="no leader")
    many = tuple(replace(lost, partition=number) for number in range(9))
    assert drained((reading(0, partitions=many),), QUESTION).reasons == (
        "orders-0, orders-1, orders-2 and 6 more: no leader (expected the number of readable records)",
    )


def test_a_partition_that_is_added_begins_the_count_anew() -> None:
    """Empty and never committed, it is still another world."""
    added = replace(INPUT, partition=1, state="never_committed", committed=None)
    grown = {"partitions": (INPUT, added, INNER), "ends_before": ENDS | {"orders-1": 0}, "ends_after": ENDS}
    grown["ends_after"] = grown["ends_before"]
    verdict = drained((*QUIET[:2], reading(10, **grown)), QUESTION)
    assert verdict.reasons == (
        "reading 1 of 3 in a row with nothing left",
        "moved since the reading before: orders-1",
    )


def test_an_application_that_is_stopped_has_no_tasks_to_ask_for() -> None:
    """Its committed offsets are the whole truth."""
    stopped = tuple(reading(at, instances=(), all_tasks=None) for at in (0, 5, 10))
    assert drained(stopped, QUESTION).outcome is Outcome.PROCEED


def test_how_long_the_rest_takes_follows_from_the_readings() -> None:
    """Half is gone after ten seconds."""
    left = (
        reading(0, partitions=(replace(INPUT, records=200), INNER)),
        reading(10, partitions=(replace(INPUT, records=100), INNER)),
    )
    assert drained(left, QUESTION).reasons[-1] == "about 10 s more at this pace"
    assert not any("pace" in reason for reason in drained(left[::-1], QUESTION).reasons)


def test_what_only_stream_time_lets_go_is_told_apart() -> None:
    """It stands in no topic that is read, so it is drained, and said."""
    held = (HeldBack("suppress final-only", 90_000, 60_000), HeldBack("window of counts", None, None))
    question = replace(QUESTION, punctuators=("every-minute",))
    orphan = PartitionLag("app-old-repartition", 0, "orphaned", "orphaned", committed=3, records=4)
    verdict = drained(
        tuple(replace(one, partitions=(*one.partitions, orphan), held_back=held) for one in QUIET), question
    )
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.reasons[2:] == (
        "on topics that nothing reads any more, and in no total: app-old-repartition-0 (4)",
        "held back by suppress final-only until stream time moves: 30 s of stream time to go",
        "held back by window of counts until stream time moves: not known for how long",
        "may still write by the clock: every-minute",
    )


def test_a_certificate_is_void_once_an_offset_has_moved() -> None:
    """Looked at again right before what relies on it."""
    assert still_drained(QUIET[2], reading(20)).outcome is Outcome.PROCEED
    moved = still_drained(QUIET[2], reading(20, sinks={"counts-0": 6}))
    assert (moved.outcome, moved.reasons) == (
        Outcome.REFUSE,
        ("the certificate is void, offsets have moved: counts-0",),
    )
    assert still_drained(QUIET[2], reading(20, problems=("no answer",))).outcome is Outcome.INCONCLUSIVE


def test_nothing_that_is_read_is_no_proof() -> None:
    """Zero partitions are not zero records."""
    nothing = tuple(reading(at, partitions=()) for at in (0, 5, 10))
    verdict = drained(nothing, QUESTION)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons == ("no partition is known that the application reads (expected at least one)",)


def test_records_that_nobody_read_before_they_were_deleted_are_told() -> None:
    """Nothing is left, and something is lost."""
    lost = replace(INPUT, why="5 offsets were deleted before they were read, by retention or manually")
    verdict = drained(tuple(reading(at, partitions=(lost, INNER)) for at in (0, 5, 10)), QUESTION)
    assert verdict.outcome is Outcome.PROCEED
    assert "not all of it was read: orders-0 (5 offsets were deleted before they were read" in verdict.reasons[2]
