"""The result document from what logs, topics and evidence say."""

from typing import Any

import pytest
from lab.kafka import Appended
from lab.report import (
    Facts,
    InstanceStart,
    Rolled,
    TopicIds,
    document,
    gap,
    rolled_in,
    silence,
    slowest_second,
    starts_in,
)

# Shortened, in the order in which they are printed: 3.4.1 names its class, 4.3.1 the parent's; clients follow.
LOG_OF_3_4_1 = """\
2026-11-21T04:46:08.040Z [main] INFO org.apache.kafka.streams.StreamsConfig - StreamsConfig values:\x20
	acceptable.recovery.lag = 10000
	upgrade.from = null
	window.size.ms = null

Jolokia: Agent 2.5.1 started with URL http://127.0.0.1:23011/jolokia and PID 17591
2026-11-21T04:46:10.589Z [main] INFO org.apache.kafka.clients.admin.AdminClientConfig - AdminClientConfig values:\x20
2026-11-21T04:46:10.793Z [main] INFO org.apache.kafka.common.utils.AppInfoParser - Kafka version: 3.4.1
2026-11-21T04:46:10.809Z [main] INFO o.a.k.streams.KafkaStreams - stream-client [x] Kafka Streams version: 3.4.1
2026-11-21T04:46:11.281Z [main] INFO org.apache.kafka.common.utils.AppInfoParser - Kafka version: 3.4.1
"""
LOG_OF_4_3_1 = """\
2026-11-21T04:46:52.935Z [main] INFO org.apache.kafka.common.config.AbstractConfig - StreamsConfig values:\x20
	topology.optimization = none
	upgrade.from = {upgrade_from}
2026-11-21T04:46:54.763Z [main] INFO o.a.k.streams.KafkaStreams - stream-client [x] Kafka Streams version: 4.3.1
2026-11-21T04:46:54.999Z [main] INFO org.apache.kafka.common.utils.AppInfoParser - Kafka version: 4.3.1
"""
LOG = LOG_OF_3_4_1 + LOG_OF_4_3_1.format(upgrade_from="3.4") + LOG_OF_4_3_1.format(upgrade_from="null")

CLEAN = {"missing": 0, "extra": 0, "duplicate": 0, "out_of_order": 0}


def judge(**changed: Any) -> dict[str, Any]:
    return {"verdict": "ok", "inputs_seen": 30_000, **CLEAN, "outputs": []} | changed


def facts(**changed: Any) -> Facts:
    values: dict[str, Any] = {
        "run": {"state": "success", "run_id": "demo-1"},
        "judge": judge(),
        "rolled": [
            Rolled(1, "orders-1", 1_500, 2_000, 5_000),
            Rolled(1, "orders-2", 6_000, 6_500, 8_500),
            Rolled(2, "orders-1", 20_000, 20_500, 23_000),
        ],
        "logs": {"orders-1": LOG},
        "inputs": [Appended(0, at) for at in range(0, 30_000, 4)],
        "outputs": [],
        "seconds": {"run": 60.0},
    }
    return Facts(**(values | changed))


def test_every_start_is_read_once_with_its_own_settings() -> None:
    """Clients print the version too, after the application; upgrade.from belongs to the block before it."""
    assert starts_in(LOG) == [
        InstanceStart("3.4.1", None),
        InstanceStart("4.3.1", "3.4"),
        InstanceStart("4.3.1", None),
    ]


def test_a_start_that_ended_before_its_version_does_not_count() -> None:
    """A bad setting ends the process after the block; the next start has a block of its own."""
    broken = LOG_OF_3_4_1.splitlines()[:3]
    assert starts_in("\n".join(broken) + "\n" + LOG_OF_3_4_1) == [InstanceStart("3.4.1", None)]
    assert starts_in("") == []


def test_the_document_says_what_each_instance_has_run() -> None:
    """Versions in their order; upgrade.from of the restarts, where None is none."""
    seen = document(facts())["instances"]["orders-1"]
    assert seen["versions_seen"] == ["3.4.1", "4.3.1"]
    assert seen["upgrade_from_seen"] == ["3.4", None]
    assert len(seen["starts"]) == 3


def test_the_slowest_second_counts_whole_seconds_alone() -> None:
    """The seconds in which a bounce begins and ends are not whole, and a silent one is 0."""
    inputs = [Appended(0, at) for at in (1_900, 2_000, 2_500, 3_100, 3_200, 3_300, 4_000)]
    assert slowest_second(inputs, 1_800, 4_100) == 2
    assert slowest_second(inputs, 1_000, 9_000) == 0
    assert slowest_second(inputs, 1_100, 1_900) is None


def test_the_gap_is_the_longest_silence_of_a_partition_around_the_restart() -> None:
    """Silence before the stop and after the gate belongs to somebody else."""
    going = [Appended(0, at) for at in range(0, 60_000, 10)]
    silent = [Appended(1, at) for at in (0, 9_900, 10_100, 13_700, 13_710, 15_100, 40_000)]
    assert gap(going + silent, Rolled(1, "orders-1", 10_000, 11_000, 15_000)) == 3.6
    assert gap(going + silent, Rolled(1, "orders-1", 10_000, 11_000, None)) is None


