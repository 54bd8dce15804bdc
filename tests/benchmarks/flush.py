"""`make bench-flush`: a control-topic flush by swapped inputs, compared with the same steps done manually.

Repeats alternate between the runbook and the hand, each from a fresh application under the same traffic. The hold is
the time from the request of the first stop until the group is EMPTY for the change; the gap goes from the request of
the second stop to the first output after it. Airflow's own part is what passes between the last evidence of a task and
the note with which the next one begins, up to the last start: the scheduler, and the start of a process.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.steps.run.ending import BEGUN
from lab import application, kafka
from lab.afresh import afresh, empty_group
from lab.airflow import APPROVER
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.follow import follow
from lab.stack import Stack
from world.flushing import SWAP
from world.runs import trigger_other

from benchmarks.bump import on_a_stack, spread

SCHEMA_VERSION = 1
REPEATS = 3
AIM = 1.2
_DAG = "control_topic_flush"
_GROUP = "orders"
_EMPTY = {topic: f"by-hand-{topic}" for topic in kafka.INPUTS}
_PARAMS = {"release": WITHOUT_REPARTITION, **SWAP}
_WARM_UP_S = 10
_SETTLE_S = 10
_LOOK_EVERY_S = 5
# As the runbook's gate reads: gate_good_readings and gate_interval_s of the fleet entry.
_GOOD_READINGS = 3
_READ_EVERY_S = 1


@dataclass(frozen=True)
class Flush:
    """One flush: requests of both stops and the proof that the group is EMPTY after the second, Unix ms.

    `airflow_hold_s` and `airflow_gap_s` are Airflow's own part of the hold and of the gap.
    """

    first_stop_ms: int
    empty_ms: int
    second_stop_ms: int
    output_ms: int
    airflow_hold_s: float = 0
    airflow_gap_s: float = 0

    @property
    def hold_s(self) -> float:
        """From pause to EMPTY, without Airflow's own part."""
        return (self.empty_ms - self.first_stop_ms) / 1000 - self.airflow_hold_s

    @property
    def gap_s(self) -> float:
        """From the second stop to the first output, without Airflow's own part."""
        return (self.output_ms - self.second_stop_ms) / 1000 - self.airflow_gap_s


def by_runbook(made: Stack) -> Flush:
    """A run of the runbook."""
    _fresh(made)
    run_id = trigger_other(made, _DAG, **_PARAMS)
    # Asked seldom: each look at the API costs the processor time that the application needs.
    state = follow(made.api(), _DAG, run_id, approver=made.api(APPROVER), poll_s=_LOOK_EVERY_S)
    if state != "success":
        raise SystemExit(f"the flush ended {state}; read its log in {made.lab.logs}")
    key = f"{_DAG}/{run_id}"
    ledger = Ledger.open(made.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    kept = ledger.evidence(key)
    first, second = (one.payload["requested_ms"] for one in ledger.evidence(key, kind="write", name="stop"))
    proofs = ledger.evidence(key, kind="verdict", name="group_is_empty")
    empty = next(one.at_ms for one in proofs if one.at_ms > second and one.payload["result"]["outcome"] == "proceed")
    started = max(one.payload["times"]["started_ms"] for one in ledger.evidence(key, kind="write", name="restart"))
    output = _first_output(made, empty)
    return Flush(first, empty, second, output, _airflow_s(kept, first, empty), _airflow_s(kept, empty, started))


def by_hand(made: Stack) -> Flush:
    """The same stops, starts and offsets, one after another."""
    _fresh(made)
    lab, running = made.lab, Deployed(release=WITH_REPARTITION)
    first = _now_ms()
    _stop(made, running)
    admin = AdminClient({"bootstrap.servers": lab.bootstrap})
    again = [one for one in _committed(admin) if one.topic in _EMPTY]
    _commit(admin, again)
    kafka.create_topics(lab.bootstrap, _EMPTY.values())
    _commit(
        admin, [TopicPartition(topic, number, 0) for topic in _EMPTY.values() for number in range(kafka.PARTITIONS)]
    )
    _start(made, Deployed(release=WITH_REPARTITION, settings={f"topic.{one}": name for one, name in _EMPTY.items()}))
    _wait_read(made)
    second = _now_ms()
    _stop(made, running)
    empty = _now_ms()
    held = {(one.topic, one.partition): one.offset for one in again}
    now = {(one.topic, one.partition): one.offset for one in _committed(admin)}
    _commit(admin, [TopicPartition(*place, offset) for place, offset in held.items() if now.get(place) != offset])
    _start(made, Deployed(release=WITHOUT_REPARTITION))
    return Flush(first, empty, second, _first_output(made, empty))


def _fresh(made: Stack) -> None:
    afresh(made, Deployed(release=WITH_REPARTITION))
    made.start_traffic()
    time.sleep(_WARM_UP_S)


def _stop(made: Stack, deployed: Deployed) -> None:
    made.supervisor.stop(*deployed.names)
    empty_group(made.lab.bootstrap, _GROUP)


def _start(made: Stack, deployed: Deployed) -> None:
    application.write_instances(made.lab, deployed)
    made.supervisor.start(*deployed.names)
    application.wait_running(made.lab, made.supervisor, deployed.names)


def _wait_read(made: Stack) -> None:
    """The repartition topics read to their ends, in as many readings in a row as the runbook takes for its proof."""
    good = 0
    while good < _GOOD_READINGS:
        lag = kafka.lag(made.lab.bootstrap, _GROUP)
        left = {name for name in lag if name.rpartition("-")[0] not in _EMPTY}
        good = 0 if left else good + 1
        time.sleep(_READ_EVERY_S)


def _committed(admin: AdminClient) -> list[TopicPartition]:
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(_GROUP)])
    return list(answer[_GROUP].result().topic_partitions)


