"""What `plan` says of names before a release starts, beside what broker, application and disk then have."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.decide.topology.partitions import partition_counts
from kstreams_runbooks.terminal.change.inputs import read_side
from lab.application import TO_RELEASE
from lab.settings import CHECKOUT
from lab.trial import JAVA, PROGRAM, Instance, Trial, class_path
from world.given import Kafka
from world.pairs import PAIRS, described

COUNTS = CHECKOUT / "tests" / "integration" / "java" / "RepartitionCounts.java"
_INSTANCE = "instance-1"
_BUILD_S = 300
# Every partition of every topic, those of repartition topics too, gets some of them.
_KEYS = 40


@dataclass(frozen=True)
class Case:
    """A pair, and the partitions that its inputs have on the cluster: other numbers, so that a wrong rule is seen."""

    pair: str
    inputs: Mapping[str, int]
    static_membership: bool = False

    @property
    def application_id(self) -> str:
        """One of its own: the internal topics of one case are not those of another."""
        return f"predicted-{self.pair}"


CASES = (
    Case("group-by-added-under-static-membership", {"payments": 3}, static_membership=True),
    Case("group-by-to-group-by-key", {"payments": 3}),
    Case("filter-before-unnamed-group-by", {"clicks": 6}),
    Case("named-subtopologies-swapped", {"payments": 3, "refunds": 6}),
    Case("foreign-key-join-renamed", {"trades": 3, "traders": 6}),
    Case("optimization-enabled-for-named-table", {"users": 3}),
)
REFUSED = Case("repartition-added", {"events": 3})


def process_some(trial: Trial, case: Case, instance: Instance) -> None:
    """Records into every input, and return when the group has committed all that it reads."""
    instance.wait_running()
    for topic in case.inputs:
        trial.send(topic, [(f"{number:03}", f"{number:03},{number}".encode()) for number in range(_KEYS)])
    trial.wait_committed(instance)


@pytest.fixture(scope="module")
def classes() -> str:
    """The pairs, compiled for the release, and what runs them."""
    return class_path(TO_RELEASE)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """The case that the test is for."""
    found: Case = request.param
    return found


@pytest.fixture
def trial(case: Case, kafka: Kafka, classes: str, tmp_path: Path) -> Iterator[Trial]:
    """The case on the broker."""
    outputs = {name for topology in described(case.pair) for name in Side(topology).written()}
    topics = {**dict.fromkeys(outputs, 1), **case.inputs}
    settings = {"group.instance.id": _INSTANCE} if case.static_membership else {}
    made = Trial(case.pair, topics, kafka.bootstrap, classes, tmp_path, case.application_id, settings)
    try:
        yield made
    finally:
        made.clean()


# One tells whether prediction and library agree at all; the others, of other kinds of topics, are `make test-long`'s.
IN_EVERY_RUN = {"group-by-added-under-static-membership"}
TRIALS = [pytest.param(case, marks=() if case.pair in IN_EVERY_RUN else pytest.mark.long) for case in CASES]


@pytest.mark.parametrize("case", TRIALS, ids=[case.pair for case in CASES], indirect=True)
def test_what_is_told_before_is_there_after(case: Case, trial: Trial) -> None:
    """The plan is kept while the old version runs; it is stopped, the group emptied, and the new one started."""
    with trial.instance("before") as instance:
        process_some(trial, case, instance)
        old = trial.internal()
        plan = trial.plan(instance)
    # Streams counts its threads: instance-1-1.
    members = {member.instance_id for member in trial.group().members}
    assert members == {f"{_INSTANCE}-1" if case.static_membership else None}
    trial.empty_the_group()
    left = trial.directories()
    held = trial.held([one["changelog"] for one in plan["restores"]])
    with trial.instance("after") as instance:
        process_some(trial, case, instance)
        new, read = trial.internal(), trial.read()
        tasks, restored = instance.tasks(), instance.restored()
    created, orphaned, kept = (
        {topic["name"]: topic["partitions"] for topic in plan["internal_topics"][what]}
        for what in ("created", "orphaned", "kept")
    )

    assert created == {name: new[name][1] for name in new.keys() - old.keys()}
    assert orphaned | kept == {name: partitions for name, (_, partitions) in old.items()}
    assert {name: new.get(name) for name in old} == old, "a topic was made anew, or is gone"
    assert not orphaned.keys() & read
    assert 0 not in trial.held(created.keys() & read).values(), "a new topic got nothing: nothing was proven by it"
    assert restored == {one["store"]: held[one["changelog"]] for one in plan["restores"]}
    stale = tuple(plan["stale_task_directories"])
    assert {name for name in left if stale and name.startswith(stale)} == trial.directories().keys() - tasks


@pytest.mark.parametrize("case", [REFUSED], ids=[REFUSED.pair], indirect=True)
def test_a_changelog_that_stays_with_another_number_of_partitions_ends_the_new_version(
    case: Case, trial: Trial
) -> None:
    """A repartition topic with more partitions than the input: the store behind it keeps its changelog."""
    with trial.instance("before") as instance:
        process_some(trial, case, instance)
        before, after = trial.sides(instance)
    trial.empty_the_group()
    [topic] = predicted(Compared(read_side(before), read_side(after))).refused
    _, there = trial.internal()[topic.name]
    with trial.instance("after") as instance:
        assert f"{topic.name} has invalid partitions: expected: {topic.partitions}; actual: {there}" in (
            instance.wait_failed()
        )


@pytest.mark.usefixtures("kafka")  # whatever starts a broker has built the releases
def test_every_pair_has_the_partitions_that_the_library_computes(classes: str) -> None:
    """Its own classes are asked, for numbers drawn at random for the inputs."""
    asked = subprocess.run(
        [*JAVA, "-cp", classes, str(COUNTS)], capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert asked.returncode == 0, asked.stderr[-4000:]
    answers = [line.split("|") for line in asked.stdout.splitlines()]
    assert {pair for pair, *_ in answers} == {path.name for path in PAIRS.iterdir() if released(path.name)}
    for pair, side, given, made in answers:
        topology = described(pair)[side == "after"]
        counts = partition_counts(topology, numbers(given))
        assert {name: counts.get(name) for name in numbers(made)} == numbers(made), (pair, side, given)


def numbers(text: str) -> dict[str, int]:
    """`name=number,name=number`."""
    return {name: int(number) for name, _, number in (one.partition("=") for one in text.split(",") if one)}


def released(pair: str) -> bool:
    """Whether the release builds the pair."""
    built: dict[str, list[str]] = json.loads((PROGRAM / "built.json").read_text("utf-8"))
    return TO_RELEASE in built[pair]
