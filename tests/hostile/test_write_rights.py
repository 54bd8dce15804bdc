"""Every write without its right: known before anything is stopped, refused before the first write, nothing changed.

The broker denies by default (StandardAuthorizer). What a login may do is read as the brokers report it, and compared
with what they then allow.
"""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.plans.writable import may_write
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.touched import HiddenTopic, TopicState
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteOffsets
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset, Growth, PlannedWrite, SavedOffsets, TopicShape, WriteKind
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.observe.kafka.touched import read_touched
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.perform import perform
from lab.logins import CLUSTER, CLUSTER_NAME, GROUP, TOPIC, Login
from lab.secured import Secured
from world.new_ledger import new_ledger

OPERATIONS = {
    "Create": AclOperation.CREATE,
    "Alter": AclOperation.ALTER,
    "Delete": AclOperation.DELETE,
    "Read": AclOperation.READ,
}
# Kind of write, and the rights without which it has to be refused.
NEEDED: tuple[tuple[WriteKind, str, str], ...] = (
    ("create_topics", "Topic", "Create"),
    ("grow_topics", "Topic", "Alter"),
    ("delete_topics", "Topic", "Delete"),
    ("delete_records", "Topic", "Delete"),
    ("set_offsets", "Topic", "Read"),
    ("set_offsets", "Group", "Read"),
    ("delete_offsets", "Topic", "Read"),
    ("delete_offsets", "Group", "Delete"),
    ("delete_groups", "Group", "Delete"),
)


class World:
    """A topic with records, a group with an offset on it, and a login without rights."""

    def __init__(self, secured: Secured, login: Login) -> None:
        self.name = f"rights-{uuid.uuid4().hex[:8]}"
        self.new, self.group = f"{self.name}-new", f"{self.name}-group"
        self.secured, self.login = secured, login
        self.every, self.mine = secured.settings(secured.admin_login), secured.settings(login)
        secured.admin().create_topics([NewTopic(self.name, 2, 1)])[self.name].result()
        producer = Producer(self.every)
        for number in range(5):
            producer.produce(self.name, str(number), partition=0)
        assert producer.flush(10) == 0
        self.topic_id = self.state()[self.name][0]
        self.offset = CommittedOffset(self.name, 0, 2, "stamp", 0)
        OffsetWriter(self.every, dry_run=False).set(
            self.group, [self.offset], ids={self.name: self.topic_id}, before=SavedOffsets(self.group, 0, ())
        )
        self.saved = SavedOffsets(self.group, 0, (self.offset,))

    def grant(self, without: tuple[str, str] | None = None) -> None:
        """What reading needs, and every right of the writes but one."""
        grant, login = self.secured.grant, self.login
        self.secured.revoke(login)
        # A group is deleted only if no topic is hidden.
        grant(login, TOPIC, "*", AclOperation.DESCRIBE)
        grant(login, TOPIC, self.name, AclOperation.DESCRIBE_CONFIGS, prefixed=True)
        grant(login, GROUP, self.name, AclOperation.DESCRIBE, prefixed=True)
        grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
        for resource, rights in (("Topic", ("Create", "Alter", "Delete", "Read")), ("Group", ("Delete", "Read"))):
            kept = [OPERATIONS[one] for one in rights if (resource, one) != without]
            grant(login, TOPIC if resource == "Topic" else GROUP, self.name, *kept, prefixed=True)

    def state(self) -> dict[str, tuple[str, int]]:
        """Id and partition count of each topic that there is."""
        with ClusterReader(self.every) as reader:
            return {one.name: (one.topic_id, one.partitions) for one in reader.topics([self.name, self.new])}

    def offsets(self) -> tuple[CommittedOffset, ...]:
        """What the group has committed."""
        with ClusterReader(self.every) as reader:
            return read_saved(reader, self.group).offsets

    def write(self, kind: WriteKind, config: dict[str, Any], *, dry_run: bool = False) -> None:
        """One write of this kind, as the login of `config`."""
        topics, offsets = TopicWriter(config, dry_run=dry_run), OffsetWriter(config, dry_run=dry_run)
        ids = {self.name: self.topic_id}
        calls: dict[WriteKind, Callable[[], object]] = {
            "create_topics": lambda: topics.create([TopicShape(self.new, 1)]),
            "grow_topics": lambda: topics.grow([Growth(self.name, self.topic_id, 2, 3)]),
            "delete_topics": lambda: topics.delete(ids),
            "delete_records": lambda: topics.delete_records({(self.name, 0): 1}, ids),
            "set_offsets": lambda: offsets.set(
                self.group, [CommittedOffset(self.name, 0, 3)], ids=ids, before=self.saved
            ),
            "delete_offsets": lambda: offsets.delete(self.group, [self.name], before=self.saved),
            "delete_groups": lambda: offsets.delete_groups([self.saved]),
        }
        calls[kind]()

    def judged(self, kind: WriteKind) -> Verdict:
        """Before anything is stopped."""
        on_topic = {"create_topics": self.new, "delete_groups": ""}.get(kind, self.name)
        group = self.group if kind in {"set_offsets", "delete_offsets", "delete_groups"} else ""
        with ClusterReader(self.mine) as reader:
            reading = read_touched(reader, [self.name, self.new], [self.group])
        return may_write(reading, (PlannedWrite(kind, (on_topic,) if on_topic else (), group),))


