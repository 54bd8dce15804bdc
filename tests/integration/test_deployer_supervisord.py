"""The supervisord deployer against a real supervisord with real processes."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.deployers.supervisord.deployment_file import FILE
from kstreams_runbooks.errors import BadInput, Interrupted, Refused, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target

PROGRAM = """
import signal, sys, time
from pathlib import Path
directory = Path(sys.argv[1])
if (directory / "broken").exists():
    sys.exit(2)
def leave(*_):
    time.sleep(0.3)
    sys.exit(143)
if not (directory / "stubborn").exists():
    signal.signal(signal.SIGTERM, leave)
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with (directory / "started").open("a") as log:
    log.write((directory / "deployment.properties").read_text().replace("\\n", " ") + "\\n")
time.sleep(600)
"""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[SupervisordSettings]:
    """A supervisord with two programs, stopped at first, and a login."""
    port = free_port()
    (tmp_path / "program.py").write_text(PROGRAM)
    sections = [
        f"[supervisord]\nnodaemon=true\nlogfile={tmp_path}/supervisord.log\npidfile={tmp_path}/supervisord.pid",
        f"[unix_http_server]\nfile={tmp_path}/socket",
        f"[inet_http_server]\nport=127.0.0.1:{port}\nusername=runbook\npassword=secret",
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
    ]
    instances = []
    for name in ("o1", "o2"):
        directory = tmp_path / name
        (directory / "state" / "orders" / "0_0").mkdir(parents=True)
        (directory / FILE).write_text("release=3.4.1\n")
        sections.append(
            f"[program:{name}]\ncommand={sys.executable} {tmp_path}/program.py {directory}\nautostart=false\n"
            "startretries=1\nstopwaitsecs=30\nstopasgroup=true\nkillasgroup=true"
        )
        instances.append(
            {"name": name, "program": name, "directory": directory, "metrics": f"http://127.0.0.1:9/{name}"}
        )
    (tmp_path / "supervisord.conf").write_text("\n\n".join(sections) + "\n")
    daemon = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(tmp_path / "supervisord.conf")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = SupervisordSettings.model_validate(
        {
            "kind": "supervisord",
            "url": f"http://runbook:secret@127.0.0.1:{port}",
            "instances": instances,
            "releases": {"3.4.1": "/old", "4.3.1": "/new"},
            "topology": [sys.executable, "-c", "print('log line\\nTopologies:\\n {release}')"],
            "stop_timeout_s": 5,
            "start_timeout_s": 10,
        }
    )
    deadline = time.monotonic() + 20
    while True:
        try:
            deployer(found).instances()
            break
        except Unreachable:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    yield found
    pids = [one.pid for one in deployer(found).instances() if one.pid]
    # Told to end it takes a second to hear of it, and would start again what is killed before that.
    daemon.kill()
    daemon.wait(20)
    for pid in pids:
        os.kill(pid, 9)


def deployer(settings: SupervisordSettings, *, dry_run: bool = False) -> SupervisordDeployer:
    """A deployer for real."""
    return SupervisordDeployer(settings, application_id="orders", dry_run=dry_run)


def described(settings: SupervisordSettings, instance: str = "o1") -> Deployment:
    """What a new deployer says of one instance."""
    return next(one for one in deployer(settings).instances() if one.instance == instance)


def starts(settings: SupervisordSettings) -> list[str]:
    """What o1 read at each of its starts."""
    log = settings.instances[0].directory / "started"
    return log.read_text().splitlines() if log.exists() else []


def test_life_of_an_instance(settings: SupervisordSettings) -> None:
    """Start, set, restart, stop; each of them twice is the same as once."""
    control = deployer(settings)
    assert described(settings).process == "stopped"
    assert isinstance(described(settings).applied, Missing), "nothing runs, so nothing is applied"
    control.start("o1")
    control.start("o1")
    first = described(settings)
    assert (first.process, first.release, first.settings, first.applied) == ("running", "3.4.1", (), True)
    assert first.started_at_ms is not None
    assert abs(first.started_at_ms - time.time() * 1000) < 10_000

    control.apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    set_ = described(settings)
    assert (set_.release, set_.settings, set_.applied, set_.pid) == (
        "4.3.1",
        (("upgrade.from", "3.4"),),
        False,
        first.pid,
    )

    control.stop("o1")
    control.stop("o1")
    assert described(settings).process == "stopped"
    control.start("o1")
    second = described(settings)
    assert second.applied is True
    assert second.pid != first.pid
    assert starts(settings)[-1].endswith("release=4.3.1 upgrade.from=3.4 ")

    control.apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    assert described(settings).applied is True, "writing what stands there already writes nothing"
    control.apply("o1", Target("4.3.1"))
    assert described(settings).settings == ()
    assert described(settings, "o2").process == "stopped"


def test_start_right_after_the_write_is_told_apart(settings: SupervisordSettings) -> None:
    """Four times in a row: the start waits until it can be told from the write, so `applied` is no doubt."""
    control = deployer(settings)
    for round_ in range(4):
        control.stop("o1")
        control.apply("o1", Target(("3.4.1", "4.3.1")[round_ % 2]))
        control.start("o1")
        assert described(settings).applied is True


def test_restart_by_somebody_else_is_seen(settings: SupervisordSettings) -> None:
    """A process that was started before the file was touched runs something else than what stands there."""
    control = deployer(settings)
    control.start("o1")
    (settings.instances[0].directory / FILE).write_text("release=4.3.1\n")
    assert described(settings).applied is False


def test_stubborn_process(settings: SupervisordSettings) -> None:
    """Not gone in time is an error that says who is left; the later start waits until it is gone."""
    settings = settings.model_copy(update={"stop_timeout_s": 0.5})
    (settings.instances[0].directory / "stubborn").touch()
    control = deployer(settings)
    control.start("o1")
    time.sleep(0.5)
    with pytest.raises(Refused, match=r"o1: still there 0\.5 s after .* supervisord reports STOPPING"):
        control.stop("o1")
    pid = described(settings).pid
    assert pid is not None
    assert described(settings).process == "running"
    (settings.instances[0].directory / "stubborn").unlink()
    killer = threading.Timer(0.5, os.kill, (pid, 9))
    killer.start()
    control.start("o1")
    assert described(settings).process == "running"
    assert described(settings).pid != pid


def test_program_that_does_not_come_up(settings: SupervisordSettings) -> None:
    """A release whose launcher fails at once: supervisord gives up, the sentence says so."""
    (settings.instances[0].directory / "broken").touch()
    with pytest.raises(Refused, match="o1: supervisord reports FATAL"):
        deployer(settings).start("o1")
    assert described(settings).process == "failed"


def test_unknown_things_are_refused(settings: SupervisordSettings) -> None:
    """Each with what there is."""
    control = deployer(settings)
    with pytest.raises(BadInput, match=r"'9\.9' is not declared \(declared: 3\.4\.1, 4\.3\.1\)"):
        control.apply("o1", Target("9.9"))
    with pytest.raises(WriteRefused, match=r"no runbook sets num\.stream\.threads"):
        control.apply("o1", Target.of("4.3.1", {"num.stream.threads": "9"}))
    with pytest.raises(BadInput, match="'o9' is not declared"):
        control.stop("o9")
    unknown = settings.instances[1].model_copy(update={"program": "nobody"})
    settings = settings.model_copy(update={"instances": (settings.instances[0], unknown)})
    with pytest.raises(BadInput, match=r"has no program nobody \(it has: .*o1"):
        deployer(settings).start("o2")
    assert described(settings, "o2").process == "unknown"
    path = settings.instances[0].directory / FILE
    path.write_text("release=3.4.1\nnum.stream.threads=2\n")
    with pytest.raises(WriteRefused, match=r"holds num\.stream\.threads"):
        control.apply("o1", Target("4.3.1"))
    assert path.read_text() == "release=3.4.1\nnum.stream.threads=2\n"


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        (FILE, "release=3.4.1\nnum.stream.threads=2\n", r"holds num\.stream\.threads"),
        ("base.properties", "upgrade.from=3.4\n", r"base\.properties holds upgrade\.from=3\.4"),
    ],
)
def test_restart_that_would_be_refused_stops_nothing(
    settings: SupervisordSettings, file: str, text: str, why: str
) -> None:
    """The process that runs is the one that ran, and describing the instance says the same beforehand."""
    control = deployer(settings)
    control.start("o1")
    before = described(settings)
    (settings.instances[0].directory / file).write_text(text)
    with pytest.raises(WriteRefused, match=f"^o1: .*{why}"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    assert described(settings).pid == before.pid
    assert len(described(settings).obstacles) == 1


def test_dry_run_writes_nothing(settings: SupervisordSettings) -> None:
    """Guards run, sentences are kept, processes and files stay; a write that goes around the deployer is refused."""
    deployer(settings).start("o1")
    before, file = described(settings), settings.instances[0].directory / FILE
    text, written = file.read_text(), file.stat().st_mtime_ns
    dry = deployer(settings, dry_run=True)
    restart(
        dry,
        "o1",
        Target.of("4.3.1", {"upgrade.from": "3.4"}),
        remove_members=None,
        clears=NO_DIRECTORIES,
        log=lambda _: None,
    )
    dry.start("o2")
    dry.clear_state("o2")
    assert len(dry.would_write) == 5, dry.would_write
    assert dry.would_write[1].startswith("delete everything in")
    assert "release=4.3.1, upgrade.from=3.4" in dry.would_write[2]
    assert described(settings).pid == before.pid
    assert (file.read_text(), file.stat().st_mtime_ns) == (text, written)
    assert (settings.instances[1].directory / "state" / "orders" / "0_0").exists()
    with pytest.raises(BadInput):
        dry.apply("o1", Target("9.9"))
    for method in ("startProcess", "stopProcess", "shutdown"):
        with pytest.raises(WriteRefused, match="only reads"):
            dry._supervisord.call(method, "o1")


def test_state_is_cleared_only_while_down(settings: SupervisordSettings) -> None:
    """Refused while the process lives."""
    control = deployer(settings)
    control.start("o1")
    with pytest.raises(WriteRefused, match="not cleared while it runs"):
        control.clear_state("o1")
    control.stop("o1")
    state = settings.instances[0].directory / "state" / "orders"
    (state / "1_0").mkdir()
    dry = deployer(settings, dry_run=True)
    dry.clear_state("o1", ("1_",))
    assert dry.would_write == [f"delete task directories 1_* in {state}"]
    command = control.manual_commands("o1", Target("4.3.1"), clears=TaskDirectories(("1_",)))[1]
    assert command == f"rm -rf {state}/1_*"
    control.clear_state("o1", ("1_",))
    assert [path.name for path in state.iterdir()] == ["0_0"]
    control.clear_state("o1")
    assert list(state.iterdir()) == []


def test_unreachable_and_wrong_login(settings: SupervisordSettings) -> None:
    """One sentence each, without the password."""
    for url, why in (
        (settings.url.replace("secret", "other-word"), "HTTP 401"),
        (f"http://runbook:secret@127.0.0.1:{free_port()}", "no process listens"),
    ):
        with pytest.raises(Unreachable, match=why) as raised:
            deployer(settings.model_copy(update={"url": url})).instances()
        assert "secret" not in str(raised.value)
        assert "other-word" not in str(raised.value)


def test_unix_socket(settings: SupervisordSettings) -> None:
    """The same over supervisord's socket; one that is not there is as unreachable as a port."""
    socket_file = settings.instances[0].directory.parent / "socket"
    local = settings.model_copy(update={"url": f"unix://{socket_file}"})
    deployer(local).start("o1")
    assert described(local).applied is True
    with pytest.raises(Unreachable, match="no process listens"):
        deployer(settings.model_copy(update={"url": f"unix://{socket_file}.not"})).instances()


