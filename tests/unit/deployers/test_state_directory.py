"""Clearing local state touches one directory and nothing around it."""

import subprocess
import sys
from pathlib import Path

import pytest
from kstreams_runbooks.deployers.state_directory import aside_directory, clear, paths
from kstreams_runbooks.errors import BadInput, RunbookError, WriteRefused


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state.dir with two applications."""
    for application in ("orders", "orders-v2"):
        task = tmp_path / "state" / application / "0_1" / "rocksdb" / "store"
        task.mkdir(parents=True)
        (task / "000001.sst").write_text("x")
        (tmp_path / "state" / application / ".lock").touch()
    return tmp_path / "state"


def test_only_the_application_is_cleared(state: Path) -> None:
    """The neighbour with the same prefix stays; the directory itself stays, empty; again is the same."""
    assert clear(state, "orders") == (".lock", "0_1")
    assert list((state / "orders").iterdir()) == []
    assert (state / "orders-v2" / "0_1" / "rocksdb" / "store" / "000001.sst").exists()
    assert clear(state, "orders") == ()


def test_task_directories_are_cleared_alone(state: Path) -> None:
    """Those of subtopology 1 and one more: `11_0` is another subtopology, `1_x` no task; the lock stays."""
    for name in ("0_0", "1_0", "1_12", "11_0", "1_x"):
        (state / "orders" / name).mkdir()
    assert clear(state, "orders", ("0_1", "1_", "7_")) == ("0_1", "1_0", "1_12")
    assert sorted(path.name for path in (state / "orders").iterdir()) == [".lock", "0_0", "11_0", "1_x"]
    assert clear(state, "orders", ("1_",)) == ()


def test_global_stores_have_one_directory(state: Path) -> None:
    """It goes if it is named, and with no task's."""
    (state / "orders" / "global").mkdir()
    (state / "orders" / "global" / ".checkpoint").touch()
    assert clear(state, "orders", ("0_1",)) == ("0_1",)
    assert clear(state, "orders", ("global", "1_")) == ("global",)
    assert [path.name for path in (state / "orders").iterdir()] == [".lock"]


def test_tasks_of_a_named_topology_have_a_directory_of_their_own(state: Path) -> None:
    """`__name__/0_1` is the task `name__0_1`, and not `0_1`."""
    for name in ("0_0", "0_1", "1_0"):
        (state / "orders" / "__east__" / name).mkdir(parents=True)
    assert clear(state, "orders", ("east__0_", "west__0_")) == ("0_0", "0_1")
    assert (state / "orders" / "0_1").is_dir()
    assert [path.name for path in (state / "orders" / "__east__").iterdir()] == ["1_0"]
    assert paths(("1_", "2_3", "east__0_")) == ("1_*", "2_3", "__east__/0_*")


def test_what_a_run_may_lose_is_moved_aside(state: Path) -> None:
    """Next to the application's directory, with all that is in it; the lock stays, and other directories."""
    (state / "orders" / "1_0").mkdir()
    (state / "orders" / "__east__" / "0_0").mkdir(parents=True)
    assert clear(state, "orders", ("0_", "east__0_"), "kept-1") == ("0_0", "0_1")
    kept = aside_directory(state, "orders", "kept-1")
    assert kept == state / "orders.kept-1"
    assert (kept / "0_1" / "rocksdb" / "store" / "000001.sst").read_text() == "x"
    assert (kept / "__east__" / "0_0").is_dir()
    assert sorted(path.name for path in (state / "orders").iterdir()) == [".lock", "1_0", "__east__"]
    assert clear(state, "orders", (), "kept-1") == (".lock", "1_0", "__east__")
    assert list((state / "orders").iterdir()) == []


def test_a_second_deletion_keeps_the_older_copy(state: Path) -> None:
    """A step that runs again finds what the application has built since: the first copy has what is lost."""
    clear(state, "orders", ("0_",), "kept-1")
    (state / "orders" / "0_1").mkdir()
    (state / "orders" / "0_1" / "new").touch()
    assert clear(state, "orders", ("0_",), "kept-1") == ("0_1",)
    kept = aside_directory(state, "orders", "kept-1") / "0_1"
    assert [path.name for path in kept.iterdir()] == ["rocksdb"]
    assert not (state / "orders" / "0_1").exists()


