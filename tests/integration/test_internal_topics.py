"""Internal topics that are created before the start: the names, numbers and settings that the library gives them.

Two applications with the same program read the same inputs: the library makes the topics of the first, and those of the
second are derived and created before it starts. SEED draws the programs; the default is 6.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.internal_topics.compared import sources_of, topics_to_create
from kstreams_runbooks.decide.internal_topics.derived import internal_topics
from kstreams_runbooks.decide.topology.partitions import partition_counts, repartition_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_stable
from kstreams_runbooks.model.topology.topology import Sink
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.properties import dump
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
from kstreams_runbooks.watch.internal_topics import read_internal_topics
from lab.afresh import forget_group
from lab.kafka import create_topics
from lab.settings import CHECKOUT
from lab.supervise import until
from lab.topology_facts import COMMAND, jar, java
from lab.trial import JAVA, WAIT_S, Begin, class_path
from world.pairs import DECLARED, FIXTURES, PAIRS, compared, described
from world.side_facts import side_facts

SEED = int(os.environ.get("SEED") or 6)
RELEASES = ("3.4.1", "4.4.0")
DRAWN = 12
LIBRARY_TOPICS = CHECKOUT / "tests" / "integration" / "java" / "InternalTopics.java"
BUILT = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
# Settings of the application that reach its internal topics.
GIVEN = {"topic.min.insync.replicas": "1", "topic.segment.bytes": "1048576", "topic.retention.ms": "7000000"}
ADDITIONAL = {"windowstore.changelog.additional.retention.ms": "3600000"}
_BUILD_S = 300


class Made(NamedTuple):
    """A topic without its id: partitions, replicas and its own settings."""

    partitions: int
    replication: int
    settings: tuple[tuple[str, str], ...]


# Topics that the broker has if another test's application runs on it.
_OF_ORDERS = {"customers", "orders"}


@dataclass(frozen=True)
class Drawn:
    """One side of a pair, with the number of partitions that all its inputs have."""

    pair: str
    side: str
    partitions: int

    @property
    def inputs(self) -> frozenset[str]:
        """The topics that it reads and does not make itself."""
        return sources_of(described(self.pair)[self.side == "after"])

    @property
    def outputs(self) -> frozenset[str]:
        """The topics that it writes and does not make itself."""
        topology = described(self.pair)[self.side == "after"]
        written = {node.topic for _, node in topology.nodes() if isinstance(node, Sink) and node.topic is not None}
        return frozenset(written) - repartition_topics(topology)

    def can_run(self) -> bool:
        """Whether it makes internal topics, reads topics by name, and joins none with another number of partitions."""
        topology = described(self.pair)[self.side == "after"]
        sources = [source for sub in topology.subtopologies for source in sub.sources]
        both = compared(self.pair)
        side = both.after if self.side == "after" else both.before
        declared = side.declared
        given = {name: one.partitions for name, one in declared.topics.items() if one.partitions is not None}
        own = {name: number for name, number in given.items() if name in repartition_topics(topology)}
        counts = partition_counts(topology, {**dict.fromkeys(self.inputs, self.partitions), **own})
        return (
            all(source.pattern is None for source in sources)
            and all(node.topic for _, node in topology.nodes() if isinstance(node, Sink))
            and not any(sub.topology for sub in topology.subtopologies)
            and bool(repartition_topics(topology) or any(held.changelog for held in contents(side).values()))
            and repartition_topics(topology) <= counts.keys()
        )


def draw() -> list[Drawn]:
    """The programs of SEED: of pairs that every release builds, each at most once."""
    random = Random(SEED)
    built = json.loads((FIXTURES / "built.json").read_text("utf-8"))
    pairs = sorted(path.name for path in PAIRS.iterdir() if {*RELEASES} <= {*built.get(path.name, ())})
    random.shuffle(pairs)
    found: list[Drawn] = []
    for pair in pairs:
        one = Drawn(pair, random.choice(("before", "after")), random.choice((2, 3, 4)))
        if len(found) < DRAWN and (DECLARED / pair).is_dir() and one.can_run() and not one.inputs & _OF_ORDERS:
            found.append(one)
    return found


def derived(bootstrap: str, side: Side, application_id: str) -> dict[str, Made]:
    """Derive the internal topics of an application from what its cluster has, and create those that are missing."""
    config = {"bootstrap.servers": bootstrap}
    with ClusterReader(config) as reader:
        wanted, seen = read_internal_topics(reader, side, application_id, [application_id])
    create = topics_to_create(wanted, seen.there)
    assert not isinstance(create, Missing), create.missing
    TopicWriter(config, dry_run=False).create(create)
    return there(bootstrap, side, application_id)


def there(bootstrap: str, side: Side, application_id: str) -> dict[str, Made]:
    """The internal topics of an application on the broker, without its id in front of their names."""
    with ClusterReader({"bootstrap.servers": bootstrap}) as reader:
        _, seen = read_internal_topics(reader, side, application_id, [application_id])
        named = [name for name in reader.topic_names() if name.startswith(f"{application_id}-")]
    assert seen.there.keys() == set(named)
    return {
        name.removeprefix(f"{application_id}-"): Made(one.partitions, one.replication, tuple(sorted(one.own.items())))
        for name, one in seen.there.items()
    }


PROGRAMS = draw()
TRIALS = [
    pytest.param(
        one,
        release,
        # The newest release is asked in every run, the oldest by `make test-long`.
        marks=() if (one, release) == (PROGRAMS[1], RELEASES[-1]) else pytest.mark.long,
        id=f"{one.pair}-{one.side}-{release}",
    )
    for release in RELEASES
    for one in PROGRAMS
]


@pytest.mark.parametrize(("program", "release"), TRIALS)
def test_topics_created_before_the_start_are_those_of_the_library(program: Drawn, release: str, begin: Begin) -> None:
    """Names, partitions, replicas and settings; the library accepts the created ones and adds none."""
    print(f"SEED={SEED}: {program.pair} {program.side}, {program.partitions} partitions, {release}")
    topics = {**dict.fromkeys(program.outputs, 1), **dict.fromkeys(program.inputs, program.partitions)}
    settings = {**GIVEN, **ADDITIONAL} if program.partitions % 2 else {}
    given = {name.replace(".", "_"): value for name, value in settings.items()}
    library, own = (begin(program.pair, needed, release, **given) for needed in (topics, {}))
    with library.instance(program.side) as running:
        side = read_side(SideFiles(side_facts(own, program.side)))
        created = derived(own.bootstrap, side, own.application_id)
        before = own.internal()
        with own.instance(program.side) as accepting:
            running.wait_running()
            accepting.wait_running()
            made = there(library.bootstrap, side, library.application_id)
            assert created == made
            assert created, "the program has no internal topics: nothing is shown"
            assert own.internal() == before


@contextmanager
def orders_running(settings: Path, release: str, folder: Path) -> Iterator[None]:
    """One instance of the orders application, without a supervisor."""
    command = [*JAVA, "-cp", f"{BUILT / release}/*", "orders.OrdersApplication", str(settings)]
    with (folder / "orders.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield
            assert process.poll() is None
        finally:
            process.terminate()
            process.wait(WAIT_S)


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_the_topics_of_orders(release: str, broker: str, tmp_path: Path) -> None:
    """The same for the application of the demo: two groupings, a foreign-key join, windows and a suppression."""
    found: dict[str, dict[str, Made]] = {}
    names = [f"made-orders-{release}", f"made-customers-{release}"]
    create_topics(broker, names, 3, names)
    outputs = {topic: f"made-{topic}-{release}" for topic in ("running", "windowed", "enriched", "per-customer")}
    create_topics(broker, outputs.values(), 1, ())
    for name in ("library", "created"):
        folder = tmp_path / name
        folder.mkdir()
        application_id = f"made-{name}-{release}"
        settings = folder / "orders.properties"
        given = {
            "application.id": application_id,
            "bootstrap.servers": broker,
            "state.dir": str(folder / "state"),
            "processing.guarantee": "exactly_once_v2",
            "topic.orders": names[0],
            "topic.customers": names[1],
            **{f"topic.{topic}": full for topic, full in outputs.items()},
        }
        settings.write_text(dump(given), encoding="latin-1")
        classes = f"{jar()}:{BUILT / release}/*"
        ran = java(classes, COMMAND, "--factory", "orders.OrdersApplication::topology", "--properties", str(settings))
        assert ran.returncode == 0, ran.stderr
        (folder / "facts.yaml").write_text(ran.stdout, "utf-8")
        side = read_side(SideFiles(folder / "facts.yaml"))
        if name == "created":
            before = derived(broker, side, application_id)
        with orders_running(settings, release, folder):
            until(partial(is_assigned, broker, application_id), WAIT_S, f"{application_id} runs")
            found[name] = there(broker, side, application_id)
        forget_group(broker, application_id)
    assert before == found["created"] == found["library"]
    assert len(found["created"]) > 10


def is_assigned(bootstrap: str, group_id: str) -> bool:
    """Whether a member of the stable group has partitions: then the library has made its topics."""
    with ClusterReader({"bootstrap.servers": bootstrap}) as reader:
        group = reader.group(group_id)
    return isinstance(group, GroupReading) and is_stable(group.state) and any(one.partitions for one in group.members)


@pytest.mark.long
@pytest.mark.usefixtures("broker")  # its broker is started once the releases are built
@pytest.mark.parametrize("given", [{}, {**GIVEN, **ADDITIONAL}], ids=["defaults", "settings"])
@pytest.mark.parametrize("release", RELEASES)
def test_every_pair_gets_what_the_classes_of_the_library_compute(
    release: str, given: dict[str, str], tmp_path: Path
) -> None:
    """All programs, with numbers drawn for their inputs: nothing is derived otherwise than by the library."""
    arguments = [f"{name}={value}" for name, value in given.items()]
    command = [
        *JAVA,
        "-cp",
        f"{class_path(release)}:{jar()}",
        str(LIBRARY_TOPICS),
        str(tmp_path),
        str(SEED),
        *arguments,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_S, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    compared_sides, unknown = 0, []
    for line in ran.stdout.splitlines():
        pair, which, drawn, *topics = line.split("|")
        facts = read_facts((tmp_path / f"{pair}-{which}.yaml").read_text("utf-8"), pair)
        inputs = {name: ((name, int(number)),) for name, _, number in map(_parted, filter(None, drawn.split(",")))}
        found = internal_topics(parse_topology(facts.text or ""), facts.read, "app", inputs)
        if found.unknown:
            unknown.append(pair)
            continue
        compared_sides += 1
        derived_ones = {one.name: (one.partitions, one.settings) for one in found.shapes}
        assert derived_ones == dict(map(of_the_library, topics)), f"{pair} {which} of {release}, SEED={SEED}"
    print(f"SEED={SEED}: {compared_sides} sides of {release} as the library makes them, {len(unknown)} not derived")
    assert compared_sides > 500
    assert len(unknown) < 20


def of_the_library(topic: str) -> tuple[str, tuple[int, tuple[tuple[str, str], ...]]]:
    """A topic as InternalTopics.java prints it: name, partitions, settings."""
    name, number, settings = topic.split("=", 2)
    pairs = (one.partition("=") for one in settings.split(";"))
    return name, (int(number), tuple((key, value) for key, _, value in pairs))


def _parted(topic: str) -> tuple[str, str, str]:
    return topic.rpartition("=")
