"""Judging a fleet by what a real ledger keeps: clusters that could be read, and those that could not."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.watch.judge import Judgement, judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from world.new_ledger import new_ledger

DAY_MS = 86_400_000
MINUTE_MS = 60_000
NOW = 1_790_000_000_000
ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))


def entry(name: str, cluster: str = "demo", **fields: Any) -> Any:
    """The part of a fleet entry that is judged."""
    no_copier = {"control": (), "outputs": (), "copies": False, "owner": "team"}
    no_topics: dict[str, Any] = {"inputs": (), "rule_topics": (), "input_settings": {}}
    return SimpleNamespace(name=name, cluster=cluster, **(no_copier | no_topics | fields))


FLEET: Any = [entry("orders"), entry("far-1", "far"), entry("far-2", "far")]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty ledger."""
    return new_ledger(tmp_path / "ledger.db")


def keep(ledger: Ledger, at_ms: int, **changes: Any) -> None:
    """One reading of the application on the cluster that is there."""
    lag = replace(LAG, partitions=(replace(ROW, **changes),))
    ledger.keep_lag("demo", {"orders": KeptReading(at_ms, lag)})


def judge(ledger: Ledger, at_ms: int, problems: dict[str, str] | None = None) -> Judgement:
    """The check whose reading of demo was taken at that time; nobody could read far."""
    return judge_fleet(
        ledger, FLEET, CheckSettings(), read_at_ms={"demo": at_ms}, problems=problems or {}, now_ms=at_ms + 1
    )


def test_a_cluster_that_cannot_be_read_hides_no_other(ledger: Ledger) -> None:
    """Its applications are unknown with the reason, whatever was read of them before; the others are judged."""
    ledger.keep_lag("far", {"far-1": KeptReading(NOW - 1, LAG)})
    keep(ledger, NOW)
    found = judge(ledger, NOW, {"far": "cluster far was not read: no answer"})
    assert {one.application: (one.word, one.read, one.sentence) for one in found.statuses} == {
        "orders": ("healthy", True, "10 records to read (limit 10,000)"),
        "far-1": ("unknown", False, "cluster far was not read: no answer"),
        "far-2": ("unknown", False, "cluster far was not read: no answer"),
    }
    assert found.changes == ()
    again = judge(ledger, NOW + 1, {"far": "cluster far was not read: no answer"})
    assert [one.application for one in again.changes] == ["far-1", "far-2"]
    assert found.words == {"unknown": 2, "healthy": 1}


def test_a_reading_of_an_earlier_check_is_not_taken_for_this_one(ledger: Ledger) -> None:
    """A task that was killed says nothing of this one."""
    keep(ledger, NOW - 1)
    found = judge_fleet(ledger, FLEET, CheckSettings(), read_at_ms={}, problems={}, now_ms=NOW)
    assert [one.word for one in found.statuses] == ["unknown"] * 3
    assert found.too_late == ()
    assert found.statuses[0].sentence == "cluster demo was not read in this check; look at the log of its task"


def test_an_application_that_was_declared_after_its_cluster_was_read_is_left_to_the_next_check(ledger: Ledger) -> None:
    """Nobody is told of it, and nothing is kept of how it stands, whatever was read of it before."""
    late = [entry("late"), FLEET[0]]
    ledger.keep_lag("demo", {"late": KeptReading(NOW - DAY_MS, LAG)})
    keep(ledger, NOW)
    settings = CheckSettings()
    found = judge_fleet(ledger, late, settings, read_at_ms={"demo": NOW}, problems={}, now_ms=NOW + 1)
    assert found.too_late == ("late @ demo",)
    assert [one.application for one in (*found.statuses, *found.changes)] == ["orders"]
    assert [one.application for one in ledger.lag_statuses()] == ["orders"]
    # The next check reads it.
    at_ms = NOW + MINUTE_MS
    ledger.keep_lag("demo", {"late": KeptReading(at_ms, LAG), "orders": KeptReading(at_ms, LAG)})
    found = judge_fleet(ledger, late, settings, read_at_ms={"demo": at_ms}, problems={}, now_ms=at_ms + 1)
    assert (found.too_late, found.words) == ((), {"healthy": 2})


def test_the_window_is_what_the_ledger_kept(ledger: Ledger) -> None:
    """The same offset with a record to read in as many readings as the setting says."""
    words = []
    for number in range(3):
        keep(ledger, NOW + number * MINUTE_MS, oldest_unread_ms=NOW)
        words.append(judge(ledger, NOW + number * MINUTE_MS).statuses[0].word)
    assert words == ["healthy", "healthy", "stalled"]
    # Also by a check that follows at once.
    keep(ledger, NOW + 2 * MINUTE_MS + 1_000, committed=5)
    assert judge(ledger, NOW + 2 * MINUTE_MS + 1_000).statuses[0].word == "rewound"