def test_topology_of_a_release(settings: SupervisordSettings) -> None:
    """From its first line on; a command that fails says what it said last."""
    assert deployer(settings).topology(Target("4.3.1")) == "Topologies:\n 4.3.1\n"
    failing = (sys.executable, "-c", "import sys; sys.exit('no such class')")
    settings = settings.model_copy(update={"topology": failing})
    with pytest.raises(Refused, match="exit 1: no such class"):
        deployer(settings).topology(Target("4.3.1"))


def test_restart_is_told_to_go_in_the_middle(settings: SupervisordSettings) -> None:
    """SIGTERM while the process stops: it is started again as it was, and a rerun finishes."""
    control = deployer(settings)
    control.start("o1")
    before = described(settings).pid
    threading.Timer(0.15, os.kill, (os.getpid(), 15)).start()
    said: list[str] = []
    with pytest.raises(Interrupted, match="SIGTERM arrived during its restart"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=said.append)
    after = described(settings)
    assert (after.process, after.release) == ("running", "3.4.1")
    assert after.pid != before
    times = restart(control, "o1", Target("4.3.1"), remove_members=None, log=said.append)
    assert (described(settings).release, described(settings).applied) == ("4.3.1", True)
    assert not times.already_stopped
    assert times.stopped_ms - times.stop_requested_ms >= 300


