"""The chain of a run's journal: whatever is done to it afterwards shows, by hand in the database and as a property.

Covers decide/runs/chain, decide/runs/chain_record
"""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kstreams_runbooks.decide.runs.chain import chain_holds
from kstreams_runbooks.decide.runs.chain_record import Kept
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.journal import GENESIS, MOST_BYTES, Entry, entry_hash, pack, unpack
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.verdicts import Outcome
from world.finished_run import KEY, show, verify, write_run

FIELDS = tuple(Entry.__dataclass_fields__)
# Each example changes a list of values; nothing is shared between them.
EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one run that went all the way, as the commands find it."""
    path = tmp_path / "ledger.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{path}")
    write_run(Ledger.open())
    return path


def kept(ledger: Ledger) -> Kept:
    return Kept(ledger.run(KEY), ledger.plan(KEY), ledger.plan_digest(KEY), ledger.recalled(KEY))


@pytest.fixture
def whole(file: Path) -> tuple[tuple[Entry, ...], Kept]:
    """The entries of that run, and what the ledger has beside them."""
    ledger = Ledger.open(f"sqlite:///{file}")
    return ledger.entries(KEY), kept(ledger)


def broken(entries: Sequence[Entry], beside: Kept, head: str | None = None) -> bool:
    return chain_holds(sorted(entries, key=lambda one: (one.place, one.seq)), beside, head).outcome is Outcome.REFUSE


def another(value: Any) -> Any:
    """A value of the same type that is not this one."""
    if isinstance(value, int):
        return st.integers(-1, 2**40).filter(lambda other: other != value)
    of_type = st.binary(max_size=40) if isinstance(value, bytes) else st.text(max_size=40)
    return of_type.filter(lambda other: other != value)


def test_an_untouched_chain_is_whole(whole: tuple[tuple[Entry, ...], Kept]) -> None:
    """With its head, with an earlier one, with none."""
    entries, beside = whole
    assert len(entries) == 13
    for head, after in ((None, None), (entries[-1].hash, 0), (entries[4].hash, 8)):
        verdict = chain_holds(entries, beside, head)
        assert (verdict.outcome, verdict.breaks, verdict.after_head) == (Outcome.PROCEED, (), after)


@EXAMPLES
@given(data=st.data())
def test_any_change_of_one_field_shows(whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject) -> None:
    """Of any entry; also where its own hash is made to fit."""
    entries, beside = whole
    index, name = data.draw(st.integers(0, len(entries) - 1)), data.draw(st.sampled_from(FIELDS))
    changed = replace(entries[index], **{name: data.draw(another(getattr(entries[index], name)))})
    if data.draw(st.booleans()) and name != "hash":
        changed = replace(changed, hash=entry_hash(changed))
    assert broken((*entries[:index], changed, *entries[index + 1 :]), beside)


@EXAMPLES
@given(data=st.data())
def test_any_deletion_shows(whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject) -> None:
    """One entry or many, the first, the newest, all of them."""
    entries, beside = whole
    gone = data.draw(st.sets(st.integers(0, len(entries) - 1), min_size=1))
    assert broken([one for index, one in enumerate(entries) if index not in gone], beside)


@EXAMPLES
@given(data=st.data())
def test_any_insertion_shows(whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject) -> None:
    """Of an entry with a right hash of its own, behind any other, whether those after it move up or not."""
    entries, beside = whole
    index, moves = data.draw(st.integers(0, len(entries) - 1)), data.draw(st.booleans())
    before = entries[index]
    new = replace(before, place=before.place + 1, seq=before.seq + 1, previous=before.hash, payload=pack({"x": 1}))
    new = replace(new, hash=entry_hash(new))
    after = [replace(one, place=one.place + 1, seq=one.seq + 1) if moves else one for one in entries[index + 1 :]]
    assert broken((*entries[: index + 1], new, *after), beside)


@EXAMPLES
@given(data=st.data())
def test_any_exchange_of_two_shows(whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject) -> None:
    """They take each other's place and number; their hashes are made to fit or not."""
    entries, beside = whole
    one, two = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=2, max_size=2, unique=True))
    mixed = [*entries]
    for to, of in ((one, two), (two, one)):
        place = {name: getattr(entries[to], name) for name in ("place", "seq", "previous")}
        mixed[to] = replace(entries[of], **place)
        if data.draw(st.booleans()):
            mixed[to] = replace(mixed[to], hash=entry_hash(mixed[to]))
    assert broken(mixed, beside)


