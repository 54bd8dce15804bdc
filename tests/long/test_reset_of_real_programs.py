"""What a reset forecasts and does, with programs of the real library on a real broker, without Airflow."""

import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.times import HOUR_MS, MINUTE_MS
from kstreams_runbooks.watch.blast_radius import ResetQuestion, read_blast_radius
from lab.application import TO_RELEASE
from lab.settings import CHECKOUT
from lab.trial import LONGS, Begin, Trial, long
from world.performed_reset import fleet_of, perform_reset, planned_reset
from world.side_facts import side_facts

pytestmark = pytest.mark.long

KEYS = [f"{number:03}" for number in range(40)]
ONE_EACH = [(key, long(1)) for key in KEYS]
KEYS_WITH_WINDOWS = CHECKOUT / "tests" / "integration" / "java" / "KeysWithWindows.java"
# The window of the program lasts an hour, and its grace 5 minutes.
GRACE_MS = 5 * MINUTE_MS
SPARSE, DENSE = 30, 6_000


def send_history(trial: Trial, span_ms: int) -> Counter[int]:
    """Visits of one page: a few in one partition and many in the other, over the same time; how many in each hour."""
    begin_ms = (time.time_ns() // 1_000_000 - 2 * 24 * HOUR_MS) // HOUR_MS * HOUR_MS
    expected: Counter[int] = Counter()
    producer = Producer({"bootstrap.servers": trial.bootstrap})
    for partition, number in enumerate((SPARSE, DENSE)):
        for place in range(number):
            at_ms = begin_ms + span_ms * place // (number - 1)
            producer.produce("visits", "page", str(place), partition=partition, timestamp=at_ms)
            expected[at_ms // HOUR_MS * HOUR_MS] += 1
    assert producer.flush(60) == 0
    return expected


def counted(trial: Trial) -> Counter[int]:
    """The last count of each hour."""
    found: Counter[int] = Counter()
    for record in trial.records("visit-counts"):
        key, value = record.key(), record.value()
        assert isinstance(key, bytes)
        # Behind the key of the window is its start.
        found[int.from_bytes(key[-8:])] = int.from_bytes(value or b"")
    return found


@pytest.mark.parametrize(("span_ms", "comparable"), [(GRACE_MS, True), (30 * HOUR_MS, False)])
def test_a_history_within_the_grace_is_counted_in_full(
    begin: Begin, tmp_path: Path, span_ms: int, *, comparable: bool
) -> None:
    """Each record once; of a longer one the catch-up drops records, as the plan forecasts."""
    pair = "select-key-computes-other-key-before-windowed-count"
    trial = begin(pair, {"visits": 2, "visit-counts": 1}, TO_RELEASE, default_key_serde=KEYS_WITH_WINDOWS.stem)
    command = ["javac", "-d", str(tmp_path), "-cp", trial.classes, str(KEYS_WITH_WINDOWS)]
    subprocess.run(command, check=True, timeout=60)
    program = replace(trial, topics={}, classes=f"{tmp_path}:{trial.classes}")
    expected = send_history(trial, span_ms)
    with fleet_of(trial, side_facts(program, "before"), tmp_path / "fleet"):
        [late] = read_blast_radius(trial.application_id, ResetQuestion("reset", {}), print).late
    assert (late.store, late.grace_ms, late.disorder_ms, late.times) == ("visits-store", GRACE_MS, span_ms, ())
    assert late.comparable is comparable

    program.run({}, "before")
    found = counted(trial)
    if comparable:
        assert found == expected
    else:
        assert found.total() < expected.total()


def test_only_chosen_directories_are_restored(begin: Begin, tmp_path: Path) -> None:
    """Mode `state`: the stores of the others go on from what is on the disk; nothing is counted twice."""
    topics = {"amounts": 2, "refunds": 2, "rates": 1, "amounts-out": 1, "refunds-out": 1}
    sent = {"amounts": ONE_EACH, "refunds": ONE_EACH}
    trial = begin("global-table-added-between-counts", topics, TO_RELEASE, default_value_serde=LONGS)
    trial.run(sent, "before")
    before = trial.internal()
    facts = side_facts(trial, "before")
    with fleet_of(trial, facts, tmp_path):
        perform_reset(planned_reset(trial, facts, tmp_path, "state", TaskDirectories(("1_",))), trial)
    assert {name.partition("_")[0] for name in trial.directories()} == {"0"}
    assert trial.run(sent, "before") == {"refunds-counts": len(KEYS)}
    assert trial.longs("amounts-out") == trial.longs("refunds-out") == dict.fromkeys(KEYS, 2)
    assert trial.internal() == before


@pytest.mark.parametrize(("clears", "count"), [(False, 3), (True, 2)])
def test_state_that_is_kept_lives_on_under_a_new_changelog(
    begin: Begin, tmp_path: Path, count: int, *, clears: bool
) -> None:
    """Everything is read again: each key once before, once again, and once more. So state has to be seen gone."""
    topics = {"amounts": 2, "refunds": 2, "rates": 1, "amounts-out": 1, "refunds-out": 1}
    sent = {"amounts": ONE_EACH, "refunds": ONE_EACH}
    trial = begin("global-table-added-between-counts", topics, TO_RELEASE, default_value_serde=LONGS)
    trial.run(sent, "before")
    before = trial.internal()
    facts = side_facts(trial, "before")
    with fleet_of(trial, facts, tmp_path):
        perform_reset(planned_reset(trial, facts, tmp_path), trial, clears=clears)
    assert trial.internal().keys() == before.keys()
    assert trial.run(sent, "before") == {}
    assert trial.longs("amounts-out") == trial.longs("refunds-out") == dict.fromkeys(KEYS, count)


def test_a_streams_group_starts_over_on_the_same_topology(begin: Begin, tmp_path: Path) -> None:
    """KIP-1071: the broker knows its topology, takes the new topics for those of it, and each record counts once."""
    topics = {"amounts": 2, "refunds": 2, "rates": 1, "amounts-out": 1, "refunds-out": 1}
    sent = {"amounts": ONE_EACH, "refunds": ONE_EACH}
    pair = "global-table-added-between-counts"
    trial = begin(pair, topics, TO_RELEASE, default_value_serde=LONGS, group_protocol="streams")
    trial.run(sent, "before")
    before = trial.internal()
    facts = side_facts(trial, "before")
    with fleet_of(trial, facts, tmp_path):
        perform_reset(planned_reset(trial, facts, tmp_path), trial)
    assert (trial.group().type, trial.group().members) == ("streams", ())
    now = trial.internal()
    assert now.keys() == before.keys()
    assert not {one for one, _ in now.values()} & {one for one, _ in before.values()}
    assert trial.run(sent, "before") == {}
    assert trial.internal() == now
    assert trial.longs("amounts-out") == trial.longs("refunds-out") == dict.fromkeys(KEYS, 2)
