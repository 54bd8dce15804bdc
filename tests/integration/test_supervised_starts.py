"""Starts and stops under a real supervisord: state that must be cleared, autorestart, settings for one start, sizes."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.errors import BadInput, Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, FileTimes
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from world.supervised import deployer, described, starts, supervised


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[SupervisordSettings]:
    """A supervisord with two programs, stopped at first, and a login."""
    with supervised(tmp_path) as made:
        yield made


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


@pytest.mark.parametrize("pause_s", [0.5, *(pytest.param(one, marks=pytest.mark.long) for one in (0.0, 0.2, 0.8, 1.1))])
def test_what_ended_right_before_its_stop_stays_down(settings: SupervisordSettings, pause_s: float) -> None:
    """Supervisord has not started it again yet, and would."""
    os.kill(running_for_good(settings), 9)
    time.sleep(pause_s)
    # A launcher that has just been started may not hear SIGTERM yet: supervisord kills it after ten seconds, and a
    # loaded machine is slow to tell.
    deployer(settings.model_copy(update={"stop_timeout_s": 60.0})).stop("o1")
    assert seen_for(settings, 3) <= {"stopped", "failed"}


ONCE = (("cleanup.on.start", "true"),)


def test_a_setting_for_one_start_is_in_that_start_alone(settings: SupervisordSettings) -> None:
    """Nothing that is declared changes, so nothing drifts, and the next start does not have it."""
    control, file = deployer(settings), settings.instances[0].directory / "once.properties"
    file.write_text("left=behind\n")
    control.start("o1", ONCE)
    assert "then " in starts(settings)[-1]
    assert "cleanup.on.start=true" in starts(settings)[-1]
    assert "left" not in starts(settings)[-1]
    assert not file.exists()
    found = described(settings)
    assert (found.settings, found.applied, found.target) == ((), True, Target("3.4.1"))
    with pytest.raises(WriteRefused, match=r"o1 runs already: cleanup\.on\.start would have no effect; stop it first"):
        control.start("o1", ONCE)
    restart(control, "o1", Target("3.4.1"), remove_members=None, log=lambda _: None)
    assert "then " not in starts(settings)[-1]
    restart(control, "o1", Target("4.3.1"), remove_members=None, once=ONCE, log=lambda _: None)
    assert "release=4.3.1" in starts(settings)[-1]
    assert "cleanup.on.start=true" in starts(settings)[-1]
    assert (described(settings).target, described(settings).applied) == (Target("4.3.1"), True)
    assert len(starts(settings)) == 3


def test_a_launcher_that_does_not_take_it_is_refused(settings: SupervisordSettings) -> None:
    """The file does not stay for a later start; without a declared file nothing is stopped for it."""
    settings = settings.model_copy(update={"start_timeout_s": 3.0})
    control, directory = deployer(settings), settings.instances[0].directory
    (directory / "leaves").touch()
    with pytest.raises(Refused, match=r"o1: started, and its launcher has not read and deleted \S+ after 3 s"):
        control.start("o1", ONCE)
    assert not (directory / "once.properties").exists()
    pid = described(settings).pid
    without = deployer(settings.model_copy(update={"once_file": None}))
    with pytest.raises(BadInput, match=r"o1: cleanup\.on\.start cannot be set for one start: no once_file is declared"):
        restart(without, "o1", Target("4.3.1"), remove_members=None, once=ONCE, log=lambda _: None)
    with pytest.raises(WriteRefused, match=r"o1: no runbook sets sasl\.jaas\.config"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, once=(("sasl.jaas.config", "x"),), log=print)
    assert described(settings).pid == pid


def test_a_start_that_fails_leaves_no_setting_for_the_next(settings: SupervisordSettings) -> None:
    """A dry run writes none either, and shows it."""
    directory = settings.instances[0].directory
    dry = deployer(settings, dry_run=True)
    dry.start("o1", ONCE)
    assert dry.would_write[-1].endswith(" with cleanup.on.start=true for this start alone")
    (directory / "broken").touch()
    with pytest.raises(Refused, match="o1: supervisord reports FATAL"):
        deployer(settings).start("o1", ONCE)
    assert not (directory / "once.properties").exists()


def test_the_age_of_local_state(settings: SupervisordSettings) -> None:
    """By task directory, its own age included: the oldest and the newest; a disk that is not here is Missing."""
    control, state = deployer(settings), settings.instances[0].state_dir / "orders"
    for path, at_s in (("0_0/rocksdb/IDENTITY", 1000.5), ("0_0/rocksdb/1.sst", 2000), ("__named__/1_2/a", 3000)):
        (state / path).parent.mkdir(parents=True, exist_ok=True)
        (state / path).touch()
        os.utime(state / path, (at_s, at_s))
    (state / "link").symlink_to(state / "0_0")
    for folder, at_s in (("0_0/rocksdb", 4000), ("0_0", 1001), ("__named__/1_2", 900)):
        os.utime(state / folder, (at_s, at_s))
    assert control.state_times("o1") == {
        "0_0": FileTimes(1_000_500, 4_000_000),
        "named__1_2": FileTimes(900_000, 3_000_000),
    }
    shutil.rmtree(settings.instances[1].state_dir)
    missing = control.state_times("o2")
    assert isinstance(missing, Missing)
    assert missing.missing.endswith("orders: its times cannot be read on this machine (No such file or directory)")


def test_sizes_of_local_state(settings: SupervisordSettings) -> None:
    """Bytes by task directory, of the one instance; a disk that is not here is Missing."""
    control, state = deployer(settings), settings.instances[0].state_dir / "orders"
    (state / "0_0" / "rocksdb" / "store").mkdir(parents=True)
    (state / "0_0" / "rocksdb" / "store" / "1.sst").write_bytes(b"x" * 1000)
    (state / "0_0" / ".checkpoint").write_bytes(b"y" * 24)
    (state / "__named__" / "1_2").mkdir(parents=True)
    (state / "__named__" / "1_2" / "a").write_bytes(b"z")
    (state / "global").mkdir()
    (state / "link").symlink_to(state / "0_0")
    (state / "file").write_bytes(b"none of a task")
    assert control.state_sizes("o1") == {"0_0": 1024, "global": 0, "named__1_2": 1}
    assert control.state_sizes("o2") == {"0_0": 0}
    for path in sorted((settings.instances[1].state_dir / "orders").rglob("*"), reverse=True):
        path.rmdir()
    (settings.instances[1].state_dir / "orders").rmdir()
    missing = control.state_sizes("o2")
    assert isinstance(missing, Missing)
    assert missing.missing.endswith("orders: its size cannot be read on this machine (No such file or directory)")
    with pytest.raises(BadInput, match="'o9' is not declared"):
        control.state_sizes("o9")