def test_manual_commands_do_the_same(settings: SupervisordSettings) -> None:
    """The way back that a run prints can be pasted (its login is asked for or given by the person)."""
    control = deployer(settings)
    stop, write, start = control.manual_commands("o1", Target.of("3.4.1", {"upgrade.from": "3.4"}))
    subprocess.run(["bash", "-c", write], check=True)
    assert described(settings).settings == (("upgrade.from", "3.4"),)
    assert "secret" not in stop + write + start
    assert stop.endswith("stop o1")
    assert start.endswith("start o1")


HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "a+")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("must_clear", [True, False])
def test_state_that_cannot_be_cleared_keeps_an_instance_down_that_must_be_cleared(
    settings: SupervisordSettings, *, must_clear: bool
) -> None:
    """Another client holds the directory: seen only once the instance is down. The ordinary restart starts it again."""
    control = deployer(settings)
    control.start("o1")
    state = settings.instances[0].state_dir / "orders"
    holds = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(state / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holds.stdout is not None
    holds.stdout.readline()

    def again() -> None:
        restart(
            control,
            "o1",
            Target("4.3.1"),
            remove_members=None,
            clears=NO_DIRECTORIES,
            must_clear=must_clear,
            log=lambda _: None,
        )

    try:
        with pytest.raises((Refused, WriteRefused), match="is in use: a Kafka Streams client holds") as raised:
            again()
    finally:
        holds.communicate()
    assert described(settings).process == ("stopped" if must_clear else "running")
    assert ("o1 is not started" in str(raised.value)) is must_clear
    assert (state / "0_0").is_dir()
    again()
    assert (described(settings).process, described(settings).release) == ("running", "4.3.1")
    assert not (state / "0_0").exists()


def running_for_good(settings: SupervisordSettings) -> int:
    """Start o1 and return its process id once supervisord takes it for RUNNING, and so would start it again."""
    deployer(settings).start("o1")
    time.sleep(1.5)
    pid = described(settings).pid
    assert pid is not None
    return pid


def seen_for(settings: SupervisordSettings, seconds: float) -> set[str]:
    """Every state of o1 in these seconds: supervisord looks at its programs once a second."""
    until, seen = time.monotonic() + seconds, set[str]()
    while time.monotonic() < until:
        seen.add(described(settings).process)
        time.sleep(0.05)
    return seen


def test_supervisord_starts_what_ended_by_itself_and_nothing_that_it_stopped(settings: SupervisordSettings) -> None:
    """Its autorestart (the default is `unexpected`) starts a killed program again, and never one that was stopped."""
    killed = running_for_good(settings)
    os.kill(killed, 9)
    assert "running" in seen_for(settings, 4)
    assert described(settings).pid not in {None, killed}
    time.sleep(1.5)
    deployer(settings).stop("o1")
    assert seen_for(settings, 4) == {"stopped"}
    assert described(settings).autorestart is False


@pytest.mark.parametrize("pause_s", [0.0, 0.2, 0.5, 0.8, 1.1])
def test_what_ended_right_before_its_stop_stays_down(settings: SupervisordSettings, pause_s: float) -> None:
    """Supervisord has not started it again yet, and would."""
    os.kill(running_for_good(settings), 9)
    time.sleep(pause_s)
    deployer(settings).stop("o1")
    assert seen_for(settings, 3) <= {"stopped", "failed"}