@EXAMPLES
@given(data=st.data())
def test_a_chain_that_is_written_anew_shows_by_a_head_that_was_kept_elsewhere(
    whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject
) -> None:
    """One who may write the database can make all of it fit, the run's head too; not the head in somebody's mailbox."""
    entries, beside = whole
    index = data.draw(st.integers(0, len(entries) - 1))
    forged = [replace(entries[index], payload=pack({"by": data.draw(st.text(max_size=5))}))]
    anew, previous = [*entries[:index], *forged, *entries[index + 1 :]], GENESIS
    for position, one in enumerate(anew):
        linked = replace(one, previous=previous)
        anew[position] = replace(linked, hash=entry_hash(linked))
        previous = anew[position].hash
    record = replace(beside.record, head=previous)
    assert broken(anew, replace(beside, record=record), entries[-1].hash)


@EXAMPLES
@given(data=st.data())
def test_any_change_of_the_record_shows(whole: tuple[tuple[Entry, ...], Kept], data: st.DataObject) -> None:
    """Who asked, whether it was a dry run, for what, how it ended: the journal says it as well."""
    entries, beside = whole
    name = data.draw(st.sampled_from([one for one in RunRecord.__dataclass_fields__ if one != "run_key"]))
    value = getattr(beside.record, name)
    new: Any = {"target": "3.4.1"} if name == "params" else not value if isinstance(value, bool) else None
    changed = data.draw(another(value)) if new is None else new
    assert broken(entries, replace(beside, record=replace(beside.record, **{name: changed})))


_SHIFT = "UPDATE journal SET place = -place WHERE place > 5; UPDATE journal SET place = 1 - place WHERE place < 0;"


@pytest.mark.parametrize(
    ("sql", "what", "sentence"),
    [
        (
            "UPDATE journal SET at_ms = at_ms + 1 WHERE place = 2",
            "changed",
            "entry 2 (reading application, observe) was",
        ),
        ("DELETE FROM journal WHERE place = 3", "deleted", "entry 3 is missing without having been pruned"),
        (
            "DELETE FROM journal WHERE place > 11",
            "newest missing",
            "the journal ends at entry 11, the run's record says 13",
        ),
        ("DELETE FROM journal", "newest missing", "the journal ends at entry 0"),
        (f"{_SHIFT}", "deleted", "entry 6 is missing"),
        (
            "UPDATE journal SET payload = x'00' WHERE kind = 'card'",
            "changed",
            "entry 8 (card orders-1, bounce_1_first)",
        ),
        (
            "UPDATE run SET requested_by = 'mallory'",
            "record",
            'requested_by in the run\'s record is "mallory", its journal',
        ),
        ("UPDATE run SET dry_run = 1", "record", "dry_run in the run's record is true, its journal says false"),
        ("UPDATE run SET ended_entry = 999", "record", "ended_entry in the run's record is 999, its journal says 12"),
        ("UPDATE journal SET seq = 'x' WHERE place = 2", "changed", "entry 2 (reading application, observe) was"),
        ("UPDATE journal SET place = 'x' WHERE place = 3", "deleted", "entry 3 is missing"),
        ("UPDATE journal SET at_ms = 'x' WHERE place = 3", "changed", "entry 3 (reading application, observe) was"),
        ("UPDATE journal SET payload = 'x' WHERE place = 3", "changed", "entry 3 (reading application, observe) was"),
        ("UPDATE journal SET task_id = x'00' WHERE place = 3", "changed", "entry 3 (reading application, b'\\x00')"),
        ("UPDATE run SET outcome = 'dry run'", "record", 'outcome in the run\'s record is "dry run"'),
        ("UPDATE plan SET digest = 'p2'", "plan", "the stored plan is p2, the journal says p1"),
        ("UPDATE plan SET plan = x'789c03000000000001'", "plan", "the stored plan"),
        ("UPDATE remembered SET value = '\"p2\"'", "fact", "what the run remembers as digest_shown"),
    ],
)
def test_what_is_changed_in_the_database_shows(file: Path, sql: str, what: str, sentence: str) -> None:
    """With the place, one sentence each, and exit code 1; also where a row cannot be read any more."""
    with sqlite3.connect(file) as raw:
        raw.executescript(sql)
    code, verdict = verify()
    assert code == 1
    assert [one["sentence"] for one in verdict["breaks"] if one["what"] == what and sentence in one["sentence"]], (
        verdict
    )


def test_a_value_that_unpacks_to_a_gigabyte_is_a_change_like_any_other(file: Path) -> None:
    """It is unpacked as far as the limit of an entry; the other commands say which run to look at."""
    packing = zlib.compressobj(9)
    bomb = b"".join(packing.compress(b" " * 2**20) for _ in range(1024)) + packing.flush()
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE journal SET payload = ? WHERE kind = 'approval'", (bomb,))
    code, verdict = verify()
    assert code == 1
    assert "entry 6 (approval approve_plan by None, approve_plan) was changed" in verdict["breaks"][0]["sentence"]
    said = show()
    assert isinstance(said.exception, Inconclusive)
    assert "or longer than 67,108,864 bytes" in str(said.exception)
    with pytest.raises(BadInput, match="cannot be kept in the ledger"):
        pack("x" * (MOST_BYTES + 1))
    assert unpack(pack({"text": "\ud83d"})) == {"text": "\ud83d"}


