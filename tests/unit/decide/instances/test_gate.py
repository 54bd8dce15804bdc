"""The gate after a restart."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    GroupReading,
    InstanceReading,
    Missing,
    Start,
    StreamsReading,
    Taken,
)
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import BOUNCE_1, NEW, down, expectation, gone, instance, member, partition, reading


def sample(second: int, own: InstanceReading | None = None, **changes: Any) -> ApplicationReading:
    """A good reading taken at `second`, with everything moving."""
    own = own or instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
    moving = (partition(committed=second * 100, stable=second * 100 + 50),)
    return reading(own, instance("orders-2"), at_ms=second * 1000, **{"partitions": moving, **changes})


def good(count: int) -> tuple[ApplicationReading, ...]:
    return tuple(sample(second) for second in range(1, count + 1))


def test_three_good_readings_in_a_row_take_three_intervals() -> None:
    """The first reading shows no progress, so n good ones need n + 1 readings."""
    outcomes = [gate(good(count), expectation()).outcome for count in range(1, 5)]
    assert outcomes == [Outcome.WAIT, Outcome.WAIT, Outcome.WAIT, Outcome.PROCEED]


def test_flapping_starts_the_count_again() -> None:
    """Good, bad, good is one good reading."""
    samples = list(good(6))
    samples[3] = sample(4, instance("orders-1", release=NEW, settings=BOUNCE_1.settings, state="REBALANCING"))
    verdict = gate(tuple(samples), expectation())
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == ("good reading 2 of 3 in a row",)


def test_lag_over_the_limit_keeps_it_shut() -> None:
    """RUNNING with lag is not ready."""
    samples = tuple(sample(s, partitions=(partition(committed=s, stable=s + 1_001),)) for s in range(1, 9))
    verdict = gate(samples, expectation())
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == ("lag 1,001 records (limit 1,000)",)


def test_running_and_stable_without_progress_keeps_it_shut() -> None:
    """A static member with an assignment that no longer fits is RUNNING in a stable group and reads nothing."""
    samples = tuple(sample(s, partitions=(partition(committed=7, stable=9),)) for s in range(1, 9))
    verdict = gate(samples, expectation())
    assert verdict.outcome is Outcome.WAIT
    assert "orders-0 (2 to read, committed stays at 7)" in verdict.reasons[0]


def test_a_partition_with_nothing_to_read_need_not_move() -> None:
    """No traffic is no fault."""
    samples = tuple(sample(s, partitions=(partition(committed=9, stable=9),)) for s in range(1, 5))
    assert gate(samples, expectation()).outcome is Outcome.PROCEED


@pytest.mark.parametrize("state", ["ERROR", "PENDING_ERROR", "NOT_RUNNING"])
def test_error_refuses_at_once_although_the_process_lives(state: str) -> None:
    """An instance in ERROR keeps its JVM and never comes back."""
    dead = sample(5, instance("orders-1", release=NEW, settings=BOUNCE_1.settings, state=state))
    verdict = gate((*good(4), dead), expectation())
    assert verdict.outcome is Outcome.REFUSE
    assert state in verdict.reasons[0]


def test_a_client_that_is_gone_from_a_live_jvm_refuses_at_once() -> None:
    """On the way into ERROR a client takes its metrics with it."""
    lost = replace(sample(5).instances[0], streams=Missing("no Kafka Streams client in the JVM", start=Start(500, 41)))
    assert gate((*good(4), sample(5, lost)), expectation()).outcome is Outcome.REFUSE


def test_a_client_that_was_seen_before_the_first_reading_and_is_gone_refuses_at_once() -> None:
    """Who restarted it saw its client; by the first reading it was in ERROR."""
    lost = replace(
        sample(5).instances[0], streams=Missing("no Kafka Streams client in the JVM", start=Start(4_000, 42))
    )
    assert gate((sample(5, lost),), expectation(seen=Start(4_000, 42))).outcome is Outcome.REFUSE
    assert gate((sample(5, lost),), expectation()).outcome is Outcome.INCONCLUSIVE


def test_a_jvm_without_a_client_may_start_for_a_while() -> None:
    """Starting is no error; never having started is one."""
    blank = replace(
        sample(5).instances[0], streams=Missing("no Kafka Streams client in the JVM", start=Start(4_000, 42))
    )
    assert gate((sample(5, blank),), expectation()).outcome is Outcome.INCONCLUSIVE
    verdict = gate((sample(70, blank),), expectation())
    assert verdict.outcome is Outcome.REFUSE
    assert "no Streams client of this application 66 s after its process started (limit 60 s)" in verdict.reasons[0]


def test_a_process_that_is_gone_refuses_at_once() -> None:
    """Nobody waits for what has exited."""
    assert gate((sample(1, down("orders-1")),), expectation()).outcome is Outcome.REFUSE


def test_missing_metrics_are_never_good() -> None:
    """A reading that is not there is inconclusive, and breaks the row."""
    blind = replace(sample(4).instances[0], streams=Missing("connection refused"))
    samples = (*good(3), sample(4, blind), sample(5))
    assert gate(samples[:4], expectation()).outcome is Outcome.INCONCLUSIVE
    assert gate(samples, expectation()).outcome is Outcome.WAIT


@pytest.mark.parametrize("changes", [{"partitions": Missing("timed out")}, {"group": Missing("timed out")}])
def test_missing_offsets_or_group_are_inconclusive(changes: dict[str, Any]) -> None:
    """Missing data is never OK."""
    assert gate((*good(4), sample(5, **changes)), expectation()).outcome is Outcome.INCONCLUSIVE


def test_an_unreadable_end_is_not_lag_zero() -> None:
    """A partition whose last stable offset is unknown may hide anything."""
    blind = sample(5, partitions=(partition(stable=Missing("NOT_LEADER")),))
    verdict = gate((*good(4), blind), expectation())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0] == "orders-0: last stable offset NOT_LEADER"


def test_an_offset_past_the_end_of_its_log_is_not_lag_zero() -> None:
    """A topic that was created again has other records, which the group never read."""
    again = sample(5, partitions=(partition(committed=1_000, stable=50),))
    verdict = gate((*good(4), again), expectation())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0].startswith("orders-0: committed 1,000 is past its end 50: the topic was created again")


def test_records_that_were_deleted_unread_are_not_left_to_read() -> None:
    """The log begins after the committed offset: what is left is what it still has."""
    cut = tuple(sample(s, partitions=(partition(committed=s, stable=6_000, log_start=5_990),)) for s in range(1, 6))
    assert gate(cut, expectation()).outcome is Outcome.PROCEED
    left = partition(committed=1, stable=6_000, log_start=4_000)
    assert gate((*good(4), sample(5, partitions=(left,))), expectation()).reasons[0] == (
        "lag 2,000 records (limit 1,000)"
    )


def test_a_never_committed_partition_has_its_whole_log_to_read() -> None:
    """Never committed must not read as lag 0."""
    never = partition(committed=None, stable=5_000)
    verdict = gate((*good(4), sample(5, partitions=(never,))), expectation())
    assert verdict.reasons[0] == "lag 5,000 records (limit 1,000)"


def test_readings_of_the_old_start_do_not_count() -> None:
    """Readiness is bound to the new start."""
    old = Start(500, 41)
    assert gate(good(5), expectation(previous=old)).outcome is Outcome.WAIT


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (instance("orders-1", release="3.4.1", settings=BOUNCE_1.settings), "reports 3.4.1 (expected 4.3.1)"),
        (instance("orders-1", release=NEW), "has no setting of a runbook (expected upgrade.from=3.4)"),
        (instance("orders-1", release=NEW, settings=BOUNCE_1.settings, failed_threads=1), "1 failed threads (limit 0)"),
        (instance("orders-1", release=NEW, settings=BOUNCE_1.settings, alive_threads=0), "no stream thread alive"),
        (instance("orders-1", release=NEW, settings=BOUNCE_1.settings, restoring=2), "2 tasks restore"),
        (
            instance("orders-1", release=NEW, settings=BOUNCE_1.settings, restoring=Missing("no such bean")),
            "restore progress cannot be read",
        ),
        (instance("orders-1", release=NEW, settings=BOUNCE_1.settings, client_id="other"), "no member of orders-1"),
    ],
)
def test_each_fault_keeps_it_shut_and_says_so(own: InstanceReading, reason: str) -> None:
    """Each of these alone is enough."""
    samples = tuple(sample(s, own) for s in range(1, 6))
    if isinstance(own.streams, StreamsReading) and own.streams.client_id == "other":
        group = GroupReading(Taken(1, "test"), "orders", "classic", "Stable", ())
        samples = tuple(sample(s, own, group=group) for s in range(1, 6))
    verdict = gate(samples, expectation())
    assert verdict.outcome is Outcome.WAIT
    assert reason in " ".join(verdict.reasons)


def test_a_rebalancing_group_keeps_it_shut() -> None:
    """RUNNING is not enough while the group moves."""
    group = GroupReading(Taken(1, "test"), "orders", "classic", "PreparingRebalance", ())
    assert gate((*good(4), sample(5, group=group)), expectation()).outcome is Outcome.WAIT


def test_a_release_without_restore_metrics_counts_as_restored_when_running() -> None:
    """Before 3.8 the threads restore themselves, and RUNNING means that restoring is done."""
    own = instance("orders-1", settings=BOUNCE_1.settings, restoring=Missing("no such bean"))
    expected = expectation(bounce=replace(BOUNCE_1, release="3.4.1"))
    assert gate(tuple(sample(s, own) for s in range(1, 5)), expected).outcome is Outcome.PROCEED


def test_a_pause_between_readings_breaks_the_row() -> None:
    """Readings further apart than the limit are not consecutive."""
    samples = (*good(3), sample(100))
    assert "older (limit 30 s)" in gate(samples, expectation()).reasons[0]


def test_progress_may_take_a_commit_interval_and_no_longer() -> None:
    """Under at_least_once an instance that works commits every 30 s: between two commits it is not stuck."""
    expected = expectation(commit_interval_ms=30_000)

    def every_30_s(second: int) -> ApplicationReading:
        return sample(second, partitions=(partition(committed=second // 30 * 300, stable=second * 10 + 5),))

    before_the_commit = tuple(every_30_s(second) for second in range(1, 30, 5))
    assert gate(before_the_commit, expected).outcome is Outcome.WAIT
    assert gate((*before_the_commit, *map(every_30_s, (31, 36, 41))), expected).outcome is Outcome.PROCEED
    stuck = tuple(every_30_s(second) for second in range(31, 56, 5))
    frozen = tuple(sample(s, partitions=(partition(committed=300, stable=700),)) for s in range(61, 96, 5))
    verdict = gate((*stuck, *frozen), expected)
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == ("no progress in 30.0 s on orders-0 (400 to read, committed stays at 300)",)


def test_a_broker_that_was_away_is_a_bad_reading_and_not_the_end() -> None:
    """Readings that failed as a whole break the row; progress is measured across them."""
    away = replace(
        sample(3),
        group=Missing("no answer"),
        partitions=Missing("no answer"),
        instances=tuple(replace(one, streams=Missing("no answer")) for one in sample(3).instances),
    )
    assert gate((*good(2), away), expectation()).outcome is Outcome.INCONCLUSIVE
    verdict = gate((*good(2), away, sample(4), sample(5)), expectation())
    assert verdict.reasons == ("good reading 2 of 3 in a row",)
    assert gate((*good(2), away, sample(4), sample(5), sample(6)), expectation()).outcome is Outcome.PROCEED


def test_one_advance_at_the_start_is_no_progress_for_ever() -> None:
    """Shorter than a commit interval nobody can say; what moved once and stands still is not ready."""
    expected = expectation(commit_interval_ms=30_000)
    steps = ((0, 100, 150), (5, 101, 200), (10, 101, 260), (15, 101, 320))
    once = tuple(sample(s, partitions=(partition(committed=c, stable=e),)) for s, c, e in steps)
    verdict = gate(once, expected)
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == ("progress shows after a commit interval of 30 s (watched for 15 s)",)
    later = tuple(sample(s, partitions=(partition(committed=101, stable=320 + s),)) for s in range(20, 60, 5))
    assert gate((*once, *later), expected).outcome is Outcome.WAIT


def test_a_partition_that_fills_up_during_the_gate_is_watched_too() -> None:
    """Nothing to read in the first reading is no excuse for the ones after it."""
    expected = expectation(commit_interval_ms=30_000)
    samples = [sample(0, partitions=(partition(committed=100, stable=100),))]
    samples += [sample(s, partitions=(partition(committed=100, stable=100 + s),)) for s in range(5, 60, 5)]
    assert {gate(tuple(samples[:count]), expected).outcome for count in range(1, 13)} == {Outcome.WAIT}


def test_a_member_of_nobody_keeps_it_shut() -> None:
    """Left behind by an instance that died, or a stranger: either way the group is not what was planned."""
    members = (member("orders-1"), member("orders-2"), member("gone"))
    group = GroupReading(Taken(1, "t"), "orders", "classic", "Stable", members)
    verdict = gate(tuple(sample(second, group=group) for second in range(1, 6)), expectation())
    assert verdict.outcome is Outcome.WAIT
    assert "gone-client-StreamThread-1-consumer on /127.0.0.1 is of no declared instance" in verdict.reasons[0]


def test_what_the_gate_saw_stands_beside_what_ended_it() -> None:
    """A process that failed says nothing itself: the topic that it lacked was read beside it."""
    dead = replace(sample(5), instances=(down("orders-1"), instance("orders-2")), partitions=(gone("zones"),))
    verdict = gate((*good(4), dead), expectation())
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0] == "orders-1 is DOWN (its process is stopped): expected running; read its log"
    assert "the gate saw: zones-0: the topic does not exist on the cluster" in verdict.reasons[1]


def test_what_the_gate_saw_before_the_last_reading_is_not_lost() -> None:
    """The last reading shows the dead process alone, the one before it why."""
    quiet = replace(sample(6), instances=(down("orders-1"), instance("orders-2")))
    lost = replace(sample(5), partitions=Missing("topic zones does not exist"))
    verdict = gate((*good(4), lost, quiet), expectation())
    assert "the gate saw 1 s before: offsets of orders: topic zones does not exist" in verdict.sentence


def test_many_reasons_are_counted() -> None:
    """A sentence has room for a few."""
    lost = tuple(gone("zones", number) for number in range(9))
    dead = replace(sample(5), instances=(down("orders-1"), instance("orders-2")), partitions=lost)
    assert "; and 5 more" in gate((dead,), expectation()).sentence


def test_a_reading_that_is_missing_does_not_hide_what_was_read() -> None:
    """Offsets that cannot be read, and a group that rebalances: both are said."""
    group = sample(5).group
    assert isinstance(group, GroupReading)
    moving = replace(group, state="PreparingRebalance")
    odd = replace(sample(5), partitions=Missing("broker busy"), group=moving)
    verdict = gate((*good(4), odd), expectation())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0] == "offsets of orders: broker busy"
    assert "group orders: PreparingRebalance (expected Stable)" in verdict.sentence


def test_a_member_that_a_silent_instance_may_own_keeps_the_gate_shut() -> None:
    """One instance without an answer hides no stranger: whose the member is, is not known until it answers."""
    silent = replace(instance("orders-2"), streams=Missing("no answer"), group_instance_id="orders-2")
    stray = replace(member("elsewhere"), instance_id=None)
    own = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
    samples = []
    for second in range(1, 6):
        found = sample(second, own)
        assert isinstance(found.group, GroupReading)
        group = replace(found.group, members=(*found.group.members, stray))
        samples.append(replace(found, instances=(own, silent), group=group))
    verdict = gate(tuple(samples), expectation())
    assert (verdict.outcome, "whose member elsewhere" in verdict.text) == (Outcome.WAIT, True)
    quiet = tuple(replace(one, group=sample(1, own).group) for one in samples)
    assert gate(quiet, expectation()).outcome is Outcome.PROCEED
