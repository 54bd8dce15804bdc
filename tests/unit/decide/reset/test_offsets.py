"""Where the offset of a partition moves: every kind of target, outside of the log, without a record, unknown."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.reset.offsets import may_move, may_move_now, may_set, moved_offsets, now_inside
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.model.offset_targets import UNDECIDED
from kstreams_runbooks.model.readings.input_offsets import InputPartition, MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome

NOW = 1_794_000_000_000
READ = InputPartition("orders", 3, "id-1", start=100, stable=200, committed=150)


def moved(value: Any, **read: Any) -> MovedOffset:
    """The row of `orders-3`, whose log is 100 to 200 and whose offset is 150."""
    [row] = moved_offsets({"orders": parse_target("orders", value, NOW)}, [replace(READ, **read)])
    return row


@pytest.mark.parametrize(
    ("value", "read", "wanted", "after"),
    [
        ("earliest", {}, 100, 100),
        ("latest", {}, 200, 200),
        ("-2h", {"at_time": 170}, 170, 170),
        ("-2h or latest", {"at_time": None}, 200, 200),
        ("-2h or earliest", {"at_time": None}, 100, 100),
        ("-2h or earliest", {"at_time": 170}, 170, 170),
        ("+10", {}, 160, 160),
        ("-10", {}, 140, 140),
        ("-100", {}, 50, 100),
        ("+100", {}, 250, 200),
        ("120", {}, 120, 120),
        ("7", {}, 7, 100),
        ("3:199,0:5", {}, 199, 199),
        ("run:r", {"saved": 110}, 110, 110),
        ("file:f", {"saved": 90}, 90, 100),
    ],
)
def test_before_and_after(value: Any, read: dict[str, Any], wanted: int, after: int) -> None:
    """What is outside the log is shown, and the offset is inside."""
    row = moved(value, **read)
    assert (row.before, row.wanted, row.after, row.undecided, row.why) == (150, wanted, after, "", "")
    assert row.outside == wanted - after
    assert bool(row.outside) is (" log " in row.remark or "last stable" in row.remark)
    assert row.again == ((after, 150) if after < 150 else None)
    assert row.skipped == ((150, after) if after > 150 else None)
    assert row.left == (after, 200)
    assert may_move([row]).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("value", "read", "said"),
    [
        ("-2h", {}, "orders-3: has no record at or after 2026-11-06 19:20:00 UTC (log 100 to 200): a decision"),
        ("-5", {"committed": None}, "the group has no offset that -5 could move"),
        ("run:r", {}, "run:r has no offset of it"),
        ("0:5", {}, "0:5 names no offset for it (expected one for every partition)"),
    ],
)
def test_a_person_has_to_decide(value: Any, read: dict[str, Any], said: str) -> None:
    row = moved(value, **read)
    assert said in row.undecided
    assert row.after is None
    verdict = may_move([moved("earliest"), row])
    assert (verdict.outcome, verdict.reasons) == (Outcome.REFUSE, (row.undecided,))


def test_an_input_that_it_writes_too_has_no_place_until_a_person_chooses_one() -> None:
    """The sentence has the form's field, with a word in the place of the choice."""
    [row] = moved_offsets({"orders": UNDECIDED}, [READ])
    verdict = may_move([row])
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.text.startswith("orders-3: the application writes this input too: from earliest its own results")
    assert verdict.text.endswith("""trigger reset_and_cleanup with --param 'targets={"orders": "PLACE"}'""")


@pytest.mark.parametrize("field", ["start", "stable", "committed", "at_time"])
def test_an_unknown_offset_is_not_a_number(field: str) -> None:
    """Nothing moves by a reading that failed."""
    row = moved("-2h", **{"at_time": 120, field: Missing("broken")})
    assert (row.after, row.why) == (None, "broken")
    assert may_move([row]).outcome is Outcome.INCONCLUSIVE


def test_a_committed_offset_past_the_end_is_not_understood() -> None:
    assert "created again" in moved("earliest", committed=201).why


def test_a_partition_without_an_offset_gets_one() -> None:
    """No record is read again for certain: auto.offset.reset decided until now."""
    row = moved("earliest", committed=None)
    assert (row.before, row.after, row.again, row.skipped, row.left) == (None, 100, None, None, (100, 200))


def test_the_two_earliests_of_a_tiered_log_are_told_apart() -> None:
    """The log's start counts, and the brokers' own part is shown."""
    row = moved("earliest", local_start=180)
    assert row.after == 100
    assert row.remark == "tiered: the log begins at 100, on the brokers' disks at 180; the rest is read remotely"
    assert moved("latest", local_start=180).remark == ""
    assert "unknown: refused" in moved("latest", local_start=Missing("refused")).remark


def test_inputs_without_a_target_do_not_move() -> None:
    assert moved_offsets({}, [READ]) == ()


def test_the_start_is_read_again_before_offsets_are_set() -> None:
    """Retention goes on after a plan: refused above the stated loss, else the offset is moved inside."""
    rows = [moved("earliest"), replace(moved("140"), partition=4)]
    still = {("orders", 3): 100, ("orders", 4): 100}
    assert may_move_now(rows, still, 0).outcome is Outcome.PROCEED
    later: dict[tuple[str, int], int | Missing] = {("orders", 3): 110, ("orders", 4): 145}
    refused = may_move_now(rows, later, 14)
    assert refused.outcome is Outcome.REFUSE
    assert "orders-3 (10), orders-4 (5): 15 offsets that the plan would read again" in refused.reasons[0]
    assert may_move_now(rows, later, 15).outcome is Outcome.PROCEED
    assert [(one.start, one.after) for one in now_inside(rows, later)] == [(110, 110), (145, 145)]
    unknown = may_move_now(rows, {("orders", 3): Missing("gone")}, 100)
    assert unknown.outcome is Outcome.INCONCLUSIVE
    assert unknown.reasons == ("orders-3: gone", "orders-4: its start was not read again")


def test_offsets_are_set_as_they_are_resolved_then_unless_too_much_is_lost() -> None:
    """The start of the log has moved since the plan: that is a loss, within the limit or not."""
    planned, now = moved("earliest"), moved("earliest", start=110)
    assert now.after == 110
    assert may_set((now,), (planned,), 10).outcome is Outcome.PROCEED
    verdict = may_set((now,), (planned,), 9)
    assert verdict.outcome is Outcome.REFUSE
    assert "orders-3 (10): 10 offsets that the plan would read again were deleted since (limit 9)" in verdict.sentence


def test_offsets_that_cannot_be_resolved_any_more_are_not_set() -> None:
    """A decision that is needed, an unknown value, and a partition that the plan does not have."""
    planned = moved("-2h", at_time=120)
    assert may_set((moved("-2h"),), (planned,), 0).outcome is Outcome.REFUSE
    assert may_set((moved("-2h", at_time=Missing("away")),), (planned,), 0).outcome is Outcome.INCONCLUSIVE
    other = may_set((planned, replace(planned, partition=4)), (planned,), 0)
    assert other.outcome is Outcome.REFUSE
    assert "orders-4: in the plan or on the cluster alone" in other.sentence
