"""The docker deployer against a real engine with real containers."""

import time
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.errors import BadInput, Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from lab.engine import OwnEngine
from lab.processes import started_since
from world.containers import created, deployer, described, differences, inspected, settings, starts, volume

pytestmark = pytest.mark.long

BUMP = Target.of("4.3.1", {"upgrade.from": "3.4"})


def bounce(made: DockerSettings, target: Target, instance: str = "o1") -> None:
    """As a runbook does it."""
    restart(deployer(made), instance, target, remove_members=None, log=lambda _: None)


def test_life_of_an_instance(engine: OwnEngine) -> None:
    """Start, set, restart, stop; each of them twice is the same as once, and one container is left."""
    created(engine)
    made = settings(engine)
    control = deployer(made)
    assert (described(made).process, described(made).release) == ("stopped", "3.4.1")
    assert isinstance(described(made).applied, Missing), "nothing runs, so nothing is applied"
    before_ms = time.time() * 1000
    control.start("o1")
    control.start("o1")
    first = described(made)
    assert (first.process, first.release, first.settings, first.applied) == ("running", "3.4.1", (), True)
    assert first.started_at_ms is not None
    assert started_since(before_ms, first.started_at_ms)

    control.apply("o1", BUMP)
    set_ = described(made)
    assert (set_.target, set_.applied, set_.started_at_ms) == (BUMP, False, first.started_at_ms)
    assert engine.names() == ["o1", "o1.next"]
    control.start("o1")
    assert engine.names() == ["o1", "o1.next"], "to start what runs changes nothing"

    control.stop("o1")
    control.stop("o1")
    assert (described(made).process, described(made).ended_cleanly) == ("stopped", True)
    control.start("o1")
    second = described(made)
    assert (second.target, second.applied) == (BUMP, True)
    assert second.started_at_ms is not None
    assert second.started_at_ms > first.started_at_ms
    assert engine.names() == ["o1"]
    assert starts(engine) == ["3.4.1", "4.3.1 STREAMS_UPGRADE_FROM=3.4"]

    control.apply("o1", BUMP)
    assert engine.names() == ["o1"], "what is set already is not set again"
    control.apply("o1", Target("4.3.1"))
    control.apply("o1", BUMP)
    assert (described(made).applied, engine.names()) == (True, ["o1"]), "back to what runs: nothing is next"
    assert [one.process for one in control.instances()] == ["running", "unknown"]


def test_an_inspected_container_is_equal_afterwards(engine: OwnEngine, tmp_path: Path) -> None:
    """But for image, settings, ids and times; there and back, with all that a team can give it."""
    (tmp_path / "conf").mkdir()
    for name in ("inside", "outside"):
        engine.api.create_network(name, driver="bridge")
    created(
        engine,
        Hostname="orders-one",
        User="0:0",
        Env=["SECRET_PASSWORD=x", "RELEASE_NOTE=none", "STREAMS_NUM_STREAM_THREADS=2", "STREAMS_OF_OURS=kept"],
        Cmd=["/bin/orders"],
        Labels={"com.docker.compose.project": "shop", "team": "orders"},
        StopSignal="SIGTERM",
        StopTimeout=33,
        ExposedPorts={"8778/tcp": {}},
        Healthcheck={"Test": ["CMD", "/bin/ls", "/state"], "Interval": 5_000_000_000, "Retries": 3},
        WorkingDir="/bin",
        HostConfig={
            "NetworkMode": "inside",
            "Binds": ["o1-state:/state", f"{tmp_path}/conf:/conf:ro"],
            "Mounts": [{"Type": "volume", "Source": "o1-more", "Target": "/more", "ReadOnly": False}],
            "Tmpfs": {"/scratch": "size=1m"},
            "RestartPolicy": {"Name": "unless-stopped"},
            "Memory": 64 * 2**20,
            "NanoCpus": 500_000_000,
            "PidsLimit": 100,
            "CapDrop": ["NET_RAW"],
            "SecurityOpt": ["no-new-privileges"],
            "Ulimits": [{"Name": "nofile", "Soft": 1024, "Hard": 2048}],
            "ExtraHosts": ["broker:10.0.0.1"],
            "Sysctls": {"net.core.somaxconn": "512"},
            "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m"}},
            # In the network namespace of the engine alone.
            "PortBindings": {"8778/tcp": [{"HostIp": "0.0.0.0", "HostPort": "0"}]},  # noqa: S104
            "ReadonlyRootfs": True,
            "Init": True,
        },
        NetworkingConfig={"EndpointsConfig": {"inside": {"Aliases": ["orders"]}}},
    )
    engine.api.connect_container_to_network("o1", "outside", aliases=["shop"])
    made = settings(engine)
    deployer(made).start("o1")
    before = inspected(engine)
    had = described(made).target
    assert had == Target.of("3.4.1", {"num.stream.threads": "2"})
    wanted = Target.of("4.3.1", {"num.stream.threads": "3", "upgrade.from": "3.4"})
    bounce(made, wanted)
    between = inspected(engine)
    assert between["Id"] != before["Id"]
    assert (between["Config"]["Image"], described(made).target) == ("orders:4.3.1", wanted)
    assert differences(before, between) == [
        "/Config/Env/RELEASE: 3.4.1 → 4.3.1",
        "/Config/Env/STREAMS_NUM_STREAM_THREADS: 2 → 3",
        "/Config/Env/STREAMS_UPGRADE_FROM: None → 3.4",
    ]
    bounce(made, Target.of("3.4.1", {"num.stream.threads": "2"}))
    assert differences(before, inspected(engine)) == []
    # The engine gives another one to a container without, so `differences` leaves it out.
    assert between["Config"]["Hostname"] == inspected(engine)["Config"]["Hostname"] == "orders-one"
    assert engine.names() == ["o1"]


