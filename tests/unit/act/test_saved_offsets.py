"""Offsets saved as plain files: whole, never replaced, with the command that restores them."""

import base64
import shlex
import struct
from pathlib import Path

import pytest
from kstreams_runbooks.act.saved_offsets import save_offsets, saved_offsets_dir
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.writes import CommittedOffset, SavedFile, SavedOffsets

CONFIG = {"bootstrap.servers": "one:9092,two:9092"}
RUN = "reset/manual__2026-11-23T07:00:00+00:00"
STAMP = base64.b64encode(struct.pack(">bq", 2, 1_700_000_000_000)).decode()
SAVED = SavedOffsets(
    "orders", 1_700_000_100_000, (CommittedOffset("in", 0, 5, STAMP, 3), CommittedOffset("in", 1, 7, "x\ny", -1))
)


def save(directory: Path, saved: SavedOffsets = SAVED, settings: dict[str, str] | None = None) -> SavedFile:
    return save_offsets(saved, run_key=RUN, cluster="prod", config=CONFIG | (settings or {}), directory=directory)


def test_the_file_is_the_tools_and_the_notes_have_the_rest(tmp_path: Path) -> None:
    made = save(tmp_path / "new" / "folder")
    assert Path(made.path).read_text(encoding="utf-8") == "in,0,5\nin,1,7\n"
    assert Path(made.path).name.startswith("prod-orders-reset_manual__2026-11-23T07_00_00_00_00-")
    notes = Path(made.notes).read_text(encoding="utf-8").splitlines()
    assert notes[0] == "# Offsets of group orders on cluster prod at 2023-11-14 22:15:00 UTC,"
    assert made.command in notes
    assert any("restores no metadata and no leader epoch" in line for line in notes)
    assert notes[-2:] == [f'in,0,5,3,2023-11-14 22:13:20 UTC,"{STAMP}"', r'in,1,7,-1,,"x\ny"']
    assert shlex.split(made.command) == [
        *("kafka-consumer-groups.sh", "--bootstrap-server", "one:9092,two:9092", "--group", "orders"),
        *("--reset-offsets", "--from-file", made.path, "--execute"),
    ]


def test_a_secured_cluster_needs_a_file_with_its_login_and_no_secret_is_written(tmp_path: Path) -> None:
    made = save(tmp_path, settings={"security.protocol": "SASL_SSL", "sasl.password": "hunter2"})
    assert "--command-config client.properties" in made.command
    assert all("hunter2" not in file.read_text(encoding="utf-8") for file in tmp_path.iterdir())
    assert "--command-config" not in save(tmp_path / "b", settings={"security.protocol": "plaintext"}).command


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    """A rerun after the write would save what the run itself has set."""
    first = save(tmp_path)
    assert save(tmp_path) == first
    later = save(tmp_path, SavedOffsets("orders", 1_700_000_200_000, (CommittedOffset("in", 0, 0),)))
    assert Path(first.path).read_text(encoding="utf-8") == "in,0,5\nin,1,7\n"
    assert Path(later.path).read_text(encoding="utf-8") == "in,0,0\n"
    assert later.path != first.path
    assert save(tmp_path).path == first.path


def test_groups_whose_names_look_alike_have_files_of_their_own(tmp_path: Path) -> None:
    one, two = (SavedOffsets(name, 0, SAVED.offsets) for name in ("a/b", "a b"))
    assert save(tmp_path, one).path != save(tmp_path, two).path
    assert shlex.split(save(tmp_path, two).command)[4] == "a b"
    hidden = save(tmp_path, SavedOffsets("../../etc/x", 0, SAVED.offsets))
    assert Path(hidden.path).parent == tmp_path


def test_a_group_without_offsets_has_notes_and_no_command(tmp_path: Path) -> None:
    made = save(tmp_path, SavedOffsets("orders", 0, ()))
    assert made.command == ""
    assert "had committed none" in Path(made.notes).read_text(encoding="utf-8")


def test_what_cannot_be_saved_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteRefused, match=r"offsets of group orders are not saved.*KSTREAMS_RUNBOOKS_SAVED_OFFSETS"):
        save(tmp_path / "file")
    # A link of the file's name: neither read nor written through.
    elsewhere = tmp_path / "elsewhere.csv"
    elsewhere.write_text("in,0,5\nin,1,7\n", encoding="utf-8")
    expected = Path(save(tmp_path / "a").path).name
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / expected).symlink_to(elsewhere)
    assert Path(save(tmp_path / "b").path).name != expected


def test_where_the_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.delenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", raising=False)
    assert saved_offsets_dir() == tmp_path / "saved_offsets"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", str(tmp_path / "other"))
    assert saved_offsets_dir() == tmp_path / "other"
    assert saved_offsets_dir("/given") == Path("/given")
