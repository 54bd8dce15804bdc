"""What the docker deployer refuses of a real engine, each in one sentence with the remedy, and nothing is changed."""

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from lab.certificates import KEY_PASSWORD, make_certificates
from lab.engine import OwnEngine
from world.containers import created, deployer, described, inspected, settings

pytestmark = pytest.mark.long

BUMP = Target.of("4.3.1", {"upgrade.from": "3.4"})


def refused(engine: OwnEngine, made: DockerSettings, why: str, target: Target = BUMP) -> str:
    """The restart is refused before the instance is stopped; returns the sentence."""
    before, names = inspected(engine), engine.names()
    with pytest.raises((WriteRefused, BadInput), match=why) as no:
        restart(deployer(made), "o1", target, remove_members=None, log=lambda _: None)
    after = inspected(engine)
    assert ([after[key] for key in ("Id", "State")], engine.names()) == (
        [before[key] for key in ("Id", "State")],
        names,
    )
    sentence = str(no.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("policy", ["always", "on-failure", "unless-stopped", "no"])
def test_what_the_engine_starts_again_is_refused(engine: OwnEngine, policy: str) -> None:
    """Exactly the policies with which it does: shown by an engine that is started again."""
    created(engine, HostConfig={"RestartPolicy": {"Name": policy}})
    made = settings(engine)
    deployer(made).start("o1")
    engine.api.kill("o1", "SIGTERM")
    until = time.monotonic() + 10
    while inspected(engine)["State"]["Running"] and time.monotonic() < until:
        time.sleep(0.1)
    assert not inspected(engine)["State"]["Running"], "a stop by a person is no failure"
    engine.restart()
    time.sleep(1)
    comes_back = inspected(engine)["State"]["Running"]
    assert comes_back == (policy in {"always", "on-failure"})
    assert described(made).autorestart == comes_back
    if not comes_back:
        deployer(made).start("o1")
        restart(deployer(made), "o1", BUMP, remove_members=None, log=lambda _: None)
        assert described(made).target == BUMP
        return
    with pytest.raises(WriteRefused, match=f"its restart policy is {policy}, with which") as no:
        deployer(made).stop("o1")
    assert refused(engine, made, "its restart policy is") == str(no.value)
    # The remedy that the sentence names.
    assert "`docker update --restart unless-stopped o1`" in str(no.value)
    engine.api.update_container("o1", restart_policy={"Name": "unless-stopped"})
    restart(deployer(made), "o1", BUMP, remove_members=None, log=lambda _: None)
    assert described(made).target == BUMP


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"HostConfig": {"AutoRemove": True}}, "created with --rm, so a stop removes it"),
        ({"HostConfig": {"Binds": []}}, "state /state is in the container's own layer, which another container does"),
        (
            {"HostConfig": {"Binds": ["o1-state:/state"]}, "Volumes": {"/data": {}}},
            "/data: in a volume without a name, which no other container has",
        ),
        ({"Labels": {"com.docker.swarm.service.name": "orders"}}, "belongs to the swarm service orders"),
        ({"Env": ["THEIRS=1"]}, r"image orders:4\.3\.1 itself has variable THEIRS as the container was given it"),
        ({"Labels": {"theirs": "1"}}, r"image orders:4\.3\.1 itself has Labels theirs as the container was given it"),
    ],
)
def test_a_container_that_would_not_be_equal_afterwards(engine: OwnEngine, given: dict[str, Any], why: str) -> None:
    """It would lose something, or the way back would."""
    engine.image("4.3.1", "ENV THEIRS=1", "LABEL theirs=1")
    created(engine, **given)
    made = settings(engine)
    deployer(made).start("o1")
    refused(engine, made, why)
    engine.image("4.3.1")


def test_a_container_in_its_network(engine: OwnEngine) -> None:
    """Another one that shares it by the container's id would be without a network."""
    created(engine)
    made = settings(engine)
    deployer(made).start("o1")
    created(engine, "agent", HostConfig={"NetworkMode": f"container:{inspected(engine)['Id']}"})
    refused(engine, made, "agent shares its network and would lose it")


def test_images_that_do_not_fit(engine: OwnEngine) -> None:
    """A variable that no runbook could unset, a volume without a mount, a value that the image has itself."""
    created(engine)
    made = settings(
        engine, releases={one: one for one in ("3.4.1", "4.0.0", "4.0.1", "4.0.2")}, settable=["num.stream.threads"]
    )
    engine.image("4.0.0", "ENV STREAMS_UPGRADE_FROM=3.4")
    engine.image("4.0.1", "VOLUME /data")
    engine.image("4.0.2", "ENV STREAMS_NUM_STREAM_THREADS=2")
    deployer(made).start("o1")
    refused(engine, made, r"image orders:4\.0\.0 sets STREAMS_UPGRADE_FROM itself", Target("4.0.0"))
    refused(engine, made, r"image orders:4\.0\.1 has a volume at /data, where the container has no", Target("4.0.1"))
    threads = Target.of("4.0.2", {"num.stream.threads": "2"})
    refused(engine, made, r"image orders:4\.0\.2 itself has variable STREAMS_NUM_STREAM_THREADS", threads)


