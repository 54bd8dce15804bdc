"""`kstreams-runbooks copier seed` on a real broker: a copier that refuses without offsets copies from chosen ones."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined]
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import RunbookError
from lab.logins import GROUP, TOPIC
from lab.topic_copier import REFUSED, Kept, TopicCopier, commit, kept, started
from world.copied import Begin, Copy, OwnBroker
from world.proven import compare_topics


@pytest.fixture
def fleet(tmp_path: Path, broker: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet with the broker's cluster."""
    (tmp_path / "fleet" / "clusters").mkdir(parents=True)
    (tmp_path / "fleet" / "applications").mkdir()
    (tmp_path / "fleet" / "clusters" / "demo.yaml").write_text("connection: kafka\n", encoding="utf-8")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path / "fleet"))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": broker}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA", json.dumps(connection))
    return tmp_path / "fleet"


def declare(fleet: Path, copy: Copy) -> None:
    """The copy as an entry of the fleet."""
    entry = {
        "kind": "copier",
        "program": "topic-copier",
        "application_id": copy.name,
        "cluster": "demo",
        "routes": dict(copy.routes),
        "deployer": {
            "kind": "manual",
            "instances": [{"name": "c-1", "metrics": "http://127.0.0.1:1"}],
            "releases": {"0.1.0": "copier:0.1.0"},
            "settable": ["until"],
        },
        "owner": "team",
        "approvers": ["approver"],
    }
    (fleet / "applications" / "passing.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")


def seed(*words: str) -> tuple[int, str]:
    """Exit code, and everything that was printed."""
    result = CliRunner().invoke(cli, ["copier", "seed", "passing", *words])
    if isinstance(result.exception, RunbookError):
        return result.exception.exit_code, f"{result.output}{result.exception}"
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def document(*words: str) -> dict[str, Any]:
    """The JSON of an answer."""
    read: dict[str, Any] = json.loads(CliRunner().invoke(cli, ["copier", "seed", "passing", *words]).stdout)
    return read


def refused_and_followed(copier: TopicCopier, offsets: Mapping[int, int]) -> None:
    """It does not start; the command that its last line has commits these offsets, with its name in the fleet."""
    assert copier.start().end() == REFUSED
    [words] = re.findall(r"kstreams-runbooks copier seed COPIER (--at .*? --execute)\b", copier.last_line)
    at, place, *others = words.split()
    assert (at, place.count(":PARTITION:OFFSET")) == ("--at", 1)
    places = (place.replace(":PARTITION:OFFSET", f":{partition}:{offset}") for partition, offset in offsets.items())
    code, printed = seed(*(word for one in places for word in (at, one)), *others)
    assert code == 0, f"{copier.last_line}\n{printed}"


def test_a_copier_starts_where_it_was_seeded(begin: Begin, fleet: Path) -> None:
    """A dry run changes nothing, and the copier refuses; with --execute it copies every record of two routes."""
    copy = begin("a", "b").create()
    declare(fleet, copy)
    copy.send(30, partition=1)
    code, printed = seed("--at", "beginning")
    assert code == 0, printed
    assert f"{copy.source}-1: none -> 0 (log 0 to 30)" in printed
    assert "8 offsets would be committed (--execute commits them)" in printed
    assert copy.copier().start().end() == REFUSED
    code, printed = seed("--at", "beginning", "--execute")
    assert code == 0, printed
    assert "8 offsets committed, and read back" in printed
    with started(copy.copier()):
        copy.wait_copied()
        words = ("--at", f"{copy.source}:1:5", "--replace", copy.source, "--may-repeat", copy.target)
        code, printed = seed(*words, "--execute")
        assert code == 1
        assert "1 members (needed: Empty, none)" in printed
    copy.require_equal()


