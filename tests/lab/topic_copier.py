"""The shipped copier as an operator starts it: its jar, one properties file, its lines on standard output, its end."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from kafka import TopicPartition as KafkaPartition
from kafka.errors import KafkaError, NoError
from kafka.structs import OffsetAndMetadata
from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.clients import connect_python
from kstreams_runbooks.properties import dump
from kstreams_runbooks.watch.topic_ends import known_ends

from lab.settings import CHECKOUT
from lab.supervise import until

MODULE = CHECKOUT / "topic_copier"
JAR = MODULE / "target" / "topic-copier.jar"
REFUSED, TERMINATED = 1, 143
_BUILD_S = 300
_RUNNING_S = 60
_ENDS_S = 90
_SEEDED_S = 120
# Several of them run on a machine of two cores: little to compile, one thread that collects.
_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@cache
def jar_with(library: str) -> Path:
    """A jar with another release of Kafka Streams: another release of the copier."""
    built = MODULE / "target" / library / JAR.name
    if not built.is_file():
        own = (f"-Dkafka.version={library}", f"-Dcopier.target=target/{library}")
        done = subprocess.run(
            ["mvn", "-q", "-B", "-f", str(MODULE / "pom.xml"), "package", *own],
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    return built


@cache
def jar() -> Path:
    """The jar. TEST_BUILT: Maven has run already."""
    if os.environ.get("TEST_BUILT"):
        assert JAR.is_file(), f"{JAR} is not there; run: make copier"
        return JAR
    command = ["mvn", "-q", "-B", "-f", str(MODULE / "pom.xml"), "package"]
    built = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_S, check=False)
    assert built.returncode == 0, built.stdout
    return JAR


class TopicCopier:
    """One process at a time; each start writes a log of its own, with standard error in it."""

    def __init__(self, directory: Path, settings: Mapping[str, str], name: str = "copier", *jvm: str) -> None:
        self.directory, self.settings, self.name, self.jvm = directory, dict(settings), name, jvm
        self.starts = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """What the last start printed."""
        return self.directory / f"{self.name}-{self.starts}.log"

    @property
    def lines(self) -> list[str]:
        """The lines of the last start."""
        return self.log.read_text(encoding="utf-8").splitlines()

    @property
    def last_line(self) -> str:
        """What it said last."""
        return self.lines[-1]

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self, **changes: str) -> "TopicCopier":
        """Start it, with settings that are changed for good (`_` for `.`)."""
        assert not self.runs, f"{self.name} runs already"
        self.settings |= {name.replace("_", "."): value for name, value in changes.items()}
        self.starts += 1
        file = self.directory / f"{self.name}.properties"
        file.write_text(dump(self.settings), encoding="latin-1")
        command = ["java", *_JVM, *self.jvm, "-jar", str(jar()), "--config", str(file)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        return self

    def wait_running(self) -> "TopicCopier":
        """Return once its group has given it partitions."""
        until(lambda: self._says("-> RUNNING"), _RUNNING_S, f"{self.name} runs")
        return self

    def _says(self, words: str) -> bool:
        assert self.runs, self.log.read_text(encoding="utf-8")
        return any(words in line for line in self.lines)

    def end(self) -> int:
        """Wait until it ends by itself; returns its exit code."""
        process = self._process
        assert process is not None
        until(lambda: process.poll() is not None, _ENDS_S, f"{self.name} ends")
        return process.wait()

    def terminate(self) -> int:
        """SIGTERM; returns its exit code."""
        return self._signalled(signal.SIGTERM)

    def suspend(self) -> None:
        """SIGSTOP: its member is lost after the session, and it does not know."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, and return when it is gone."""
        assert self._signalled(signal.SIGKILL) == -signal.SIGKILL

    def strike(self) -> bool:
        """SIGKILL; whether it has died of it, and not ended by itself in that moment."""
        return self._signalled(signal.SIGKILL) == -signal.SIGKILL

    def _signalled(self, number: signal.Signals) -> int:
        process = self._process
        assert process is not None
        os.kill(process.pid, number)
        return process.wait(_ENDS_S)


def seed(bootstrap: str, group: str, offsets: Mapping[tuple[str, int], int], routes: Mapping[str, str]) -> None:
    """Commit offsets at which a copy begins, each with its target if that is there; librdkafka would lose that."""
    with ClusterReader({"bootstrap.servers": bootstrap}) as reader:
        there = {one.name: one for one in reader.topics([*routes, *routes.values()])}
        into = {
            source: CopiedInto(
                there[source].topic_id,
                there[target].topic_id,
                tuple(end.end for end in known_ends(reader, there[target])),
            )
            for source, target in routes.items()
            if source in there and target in there
        }
    request = {
        KafkaPartition(topic, number): OffsetAndMetadata(offset, into[topic].at(offset) if topic in into else "", -1)
        for (topic, number), offset in offsets.items()
    }
    commit(bootstrap, group, request)


Kept = dict[KafkaPartition, OffsetAndMetadata]


def kept(bootstrap: str, group: str) -> Kept:
    """What a backup of a group has: its offsets with their metadata."""
    admin = connect_python({"bootstrap.servers": bootstrap})
    try:
        offsets: Kept = admin.list_group_offsets(group)[group]
    finally:
        admin.close()
    return offsets


def commit(bootstrap: str, group: str, offsets: Kept) -> None:
    """Offsets with their metadata; the group has no member."""
    admin = connect_python({"bootstrap.servers": bootstrap}, writable=True)

    def taken() -> bool:
        try:
            answer = admin.alter_group_offsets(group, offsets)
        except KafkaError:
            return False
        return all(error is NoError for error in answer.values())

    try:
        # A broker that has just started creates the topic of its groups' offsets first.
        until(taken, _SEEDED_S, f"{group} has its offsets", poll_s=0.3)
    finally:
        admin.close()


@contextmanager
def started(copier: TopicCopier) -> Iterator[TopicCopier]:
    """It runs in the body, unless that ends it; afterwards it is gone."""
    copier.start()
    try:
        yield copier.wait_running()
    finally:
        if copier.runs:
            copier.terminate()
