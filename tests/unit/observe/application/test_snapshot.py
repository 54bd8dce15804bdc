"""A snapshot says what it could not see, and is then no proof."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet.deployers.base import DeployerDeclaration
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Missing,
    TopicReading,
)
from kstreams_runbooks.observe.application import snapshot as module
from world.samples import gone, instance, partition, reading


@dataclass
class Reader:
    """A cluster whose topics are there, or cannot be described."""

    broken: bool = False

    def topics(self, names: Sequence[str], *, configs: bool) -> tuple[TopicReading, ...]:
        """With one config each."""
        assert configs
        if self.broken:
            raise Inconclusive("topic configs: the broker answered TopicAuthorizationFailedError")
        return tuple(TopicReading(name, "id-1", 1, (("cleanup.policy", "compact"),)) for name in names)


@dataclass
class World:
    """One application with two instances, taken as a snapshot."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    read: ApplicationReading = field(default_factory=reading)
    reader: Reader = field(default_factory=Reader)
    deployer: DeployerDeclaration | SimpleNamespace | None = None

    def __post_init__(self) -> None:
        for name in ("orders-1", "orders-2"):
            (self.root / name / "orders" / "0_0" / "rocksdb" / "store").mkdir(parents=True)

    def take(self, *, quiesced: bool = True) -> dict[str, Any]:
        """The document."""
        application = SimpleNamespace(
            name="orders",
            cluster="demo",
            application_id="orders",
            as_deployed=False,
            deployer=self.deployer
            or SimpleNamespace(
                instances=[SimpleNamespace(name=name, state_dir=self.root / name) for name in ("orders-1", "orders-2")]
            ),
        )
        self.monkeypatch.setattr(module, "read_application", lambda *_: self.read)
        deployer: Any = None
        if isinstance(self.deployer, DeployerDeclaration):
            application.deployer = self.deployer
            deployer = make_deployer(application)
        return module.snapshot(application, self.reader, deployer, quiesced=quiesced)  # type: ignore[arg-type]

    def missing_in(self, *, quiesced: bool = True) -> list[str]:
        """What of it is missing."""
        return list(module.missing_in(self.take(quiesced=quiesced)))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Everything can be read."""
    return World(tmp_path, monkeypatch)


def changed(one: InstanceReading, **deployment: Any) -> InstanceReading:
    """The same instance with another deployment."""
    assert isinstance(one.deployment, Deployment)
    return replace(one, deployment=replace(one.deployment, **deployment))


def test_whole_snapshot_misses_nothing(world: World) -> None:
    """Every part stands there."""
    document = world.take()
    assert list(module.missing_in(document)) == []
    assert document["instances"]["orders-1"]["deployment"]["release"] == "3.4.1"
    assert document["local_state"]["orders-1"] == {"0_0": ["rocksdb/store"]}
    assert document["committed"] == {"orders-0": 100}


def test_state_that_cannot_be_looked_at_is_missing(world: World) -> None:
    """Such as a path that no file system takes, or a folder above that this login may not enter."""
    deep = world.root / ("x" * 300)
    instances = [SimpleNamespace(name="orders-1", state_dir=deep), SimpleNamespace(name="orders-2", state_dir=deep)]
    world.deployer = SimpleNamespace(instances=instances)
    missing = world.missing_in()
    assert missing[0] == f"local_state/orders-1: {deep}/orders: cannot be listed (File name too long)"


def test_partition_that_was_never_committed_is_a_fact(world: World) -> None:
    """The broker answered for it: null, and not missing."""
    world.read = reading(partitions=(partition(None), partition(7, number=1)))
    document = world.take()
    assert document["committed"] == {"orders-0": None, "orders-1": 7}
    assert list(module.missing_in(document)) == []


def test_offset_that_cannot_be_read_is_missing(world: World) -> None:
    """Only with the offsets in it; without, they are no part of the snapshot."""
    world.read = reading(partitions=(gone("orders"),))
    assert world.missing_in() == ["committed/orders-0: the topic does not exist on the cluster"]
    assert world.missing_in(quiesced=False) == []


def test_topology_that_cannot_be_read_is_missing(world: World) -> None:
    """Without it the topics that stand there are not all there are, whether the offsets are asked for or not."""
    world.read = reading(partitions=Missing("no running instance reports its topology"))
    assert world.missing_in(quiesced=False) == ["committed: no running instance reports its topology"]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (replace(instance("orders-1"), streams=Missing("timed out")), "instances/orders-1/streams: timed out"),
        (replace(instance("orders-1"), deployment=Missing("no answer")), "instances/orders-1/deployment: no answer"),
        (
            changed(instance("orders-1"), release=Missing("no release")),
            "instances/orders-1/deployment/release: no release",
        ),
        (
            changed(instance("orders-1"), stated=True),
            "instances/orders-1/deployment/release: as its declaration states it, not observed; declare "
            "deployer.commands.instances",
        ),
        (
            changed(instance("orders-1"), process="unknown"),
            "instances/orders-1/deployment/process: the deployer does not know its process",
        ),
    ],
    ids=["metrics", "deployer", "release", "stated", "process"],
)
def test_instance_that_cannot_be_read_is_missing(world: World, one: InstanceReading, why: str) -> None:
    """Each part by its place in the document."""
    world.read = reading(one, instance("orders-2"))
    assert world.missing_in() == [why]


def test_topics_that_cannot_be_read_are_missing(world: World) -> None:
    """Their names may be known and their configs not: the rest of the document stands."""
    world.reader.broken = True
    assert world.missing_in() == ["topics: topic configs: the broker answered TopicAuthorizationFailedError"]


def test_local_state_that_is_not_on_this_machine_is_missing(world: World) -> None:
    """It is elsewhere, or was never made: a dry run that changed it would not be seen."""
    for path in sorted((world.root / "orders-2").rglob("*"), reverse=True):
        path.rmdir()
    [missing] = world.missing_in()
    assert missing.startswith(f"local_state/orders-2: {world.root}/orders-2/orders is not a directory on this machine")


def test_local_state_of_another_deployer_is_not_known_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only supervisord's instances are declared with their state.dir; without sizes the rest of the document stands."""
    settings = ManualSettings.model_validate(
        {
            "kind": "manual",
            "instances": [{"name": name, "metrics": f"http://{name}:1"} for name in ("orders-1", "orders-2")],
            "releases": {"3.4.1": "orders:17"},
        }
    )
    world = World(tmp_path, monkeypatch, deployer=settings)
    why = "the size of its local state is not seen from here: a person deploys it; look at its disk"
    assert world.missing_in() == [f"local_state/orders-1: {why}", f"local_state/orders-2: {why}"]
    assert world.take()["instances"]["orders-1"]["deployment"]["release"] == "3.4.1"


