"""Values that the version before leaves in a store or a repartition topic under the same name, and who reads them."""

import pytest
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import LONGS, Begin, long
from world.plans import told

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])]

KEYS = [f"{number // 10:02}{number:03}" for number in range(40)]
AMOUNT = 10
# What a sum is after eight digits, 10000000, have been read as one number of eight bytes, and 1 is added.
MISREAD = int.from_bytes(b"10000000") + 1
UNKNOWN_LAYOUT = "Encountered unknown byte value"


def each(value: int, times: int = 1) -> list[tuple[str, bytes]]:
    """This value for every key, so many times."""
    return [(key, long(value)) for key in KEYS * times]


@pytest.mark.parametrize("pair", ["count-becomes-reduce", "count-becomes-sum"])
def test_a_sum_goes_on_from_a_count(begin: Begin, release: str, pair: str) -> None:
    """After three amounts of 10 and a fourth, each key has 3 + 10: 40 is right. Nothing fails, nothing restores."""
    trial = begin(pair, {"amounts": 2, "totals-out": 1}, release, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": each(AMOUNT, 3)})
    assert plan["runbooks"] == ["reset_and_cleanup"]
    assert told(plan, "totals") == {"aggregate-changed"}
    assert trial.run_after({"amounts": each(AMOUNT)}) == {}
    assert trial.longs("totals-out") == dict.fromkeys(KEYS, 3 + AMOUNT)


def test_a_sum_of_rows_goes_on_from_their_count(begin: Begin, release: str) -> None:
    """Ten rows of each branch change from 10 to 15, and the sum is 10 + 10 * 5: 150 is right."""
    trial = begin("table-count-becomes-reduce", {"balances": 2, "totals-out": 1}, release, default_value_serde=LONGS)
    plan = trial.run_before({"balances": each(AMOUNT)})
    assert plan["runbooks"] == ["reset_and_cleanup"]
    assert told(plan, "totals") == {"aggregate-changed"}
    assert trial.run_after({"balances": each(AMOUNT + 5)}) == {}
    assert trial.longs("totals-out") == dict.fromkeys(["00", "01", "02", "03"], 10 + 10 * 5)


def test_a_count_written_as_an_aggregate_goes_on_right(begin: Begin, release: str) -> None:
    """The plan asks for a rolling bounce alone."""
    topics = {"amounts": 2, "totals-out": 1}
    trial = begin("count-written-as-aggregate", topics, release, default_value_serde=LONGS)
    assert trial.run_before({"amounts": each(AMOUNT, 3)})["runbooks"] == ["rolling_bounce"]
    assert trial.run_after({"amounts": each(AMOUNT)}) == {}
    assert trial.longs("totals-out") == dict.fromkeys(KEYS, 4)


def test_a_count_of_rows_goes_on_from_a_count_of_events(begin: Begin, release: str) -> None:
    """Two branches get ten rows each and have 20 events in the store: 30, and 10 is right."""
    topics = {"amounts": 2, "balances": 2, "totals-out": 1}
    trial = begin("stream-count-becomes-table-count", topics, release, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": each(AMOUNT, 2)})
    assert plan["runbooks"] == ["reset_and_cleanup"]
    assert told(plan, "totals") == {"stream-and-table-exchanged"}
    assert told(plan, "by-branch-repartition") == {"repartition-format-changed"}
    assert trial.run_after({"balances": each(AMOUNT)[:20]}) == {}
    assert trial.longs("totals-out") == {"00": 30, "01": 30, "02": 20, "03": 20}


@pytest.mark.parametrize("left", [5, 10])
def test_a_number_that_is_left_before_a_count_of_rows_kills_it(begin: Begin, release: str, left: int) -> None:
    """As the old version wrote it. The last byte decides what 4.3.1 takes it for: 5 is a layout that it knows."""
    topics = {"amounts": 2, "balances": 2, "totals-out": 1}
    trial = begin("stream-count-becomes-table-count", topics, release, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": each(AMOUNT)})
    assert told(plan, "by-branch-repartition") == {"repartition-format-changed"}
    trial.send(f"{trial.application_id}-by-branch-repartition", [("00", long(left))])
    why = (
        UNKNOWN_LAYOUT if (release, left) == (TO_RELEASE, 10) else "Size of data received by LongDeserializer is not 8"
    )
    assert why in trial.run_into_failure()


@pytest.mark.parametrize("text", ["a", "left behind"])
def test_a_text_that_is_left_before_a_count_of_rows(begin: Begin, release: str, text: str) -> None:
    """4.3.1 dies of it. 3.4.1 takes it for a row without a word: 5 notes, the one that is left, and 1 row make 7."""
    topics = {"notes": 1, "rows": 1, "totals-out": 1}
    trial = begin("text-count-becomes-row-count", topics, release)
    plan = trial.run_before({"notes": [(str(note), text.encode()) for note in range(5)]})
    assert told(plan, "by-text-repartition") == {"repartition-format-changed"}
    trial.send(f"{trial.application_id}-by-text-repartition", [(text, text.encode())])
    if release == TO_RELEASE:
        assert UNKNOWN_LAYOUT in trial.run_into_failure()
        return
    assert trial.run_after({"rows": [("row", text.encode())]}) == {}
    assert trial.longs("totals-out") == {text: 7}


@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
def test_a_serde_that_does_not_read_the_old_bytes_dies_of_the_next_record(
    begin: Begin, release: str, *, deleted: bool
) -> None:
    """Restoring copies bytes and reads none: the application is RUNNING until a key comes again."""
    trial = begin("stored-sum-format-changed", {"readings": 2, "sums-out": 1}, release, default_value_serde=LONGS)
    plan = trial.run_before({"readings": each(AMOUNT)})
    assert plan["runbooks"] == ["reset_and_cleanup"]
    assert told(plan, "sums") == {"serde-changed", "schema-version-missing"}
    trial.delete_directories(["0_"] if deleted else ())
    assert trial.run_after({}) == ({"sums": len(KEYS)} if deleted else {})
    assert "BufferUnderflowException" in trial.run_into_failure({"readings": each(1)})


def test_a_serde_may_read_the_old_bytes_wrongly(begin: Begin, release: str) -> None:
    """Eight digits are eight bytes: nothing fails, and every sum is wrong. 10000001 is right."""
    trial = begin("stored-sum-format-changed", {"readings": 2, "sums-out": 1}, release, default_value_serde=LONGS)
    plan = trial.run_before({"readings": each(10_000_000)})
    assert told(plan, "sums") == {"serde-changed", "schema-version-missing"}
    assert trial.run_after({"readings": each(1)}) == {}
    assert trial.longs("sums-out") == dict.fromkeys(KEYS, MISREAD)


def test_a_serde_that_reads_the_old_bytes_is_rolled(begin: Begin, release: str) -> None:
    """Two instances, bounced one after the other between records: every sum goes on, also in the old instance."""
    trial = begin(
        "stored-sum-version-raised",
        {"readings": 4, "sums-out": 1},
        release,
        default_value_serde=LONGS,
        session_timeout_ms="6000",
        heartbeat_interval_ms="1000",
    )
    with trial.instance("before", 1) as one, trial.instance("before", 2) as two:
        trial.process([one, two], {"readings": each(AMOUNT)})
        plan = trial.plan(one)
        assert (plan["runbooks"], told(plan, "sums")) == (["rolling_bounce"], {"serde-read-on"})
        one.stop()
        with trial.instance("after", 1) as new:
            trial.process([new], {"readings": each(1)})
            two.stop()
            with trial.instance("after", 2) as other:
                trial.process([new, other], {"readings": each(1)})
    assert trial.longs("sums-out") == dict.fromkeys(KEYS, AMOUNT + 2)
