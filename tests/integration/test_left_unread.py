"""What a run finds left in topics, on a real broker: records, not the offsets of markers, aborted records and gaps."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.decide.drain.marks import nothing_left, read_up_to, up_to_marks
from kstreams_runbooks.decide.lag import standing_still
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.steps.plan.looking import in_records
from kstreams_runbooks.watch.drain.unread import UnreadRecords, count_once
from world import eos
from world.eos import Log
from world.given import Kafka
from world.samples import reading

NOTHING = "nothing is left in the topics that are no longer read"


def _deleted(log: Log, committed: int, until: int) -> None:
    log.write(5)
    log.commit(committed)
    _delete(log, until)


def _delete(log: Log, until: int) -> None:
    admin = AdminClient(log.config)
    for future in admin.delete_records([TopicPartition(log.topic, 0, until)]).values():
        future.result(30)


def deleted_unread(log: Log) -> None:
    """Three of five records were deleted before they were read, and no other is there."""
    _deleted(log, 2, 5)


def deleted_in_part(log: Log) -> None:
    """Two were deleted before they were read, one is left."""
    _deleted(log, 2, 4)


# What is said of each: the outcome, and how the sentence begins after the name of the partition.
EXPECTED: dict[eos.Scenario, tuple[Outcome, str]] = {
    eos.compacted: (Outcome.REFUSE, "3 records are left unread"),
    eos.killed_and_timed_out: (Outcome.PROCEED, NOTHING),
    eos.committed_tail: (Outcome.REFUSE, "3 records are left unread"),
    eos.aborted_tail: (Outcome.PROCEED, NOTHING),
    eos.marker_only: (Outcome.PROCEED, NOTHING),
    eos.between_aborted: (Outcome.REFUSE, "6 records are left unread"),
    eos.open_transaction: (Outcome.REFUSE, "2 records are left unread"),
    eos.behind_open_transaction: (Outcome.INCONCLUSIVE, "transactions are open in topics"),
    eos.read_to_the_end: (Outcome.PROCEED, NOTHING),
    eos.empty: (Outcome.PROCEED, NOTHING),
    eos.never_committed: (Outcome.REFUSE, "5 records are left unread"),
    deleted_unread: (Outcome.PROCEED, f"{NOTHING}; not all of it was read"),
    deleted_in_part: (Outcome.REFUSE, "1 records are left unread"),
}


@pytest.fixture(scope="module")
def made(kafka: Kafka) -> Iterator[dict[str, Log]]:
    """A topic for each scenario, by its name."""
    with eos.logs(kafka.bootstrap, list(EXPECTED)) as logs:
        yield {scenario.__name__: log for scenario, log in zip(EXPECTED, logs, strict=True)}


@pytest.fixture(scope="module")
def entry() -> Application:
    """An exactly-once application."""
    return load_fleet().application("orders")


def rows(log: Log) -> tuple[PartitionLag, ...]:
    """The partition of a log that its group no longer reads."""
    with ClusterReader(log.config) as reader:
        found = read_dropped(reader, log.group, [log.topic])
    assert not isinstance(found, Missing)
    return found


def read_rows(log: Log) -> tuple[PartitionLag, ...]:
    """The same while it is read."""
    return tuple(replace(one, role="repartition", state="ok") for one in rows(log))


def judged(entry: Application, log: Log, **counted: Any) -> Verdict:
    """What `verify` and `undo` say of it."""
    return nothing_left(count_once(entry, log.config, rows(log), **counted))


@pytest.mark.parametrize("scenario", EXPECTED, ids=lambda scenario: scenario.__name__)
def test_records_are_left_and_nothing_else(made: dict[str, Log], entry: Application, scenario: eos.Scenario) -> None:
    """A sentence has the topic and the number of records; an open transaction is not settled."""
    log, (outcome, begins) = made[scenario.__name__], EXPECTED[scenario]
    verdict = judged(entry, log)
    assert verdict.outcome is outcome, verdict.sentence
    assert verdict.sentence.partition(": ")[2].startswith(begins), verdict.sentence
    assert (f"{log.topic}-0" in verdict.sentence) is (verdict.sentence.partition(": ")[2] != NOTHING)


def test_aborted_records_are_records_where_they_are_processed(made: dict[str, Log], entry: Application) -> None:
    """An application that is not exactly-once gets them."""
    plain = entry.model_copy(update={"processing_guarantee": "at_least_once"})
    assert judged(plain, made["aborted_tail"]).sentence.startswith("refuse: 3 records are left unread")
    assert judged(plain, made["marker_only"]).outcome is Outcome.PROCEED


def test_more_than_one_count_reads_is_not_known(made: dict[str, Log], entry: Application) -> None:
    """Neither a part of it nor nothing."""
    verdict = judged(entry, made["between_aborted"], most=10)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "-0: 14 unread offsets are more than one count reads (limit 10)" in verdict.sentence


def test_what_cannot_be_read_any_more_is_not_known(kafka: Kafka, entry: Application) -> None:
    """Records that go between the offsets and the count: neither left nor read."""
    with eos.logs(kafka.bootstrap, [eos.never_committed]) as [log]:
        before = rows(log)
        _delete(log, 5)
        why = f"unread records are not counted: {log.topic}-0: an offset of the range is not there: deleted by"
        verdict = nothing_left(count_once(entry, log.config, before))
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert why in verdict.sentence
        unread = UnreadRecords(entry, log.config)
        going_on = tuple(replace(one, role="repartition") for one in before)
        assert unread.of(going_on) == going_on
        assert unread.why.startswith(why)


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        (eos.marker_only, "proceed: 1 partitions of orders read to their mark"),
        (eos.aborted_tail, "proceed: 1 partitions of orders read to their mark"),
        (eos.killed_and_timed_out, "proceed: 1 partitions of orders read to their mark"),
        (deleted_unread, "proceed: 1 partitions of orders read to their mark"),
        (eos.committed_tail, "wait: 1 partitions not read to their mark: {}-0 at 2 of 6"),
        (
            eos.behind_open_transaction,
            "wait: 1 partitions not read to their mark: {}-0 at 2 of 5, where a transaction is open at 2",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_mark_is_reached_where_no_record_is_before_it(
    made: dict[str, Log], entry: Application, scenario: eos.Scenario, sentence: str
) -> None:
    """Undo reads repartition topics to the end that they had."""
    log = made[scenario.__name__]
    found = read_rows(log)
    marks = tuple((one.name, one.log_end_offset or 0) for one in found)
    unread = UnreadRecords(entry, log.config)
    assert read_up_to(unread.of(up_to_marks(found, marks)), marks, "orders").sentence == sentence.format(log.topic)
    assert unread.why == ""


def test_records_behind_a_mark_do_not_count(kafka: Kafka, entry: Application) -> None:
    """Traffic goes on while an undo waits; an open transaction before the mark ends with it."""
    with eos.logs(kafka.bootstrap, [eos.marker_only, eos.behind_open_transaction]) as [read, opened]:
        for log in (read, opened):
            [before] = read_rows(log)
            marks = ((before.name, before.log_end_offset or 0),)
            if log is opened:
                log.producers[0].abort_transaction()
            log.write(2)
            rows_now = read_rows(log)
            assert rows_now[0].records
            counted = UnreadRecords(entry, log.config).of(up_to_marks(rows_now, marks))
            assert read_up_to(counted, marks, "orders").outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("scenario", "stuck"), [(eos.aborted_tail, False), (eos.marker_only, False), (eos.committed_tail, True)]
)
def test_an_offset_stands_still_where_records_are_left(
    made: dict[str, Log], entry: Application, scenario: eos.Scenario, *, stuck: bool
) -> None:
    """A restarted instance commits nothing on a partition that ends in markers: it has nothing to process there."""
    log = made[scenario.__name__]
    now = reading(partitions=read_rows(log))
    assert standing_still(read_rows(log), read_rows(log)) != ()
    counted = in_records(UnreadRecords(entry, log.config), now, now).partitions
    assert not isinstance(counted, Missing)
    assert bool(standing_still(counted, read_rows(log))) is stuck