def test_both_instances_one_after_the_other(engine: OwnEngine) -> None:
    """A bounce of one does not touch the other."""
    made = settings(engine)
    for name in ("o1", "o2"):
        created(engine, name)
        deployer(made).start(name)
    other = inspected(engine, "o2")
    bounce(made, BUMP)
    assert inspected(engine, "o2") == other
    bounce(made, BUMP, "o2")
    assert [one.target for one in deployer(made).instances()] == [BUMP, BUMP]


def test_a_release_that_ends_at_once_leaves_the_one_from_before(engine: OwnEngine) -> None:
    """The sentence has the end of its log; what ran before is still there, and the way back leads to it."""
    created(engine)
    engine.image("9.9.9", 'CMD ["/bin/sh", "-c", "echo password=abc no such topic >&2; exit 7"]')
    made = settings(engine, releases={"3.4.1": "3.4.1", "9.9.9": "9.9.9"})
    deployer(made).start("o1")
    before = inspected(engine)
    with pytest.raises(
        Refused, match=r"container o1 ended at once \(exit code 7, image orders:9\.9\.9; last line"
    ) as no:
        bounce(made, Target("9.9.9"))
    assert "abc" not in str(no.value)
    assert deployer(made).log_end("o1") == "last line of its log: password=(hidden)"
    assert (described(made).process, described(made).target) == ("failed", Target("9.9.9"))
    assert engine.names() == ["o1", "o1.before"]
    assert differences(before, inspected(engine, "o1.before")) == ['/Name: "/o1" → "/o1.before"']
    bounce(made, Target("3.4.1"))
    assert described(made).process == "running"
    assert differences(before, inspected(engine)) == []
    assert engine.names() == ["o1"]


def test_a_stubborn_process_is_not_killed(engine: OwnEngine) -> None:
    """Not gone in time is an error that says what the engine reports; it goes on running."""
    created(engine)
    made = settings(engine, stop_timeout_s=1)
    control = deployer(made)
    (volume(engine, "o1-state") / "stubborn").touch()
    control.start("o1")
    pid = inspected(engine)["State"]["Pid"]
    with pytest.raises(Refused, match=r"o1: container o1 still there 1 s after the stop request .* reports running"):
        control.stop("o1")
    assert inspected(engine)["State"]["Pid"] == pid


def test_a_dry_run_writes_nothing(engine: OwnEngine) -> None:
    """It names what it would do, and the engine is as before."""
    created(engine)
    made = settings(engine)
    deployer(made).start("o1")
    before, dry = inspected(engine), deployer(made, dry_run=True)
    dry.stop("o1")
    dry.apply("o1", BUMP)
    dry.start("o1")
    assert dry.would_write == [
        "stop container o1",
        "create container o1.next from orders:4.3.1: release=4.3.1, upgrade.from=3.4",
    ]
    assert inspected(engine) == before
    with pytest.raises(WriteRefused, match="this client of docker only reads"):
        dry._engine.start("o1")


def test_what_is_not_there_is_named(engine: OwnEngine) -> None:
    """A container, an image, an instance, a release: one sentence each with the remedy, and nothing is changed."""
    created(engine)
    made = settings(engine, releases={"3.4.1": "3.4.1", "4.3.1": "4.3.1", "4.9.9": "4.9.9"})
    control = deployer(made)
    control.start("o1")
    before = inspected(engine)
    with pytest.raises(
        WriteRefused, match=r"image orders:4\.9\.9 of release 4\.9\.9 is not on the engine; run `docker pull"
    ):
        bounce(made, Target("4.9.9"))
    with pytest.raises(BadInput, match=r"o2: docker engine has no container o2; create it as .*docker.sock\)$"):
        bounce(made, BUMP, "o2")
    with pytest.raises(BadInput, match=r"'o9' is not declared"):
        control.stop("o9")
    with pytest.raises(BadInput, match=r"release '5\.0\.0' is not declared \(declared: 3\.4\.1"):
        bounce(made, Target("5.0.0"))
    with pytest.raises(WriteRefused, match=r"no runbook sets max\.poll"):
        bounce(made, Target.of("4.3.1", {"max.poll": "1"}))
    assert inspected(engine) == before
    missing = described(made, "o2")
    assert missing.process == "unknown"
    assert isinstance(missing.release, Missing)
    assert "has no container o2" in missing.release.missing