def test_a_value_with_too_many_levels_is_a_change_like_any_other(file: Path) -> None:
    """JSON that the parser gives up on: in an entry, and in the run's record, which then cannot be read at all."""
    deep = b"[" * 200_000 + b"]" * 200_000
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE journal SET payload = ? WHERE place = 2", (zlib.compress(deep),))
    code, verdict = verify()
    assert (code, [one["place"] for one in verdict["breaks"]]) == (1, [2])
    # The text shows no readings; the document shows everything.
    assert isinstance(show("--format", "json").exception, Inconclusive)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE run SET params = ?", (deep.decode(),))
    assert isinstance(show("--verify").exception, Inconclusive)


def test_a_plan_that_cannot_be_read_accuses_nothing_else(file: Path) -> None:
    """What the run remembers is as it was."""
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE plan SET plan = x'00'")
    _, verdict = verify()
    assert [one["sentence"] for one in verdict["breaks"]] == ["the stored plan p1 was changed since it was stored"]


def test_another_approver_shows(file: Path) -> None:
    """The name that was put in is named, as it is no longer what the hash says."""
    with sqlite3.connect(file) as raw:
        payload = pack({"task_id": "approve_plan", "digest": "p1", "by": "mallory", "at_ms": 1, "expires_at_ms": 2})
        raw.execute("UPDATE journal SET payload = ? WHERE kind = 'approval'", (payload,))
    code, verdict = verify()
    assert code == 1
    assert "(approval approve_plan by mallory, approve_plan) was changed" in verdict["breaks"][0]["sentence"]


def test_the_head_shows_what_the_ledger_alone_cannot(file: Path) -> None:
    """Everything after the approval was taken out, and the run's record made to fit."""
    head = json.loads(show("--format", "json").stdout)["chain"]["head"]
    assert verify("--head", head)[0] == 0
    with sqlite3.connect(file) as raw:
        (last,) = raw.execute("SELECT hash FROM journal WHERE place = 6").fetchone()
        raw.execute("DELETE FROM journal WHERE place > 6")
        raw.execute("DELETE FROM hold")
        raw.execute(
            "UPDATE run SET rows = 6, head = ?, outcome = NULL, outcome_sentence = NULL, ended_at_ms = NULL, "
            "ended_entry = NULL, wrote_at_ms = NULL",
            (last,),
        )
    code, verdict = verify()
    assert (code, verdict["after_head"]) == (0, None)
    assert "no head was given (--head)" in verdict["sentence"]
    code, verdict = verify("--head", head)
    assert (code, [one["what"] for one in verdict["breaks"]]) == (1, ["head unknown"])


def test_the_text_for_a_person_has_head_and_breaks(file: Path) -> None:
    """And where a clock was set back."""
    Ledger.open().record(KEY, "conclude", 1, "note", "late", {}, 1_000)
    said = show("--verify").stdout
    head = Ledger.open().entries(KEY)[-1].hash
    assert f"Journal: 14 entries, head `{head}`." in said
    assert "of the entries have an earlier time than the one before them, by up to" in said
    with sqlite3.connect(file) as raw:
        raw.execute("DELETE FROM journal WHERE place = 3")
    result = show("--verify")
    assert result.exit_code == 1
    assert "- entry 3 is missing" in result.stdout
    assert "library_bump/r: BROKEN in 1 place: entry 3 is missing" in result.stderr


def test_a_head_without_verify_is_bad_input(file: Path) -> None:
    """It would be compared with nothing."""
    assert file.is_file()
    assert str(show("--head", "abc").exception) == "--head: only --verify compares it; give both"


@pytest.mark.parametrize("head", ["", "abc", "g" * 64, "0" * 63])
def test_a_part_of_a_head_is_bad_input(file: Path, head: str) -> None:
    """It proves nothing; blanks and capitals that a chat adds do no harm."""
    assert "is not a head (expected 64 hex digits); copy it whole" in str(show("--verify", "--head", head).exception)
    assert verify("--head", f" {Ledger.open(f'sqlite:///{file}').run(KEY).head.upper()}\n")[0] == 0


def test_a_head_finds_the_run_that_it_is_of(file: Path) -> None:
    """Its id was used again since: the command in its log is as good as it was."""
    ledger = Ledger.open(f"sqlite:///{file}")
    head = ledger.run(KEY).head
    record = RunRecord("", "library_bump", "r", "orders", "demo", "oncall", False, "OPS-8", {}, 2_000)
    second = ledger.start_run(replace(record, run_after="2026-11-21T10:00:00+00:00"))
    assert second.run_key == f"{KEY}#2"
    assert verify("--head", head)[0] == 0
    assert verify("--head", second.head)[0] == 0
    assert verify("--head", "0" * 64)[0] == 1
    assert f"run r is {KEY}; its run id was also used for {KEY}#2" in show("--verify", "--head", head).stderr