def test_what_is_committed_is_replaced_only_by_name(begin: Begin, fleet: Path, tmp_path: Path) -> None:
    """By a file as Kafka's tool exports it; the offsets from before are in the answer."""
    copy = begin().create(2).seed({0: 3, 1: 0})
    declare(fleet, copy)
    copy.send(10, partition=0)
    code, printed = seed("--at", "end", "--execute")
    assert code == 1
    assert f"{copy.source}-0 has 3 (asked for: 10)" in printed
    assert "REFUSED, nothing was changed" in printed
    file = tmp_path / "offsets.csv"
    file.write_text(f'"{copy.source}",0,7\n"{copy.source}",1,0\n', encoding="utf-8")
    words = ("--at", str(file), "--replace", copy.source, "--execute", "--format", "json")
    found = document(*words)
    assert found["executed"] is True
    assert [(one["committed"], one["offset"]) for one in found["partitions"]] == [(3, 7), (0, 0)]
    assert copy.committed() == {0: 7, 1: 0}
    assert [one["committed"] for one in document("--at", str(file), "--format", "json")["partitions"]] == [7, 0]


def test_an_offset_outside_the_log_is_refused(begin: Begin, fleet: Path) -> None:
    """Before its start and past its end, and of a partition that does not exist; nothing is committed."""
    copy = begin().create(1)
    declare(fleet, copy)
    copy.send(10)
    copy.delete_records(copy.source, {0: 4})
    for offset in (3, 11):
        code, printed = seed("--at", f"{copy.source}:0:{offset}", "--execute")
        assert code == 1, printed
        assert f"{copy.source}-0" in printed
    assert seed("--at", f"{copy.source}:1:0", "--execute")[0] == 1
    assert copy.committed() == {}
    assert seed("--at", f"{copy.source}:0:4", "--execute")[0] == 0
    assert copy.committed() == {0: 4}


def test_records_that_the_target_may_have_are_copied_again_by_name_alone(begin: Begin, fleet: Path) -> None:
    """From the start without a committed offset, and from before one: `--replace` alone does not allow it."""
    copy = begin().create(1)
    declare(fleet, copy)
    copy.send(10)
    copy.send(10, topic=copy.target)
    for words in (("--at", f"{copy.source}:0:0"), ("--at", f"{copy.source}:0:9", "--replace", copy.source)):
        code, printed = seed(*words, "--execute")
        assert code == 1, printed
        assert f"{copy.target} has had records ({copy.target}-0 ends at 10)" in printed
        assert copy.committed() in ({}, {0: 10})
        copy.seed({0: 10})
    code, printed = seed(
        "--at", f"{copy.source}:0:9", "--replace", copy.source, "--may-repeat", copy.target, "--execute"
    )
    assert code == 0, printed
    assert copy.committed() == {0: 9}