@pytest.mark.parametrize("listed", [True, False])
def test_local_state_is_what_a_command_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, listed: bool) -> None:
    """By name: sizes change while the application works. Without the command it is missing."""
    document = '{{"schema_version": 1, "instance": "$0", "directories": {{"1_0": 7, "0_1": 5}}}}'
    sizes = (
        {"state_sizes": {"run": ["bash", "-c", f"echo '{document}' | sed s/.0/$0/", "{instance}"]}} if listed else {}
    )
    each = {"run": ["false", "{instance}"]}
    settings = CommandSettings.model_validate(
        {
            "kind": "command",
            "instances": [{"name": name, "metrics": f"http://{name}:1"} for name in ("orders-1", "orders-2")],
            "releases": {"3.4.1": "orders:17"},
            "commands": {
                "instances": {"run": ["false"]},
                "apply": {"run": ["false", "{instance}", "{release}", "{settings}"]},
                "stop": each,
                "start": each,
                **sizes,
            },
        }
    )
    world = World(tmp_path, monkeypatch, deployer=settings)
    state = world.take()["local_state"]
    if listed:
        assert state == {"orders-1": ["0_1", "1_0"], "orders-2": ["0_1", "1_0"]}
        assert world.missing_in() == []
    else:
        assert [one.partition(":")[0] for one in world.missing_in()] == ["local_state/orders-1", "local_state/orders-2"]


@pytest.mark.parametrize("blind", [False, True])
def test_command_prints_the_document_and_is_inconclusive_where_it_is_blind(
    world: World, monkeypatch: pytest.MonkeyPatch, *, blind: bool
) -> None:
    """Exit code 3 and every missing part by name; the document stands on stdout either way."""
    if blind:
        world.read = reading(replace(instance("orders-1"), streams=Missing("timed out")), instance("orders-2"))
    document = world.take()

    class Opened(Reader):
        def __init__(self, config: object) -> None:
            del config
            super().__init__()

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    fleet = SimpleNamespace(
        application=lambda _: SimpleNamespace(cluster="demo"), cluster=lambda _: SimpleNamespace(connection="kafka")
    )
    monkeypatch.setattr("kstreams_runbooks.fleet.load_fleet", lambda: fleet)
    monkeypatch.setattr("kstreams_runbooks.terminal.logs.log_to_stderr", lambda: None)
    monkeypatch.setattr("kstreams_runbooks.connections.kafka_config", lambda _: {})
    monkeypatch.setattr("kstreams_runbooks.observe.ClusterReader", Opened)
    monkeypatch.setattr("kstreams_runbooks.deployers.make_deployer", lambda *_, dry_run: dry_run)
    monkeypatch.setattr(module, "snapshot", lambda *_, quiesced: document | {"quiesced": quiesced})
    done = CliRunner().invoke(cli, ["snapshot", "orders"])
    assert json.loads(done.stdout) == {"schema_version": 1, "quiesced": False, **document}
    if blind:
        assert isinstance(done.exception, Inconclusive)
        assert done.exception.exit_code == 3
        assert str(done.exception) == (
            "snapshot of orders: 1 readings missing (limit 0), so an equal one proves nothing; correct them and take "
            "it again:\ninstances/orders-1/streams: timed out"
        )
    else:
        assert done.exception is None
