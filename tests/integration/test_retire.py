"""Internal topics of a stopped application on a real broker: which may go for good, and which were recreated."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.reset.retire import Retirement, may_retire, retired_topics, stayed_gone
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.orphans import KeptOrphan
from kstreams_runbooks.model.readings.recreated import RecreatedSeen
from kstreams_runbooks.model.readings.retire import RetireFacts, RetireWhat
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.steps.reset import retire as planning
from kstreams_runbooks.steps.reset.gone_trigger import gone_trigger
from kstreams_runbooks.steps.reset.retire import deleted_topics, prove_retired, retire
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.perform import guard_stage, perform
from kstreams_runbooks.watch.recreated import read_recreated
from kstreams_runbooks.watch.retire import read_retire
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import read_cluster
from lab.fake_streams import FakeStreams
from lab.supervise import until
from world.new_ledger import new_ledger

APPLICATION, NEXT, IN, OUT = "retired-app", "retired-app-next", "retired-in", "retired-out"
MADE, LEFT, UNKNOWN = (f"{APPLICATION}-{name}-changelog" for name in ("s", "old", "lost"))
NEIGHBOUR = f"{NEXT}-s-changelog"
TOPICS = (IN, OUT, MADE, LEFT, UNKNOWN, NEIGHBOUR)
TOPOLOGY = (
    "Topologies:\n  Sub-topology: 0\n"
    f"    Source: a (topics: {IN})\n      --> p\n"
    "    Processor: p (stores: [s])\n      --> k\n      <-- a\n"
    f"    Sink: k (topic: {OUT})\n      <-- p\n"
)
_GONE_S = 30


class Retired(NamedTuple):
    """A stopped application, its fleet, its ledger and its broker."""

    fleet: FakeStreams
    ledger: Ledger
    config: dict[str, Any]
    admin: AdminClient

    def ids(self) -> dict[str, str]:
        """The topics that exist, with their ids."""
        with ClusterReader(self.config) as reader:
            return {one.name: one.topic_id for one in reader.topics(TOPICS)}

    def judged(self, what: RetireWhat) -> tuple[Verdict, dict[str, str], RetireFacts]:
        """The verdict, the topics that go with their ids, and the facts."""
        declared = load_fleet().application(APPLICATION).declared()
        facts, graph = read_retire(APPLICATION, time.time_ns() // 1_000_000), fleet_graph([declared])
        asked = Retirement(declared, what, 7.0)
        rows = retired_topics(asked, facts, graph)
        return may_retire(asked, facts, graph), {one.topic.name: one.topic.topic_id for one in rows if one.goes}, facts

    def run(self, dag_id: str = "reset") -> Run:
        """A run, in mode retire of the whole application."""
        params = {"retire": "application", "gate_interval_s": 0.1, "gate_good_readings": 2}
        record = RunRecord("", dag_id, "r", APPLICATION, "retired", "oncall", False, "", params, now_ms())
        return Run(self.ledger.start_run(record), "delete_topics", 1, self.ledger)

    def commit(self, group: str, topic: str) -> None:
        """One committed offset of a group without members."""
        consumer = Consumer({**self.config, "group.id": group, "enable.auto.commit": False})
        try:
            consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
        finally:
            consumer.close()


@pytest.fixture(scope="module")
def retired(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retired]:
    config: dict[str, Any] = {"bootstrap.servers": broker}
    admin = AdminClient(config)
    for done in admin.create_topics([NewTopic(name, 1, 1) for name in TOPICS]).values():
        done.result()
    fleet = FakeStreams(
        tmp_path_factory.mktemp("fleet"), APPLICATION, TOPOLOGY, inputs=(IN,), outputs=(OUT,), cluster="retired"
    )
    fleet.declare()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(fleet.directory))
        patched.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{fleet.directory / 'ledger.db'}")
        patched.setenv("AIRFLOW_CONN_KAFKA_RETIRED", json.dumps({"conn_type": "kafka", "extra": config}))
        made = Retired(fleet, new_ledger(fleet.directory / "ledger.db"), config, admin)
        for group in (APPLICATION, NEXT):
            made.commit(group, IN)
        week_ago = time.time_ns() // 1_000_000 - 8 * DAY_MS
        left_by = made.run("bump").key
        kept = KeptOrphan(left_by, LEFT, made.ids()[LEFT], "retired", APPLICATION, week_ago)
        made.ledger.keep_orphans([kept])
        yield made
    for done in admin.delete_topics([*made.ids()]).values():
        done.result()
    admin.delete_consumer_groups([NEXT])[NEXT].result()


def test_what_a_run_left_behind_goes_and_nothing_else(retired: Retired) -> None:
    """The ledger has its name and its id."""
    verdict, goes, _ = retired.judged("orphans")
    assert verdict.outcome is Outcome.PROCEED, verdict.reasons
    assert goes == {LEFT: retired.ids()[LEFT]}
    assert f"{UNKNOWN} (which run left it behind is not in the ledger)" in verdict.findings[1].message


def test_an_application_that_runs_is_in_use(retired: Retired) -> None:
    with retired.fleet.running():
        verdict, *_ = retired.judged("application")
    assert verdict.outcome is Outcome.REFUSE
    assert "one: it runs (expected: every instance of retired-app down for good)" in verdict.reasons[0]


def test_what_another_group_uses_refuses(retired: Retired) -> None:
    retired.commit("thief", MADE)
    try:
        verdict, goes, _ = retired.judged("application")
    finally:
        retired.admin.delete_consumer_groups(["thief"])["thief"].result()
    assert verdict.outcome is Outcome.REFUSE
    assert f"topic {MADE}: group thief has offsets on it" in verdict.reasons[0]
    assert goes.keys() == {LEFT}


def test_a_recreated_changelog_is_known_by_the_last_check(retired: Retired) -> None:
    """Its id is another one than the check has kept; the input is the same."""
    entry = load_fleet().application(APPLICATION)
    about, now = ("retired", APPLICATION), time.time_ns() // 1_000_000
    assert read_recreated(retired.ledger, about, APPLICATION, retired.config, now) is None
    with retired.fleet.running():
        read_cluster(
            retired.ledger, "retired", [load_fleet().application(APPLICATION)], retired.config, CheckSettings()
        )
    assert read_recreated(retired.ledger, about, entry.application_id, retired.config, now) == RecreatedSeen(())
    before = retired.ids()[MADE]
    retired.admin.delete_topics([MADE])[MADE].result()
    until(lambda: MADE not in retired.ids(), _GONE_S, "the changelog is gone")
    retired.admin.create_topics([NewTopic(MADE, 1, 1)])[MADE].result()
    until(lambda: MADE in retired.ids(), _GONE_S, "the changelog is there again")
    found = read_recreated(retired.ledger, about, entry.application_id, retired.config, now)
    assert isinstance(found, RecreatedSeen)
    assert [(one.name, one.kind, one.expected, one.now) for one in found.topics] == [
        (MADE, "changelog", before, retired.ids()[MADE])
    ]


def test_an_application_out_of_use_goes_and_its_neighbour_stays(
    retired: Retired, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its topology and the ledger name what goes; deleted by id, twice, and watched. One that is back fails the run."""
    verdict, goes, facts = retired.judged("application")
    assert verdict.outcome is Outcome.PROCEED, verdict.reasons
    before = retired.ids()
    assert goes == {name: before[name] for name in (MADE, LEFT)}
    assert NEIGHBOUR not in {one.name for one in facts.internal}
    monkeypatch.setattr(planning, "code_digest", lambda _: "code")
    run = retired.run()
    _written_since(retired, DeleteTopics(2, tuple(sorted(goes)), retired=True))
    plan = retire(run, run.read(), ())
    assert plan.stages == (DeleteGroups(1, (APPLICATION,)), DeleteTopics(2, tuple(sorted(goes)), retired=True))
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    for stage in (*plan.stages, *plan.stages):
        assert isinstance(stage, DeleteGroups | DeleteTopics)
        guard_stage(run, stage)
        perform(run, stage, {})
    assert retired.ids() == {name: topic_id for name, topic_id in before.items() if name not in goes}
    assert watched(run) == ("proceed", f"{LEFT}, {MADE}: still gone after 1 s")
    prove_retired(run)
    retired.admin.create_topics([NewTopic(LEFT, 1, 1)])[LEFT].result()
    until(lambda: LEFT in retired.ids(), _GONE_S, "the topic is back")
    outcome, sentence = watched(run)
    assert (outcome, f"topic {LEFT}: created again" in sentence) == ("refuse", True)
    with pytest.raises(Refused, match=f"topic {LEFT}: created again"):
        prove_retired(run)
    # A wait that is over looks once more, and only then.
    assert len(run.verdicts(stayed_gone.__name__)) == 2


def _written_since(retired: Retired, stage: Any) -> None:
    """A run whose plan is older than the newest record of a topic deletes nothing."""
    run = retired.run("written")
    plan = retire(run, run.read(), ())
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    producer = Producer({**retired.config, "enable.idempotence": False})
    producer.produce(LEFT, "late", key="k", timestamp=978_307_200_000)
    assert producer.flush(10) == 0
    with pytest.raises(Refused, match=f"{LEFT}-0: its end moved from 0 to 1 since the plan"):
        perform(run, stage, {})
    assert LEFT in retired.ids()


def watched(run: Run) -> tuple[str, str]:
    """Outcome and reason of the wait in which the topics have to stay gone, cut to one second."""
    trigger = gone_trigger(run, deleted_topics(run))
    trigger.arguments |= {"length_s": 1.0, "interval_s": 0.2}

    async def fired() -> dict[str, Any]:
        [event] = [one async for one in trigger.run()]
        found: dict[str, Any] = event.payload
        return found

    event = asyncio.run(fired())
    return event["outcome"], "; ".join(event["reasons"])