def _commit(admin: AdminClient, offsets: list[TopicPartition]) -> None:
    if offsets:
        admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(_GROUP, offsets)])[_GROUP].result()


def _first_output(made: Stack, after_ms: int) -> int:
    """When the first record after a time was appended to an output."""
    time.sleep(_SETTLE_S)
    return min(one.at_ms for one in kafka.appended(made.lab.bootstrap, "orders-running") if one.at_ms > after_ms)


def _airflow_s(kept: Sequence[Evidence], since_ms: int, until_ms: int) -> float:
    """Seconds between the tasks of a run, as far as they lie between two times."""
    return sum(_between(kept, since_ms, until_ms)) / 1000


def _between(kept: Sequence[Evidence], since_ms: int, until_ms: int) -> Iterator[int]:
    for before, after in pairwise(kept):
        if before.task_id != after.task_id and after.name == BEGUN:
            yield max(0, min(after.at_ms, until_ms) - max(before.at_ms, since_ms))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def measured(made: Stack, repeats: int) -> dict[str, Any]:
    """The document: both ways and their ratio in each repeat, and Airflow's own part."""
    pairs = []
    for repeat in range(1, repeats + 1):
        runbook, hand = by_runbook(made), by_hand(made)
        pairs.append((runbook, hand))
        print(
            f"repeat {repeat} of {repeats}: hold {runbook.hold_s:.2f} s and {runbook.airflow_hold_s:.2f} s of Airflow, "
            f"{hand.hold_s:.2f} s by hand; gap {runbook.gap_s:.2f} s and {runbook.airflow_gap_s:.2f} s of Airflow, "
            f"{hand.gap_s:.2f} s by hand",
            file=sys.stderr,
        )
    return {
        "schema_version": SCHEMA_VERSION,
        "repeats": repeats,
        "hold_by_runbook_s": spread([one.hold_s for one, _ in pairs]),
        "hold_of_airflow_s": spread([one.airflow_hold_s for one, _ in pairs]),
        "hold_by_hand_s": spread([one.hold_s for _, one in pairs]),
        "hold_ratio": {**spread([a.hold_s / b.hold_s for a, b in pairs]), "aim": AIM},
        "gap_by_runbook_s": spread([one.gap_s for one, _ in pairs]),
        "gap_of_airflow_s": spread([one.airflow_gap_s for one, _ in pairs]),
        "gap_by_hand_s": spread([one.gap_s for _, one in pairs]),
        "gap_ratio": {**spread([a.gap_s / b.gap_s for a, b in pairs]), "aim": AIM},
    }


if __name__ == "__main__":
    on_a_stack(_DAG, measured, REPEATS)
