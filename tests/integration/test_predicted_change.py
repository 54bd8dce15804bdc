"""What `plan` says of names before a release starts, beside what broker, application and disk then have."""

import json
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.decide.topology.partitions import partition_counts
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.properties import dump
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
from lab.application import TO_RELEASE
from lab.kafka import create_topics
from lab.settings import CHECKOUT
from lab.supervise import log_tail, until
from world.given import Kafka
from world.pairs import DECLARED, PAIRS, described

PROGRAM = CHECKOUT / "tests" / "apps" / "topologies"
COUNTS = CHECKOUT / "tests" / "integration" / "java" / "RepartitionCounts.java"
LIBRARY = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases" / TO_RELEASE
_COMMAND = CHECKOUT / ".venv" / "bin" / "kstreams-runbooks"
_LOG = "-Dorg.slf4j.simpleLogger."
_QUIET = (f"{_LOG}logFile=System.err", f"{_LOG}defaultLogLevel=warn")
_JAVA = ("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *_QUIET)
_SERDE = "org.apache.kafka.common.serialization.Serdes$StringSerde"
_INSTANCE = "instance-1"
_BUILD_S = 300
_WAIT_S = 60
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


class Instance:
    """One topology of a pair, run by the real library; what it says is in a file."""

    def __init__(self, process: "subprocess.Popen[bytes]", said: Path) -> None:
        self._process = process
        self._said = said

    def said(self, kind: str) -> list[str]:
        """What it said in lines of one kind, without their first word."""
        lines = (line.partition(" ") for line in self._said.read_text("utf-8").splitlines())
        return [rest for word, _, rest in lines if word == kind]

    def require_alive(self) -> None:
        """An instance that ended by itself fails the test."""
        assert self._process.poll() is None, log_tail(self._said.with_suffix(".err"), 60)

    def wait_running(self) -> None:
        """Return when it says RUNNING and has tasks."""

        def running() -> bool:
            self.require_alive()
            return self.said("state")[-1:] == ["RUNNING"] and bool(self.said("tasks"))

        until(running, _WAIT_S, f"RUNNING; read {self._said}")

    def wait_failed(self) -> str:
        """Why it ended."""
        until(lambda: self._process.poll() is not None, _WAIT_S, f"it ends; read {self._said}")
        return "\n".join(self.said("failed"))

    def tasks(self) -> set[str]:
        """The tasks that it has."""
        return set(self.said("tasks")[-1].split())

    def restored(self) -> dict[str, int]:
        """Records that each store read back, for those that read any."""
        found: dict[str, int] = {}
        for store, _, records in (line.split() for line in self.said("restored")):
            found[store] = found.get(store, 0) + int(records)
        return {store: records for store, records in found.items() if records}


class Trial:
    """One case on one broker, with one instance at a time."""

    def __init__(self, case: Case, bootstrap: str, class_path: str, directory: Path) -> None:
        self.case = case
        self.directory = directory
        self._bootstrap = bootstrap
        self._class_path = class_path
        sides = [Side(topology) for topology in described(case.pair)]
        self._outputs = {name for side in sides for name in side.written()} - case.inputs.keys()
        for name, partitions in {**dict.fromkeys(self._outputs, 1), **case.inputs}.items():
            create_topics(bootstrap, [name], partitions)

    @contextmanager
    def instance(self, side: str) -> Iterator[Instance]:
        """The old or the new topology for as long as the body runs; then it is stopped cleanly."""
        settings = {
            "application.id": self.case.application_id,
            "bootstrap.servers": self._bootstrap,
            "state.dir": str(self.directory / "state"),
            "commit.interval.ms": "200",
            "default.key.serde": _SERDE,
            "default.value.serde": _SERDE,
            **({"group.instance.id": _INSTANCE} if self.case.static_membership else {}),
        }
        properties, out, err = (self.directory / f"{side}.{ending}" for ending in ("properties", "out", "err"))
        properties.write_text(dump(settings), encoding="latin-1")
        command = [*_JAVA, "-cp", self._class_path, "topologies.Run", self.case.pair, side, str(properties)]
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        try:
            yield Instance(process, out)
        finally:
            process.terminate()
            try:
                process.wait(_WAIT_S)
            finally:
                process.kill()

    def process_some(self, instance: Instance) -> None:
        """Records into every input, and return when the group has committed all that it reads."""
        instance.wait_running()
        producer = Producer({"bootstrap.servers": self._bootstrap, "partitioner": "murmur2_random"})
        for topic in self.case.inputs:
            for number in range(_KEYS):
                producer.produce(topic, key=f"{number:03}", value=f"{number:03},{number}")
        assert producer.flush(_WAIT_S) == 0

        def committed() -> bool:
            instance.require_alive()
            places = self._offsets(self.read())
            return bool(places) and all(place.log_end_offset in {0, place.committed} for place in places)

        until(committed, _WAIT_S, f"{self.case.pair}: all that is read is committed", poll_s=0.3)

    def internal(self) -> dict[str, tuple[str, int]]:
        """Id and number of partitions of every topic that begins with the application's id."""
        with self._reader() as reader:
            names = [name for name in reader.topic_names() if name.startswith(f"{self.case.application_id}-")]
            return {topic.name: (topic.topic_id, topic.partitions) for topic in reader.topics(names)}

    def group(self) -> GroupReading:
        """The application's group."""
        with self._reader() as reader:
            found = reader.group(self.case.application_id)
        assert isinstance(found, GroupReading), found
        return found

    def read(self) -> set[str]:
        """Topics that a member of the group is assigned."""
        return {place.rpartition("-")[0] for member in self.group().members for place in member.partitions}

    def held(self, topics: Collection[str]) -> dict[str, int]:
        """Records in each of these topics."""
        found = dict.fromkeys(topics, 0)
        for place in self._offsets(topics):
            assert place.log_end_offset is not None
            assert place.log_start_offset is not None
            found[place.topic] += place.log_end_offset - place.log_start_offset
        return found

    def directories(self) -> set[str]:
        """Names of the task directories."""
        return {path.name for path in (self.directory / "state" / self.case.application_id).glob("[0-9]*_[0-9]*")}

    def empty_the_group(self) -> None:
        """Remove the members that a stop leaves behind, static or not, until the group is EMPTY."""
        group = self.group()
        if group.members:
            writer = GroupWriter({"bootstrap.servers": self._bootstrap}, dry_run=False)
            writer.remove_members(self.case.application_id, group.members)

        def empty() -> bool:
            return group_is_empty(self.group(), self.case.application_id).outcome is Outcome.PROCEED

        until(empty, _WAIT_S, f"{self.case.pair}: the group is EMPTY")

    def sides(self) -> tuple[SideFiles, SideFiles]:
        """Both descriptions with their declarations, which have this application's id and the cluster's partitions."""
        before, after = (
            SideFiles(PAIRS / self.case.pair / f"{side}.txt", self._declaration(side)) for side in ("before", "after")
        )
        return before, after

    def plan(self) -> dict[str, Any]:
        """What the command says, as it is kept in a file."""
        before, after = self.sides()
        texts = ("--from-topology", before.topology, "--to-topology", after.topology)
        declarations = ("--from-declaration", before.declaration, "--to-declaration", after.declaration)
        command = [str(word) for word in (_COMMAND, "plan", *texts, *declarations, "--format", "json")]
        kept = self.directory / "plan.json"
        with kept.open("w", encoding="utf-8") as out:
            answer = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert answer.returncode in {0, 1}, answer.stderr + kept.read_text("utf-8")
        found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
        return found

    def clean(self) -> None:
        """Leave nothing on the broker."""
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        names = {*self.case.inputs, *self._outputs, *self.internal()}
        for future in admin.delete_topics(sorted(names)).values():
            future.result()
        until(lambda: not names & set(admin.list_topics(timeout=_WAIT_S).topics), _WAIT_S, "the topics are gone")
        self.empty_the_group()
        admin.delete_consumer_groups([self.case.application_id])[self.case.application_id].result()

    def _declaration(self, side: str) -> Path:
        entry = yaml.safe_load((DECLARED / self.case.pair / f"{side}.yaml").read_text("utf-8"))
        entry["config"]["application.id"] = self.case.application_id
        for topic, partitions in self.case.inputs.items():
            if topic in entry["topics"]:
                entry["topics"][topic]["partitions"] = partitions
        file = self.directory / f"{side}.yaml"
        file.write_text(yaml.safe_dump(entry), encoding="utf-8")
        return file

    def _offsets(self, topics: Collection[str]) -> tuple[PartitionLag, ...]:
        with self._reader() as reader:
            there = reader.topics(topics)
            roles: dict[str, LagRole] = {topic.name: "source" for topic in there}
            found = read_partitions(reader, self.case.application_id, roles, there)
        assert not isinstance(found, Missing), found
        return found

    def _reader(self) -> ClusterReader:
        return ClusterReader({"bootstrap.servers": self._bootstrap})


@pytest.fixture(scope="module")
def class_path() -> str:
    """The pairs, compiled for the release, and what runs them: the jars of the orders application."""
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "compile", f"-Dkafka.version={TO_RELEASE}"]
    built = subprocess.run(
        command, cwd=PROGRAM, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert built.returncode == 0, built.stdout[-4000:]
    return f"{PROGRAM / 'target' / TO_RELEASE / 'classes'}:{LIBRARY}/*"


@pytest.fixture
def trial(request: pytest.FixtureRequest, kafka: Kafka, class_path: str, tmp_path: Path) -> Iterator[Trial]:
    """The case that the test is for."""
    made = Trial(request.param, kafka.bootstrap, class_path, tmp_path)
    try:
        yield made
    finally:
        made.clean()


# One tells whether prediction and library agree at all; the others, of other kinds of topics, are `make test-long`'s.
IN_EVERY_RUN = {"group-by-added-under-static-membership"}
TRIALS = [pytest.param(case, marks=() if case.pair in IN_EVERY_RUN else pytest.mark.long) for case in CASES]


@pytest.mark.parametrize("trial", TRIALS, ids=[case.pair for case in CASES], indirect=True)
def test_what_is_told_before_is_there_after(trial: Trial) -> None:
    """The plan is kept while the old version runs; it is stopped, the group emptied, and the new one started."""
    with trial.instance("before") as instance:
        trial.process_some(instance)
        old = trial.internal()
        plan = trial.plan()
    # Streams counts its threads: instance-1-1.
    members = {member.instance_id for member in trial.group().members}
    assert members == {f"{_INSTANCE}-1" if trial.case.static_membership else None}
    trial.empty_the_group()
    left = trial.directories()
    held = trial.held([one["changelog"] for one in plan["restores"]])
    with trial.instance("after") as instance:
        trial.process_some(instance)
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
    assert {name for name in left if stale and name.startswith(stale)} == trial.directories() - tasks


@pytest.mark.parametrize("trial", [REFUSED], ids=[REFUSED.pair], indirect=True)
def test_a_changelog_that_stays_with_another_number_of_partitions_ends_the_new_version(trial: Trial) -> None:
    """A repartition topic with more partitions than the input: the store behind it keeps its changelog."""
    with trial.instance("before") as instance:
        trial.process_some(instance)
    trial.empty_the_group()
    before, after = trial.sides()
    [topic] = predicted(Compared(read_side(before), read_side(after))).refused
    _, there = trial.internal()[topic.name]
    with trial.instance("after") as instance:
        assert f"{topic.name} has invalid partitions: expected: {topic.partitions}; actual: {there}" in (
            instance.wait_failed()
        )


@pytest.mark.usefixtures("kafka")  # whatever starts a broker has built the releases
def test_every_pair_has_the_partitions_that_the_library_computes(class_path: str) -> None:
    """Its own classes are asked, for numbers drawn at random for the inputs."""
    asked = subprocess.run(
        [*_JAVA, "-cp", class_path, str(COUNTS)], capture_output=True, text=True, timeout=_BUILD_S, check=False
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