def test_checks_one_right_after_another_count_as_one(ledger: Ledger) -> None:
    """Three by hand within seconds are not stalled; nor do they hide what is."""
    for at_ms in (NOW, NOW + 2_000, NOW + 4_000):
        keep(ledger, at_ms, oldest_unread_ms=NOW)
    assert judge(ledger, NOW + 4_000).statuses[0].word == "healthy"
    for at_ms in (NOW + 2 * MINUTE_MS, NOW + 4 * MINUTE_MS, NOW + 4 * MINUTE_MS + 1_000, NOW + 4 * MINUTE_MS + 2_000):
        keep(ledger, at_ms, oldest_unread_ms=NOW)
    assert judge(ledger, NOW + 4 * MINUTE_MS + 2_000).statuses[0].word == "stalled"


def test_a_clock_that_was_set_back_costs_no_status(ledger: Ledger) -> None:
    """What was read before it at a later time is left out: it is neither this reading nor the one before."""
    keep(ledger, NOW + 60 * MINUTE_MS, committed=90)
    for number in range(3):
        keep(ledger, NOW + number * MINUTE_MS, committed=11 + number)
        assert judge(ledger, NOW + number * MINUTE_MS).statuses[0].word == "healthy"
    assert ledger.lag_readings_after("demo", NOW + 2 * MINUTE_MS) == 1
    assert ledger.lag_readings_after("far", NOW) == 0


def test_another_group_begins_anew(ledger: Ledger) -> None:
    """The entry names another application id: its offsets are compared with none of the old group."""
    keep(ledger, NOW, committed=90_000)
    ledger.keep_lag("demo", {"orders": KeptReading(NOW + MINUTE_MS, replace(LAG, application_id="orders-v2"))})
    assert judge(ledger, NOW + MINUTE_MS).statuses[0].word == "healthy"


def test_a_topic_stays_recreated_however_often_it_is_read(ledger: Ledger) -> None:
    """By what every reading takes over from the one before it, also from one that is too near to count."""
    expected = {"orders": "a"}
    for number in range(9):
        at_ms = NOW + number * 20_000
        lag = replace(LAG, partitions=(replace(ROW, topic_id="b", committed=11 + number),))
        ledger.keep_lag("demo", {"orders": KeptReading(at_ms, lag, expected=expected)})
        assert judge(ledger, at_ms).statuses[0].word == "recreated"


def test_a_clock_that_is_weeks_ahead_deletes_no_reading(ledger: Ledger) -> None:
    """Of the worker that judges; without earlier readings a topic that was created again would not show."""
    keep(ledger, NOW - MINUTE_MS)
    keep(ledger, NOW)
    ahead = NOW + 30 * DAY_MS
    found = judge_fleet(ledger, FLEET, CheckSettings(), read_at_ms={"demo": NOW}, problems={}, now_ms=ahead)
    assert found.forgotten == 0
    assert len(ledger.lag_readings("demo", ("orders",), most=9)["orders"]) == 2


def test_what_is_older_than_it_is_kept_for_goes_with_the_check(ledger: Ledger) -> None:
    """By its own setting."""
    for days in (9, 8, 6):
        keep(ledger, NOW - days * DAY_MS)
    assert judge(ledger, NOW - 6 * DAY_MS).forgotten == 0
    keep(ledger, NOW)
    assert judge(ledger, NOW).forgotten == 2
    assert len(ledger.lag_readings("demo", ("orders",), most=9)["orders"]) == 2


def test_an_application_behind_a_copier_that_has_stopped_is_unfed(ledger: Ledger) -> None:
    """It reads everything there is; a copier of another cluster, or of other topics, is not its own."""
    stopped = replace(LAG, application_id="passing", group_state="Empty")
    far = entry("other", "far", outputs=("orders",), copies=True)
    elsewhere = entry("elsewhere", outputs=("more",), copies=True)
    own = entry("passing", outputs=("orders",), copies=True, owner="team-passing")
    fleet = [entry("orders", control=("orders",)), own, far, elsewhere]
    ledger.keep_lag("demo", {name: KeptReading(NOW, stopped) for name in ("passing", "elsewhere")})
    keep(ledger, NOW)

    def words(*copiers: Any) -> dict[str, str]:
        found = judge_fleet(
            ledger, copiers, CheckSettings(), read_at_ms={"demo": NOW}, problems={}, now_ms=NOW + 1
        ).statuses
        return {one.application: f"{one.word}: {one.sentence}" for one in found}

    assert words(*fleet)["orders"] == (
        "unfed: control topic orders does not grow and its sources do: copier passing (owner team-passing) is "
        "stopped, 10 records wait"
    )
    assert words(*fleet)["passing"].startswith("stopped: group passing has offsets and no member; 10 records wait")
    assert words(fleet[0], far, elsewhere)["orders"].startswith("healthy")
    late = entry("late", outputs=("orders",), copies=True)
    assert words(fleet[0], late)["orders"].startswith("healthy")
