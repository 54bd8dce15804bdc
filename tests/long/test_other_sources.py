"""Sources that fill one store unevenly, and a foreign-key join whose sides change places."""

import pytest
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import LONGS, Begin, long
from world.plans import told

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])]

KEYS = [f"{number:03}" for number in range(40)]
ONE_EACH = [(key, long(1)) for key in KEYS]
UNEVEN = {"amounts": 4, "refunds": 2, "totals-out": 1}
# Keys that the two topics have in partitions of different numbers, and so in different tasks.
APART = {key for key in KEYS if partition_of(key.encode(), 4) != partition_of(key.encode(), 2)}
ROWS = 10


@pytest.mark.parametrize("pair", ["stream-merged-before-count", "topic-read-by-counted-source-as-well"])
def test_two_tasks_count_one_key(begin: Begin, release: str, pair: str) -> None:
    """Two amounts and a refund of each key: exactly the keys in two tasks never reach 3, and nothing fails."""
    trial = begin(pair, UNEVEN, release, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": ONE_EACH})
    assert plan["verdict"] == "refuse"
    assert "merged-unevenly" in told(plan, "amounts") & told(plan, "refunds")
    trial.run_after({"amounts": ONE_EACH, "refunds": ONE_EACH})
    most = dict.fromkeys(KEYS, 0)
    for record in trial.records("totals-out"):
        key = record.key()
        assert isinstance(key, bytes)
        most[key.decode()] = max(most[key.decode()], int.from_bytes(record.value() or b"", signed=True))
    assert APART
    assert most == {key: 2 if key in APART else 3 for key in KEYS}


def test_a_repartition_behind_the_merge_counts_right(begin: Begin, release: str) -> None:
    """The same topics before a repartition: the plan proceeds, and every group has all of its records."""
    trial = begin("stream-merged-before-repartition", UNEVEN, release, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": ONE_EACH})
    assert (plan["verdict"], plan["runbooks"]) == ("proceed", ["stop_and_restart"])
    trial.run_after({"amounts": ONE_EACH, "refunds": ONE_EACH})
    assert trial.longs("totals-out") == dict.fromkeys(["00", "01", "02", "03"], 30)


def test_rows_of_the_topic_that_went_stay_in_a_count(begin: Begin, release: str) -> None:
    """The table reads another topic, and its store keeps its name. An application from nothing counts the new rows."""
    topics = {"users": 2, "users-2": 2, "devices": 2, "counts": 1, "changes": 1}
    trial = begin("table-count-reads-new-topic", topics, release)
    plan = trial.run_before({"users": [(f"k{row}", b"grey") for row in range(ROWS)]})
    assert told(plan, "counts-store") == told(plan, "users-rows") == {"input-replaced"}
    trial.run_after({"users-2": [(f"k{row}", b"grey") for row in range(ROWS, ROWS + 3)]})
    assert trial.longs("counts") == {"grey": ROWS + 3}
    fresh = trial.beside("fresh")
    with fresh.instance("after") as instance:
        fresh.process([instance], {})
    assert trial.longs("counts") == {"grey": 3}
    fresh.clean()


def test_rows_that_a_new_filter_drops_stay_in_a_count(begin: Begin, release: str) -> None:
    """A row is written again: the old one, which the filter drops now, is not taken out of its group."""
    trial = begin("rows-filtered-before-table-count", {"users": 2, "counts": 1}, release)
    plan = trial.run_before({"users": [(f"k{row}", b"grey") for row in range(ROWS)]})
    assert told(plan, "counts-store") == {"rows-subtracted-otherwise"}
    trial.run_after({"users": [("k0", b"black")]})
    assert trial.longs("counts") == {"grey": ROWS, "black": 1}


def test_the_sides_of_a_foreign_key_join_change_places(begin: Begin, release: str) -> None:
    """Tables of equal keys: five updates give no result, and all results are those of the old join.

    An application that begins from nothing on the same topics tells what is right.
    """
    trial = begin("foreign-key-join-sides-swapped", {"accounts": 2, "owners": 2, "joined-out": 1}, release)
    accounts = [(f"k{row}", f"k{(row + 1) % ROWS},account {row}".encode()) for row in range(ROWS)]
    owners = [(f"k{row}", f"k{(row + 2) % ROWS},owner {row}".encode()) for row in range(ROWS)]
    plan = trial.run_before({"accounts": accounts, "owners": owners})
    assert plan["runbooks"] == ["reset_and_cleanup"]
    for store in ("joined", "account-owner-subscription-store", "account-owner-subscription-registration-topic"):
        assert told(plan, store) == {"fed-by-another"}
    old = trial.latest("joined-out")
    assert len(old) == ROWS

    restored = trial.run_after({"accounts": [(key, value + b", new") for key, value in accounts[:5]]})
    assert restored == dict.fromkeys([one["store"] for one in plan["restores"]], ROWS)
    assert trial.latest("joined-out") == old
    fresh = trial.beside("fresh")
    with fresh.instance("after") as instance:
        fresh.process([instance], {})
    right = trial.latest("joined-out")
    fresh.clean()
    assert {key for key in right if right[key] != old[key]} == {f"k{row}" for row in range(ROWS)}
