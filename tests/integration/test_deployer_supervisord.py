"""The supervisord deployer against a real supervisord with real processes."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.supervisord.deployment_file import FILE
from kstreams_runbooks.errors import BadInput, Interrupted, Refused, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, LeftState, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target
from lab.processes import started_since
from world.supervised import deployer, described, free_port, starts, supervised


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[SupervisordSettings]:
    """A supervisord with two programs, stopped at first, and a login."""
    with supervised(tmp_path) as made:
        yield made


def test_life_of_an_instance(settings: SupervisordSettings) -> None:
    """Start, set, restart, stop; each of them twice is the same as once."""
    control = deployer(settings)
    assert described(settings).process == "stopped"
    assert isinstance(described(settings).applied, Missing), "nothing runs, so nothing is applied"
    before_ms = time.time() * 1000
    control.start("o1")
    control.start("o1")
    first = described(settings)
    assert (first.process, first.release, first.settings, first.applied) == ("running", "3.4.1", (), True)
    assert first.started_at_ms is not None
    assert started_since(before_ms, first.started_at_ms)

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


def test_an_end_by_a_kill_is_told_from_a_clean_one(settings: SupervisordSettings) -> None:
    """A stop, a stop that ends with a kill, a kill that no stop asked for."""
    control = deployer(settings)
    control.start("o1")
    assert isinstance(described(settings).ended_cleanly, Missing)
    control.stop("o1")
    assert described(settings).ended_cleanly is True
    (settings.instances[0].directory / "stubborn").touch()
    control.start("o1")
    time.sleep(0.5)
    pid = described(settings).pid
    assert pid is not None
    killer = threading.Timer(0.5, os.kill, (pid, 9))
    killer.start()
    control.stop("o1")
    assert described(settings).ended_cleanly is False


def test_state_is_cleared_before_a_start_that_waits_for_a_kill(settings: SupervisordSettings) -> None:
    """The stop request gave up, and the process was killed after it: the start would have been on its state."""
    settings = settings.model_copy(update={"stop_timeout_s": 0.5})
    (settings.instances[0].directory / "stubborn").touch()
    control = deployer(settings)
    control.start("o1")
    time.sleep(0.5)
    pid = described(settings).pid
    assert pid is not None
    looked: list[tuple[bool | Missing, bool]] = []
    killer = threading.Timer(2, os.kill, (pid, 9))
    killer.start()

    def left(found: Deployment | None, started: bool) -> LeftState:
        assert found is not None
        looked.append((found.ended_cleanly, started))
        (settings.instances[0].directory / "stubborn").unlink(missing_ok=True)
        return LeftState(TaskDirectories(("1_",)), "it was killed")

    said: list[str] = []
    with pytest.raises(Refused, match=r"o1: still there 0\.5 s after"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=said.append, left=left)
    assert looked == [(False, False)]
    assert "o1: task directories 1_* cleared" in said
    assert (described(settings).process, described(settings).release) == ("running", "3.4.1")


def test_program_that_does_not_come_up(settings: SupervisordSettings) -> None:
    """A release whose launcher fails at once: supervisord gives up, the sentence says so."""
    (settings.instances[0].directory / "broken").touch()
    end = r"last error in its log: ERROR no such release, DB_PASS=\(hidden\)"
    with pytest.raises(Refused, match=rf"o1: supervisord reports FATAL \(.*; {end}\); read its log"):
        deployer(settings).start("o1")
    assert described(settings).process == "failed"
    assert deployer(settings).log_end("o2") == ""


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
    """SIGTERM while the process stops: it is started again with what is set, and a rerun finishes."""
    control = deployer(settings)
    control.start("o1")
    before = described(settings).pid

    def once_it_stops() -> None:
        while described(settings).process == "running":
            time.sleep(0.01)
        os.kill(os.getpid(), 15)

    threading.Thread(target=once_it_stops, daemon=True).start()
    said: list[str] = []
    with pytest.raises(Interrupted, match="SIGTERM arrived during its restart"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=said.append)
    after = described(settings)
    assert (after.process, after.release, after.applied) == ("running", "4.3.1", True)
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