def test_without_a_name_nothing_is_kept(state: Path) -> None:
    """The ordinary deletion leaves no copy."""
    clear(state, "orders")
    assert sorted(path.name for path in state.iterdir()) == ["orders", "orders-v2"]


def test_a_link_in_place_of_the_copy_is_not_followed(state: Path, tmp_path: Path) -> None:
    """A user who may write to the state.dir redirects nothing."""
    (state / "orders.kept-1").symlink_to(tmp_path)
    with pytest.raises(OSError, match="kept-1"):
        clear(state, "orders", ("0_",), "kept-1")
    assert (state / "orders" / "0_1").is_dir()


def test_nothing_is_cleared_where_mounts_are_not_known(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is mounted in it may be anything; a system without the list has none to look at."""
    monkeypatch.setattr("kstreams_runbooks.deployers.state_directory._MOUNTS", tmp_path)
    with pytest.raises(WriteRefused, match="so whether another file system is mounted in the state is not known"):
        clear(state, "orders")
    assert (state / "orders" / "0_1").is_dir()
    monkeypatch.setattr("kstreams_runbooks.deployers.state_directory._MOUNTS", tmp_path / "absent")
    assert clear(state, "orders") == (".lock", "0_1")


def test_checkpoints_go_first(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is half deleted beside its checkpoint would count as restored."""
    (state / "orders" / "0_1" / ".checkpoint").write_text("0\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("kstreams_runbooks.deployers.state_directory.shutil.rmtree", full)
    with pytest.raises(OSError, match="no space left"):
        clear(state, "orders")
    assert not (state / "orders" / "0_1" / ".checkpoint").exists()


def test_links_are_removed_and_not_followed(state: Path, tmp_path: Path) -> None:
    """What a link inside points to is none of ours."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").touch()
    (state / "orders" / "0_2").symlink_to(outside)
    (state / "orders" / "0_1" / "link").symlink_to(outside)
    clear(state, "orders")
    assert (outside / "keep").exists()


def test_application_directory_that_is_a_link_is_refused(state: Path, tmp_path: Path) -> None:
    """It may lead anywhere."""
    (tmp_path / "elsewhere" / "0_1").mkdir(parents=True)
    (state / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteRefused, match="is a link"):
        clear(state, "linked")
    assert (tmp_path / "elsewhere" / "0_1").exists()


def test_a_state_dir_with_a_link_in_its_path_is_refused(state: Path, tmp_path: Path) -> None:
    """Whoever may replace the link decides what is deleted; the sentence names the place, to be declared."""
    (tmp_path / "link").symlink_to(state)
    with pytest.raises(WriteRefused, match=f"link is a link to {state}: not cleared; declare the state.dir without"):
        clear(tmp_path / "link", "orders")
    (tmp_path / "above").symlink_to(tmp_path)
    with pytest.raises(WriteRefused, match="above is a link to"):
        clear(tmp_path / "above" / "state", "orders")
    assert (state / "orders" / "0_1").exists()


@pytest.mark.parametrize("application_id", ["", ".", "..", "../orders", "/etc", "orders/0_1"])
def test_name_that_leads_elsewhere(state: Path, application_id: str) -> None:
    """An application.id is one name."""
    with pytest.raises(BadInput, match="not a directory name"):
        clear(state, application_id)


def test_root_and_home_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither /, nor a home, nor what holds the home."""
    home = tmp_path / "home" / "me"
    (home / "orders").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for place in (Path("/"), home, home.parent):
        with pytest.raises(WriteRefused):
            clear(place, "orders")
    assert (home / "orders").exists()


def test_wrong_state_dir_is_not_taken_for_a_clear_one(state: Path, tmp_path: Path) -> None:
    """Absent, relative, or without the application: each is an error, because the real state would stay."""
    for place in (tmp_path / "nowhere", Path("state"), tmp_path):
        with pytest.raises(RunbookError):
            clear(place, "orders")
    assert (state / "orders" / "0_1").exists()


def test_state_in_use_is_refused(state: Path) -> None:
    """A Streams client holds the lock, whoever started it."""
    hold = (
        "import fcntl,sys,time; f=open(sys.argv[1],'rb+'); fcntl.lockf(f,fcntl.LOCK_EX); "
        "print('held',flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(state / "orders" / ".lock")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(WriteRefused, match="in use"):
            clear(state, "orders")
        assert (state / "orders" / "0_1").exists()
    finally:
        holder.kill()
        holder.wait()
    clear(state, "orders")