def test_a_tag_that_was_moved_is_no_release(engine: OwnEngine) -> None:
    """The container runs what the tag was: its release is not known, in place of wrong."""
    engine.image("4.5.0", name="moved")
    created(engine, Image="moved:4.5.0")
    made = settings(engine, image="moved:{release}", releases={"4.5.0": "a", "4.3.1": "b"})
    deployer(made).start("o1")
    assert described(made).release == "4.5.0"
    ran = next(one.build for one in deployer(made).instances() if one.instance == "o1")
    assert ran == inspected(engine)["Image"]
    deployer(made).check_build("o1", "4.5.0", ran)
    engine.image("4.5.0", "LABEL another=build", name="moved")
    with pytest.raises(
        WriteRefused, match=r"image moved:4\.5\.0 of release 4\.5\.0 was sha256:\w+ before, and is"
    ) as no:
        deployer(made).check_build("o1", "4.5.0", ran)
    assert f"run `docker tag {ran} moved:4.5.0`" in str(no.value)
    release = described(made).release
    assert isinstance(release, Missing)
    assert re.search(r"image moved:4\.5\.0 was sha256:\w+ when the container was created, and is", release.missing)
    other = settings(engine, releases={"3.4.1": "3.4.1"})
    release = described(other).release
    assert isinstance(release, Missing)
    assert "is that of no declared release (declared: orders:3.4.1)" in release.missing


@contextmanager
def nobody() -> Iterator[None]:
    """As a user who is in no group of the socket."""
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def test_a_socket_that_is_not_allowed_and_an_engine_that_is_away(engine: OwnEngine) -> None:
    """Each in one sentence; an engine that is silent, after a stated limit."""
    created(engine)
    made = settings(engine)
    groups = os.getgroups()
    os.setgroups([])
    engine.folder.chmod(0o755)
    try:
        with (
            nobody(),
            pytest.raises(Unreachable, match=r"nobody may not use its socket \(group \w+\); add the user to"),
        ):
            deployer(made).instances()
    finally:
        os.setgroups(groups)
    absent = made.model_copy(update={"url": "unix:///no/docker.sock"})
    with pytest.raises(Unreachable, match=r"docker engine: its socket does not exist; start the engine, or correct"):
        deployer(absent).instances()
    os.kill(_pid(engine), 19)  # SIGSTOP: it accepts, and never answers
    try:
        with pytest.raises(Unreachable, match="no answer within 10 s; look at the engine"):
            deployer(made).instances()
    finally:
        os.kill(_pid(engine), 18)
    engine.stop()
    try:
        with pytest.raises(
            Unreachable, match=r"docker engine: .*; start the engine, or correct deployer.url \(unix\[:\]//.*\)$"
        ):
            deployer(made).instances()
    finally:
        engine.start()
    assert described(made).process == "stopped"


def test_an_engine_over_tls(engine: OwnEngine, tmp_path: Path) -> None:
    """With our certificate; another authority, a broken key and a missing file get one sentence each."""
    from cryptography.hazmat.primitives import serialization

    made = make_certificates(tmp_path)
    key = serialization.load_pem_private_key(made.client_key.read_bytes(), KEY_PASSWORD.encode())
    plain = tmp_path / "key.pem"
    plain.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    own = OwnEngine(
        engine.folder / "tls",
        *("--tlsverify", f"--tlscacert={made.ca}", f"--tlscert={made.server}", f"--tlskey={made.server}"),
        listening=listening,
    )
    own.folder.mkdir(exist_ok=True)
    own.start()
    try:
        own.image("3.4.1")
        created(own)
        tls = {"ca": str(made.ca), "certificate": str(made.client), "key": str(plain)}
        there = settings(own, url=f"tcp://127.0.0.1:{port}", tls=tls, releases={"3.4.1": "3.4.1"})
        deployer(there).start("o1")
        assert described(there).process == "running"
        deployer(there).stop("o1")
        wrong = settings(own, url=f"tcp://127.0.0.1:{port}", tls=tls | {"ca": str(made.other_ca)})
        with pytest.raises(Unreachable, match=r"its certificate or ours is not accepted \(.*correct deployer\.tls"):
            deployer(wrong).instances()
        absent = settings(own, url=f"tcp://127.0.0.1:{port}", tls=tls | {"key": "/no/key.pem"})
        with pytest.raises(RunbookError, match=r"correct deployer\.tls"):
            deployer(absent).instances()
        own.clean()
    finally:
        own.stop()
        listening.close()


def _pid(engine: OwnEngine) -> int:
    return int((engine.folder / "pid").read_text())
