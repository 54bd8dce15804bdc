"""Files are written in the place that was named and nowhere else, and nothing outside of a state.dir is deleted.

What is planted: links at the name, at every temporary name that could be guessed, at lock files, on the way to a
directory; FIFOs, directories and devices in their places.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kstreams_runbooks.demo.file_notifier import FileNotifier
from kstreams_runbooks.deployers import state_directory
from kstreams_runbooks.deployers.state_directory import application_directory, clear
from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable, WriteRefused
from kstreams_runbooks.files import append_line, create_file, replace_file
from kstreams_runbooks.frames.bundle import write_bundle
from kstreams_runbooks.frames.job import run_job
from kstreams_runbooks.ledger.ledger import Ledger
from kstreams_runbooks.properties import write_atomically
from kstreams_runbooks.terminal.discovery.new_file import create

VICTIM = "not ours"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that somebody else's link points to."""
    file = tmp_path / "elsewhere" / "victim"
    file.parent.mkdir()
    file.write_text(VICTIM)
    return file


def job(path: Path) -> None:
    """What a Spark job leaves at --result."""
    assert run_job("test", lambda: {"answer": 42}, str(path)) == 0


WRITERS: dict[str, Callable[[Path], object]] = {
    "deployment.properties": lambda path: write_atomically(path, "release=4.3.1\n"),
    "a job's result": job,
    "the bundle of frames": write_bundle,
    "any file": lambda path: replace_file(path, b"new"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_at_the_name_is_replaced_and_not_written_through(writer: str, tmp_path: Path, victim: Path) -> None:
    """Nor at a temporary name that can be guessed from the process or the file."""
    target = tmp_path / "here" / "file"
    target.parent.mkdir()
    target.symlink_to(victim)
    pid = os.getpid()
    for guessed in (f".file.{pid}", f".file.{pid}.new", ".file.new", "file.tmp", f"file.{pid}", ".file.swp"):
        (target.parent / guessed).symlink_to(victim)
    WRITERS[writer](target)
    assert victim.read_text() == VICTIM
    assert not target.is_symlink()
    assert target.stat().st_size
    left = [one.name for one in target.parent.iterdir() if not one.is_symlink()]
    assert left == ["file"], "no temporary file is left"


@pytest.mark.parametrize("writer", WRITERS)
def test_a_fifo_at_the_name_holds_nothing_up(writer: str, tmp_path: Path) -> None:
    """It is replaced as any other name is."""
    target = tmp_path / "file"
    os.mkfifo(target)
    WRITERS[writer](target)
    assert target.is_file()


def test_a_directory_at_the_name_stays(tmp_path: Path) -> None:
    """An error, and nothing is left behind."""
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "file", b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_new_file_refuses_every_name_that_is_taken(tmp_path: Path, victim: Path) -> None:
    """A link that leads nowhere is a name that is taken: it would be made through it."""
    dangling, linked, pipe = tmp_path / "dangling", tmp_path / "linked", tmp_path / "pipe"
    dangling.symlink_to(tmp_path / "elsewhere" / "made")
    linked.symlink_to(victim)
    os.mkfifo(pipe)
    (tmp_path / f".new.{os.getpid()}.new").symlink_to(victim)
    for path in (dangling, linked, pipe):
        assert create(path, "ours") is False
    assert create(tmp_path / "new", "ours") is True
    assert not (tmp_path / "elsewhere" / "made").exists()
    assert victim.read_text() == VICTIM
    with pytest.raises(BadInput, match="cannot be written"):
        create(victim / "below", "ours")


def test_one_of_ten_makes_a_new_file(tmp_path: Path) -> None:
    """The name is taken once, whoever is first."""
    made: list[bool] = []
    threads = [
        threading.Thread(target=lambda n=n: made.append(create_file(tmp_path / "one", str(n).encode())))
        for n in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made.count(True) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["one"]


def test_modes_are_what_is_said(tmp_path: Path) -> None:
    """0644 for what others read, the mode of a file that is there, 0600 for what is appended to."""
    old = os.umask(0)
    try:
        replace_file(tmp_path / "a", b"x")
        append_line(tmp_path / "b", b"x\n")
        replace_file(tmp_path / "c", b"x", 0o600)
        (tmp_path / "a").chmod(0o640)
        replace_file(tmp_path / "a", b"y")
    finally:
        os.umask(old)
    modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    assert modes == {"a": 0o640, "b": 0o600, "c": 0o600}


@pytest.mark.parametrize("planted", ["a link", "a link that leads nowhere", "a FIFO", "a directory"])
def test_notifications_are_appended_to_a_file_alone(planted: str, tmp_path: Path, victim: Path) -> None:
    """Nothing else that has the name is written to, nor waited for."""
    path = tmp_path / "notifications"
    if planted == "a FIFO":
        os.mkfifo(path)
    elif planted == "a directory":
        path.mkdir()
    else:
        path.symlink_to(victim if planted == "a link" else tmp_path / "elsewhere" / "made")
    with pytest.raises(OSError, match=r"."):
        FileNotifier(str(path)).notify({"notification": {"a": 1}})  # type: ignore[typeddict-unknown-key]
    assert victim.read_text() == VICTIM
    assert not (tmp_path / "elsewhere" / "made").exists()


@pytest.mark.parametrize("planted", ["a link", "a FIFO", "a directory"])
def test_the_ledgers_lock_is_a_file_or_one_sentence(planted: str, tmp_path: Path, victim: Path) -> None:
    """Opened through a link it would be emptied, whatever it points to."""
    ledger = tmp_path / "ledger.db"
    lock = tmp_path / "ledger.db.lock"
    if planted == "a FIFO":
        os.mkfifo(lock)
    elif planted == "a directory":
        lock.mkdir()
    else:
        lock.symlink_to(victim)
    with pytest.raises(Unreachable, match=r"ledger.db.lock: cannot be taken \(.+\); look at that file"):
        Ledger.open(f"sqlite:///{ledger}")
    assert victim.read_text() == VICTIM


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state.dir with an application and its neighbour."""
    for application in ("orders", "orders-v2"):
        store = tmp_path / "state" / application / "0_1" / "rocksdb" / "store"
        store.mkdir(parents=True)
        (store / "000001.sst").write_text("x")
        (store.parents[1] / ".checkpoint").write_text("0\n")
        (tmp_path / "state" / application / ".lock").touch()
    return tmp_path / "state"


def everything(place: Path) -> set[str]:
    """Every name below."""
    return {str(one.relative_to(place)) for one in place.rglob("*")}


def test_links_that_are_planted_inside_are_deleted_and_not_followed(state: Path, victim: Path) -> None:
    """To a file, a directory, the neighbour, the state.dir, itself, nowhere; in place of a task, a store, a file."""
    orders = state / "orders"
    before = everything(victim.parent), everything(state / "orders-v2")
    for number, aim in enumerate([victim, victim.parent, state / "orders-v2", state, Path("/"), Path("gone"), Path()]):
        (orders / f"0_{number + 2}").symlink_to(aim)
        (orders / "0_1" / f"link{number}").symlink_to(aim)
        (orders / "0_1" / "rocksdb" / "store" / f"link{number}").symlink_to(aim)
    (orders / "0_9").mkdir()
    (orders / "0_9" / ".checkpoint").symlink_to(victim)
    os.mkfifo(orders / "0_9" / "pipe")
    os.link(victim, orders / "0_9" / "hard")
    clear(state, "orders")
    assert list(orders.iterdir()) == []
    assert (everything(victim.parent), everything(state / "orders-v2")) == before
    assert victim.read_text() == VICTIM


@pytest.mark.parametrize("which", ["the application", "the state.dir", "above", "far above"])
def test_a_link_on_the_way_is_refused_with_where_it_leads(which: str, state: Path, tmp_path: Path) -> None:
    """Nothing is deleted on either side of it."""
    real = tmp_path / "real"
    given = {"the application": state, "the state.dir": state, "above": state, "far above": state}[which]
    if which == "the application":
        (state / "orders").rename(real)
        (state / "orders").symlink_to(real)
    elif which == "the state.dir":
        state.rename(real)
        state.symlink_to(real)
    else:
        (tmp_path / "one").mkdir()
        (tmp_path / "one" / "two").symlink_to(tmp_path)
        given = tmp_path / "one" / "two" / "state"
        if which == "far above":
            (tmp_path / "zero").symlink_to(tmp_path / "one")
            given = tmp_path / "zero" / "two" / "state"
    before = everything(tmp_path)
    for refused in (application_directory, clear):
        with pytest.raises(WriteRefused, match=r"is a link to .*: not cleared"):
            refused(given, "orders")
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", ["..", ".", "", "../orders", "orders/0_1", "/etc", "orders\0", "orders-v2/../orders"])
def test_a_name_that_leads_elsewhere_is_none(name: str, state: Path) -> None:
    """An application.id is one name in the state.dir."""
    before = everything(state)
    with pytest.raises(BadInput):
        clear(state, name)
    for place in (state / ".." / "state", Path("state"), Path("/"), Path.home(), Path.home().parent):
        with pytest.raises(RunbookError):
            clear(place, "orders")
    assert everything(state) == before


@pytest.mark.parametrize("planted", ["a link", "a FIFO", "a directory", "a file without rights"])
def test_an_odd_lock_is_refused(planted: str, state: Path, victim: Path) -> None:
    """Whether a client holds it is not known then; nothing waits for it."""
    lock = state / "orders" / ".lock"
    lock.unlink()
    if planted == "a link":
        lock.symlink_to(victim)
    elif planted == "a FIFO":
        os.mkfifo(lock)
    elif planted == "a directory":
        lock.mkdir()
    elif os.geteuid() == 0:
        lock.symlink_to("/dev/null")
    else:
        lock.touch(mode=0)
    before = everything(state)
    with pytest.raises(WriteRefused, match=r"\.lock .*not cleared"):
        clear(state, "orders")
    assert everything(state) == before
    assert victim.read_text() == VICTIM


def test_the_lock_is_held_until_all_is_deleted(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance that starts in the middle finds it taken, and its file is the last to go."""
    script = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'rb+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    rmtree, tried = shutil.rmtree, []

    def slow(name: str, *, dir_fd: int) -> None:
        lock = state / "orders" / ".lock"
        done = subprocess.run(["python3", "-c", script, str(lock)], capture_output=True, check=False)
        tried.append((lock.exists(), done.returncode))
        rmtree(name, dir_fd=dir_fd)

    monkeypatch.setattr(shutil, "rmtree", slow)
    clear(state, "orders")
    assert tried == [(True, 1)]


def test_what_is_mounted_in_it_is_refused(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bind mount of the same disk is told by the list of mounts alone; blanks are written in octal there."""
    odd = state / "orders" / "0_1" / "a b"
    odd.mkdir()
    mounts = tmp_path / "mountinfo"
    line = "36 35 98:0 /x {} rw,noatime shared:1 - ext4 /dev/root rw\n"
    mounts.write_text(line.format("/") + line.format(str(odd).replace(" ", r"\040")))
    monkeypatch.setattr(state_directory, "_MOUNTS", mounts)
    before = everything(state)
    with pytest.raises(WriteRefused, match=r"another file system is mounted at .*a b: not cleared"):
        clear(state, "orders")
    assert everything(state) == before
    mounts.write_text(line.format("/") + line.format(state))
    clear(state, "orders")


def test_a_directory_that_becomes_a_link_while_it_is_deleted_is_not_followed(
    state: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way was opened before: what the names lead to now does not matter."""
    rmtree = shutil.rmtree

    def swapped(name: str, *, dir_fd: int) -> None:
        (state / "orders").rename(state / "aside")
        (state / "orders").symlink_to(victim.parent)
        (victim.parent / name).mkdir()
        rmtree(name, dir_fd=dir_fd)

    monkeypatch.setattr(shutil, "rmtree", swapped)
    clear(state, "orders")
    assert (victim.parent / "0_1").is_dir()
    assert victim.read_text() == VICTIM
    assert list((state / "aside").iterdir()) == []