def test_an_open_transaction_keeps_the_end_from_being_chosen(begin: Begin, fleet: Path) -> None:
    """Its records would never be copied; once it has ended, they are before the end."""
    copy = begin().create(1)
    declare(fleet, copy)
    copy.send(5)
    producer = copy.producer(**{"transactional.id": f"{copy.name}-opens"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(copy.source, "open", partition=0)
    producer.flush(10)
    code, printed = seed("--at", "end", "--execute")
    assert code == 1
    assert f"{copy.source}-0 at 5: a transaction is open before the chosen offset" in printed
    code, printed = seed("--at", f"{copy.source}:0:6", "--execute")
    assert code == 1
    assert f"{copy.source}-0 at 5: a transaction is open before the chosen offset" in printed
    producer.commit_transaction(30)
    assert seed("--at", "end", "--execute")[0] == 0
    assert copy.committed() == {0: 7}


def test_a_target_with_records_is_not_copied_into_from_the_beginning(begin: Begin, fleet: Path) -> None:
    """Each of them would be there twice; a topic that does not exist is named."""
    copy = begin("a", "b").create(1)
    declare(fleet, copy)
    copy.send(1, topic=copy.target)
    code, printed = seed("--at", "beginning", "--execute")
    assert code == 1
    assert f"{copy.target} has had records ({copy.target}-0 ends at 1)" in printed
    copy.delete(copy.target)
    code, printed = seed("--at", "beginning", "--execute")
    assert code == 1
    assert f"topic {copy.target} of passing does not exist; create it" in printed


def test_a_copy_into_a_target_that_was_created_again_begins_again(begin: Begin, fleet: Path) -> None:
    """The copier refuses to copy the rest alone; the command that it names lets it copy all."""
    copy = begin("a", "b").create(2)
    declare(fleet, copy)
    copy.send(20)
    copy.send(5, topic=list(copy.routes)[1])
    assert seed("--at", "beginning", "--execute")[0] == 0
    copier = copy.copier()
    with started(copier):
        copy.wait_copied()
    copy.delete(copy.target)
    copy.topic(copy.target, 2)
    copy.send(10, begin=20)
    refused_and_followed(copier, {0: 0, 1: 0})
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 35


def never_seeded(_: Copy) -> dict[int, int]:
    """No offset is committed."""
    return {0: 0, 1: 0}


def moved_by_another(copy: Copy) -> dict[int, int]:
    """A program with the group id of the copier has moved on by five records that are not copied."""
    copy.seed()
    with started(copy.copier("before")):
        copy.wait_copied()
    copy.send(10, begin=10)
    asked = [ConsumerGroupTopicPartitions(copy.name, [TopicPartition(copy.source, 0, 15)])]
    copy.admin.alter_consumer_group_offsets(asked)[copy.name].result(30)
    return {0: 10}


def deleted_too_early(copy: Copy) -> dict[int, int]:
    """Four records are gone that were not copied."""
    copy.seed()
    copy.delete_records(copy.source, {0: 4})
    return {0: 4}


def past_the_end(copy: Copy) -> dict[int, int]:
    """An offset that the source has not, as after it was created again."""
    copy.seed({0: 50, 1: 0})
    return {0: 0}


@pytest.mark.long
@pytest.mark.parametrize(
    ("cause", "copied"), [(never_seeded, 15), (moved_by_another, 25), (deleted_too_early, 11), (past_the_end, 15)]
)
def test_the_command_of_a_refusal_helps(
    begin: Begin, fleet: Path, cause: Callable[[Copy], dict[int, int]], copied: int
) -> None:
    """Typed as it is printed, with the name, the partitions and the offsets: then every record is copied once."""
    copy = begin().create(2)
    declare(fleet, copy)
    copy.send(10)
    offsets = cause(copy)
    copier = copy.copier()
    refused_and_followed(copier, offsets)
    copy.send(5, begin=20, partition=1)
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == copied


def copied_with_a_backup(copy: Copy) -> Kept:
    """Twenty records of partition 0 are copied; the backup is from after ten."""
    copy.seed()
    with started(copy.copier("before")):
        copy.wait_copied()
        backup = kept(copy.bootstrap, copy.name)
        copy.send(10, begin=10)
        copy.wait_copied()
    return backup


def restored(copy: Copy) -> dict[int, int]:
    """A backup of the offsets is back."""
    commit(copy.bootstrap, copy.name, copied_with_a_backup(copy))
    return {0: 20}


def restored_before_the_log_start(copy: Copy) -> dict[int, int]:
    """The same, and the source has deleted records since."""
    backup = copied_with_a_backup(copy)
    copy.delete_records(copy.source, {0: 15})
    commit(copy.bootstrap, copy.name, backup)
    return {0: 20}


def created_again(copy: Copy) -> dict[int, int]:
    """The source is another topic, without offsets."""
    copied_with_a_backup(copy)
    copy.delete(copy.source)
    copy.topic(copy.source, 2)
    return {0: 0, 1: 0}


def restored_for_another_source(copy: Copy) -> dict[int, int]:
    """The same with the old offsets."""
    backup = copied_with_a_backup(copy)
    copy.delete(copy.source)
    copy.topic(copy.source, 2)
    copy.send(20)
    commit(copy.bootstrap, copy.name, backup)
    return {0: 20, 1: 0}


@pytest.mark.long
@pytest.mark.parametrize("cause", [restored, restored_before_the_log_start, created_again, restored_for_another_source])
def test_the_command_repeats_nothing_that_is_copied(
    begin: Begin, fleet: Path, cause: Callable[[Copy], dict[int, int]]
) -> None:
    """With the offsets of the first records that the target lacks, it gets five more, and the next start no others."""
    copy = begin().create(2)
    declare(fleet, copy)
    copy.send(10)
    offsets = cause(copy)
    copier = copy.copier()
    refused_and_followed(copier, offsets)
    copy.send(5, begin=20, partition=1)
    for _ in range(2):
        with started(copier):
            copy.wait_copied()
    assert sum(map(len, copy.records(copy.target).values())) == 25


@pytest.mark.long
def test_the_command_for_another_mode_names_the_offsets_again(begin: Begin, fleet: Path) -> None:
    """Committed unchanged, they need no more words; no record is copied again."""
    copy = begin().create(2)
    declare(fleet, copy)
    copy.send(10)
    assert seed("--at", "beginning", "--execute")[0] == 0
    with started(copy.copier("by-key", mode="by-key")):
        copy.wait_copied()
    copier = copy.copier()
    refused_and_followed(copier, copy.committed())
    copy.send(5, begin=10)
    with started(copier):
        copy.wait_copied()
    assert sum(map(len, copy.records(copy.target).values())) == 15


@pytest.mark.long
def test_offsets_that_are_lost_are_found_by_counting(begin: Begin, fleet: Path) -> None:
    """As docs/copier_on_call.md does: times repeat and go back, and aborted records give the target other offsets."""
    copy = begin().create(2)
    declare(fleet, copy)
    copy.send(10)
    copy.aborted(4)
    copy.send(10, begin=10)
    copy.send(5, partition=1)
    assert seed("--at", "beginning", "--execute")[0] == 0
    copier = copy.copier()
    with started(copier):
        copy.wait_copied()
    copy.admin.delete_consumer_groups([copy.name])[copy.name].result(30)
    copy.aborted(3)
    copy.send(15, begin=20)
    assert copier.start().end() == REFUSED
    code, document = compare_topics(copy)
    assert code == 1
    compared = document["comparison"]
    [unlike] = compared["partitions"]
    held = {one["partition"]: one["records"] for one in compared["second"]}
    assert (unlike["partition"], unlike["extra"], unlike["changed"]) == (0, 0, 0)
    assert unlike["first_place"] == held[0] == 20
    offsets = {one["partition"]: one["end"] for one in document["first"]["ranges"]}
    offsets |= {one["partition"]: one["first"]["offset"] for one in compared["examples"] if one["place"] is not None}
    places = [word for number, offset in offsets.items() for word in ("--at", f"{copy.source}:{number}:{offset}")]
    code, printed = seed(*places, "--may-repeat", copy.target, "--execute")
    assert code == 0, printed
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 40


# What `copier seed` needs of the login of the cluster's connection: the kind, the part of the copy, the operation.
RIGHTS = (
    (TOPIC, "source", AclOperation.READ),
    (TOPIC, "target", AclOperation.DESCRIBE),
    (GROUP, "name", AclOperation.READ),
)


@pytest.mark.long
@pytest.mark.parametrize("missing", [None, *RIGHTS], ids=lambda right: right and f"{right[1]} {right[2].name}")
def test_a_login_with_exactly_these_rights_seeds(
    begin_there: Begin, own_broker: OwnBroker, fleet: Path, monkeypatch: pytest.MonkeyPatch, missing: Any
) -> None:
    """Without one of them nothing is committed, and the answer names what to grant."""
    copy, logins = begin_there().create(), own_broker.logins
    declare(fleet, copy)
    copy.send(5)
    made = logins.login(f"{copy.name}-seeds")
    for right in RIGHTS:
        kind, part, operation = right
        # Of Read, Describe stays: the object is seen, and may not be written.
        left = [operation] if right != missing else [AclOperation.DESCRIBE] if operation is AclOperation.READ else []
        for one in left:
            logins.grant(made, kind, getattr(copy, part), one)
    connection = {"conn_type": "kafka", "extra": logins.settings(made)}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA", json.dumps(connection))
    code, printed = seed("--at", "beginning", "--execute")
    assert code == (0 if missing is None else 3 if missing[1] == "target" else 1), printed
    assert (copy.committed() == {}) is (missing is not None)
    if missing is not None:
        assert "grant" in printed
        assert getattr(copy, missing[1]) in printed


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        (("beginning", "a:0:1"), "--at a:0:1: follows beginning; give one place, or offsets"),
        (("nowhere",), "--at nowhere: not beginning, end, TOPIC:PARTITION:OFFSET or a file that can be read"),
        (("a:0:1", "a:0:2"), "--at a:0:2: a:0 has two offsets; give it one"),
        (("a:0:1", "a:0"), "--at a:0: not TOPIC:PARTITION:OFFSET; correct it"),
    ],
)
def test_a_place_that_is_not_one(places: tuple[str, ...], sentence: str) -> None:
    """One sentence each, before anything is read."""
    code, printed = seed(*(word for place in places for word in ("--at", place)))
    assert code == 2
    assert sentence in printed