@pytest.fixture(scope="module")
def world(secured: Secured) -> Iterator[World]:
    made = World(secured, secured.login("writer"))
    yield made
    for future in secured.admin().delete_topics(list(made.state())).values():
        future.result()


@pytest.mark.parametrize(("kind", "resource", "right"), NEEDED)
def test_a_write_without_its_right_is_refused_before_it(
    world: World, kind: WriteKind, resource: str, right: str
) -> None:
    """Seen by the check, refused by the writer, in a dry run as well; nothing is changed."""
    world.grant(without=(resource, right))
    before = world.state(), world.offsets()
    named = world.group if resource == "Group" else world.new if kind == "create_topics" else world.name
    grants = f"grant it {right} on {resource} {named}"
    verdict = world.judged(kind)
    assert verdict.outcome is Outcome.REFUSE
    assert grants in verdict.sentence
    for dry_run in (True, False):
        with pytest.raises(WriteRefused) as refused:
            world.write(kind, world.mine, dry_run=dry_run)
        assert grants in str(refused.value)
        assert str(refused.value).endswith("this write changed nothing")
    assert (world.state(), world.offsets()) == before


def test_a_stage_demands_the_rights_of_every_later_stage(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken away while the approval waited: the first stage is refused, with no card and no topic."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", str(tmp_path / "saved"))
    create = CreateTopics(1, (TopicShape(f"{world.name}-stage", 1),))
    stages = (create, DeleteOffsets(2, world.group, (world.name,)))
    facts = PlanFacts("classic", ((world.name, world.topic_id, 2),), (), (), static_membership=True, code="c0de")
    plan = Plan("cutover", "orders", "demo", (), (), stages, facts, (), (), (), "pretended", "none")
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "cutover", "r", "orders", "demo", "oncall", False, "", {}, now_ms()))
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    run = Run(record, "act", 1, ledger)
    vars(run)["kafka"] = world.mine
    world.grant(without=("Group", "Delete"))
    with pytest.raises(Refused, match=f"grant it Delete on Group {world.group}"):
        perform(run, create, {})
    assert run.ledger.cards(run.key) == []
    assert run.ledger.run(run.key).wrote_at_ms is None
    world.grant()
    perform(run, create, {})
    assert [card.kind for card in run.ledger.cards(run.key)] == ["topic_created"]


