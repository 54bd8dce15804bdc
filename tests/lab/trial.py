"""A pair of tests/apps/topologies on a broker: the real library of a release runs either side until it is stopped."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.directories import directories_to_delete, directories_to_undo
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.model.local_state import GLOBAL, TaskDirectories
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.properties import dump
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
from world.pairs import DECLARED

from lab.kafka import create_topics, records
from lab.settings import CHECKOUT
from lab.supervise import log_tail, until

PROGRAM = CHECKOUT / "tests" / "apps" / "topologies"
_LOG = "-Dorg.slf4j.simpleLogger."
_QUIET = (f"{_LOG}logFile=System.err", f"{_LOG}defaultLogLevel=warn")
JAVA = ("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *_QUIET)
_RELEASES = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
_COMMAND = CHECKOUT / ".venv" / "bin" / "kstreams-runbooks"
_SERDES = "org.apache.kafka.common.serialization.Serdes$"
_BUILD_S = 300
WAIT_S = 60
LONGS = f"{_SERDES}LongSerde"

# Key, value and, unless it is the present, the time in ms.
Written = tuple[str, bytes] | tuple[str, bytes, int]
# Records by topic.
Sent = Mapping[str, Sequence[Written]]
Begin = Callable[..., "Trial"]


def long(value: int) -> bytes:
    """The bytes of LongSerde."""
    return value.to_bytes(8, signed=True)


@cache
def class_path(release: str) -> str:
    """Compile the pairs for a release, once; the class path has the jars of the orders application in that release."""
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "compile", f"-Dkafka.version={release}"]
    built = subprocess.run(
        command, cwd=PROGRAM, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert built.returncode == 0, built.stdout[-4000:]
    return f"{PROGRAM / 'target' / release / 'classes'}:{_RELEASES / release}/*"


class Instance:
    """One topology of a pair, run by the real library; what it says is in a file (topologies/Run.java)."""

    def __init__(self, process: "subprocess.Popen[bytes]", said: Path) -> None:
        self._process = process
        self._said = said

    def said(self, kind: str) -> list[str]:
        """What it said in lines of one kind, without their first word."""
        lines = (line.partition(" ") for line in self.lines())
        return [rest for word, _, rest in lines if word == kind]

    def lines(self) -> list[str]:
        """All that it said, in order."""
        return self._said.read_text("utf-8").splitlines()

    def described(self, side: str) -> str:
        """How the library of its release describes a side of the pair."""
        until(lambda: bool(self.said(side)), WAIT_S, f"it describes the pair; read {self._said}")
        return self.said(side)[0].replace("\\n", "\n")

    def require_alive(self) -> None:
        """An instance that ended by itself fails the test."""
        assert self._process.poll() is None, log_tail(self._said.with_suffix(".err"), 60)

    def wait_running(self) -> None:
        """Return when it says RUNNING and has tasks."""

        def running() -> bool:
            self.require_alive()
            return self.said("state")[-1:] == ["RUNNING"] and bool(self.said("tasks"))

        until(running, WAIT_S, f"RUNNING; read {self._said}")

    def wait_failed(self) -> str:
        """Why it ended: the exception, and its causes after ` <- `."""
        until(lambda: self._process.poll() is not None, WAIT_S, f"it ends; read {self._said}")
        return "\n".join(self.said("failed"))

    def stop(self) -> None:
        """Stop it cleanly."""
        self._process.terminate()
        try:
            self._process.wait(WAIT_S)
        finally:
            self._process.kill()

    def kill(self) -> None:
        """End it as SIGKILL does."""
        self._process.kill()
        self._process.wait(WAIT_S)

    def order(self, call: Literal["pause", "resume"]) -> None:
        """Let it call this method of KafkaStreams."""
        before = len(self.said("did"))
        assert self._process.stdin is not None
        self._process.stdin.write(f"{call}\n".encode())
        self._process.stdin.flush()
        until(lambda: len(self.said("did")) > before, WAIT_S, f"{call}; read {self._said}")

    def tasks(self) -> set[str]:
        """The tasks that it has."""
        return set(self.said("tasks")[-1].split())

    def restored(self) -> dict[str, int]:
        """Records that each store read back, for those that read any."""
        found: dict[str, int] = {}
        for store, _, number in (line.split() for line in self.said("restored")):
            found[store] = found.get(store, 0) + int(number)
        return {store: number for store, number in found.items() if number}


@dataclass(frozen=True)
class Trial:
    """One application on one broker. `topics` are the ones that it needs, with their partitions.

    `settings` override what every instance gets; `release` is that of both sides, whose class path is `classes`.
    """

    pair: str
    topics: Mapping[str, int]
    bootstrap: str
    classes: str
    directory: Path
    application_id: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, partitions in self.topics.items():
            create_topics(self.bootstrap, [name], partitions, [name])

    @contextmanager
    def instance(self, side: str, number: int = 1) -> Iterator[Instance]:
        """The old or the new topology for as long as the body runs; then it is stopped cleanly."""
        settings = {
            "application.id": self.application_id,
            "bootstrap.servers": self.bootstrap,
            "state.dir": str(self._state(number)),
            "commit.interval.ms": "200",
            "default.key.serde": f"{_SERDES}StringSerde",
            "default.value.serde": f"{_SERDES}StringSerde",
            **self.settings,
        }
        kept = self.directory / f"instance-{number}"
        kept.mkdir(exist_ok=True)
        properties, out, err = (kept / f"{side}.{ending}" for ending in ("properties", "out", "err"))
        properties.write_text(dump(settings), encoding="latin-1")
        command = [*JAVA, "-cp", self.classes, "topologies.Run", self.pair, side, str(properties)]
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr)
        made = Instance(process, out)
        try:
            yield made
        finally:
            made.stop()

    def process(self, running: Sequence[Instance], sent: Sent) -> None:
        """Wait until these instances run, write records, and return when the group has committed all that it reads."""
        for one in running:
            one.wait_running()
        for topic, records_sent in sent.items():
            self.send(topic, records_sent)
        # Members of a streams group have tasks, and no broker names their topics.
        self.wait_committed(running[0], sent if self.group().type == "streams" else ())

    def beside(self, name: str) -> "Trial":
        """Another application on the same topics, from nothing; its `clean` leaves them."""
        directory = self.directory / name
        directory.mkdir()
        return replace(self, topics={}, directory=directory, application_id=f"{self.application_id}-{name}")

    def run_before(self, sent: Sent, *, case: str = "", instances: int = 1) -> dict[str, Any]:
        """Let the old version process records, stop it, and empty its group; returns the plan of the change."""
        with self._instances("before", instances) as running:
            self.process(running, sent)
            plan = self.plan(running[0], case)
        self.empty_the_group()
        return plan

    def run_after(self, sent: Sent, *, instances: int = 1) -> Counter[str]:
        """Let the new version process records, and stop it; returns the records that each store read back."""
        return self.run(sent, "after", instances)

    def run_again(self, sent: Sent) -> Counter[str]:
        """The same for the old version, as in an undo."""
        return self.run(sent, "before")

    def run(self, sent: Sent, side: str, instances: int = 1) -> Counter[str]:
        """The same for a side of the pair."""
        with self._instances(side, instances) as running:
            self.process(running, sent)
        self.empty_the_group()
        return sum((Counter(one.restored()) for one in running), Counter())

    def run_into_failure(self, sent: Sent | None = None, *, side: str = "after") -> str:
        """Start a version, which ends by itself, at the latest when it processes `sent`; returns the reason."""
        with self.instance(side) as instance:
            for topic, records_sent in (sent or {}).items():
                self.send(topic, records_sent)
            why = instance.wait_failed()
        self.empty_the_group()
        return why

    def latest(self, topic: str) -> dict[str, bytes | None]:
        """The last value of each key; of a topic with one partition."""
        return {_text(one.key()): one.value() for one in self.records(topic)}

    def longs(self, topic: str) -> dict[str, int]:
        """The same for values of LongSerde."""
        return {key: int.from_bytes(value or b"", signed=True) for key, value in self.latest(topic).items()}

    @contextmanager
    def _instances(self, side: str, count: int) -> Iterator[list[Instance]]:
        with ExitStack() as stack:
            yield [stack.enter_context(self.instance(side, number)) for number in range(1, count + 1)]

    def send(self, topic: str, sent: Sequence[Written]) -> None:
        """Write records, by the hash of the key as Java's producers do."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "partitioner": "murmur2_random"})
        for key, value, *at_ms in sent:
            producer.produce(topic, key=key, value=value, timestamp=at_ms[0] if at_ms else 0)
        assert producer.flush(WAIT_S) == 0

    def wait_committed(self, instance: Instance, topics: Collection[str] = ()) -> None:
        """Return when the group has committed all that it reads, by its members, or else of these topics."""

        def committed() -> bool:
            instance.require_alive()
            places = self.offsets(topics or self.read())
            return bool(places) and all(place.log_end_offset in {0, place.committed} for place in places)

        until(committed, WAIT_S, f"{self.pair}: all that is read is committed", poll_s=0.3)

    def records(self, topic: str) -> list[Message]:
        """All records of a topic, in the order of each partition."""
        return list(records(self.bootstrap, topic))

    def internal(self) -> dict[str, tuple[str, int]]:
        """Id and number of partitions of every topic that begins with the application's id."""
        with self._reader() as reader:
            names = [name for name in reader.topic_names() if name.startswith(f"{self.application_id}-")]
            return {topic.name: (topic.topic_id, topic.partitions) for topic in reader.topics(names)}

    def group(self) -> GroupReading:
        """The application's group."""
        with self._reader() as reader:
            found = reader.group(self.application_id)
        assert isinstance(found, GroupReading), found
        return found

    def read(self) -> set[str]:
        """Topics that a member of the group is assigned."""
        return {place.rpartition("-")[0] for member in self.group().members for place in member.partitions}

    def offsets(self, topics: Collection[str]) -> tuple[PartitionLag, ...]:
        """Ends and committed offsets of each partition of these topics."""
        with self._reader() as reader:
            there = reader.topics(topics)
            roles: dict[str, LagRole] = {topic.name: "source" for topic in there}
            found = read_partitions(reader, self.application_id, roles, there)
        assert not isinstance(found, Missing), found
        return found

    def held(self, topics: Collection[str]) -> dict[str, int]:
        """Records in each of these topics."""
        found = dict.fromkeys(topics, 0)
        for place in self.offsets(topics):
            assert place.log_end_offset is not None
            assert place.log_start_offset is not None
            found[place.topic] += place.log_end_offset - place.log_start_offset
        return found

    def directories(self, number: int = 1) -> dict[str, Path]:
        """The task directories of an instance, by name."""
        found = (self._state(number) / self.application_id).glob("[0-9]*_[0-9]*")
        return {path.name: path for path in found}

    def delete_directories(self, prefixes: Iterable[str], number: int = 1) -> None:
        """Delete those directories of a stopped instance whose names begin so (`1_` is all of a subtopology)."""
        chosen = tuple(prefixes)
        stores = {GLOBAL: self._state(number) / self.application_id / GLOBAL}
        for name, path in (self.directories(number) | stores).items():
            if name.startswith(chosen):
                shutil.rmtree(path)

    def empty_the_group(self) -> None:
        """Remove the members that a stop leaves behind, static or not, until the group is EMPTY.

        Those of a streams group cannot be removed, and leave.
        """
        group = self.group()
        if group.members and group.type != "streams":
            writer = GroupWriter({"bootstrap.servers": self.bootstrap}, dry_run=False)
            writer.remove_members(self.application_id, group.members)

        def empty() -> bool:
            return group_is_empty(self.group(), self.application_id).outcome is Outcome.PROCEED

        until(empty, WAIT_S, f"{self.pair}: the group is EMPTY")

    def sides(self, instance: Instance, case: str = "") -> tuple[SideFiles, SideFiles]:
        """Both sides as the instance's library describes them, with the declarations of a case (default: the pair).

        Declared are the application's id and the partitions of topics of this trial.
        """
        return self._side(instance, "before", case or self.pair), self._side(instance, "after", case or self.pair)

    def plan(self, instance: Instance, case: str = "") -> dict[str, Any]:
        """What the command says of `sides`, as it prints it in JSON."""
        before, after = self.sides(instance, case)
        texts = ("--from-topology", before.topology, "--to-topology", after.topology)
        declarations = ("--from-declaration", before.declaration, "--to-declaration", after.declaration)
        command = [str(word) for word in (_COMMAND, "plan", *texts, *declarations, "--format", "json")]
        kept = self.directory / "plan.json"
        with kept.open("w", encoding="utf-8") as out:
            answer = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
        assert answer.returncode in {0, 1}, answer.stderr + kept.read_text("utf-8")
        found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
        return found

    def to_delete(self) -> TaskDirectories:
        """What a stop and restart deletes before the new version starts, for the sides of the last plan."""
        return directories_to_delete(self._compared())

    def to_delete_in_undo(self) -> TaskDirectories:
        """What the undo of a roll deletes before the old version starts again, for the same sides."""
        return directories_to_undo(self._compared(), set())

    def clean(self) -> None:
        """Leave nothing on the broker."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        names = {*self.topics, *self.internal()}
        for future in admin.delete_topics(sorted(names)).values():
            future.result()
        until(lambda: not names & set(admin.list_topics(timeout=WAIT_S).topics), WAIT_S, "the topics are gone")
        self.empty_the_group()
        admin.delete_consumer_groups([self.application_id])[self.application_id].result()

    def _side(self, instance: Instance, side: str, case: str) -> SideFiles:
        entry = yaml.safe_load((DECLARED / case / f"{side}.yaml").read_text("utf-8"))
        entry["config"]["application.id"] = self.application_id
        for topic, partitions in self.topics.items():
            if topic in entry["topics"]:
                entry["topics"][topic]["partitions"] = partitions
        files = self._files(side)
        assert files.declaration is not None
        files.topology.write_text(instance.described(side), encoding="utf-8")
        files.declaration.write_text(yaml.safe_dump(entry), encoding="utf-8")
        return files

    def _compared(self) -> Compared:
        before, after = (read_side(self._files(side)) for side in ("before", "after"))
        return Compared(before, after)

    def _files(self, side: str) -> SideFiles:
        return SideFiles(self.directory / f"{side}.txt", self.directory / f"{side}.yaml")

    def _state(self, number: int) -> Path:
        return self.directory / f"instance-{number}" / "state"

    def _reader(self) -> ClusterReader:
        return ClusterReader({"bootstrap.servers": self.bootstrap})


def _text(key: bytes | str | None) -> str:
    return key.decode("utf-8") if isinstance(key, bytes) else key or ""