def test_bounces_are_counted_and_bounded_by_the_evidence() -> None:
    """First stop to last gate, with the rate between them."""
    result = document(facts())
    assert result["bounces"] == 2
    assert result["records_per_second_min"] == [250, 250]
    assert [(one["stopped_at_ms"], one["gate_passed_at_ms"]) for one in result["per_bounce"]] == [
        (1_500, 8_500),
        (20_000, 23_000),
    ]
    assert result["per_bounce"][0]["instances"]["orders-2"]["gate_passed_at_ms"] == 8_500


@pytest.mark.parametrize(
    ("state", "verdict", "ok"), [("success", "ok", True), ("failed", "ok", False), ("success", "inconclusive", False)]
)
def test_only_a_completed_run_with_a_clean_judge_is_ok(state: str, verdict: str, ok: bool) -> None:
    """Neither the run nor the judge alone is enough."""
    result = document(facts(run={"state": state, "run_id": "demo-1"}, judge=judge(verdict=verdict)))
    assert result["ok"] is ok


def test_times_come_from_the_write_and_the_first_gate_after_it() -> None:
    """A gate that passed before the restart, or for another instance, is not this one's."""

    def gate(instance: str, at_ms: int, outcome: str = "proceed") -> dict[str, Any]:
        expected = {"instance": instance, "bounce": {"number": 1}}
        payload = {"inputs": {"expected": expected}, "result": {"outcome": outcome}}
        return {"name": "gate", "at_ms": at_ms, "payload": payload}

    times = {"stop_requested_ms": 1_000, "stopped_ms": 1_400, "started_ms": 1_800}
    evidence = {
        "verdicts": [
            gate("orders-1", 900),
            gate("orders-2", 2_000),
            gate("orders-1", 2_500, "refuse"),
            gate("orders-1", 3_000),
            gate("orders-1", 4_000),
        ],
        "writes": [
            {"name": "restart", "payload": {"instance": "orders-1", "bounce": 1, "times": times}},
            {"name": "rehearsed", "payload": {"would_write": []}},
        ],
    }
    assert rolled_in(evidence) == [Rolled(1, "orders-1", 1_000, 1_800, 3_000)]


def test_a_start_on_empty_topics_is_no_bounce_but_begins_the_hold() -> None:
    """It has no output, and no gate; inputs are held from the stop before it until the next start."""
    times = {"stop_requested_ms": 1_000, "stopped_ms": 1_400, "started_ms": 1_800}
    later = {"stop_requested_ms": 9_000, "stopped_ms": 9_400, "started_ms": 9_800}
    evidence = {
        "plan": {"stages": [{"kind": "start_all", "number": 5}, {"kind": "certify", "number": 6}]},
        "verdicts": [],
        "writes": [
            {"name": "restart", "payload": {"instance": "orders-1", "bounce": number, "times": at}}
            for number, at in ((5, times), (11, later))
        ],
    }
    result = document(facts(rolled=rolled_in(evidence)))
    assert (result["bounces"], result["held_seconds"]) == (1, 8.8)
    assert [one["bounce"] for one in result["gaps"]] == [11]
    assert document(facts())["held_seconds"] is None


def test_silence_is_the_longest_time_without_an_output_of_any_partition() -> None:
    """While one instance is restarted the others go on; where all are stopped there is nothing."""
    assert silence([Appended(0, 1_000), Appended(1, 9_000), Appended(0, 4_000), Appended(1, 4_500)]) == 4.5
    assert silence([Appended(0, 1_000)]) is None
    assert document(facts(outputs=[Appended(0, 0), Appended(1, 700)]))["silence_seconds"] == 0.7


@pytest.mark.parametrize(
    ("changes", "ok"),
    [
        ({}, True),
        ({"read": 8}, False),
        ({"missing": 1}, False),
        ({"doubled": 1}, False),
        ({"read": 0, "sent": 0}, False),
    ],
)
def test_a_group_downstream_has_to_read_each_record_once(changes: dict[str, int], ok: bool) -> None:
    """None sent proves nothing."""
    read = {"group": "billing", "topics": ["totals"], "sent": 9, "read": 9, "missing": 0, "doubled": 0, **changes}
    made = document(facts(downstream=read))
    assert (made["ok"], made["downstream"]) == (ok, read)


OLD, NEW = {"a-changelog": "1", "a-repartition": "2"}, {"a-changelog": "3", "a-repartition": "4"}


@pytest.mark.parametrize(
    ("kept", "after", "ok"),
    [
        (True, OLD, True),
        (True, OLD | {"a-changelog": "3"}, False),
        (True, {"a-changelog": "1"}, False),
        (False, NEW, True),
        (False, NEW | {"a-changelog": "1"}, False),
        (False, NEW | {"b-changelog": "5"}, False),
        (False, {}, False),
    ],
)
def test_the_ids_of_internal_topics_are_all_kept_or_all_new(kept: bool, after: dict[str, str], ok: bool) -> None:
    """A topic that is gone or more than before is neither; nothing before proves nothing."""
    found = TopicIds("a", kept, OLD, after)
    assert found.ok is ok
    made = document(facts(internal=[found]))
    assert (made["ok"], made["internal_topics"][0]["ok"]) == (ok, ok)
    assert not TopicIds("a", kept, {}, {}).ok