def test_with_its_rights_alone_each_write_is_allowed(world: World) -> None:
    """The rows of the table are enough: no other right is needed."""
    world.grant()
    first: tuple[WriteKind, ...] = ("create_topics", "grow_topics", "delete_records", "set_offsets")
    last: tuple[WriteKind, ...] = ("delete_offsets", "delete_groups", "delete_topics")
    for kind in first:
        assert world.judged(kind).outcome is Outcome.PROCEED, kind
        world.write(kind, world.mine)
    assert world.state()[world.name][1] == 3
    assert world.new in world.state()
    assert world.offsets() == (CommittedOffset(world.name, 0, 3),)
    world.saved = SavedOffsets(world.group, 0, world.offsets())
    for kind in last:
        assert world.judged(kind).outcome is Outcome.PROCEED, kind
        world.write(kind, world.mine)
    assert set(world.state()) == {world.new}
    assert world.offsets() == ()


def test_what_a_login_may_not_see_is_never_absent(secured: Secured) -> None:
    """Without Describe: neither free for a new topic, nor gone already, nor a group without offsets."""
    world = World(secured, secured.login("blind"))
    world.grant()
    secured.revoke(world.login, TOPIC)
    on_topics: tuple[WriteKind, ...] = tuple(dict.fromkeys(kind for kind, resource, _ in NEEDED if resource == "Topic"))
    on_groups: tuple[WriteKind, ...] = ("set_offsets", "delete_offsets", "delete_groups")
    for kind in on_topics:
        with pytest.raises(Inconclusive, match="is not visible to this login"):
            world.write(kind, world.mine)
        assert world.judged(kind).outcome is Outcome.INCONCLUSIVE, kind
    # The group's offsets are on a topic that is hidden: they cannot be saved, so the group is not deleted.
    with pytest.raises(Inconclusive, match="would not be saved"):
        world.write("delete_groups", world.mine)
    assert world.judged("delete_groups").outcome is Outcome.INCONCLUSIVE
    world.grant()
    secured.revoke(world.login, GROUP)
    for kind in on_groups:
        with pytest.raises(RunbookError, match=f"grant it Describe on Group {world.group}"):
            world.write(kind, world.mine)
        assert world.judged(kind).outcome is Outcome.INCONCLUSIVE, kind
    world.grant()
    secured.revoke(world.login, CLUSTER)
    with pytest.raises(Inconclusive, match="Describe on Cluster"):
        world.write("delete_groups", world.mine)
    with ClusterReader(world.mine) as reader:
        reading = read_touched(reader, [world.name], [world.group])
    assert reading.reassigned == Missing(
        "partition reassignments: not visible to this login; grant it Describe on Cluster"
    )
    assert isinstance(reading.deletes_topics, Missing)
    assert world.judged("delete_topics").outcome is Outcome.INCONCLUSIVE
    assert world.offsets() == (world.offset,)


def test_what_is_read_of_the_objects(secured: Secured) -> None:
    """As admin: the topic, a name that no topic has, the group, and one that does not exist."""
    world = World(secured, secured.login("looker"))
    with ClusterReader(world.every) as reader:
        reading = read_touched(reader, [world.name, world.new], [world.group, "no-such-group"])
        assert read_touched(reader, [], []).topics == ()
    there, absent = reading.topics
    assert isinstance(there, TopicState)
    assert isinstance(absent, TopicState)
    assert (there.name, there.topic_id, there.partitions, there.replication) == (world.name, world.topic_id, 2, 1)
    assert (there.under_replicated, there.leaderless) == ((), ())
    assert not absent.exists
    assert {"CREATE", "DELETE", "READ"} <= set(() if isinstance(absent.operations, Missing) else absent.operations)
    assert (reading.deletes_topics, reading.reassigned) == (True, ())
    assert all(not isinstance(one.operations, Missing) and "DELETE" in one.operations for one in reading.groups)
    assert not isinstance(reading.cluster, Missing)
    assert "CREATE" in reading.cluster
    with ClusterReader(world.mine) as reader:
        [hidden] = read_touched(reader, [world.name], []).topics
    assert isinstance(hidden, HiddenTopic)
