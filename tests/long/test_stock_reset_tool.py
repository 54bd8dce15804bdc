"""A reset of a real application next to kafka-streams-application-reset of the same Kafka, on a copy of it.

Both applications have a neighbour whose `application.id` begins like their own. Source: KAFKA-14922.
"""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from lab.application import TO_RELEASE
from lab.kafka_tools import application_reset
from lab.trial import Begin, Instance, Trial
from world.performed_reset import fleet_of, perform_reset, planned_reset
from world.side_facts import side_facts

pytestmark = pytest.mark.long

KEYS = [f"{number:03}" for number in range(20)]
ONE_EACH = [(key, f"{key},1".encode()) for key in KEYS]
TOPICS = {"payments": 2, "payment-counts": 1}
TASKS = ("0_", "1_")
TIMES = 3
_TOOL_S = 120


@dataclass
class Copy:
    """An application that has counted each key three times and is stopped, and its neighbour."""

    one: Trial
    neighbour: Trial

    def internal(self) -> dict[str, tuple[str, int]]:
        """Ids and partitions of its own internal topics, by their names without its application.id."""
        found = self.one.internal()
        return {
            name.removeprefix(f"{self.one.application_id}-"): topic
            for name, topic in found.items()
            if not name.startswith(f"{self.neighbour.application_id}-")
        }

    def committed(self) -> dict[tuple[str, int], int]:
        """Its committed offsets, by topic and partition, without its application.id."""
        with ClusterReader({"bootstrap.servers": self.one.bootstrap}) as reader:
            found = read_saved(reader, self.one.application_id).offsets
        return {(row.topic.removeprefix(f"{self.one.application_id}-"), row.partition): row.offset for row in found}

    def outcome(self) -> tuple[dict[str, int], dict[tuple[str, int], int], dict[str, int]]:
        """What the application has: internal topics with their partitions, committed offsets, counts."""
        topics = {name: partitions for name, (_, partitions) in self.internal().items()}
        return topics, self.committed(), counts(self.one)


def changelog(trial: Trial) -> str:
    return f"{trial.application_id}-payments-store-changelog"


def counts(trial: Trial) -> dict[str, int]:
    """The newest count of each key."""
    return trial.longs(changelog(trial))


def in_order(trial: Trial) -> list[int]:
    """The counts of one key, first to last."""
    found = [one.value() for one in trial.records(changelog(trial)) if one.key() == KEYS[0].encode()]
    return [int.from_bytes(value or b"", signed=True) for value in found]


def held_of(trial: Trial) -> int:
    """Records in its changelog."""
    return trial.held([changelog(trial)])[changelog(trial)]


def process(*trials: Trial, again: int = 0) -> dict[str, int]:
    """Let these applications run on new records until all of them are read; records that the last one restored."""
    with ExitStack() as stack:
        running: list[tuple[Trial, Instance]] = [
            (trial, stack.enter_context(trial.instance("before"))) for trial in trials
        ]
        for _, instance in running:
            instance.wait_running()
        for _ in range(again):
            trials[0].send("payments", ONE_EACH)
        for trial, instance in running:
            trial.wait_committed(instance)
    for trial in trials:
        trial.empty_the_group()
    return running[-1][1].restored()


@pytest.fixture
def copies(begin: Begin) -> Iterator[tuple[Copy, Copy]]:
    """Two copies of one application, which read the same input; each has counted."""
    pair = "group-by-to-group-by-key"
    made = []
    for topics in (TOPICS, {}):
        one = begin(pair, topics, TO_RELEASE)
        made.append(Copy(one, one.beside("v2")))
    process(*(trial for copy in made for trial in (copy.one, copy.neighbour)), again=TIMES)
    yield made[0], made[1]
    for copy in made:
        copy.neighbour.clean()


def test_the_application_ends_alike_and_the_neighbour_does_not(copies: tuple[Copy, Copy], tmp_path: Path) -> None:
    """Its own offsets, topics and counts are those of the stock tool; the neighbour is intact here alone.

    Local state is deleted manually next to the stock tool, which leaves it.
    """
    ours, stock = copies
    ids = [{name: topic_id for name, (topic_id, _) in copy.neighbour.internal().items()} for copy in copies]
    held = len(KEYS) * TIMES
    assert [held_of(copy.neighbour) for copy in copies] == [held, held]
    before = ours.internal()

    facts = side_facts(ours.one, "before")
    with fleet_of(ours.one, facts, tmp_path), ours.neighbour.instance("before") as neighbour:
        # It goes on meanwhile.
        neighbour.wait_running()
        perform_reset(planned_reset(ours.one, facts, tmp_path), ours.one)
    ours.neighbour.empty_the_group()
    command = application_reset(
        stock.one.bootstrap, "--application-id", stock.one.application_id, "--input-topics", "payments", "--force"
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    stock.one.delete_directories(TASKS)

    assert {name: topic_id for name, (topic_id, _) in ours.neighbour.internal().items()} == ids[0]
    assert stock.neighbour.internal() == {}
    assert [held_of(copy.neighbour) for copy in copies] == [held, 0]
    now = ours.internal()
    assert now.keys() == before.keys()
    assert not {one for one, _ in now.values()} & {one for one, _ in before.values()}
    for copy in copies:
        inputs = {place: offset for place, offset in copy.committed().items() if place[0] == "payments"}
        assert inputs == {("payments", 0): 0, ("payments", 1): 0}

    process(ours.one, stock.one)
    assert ours.outcome() == stock.outcome()
    assert counts(ours.one) == dict.fromkeys(KEYS, TIMES)

    # On another machine: what only a changelog has is restored from it.
    for copy in copies:
        copy.neighbour.delete_directories(TASKS)
    restored = [process(copy.neighbour, again=1) for copy in copies]
    assert restored == [{"payments-store": held}, {}]
    assert in_order(ours.neighbour) == list(range(1, TIMES + 2))
    # It has read the records of both turns, and begins at 1.
    assert in_order(stock.neighbour) == [1, 2]
