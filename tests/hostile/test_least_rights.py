"""A library bump with exactly the ACLs that `rights` prints, and without any one of them.

The broker denies by default (StandardAuthorizer), the group and its member are real; the agent and the deployer of the
application are fakes. The steps are those of the DAG that only read: observe, check, plan.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.admin import AclOperation, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import library_bump, planned
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab.fake_streams import FakeStreams
from lab.logins import CLUSTER, GROUP, TOPIC, TRANSACTIONAL_ID, Login
from lab.secured import Secured
from lab.supervise import until
from world.new_ledger import new_ledger

pytestmark = pytest.mark.long

APPLICATION, IN, OUT = "least-app", "least-in", "least-out"
TOPICS = (IN, OUT, f"{APPLICATION}-by-key-repartition", f"{APPLICATION}-s-changelog")
TOPOLOGY = (
    "Topologies:\n  Sub-topology: 0\n"
    f"    Source: a (topics: [{IN}])\n      --> k\n"
    "    Sink: k (topic: by-key-repartition)\n      <-- a\n"
    "  Sub-topology: 1\n"
    "    Source: b (topics: [by-key-repartition])\n      --> p\n"
    "    Processor: p (stores: [s])\n      --> o\n      <-- b\n"
    f"    Sink: o (topic: {OUT})\n      <-- p\n"
)
KINDS = {"Topic": TOPIC, "Group": GROUP, "Cluster": CLUSTER, "TransactionalId": TRANSACTIONAL_ID}
OPERATIONS = {
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
}


@pytest.fixture(scope="module")
def login(secured: Secured) -> Login:
    return secured.login("least")


@pytest.fixture(scope="module")
def application(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeStreams]:
    """One instance that runs 4.2.0 and may be brought to 4.3.1; a member of its group that has read everything."""
    for future in secured.admin().create_topics([NewTopic(name, 1) for name in TOPICS]).values():
        future.result()
    made = FakeStreams(
        tmp_path_factory.mktemp("fleet"),
        APPLICATION,
        TOPOLOGY,
        inputs=(IN,),
        outputs=(OUT,),
        release="4.2.0",
        targets=("4.3.1",),
    )
    every = secured.settings(secured.admin_login)
    producer = Producer(every)
    producer.produce(IN, "one")
    producer.produce(TOPICS[2], "one")
    assert producer.flush(10) == 0
    member = Consumer({**every, "group.id": APPLICATION, "client.id": made.client_id, "auto.offset.reset": "earliest"})
    member.subscribe([IN, TOPICS[2]])
    read: list[Message] = []

    def has_read() -> bool:
        message = member.poll(0.2)
        read.extend(() if message is None or message.error() else [message])
        return len(read) == 2  # one record in each topic

    try:
        until(has_read, 30, "the member has read both records")
        member.commit(asynchronous=False)
        with made.running():
            yield made
    finally:
        member.close()


@pytest.fixture
def config(secured: Secured, application: FakeStreams, login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(application.directory))
    connection = {"conn_type": "kafka", "extra": secured.settings(login)}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_SECURED", json.dumps(connection))


def printed(secured: Secured, login: Login, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The ACLs of the connection's login, as an administrator has them printed."""
    with monkeypatch.context() as patch:
        every = {"conn_type": "kafka", "extra": secured.settings(secured.admin_login)}
        patch.setenv("AIRFLOW_CONN_KAFKA_SECURED", json.dumps(every))
        words = ("rights", "library_bump", "--application", APPLICATION, "--principal", f"User:{login.name}")
        found = CliRunner().invoke(cli, [*words, "--format", "json"])
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert document["notes"] == []
    return [one for one in document["acls"] if one["principal"] == f"User:{login.name}"]


def allow(secured: Secured, login: Login, acls: list[dict[str, str]]) -> None:
    secured.revoke(login)
    for one in acls:
        prefixed = one["pattern"] == "prefixed"
        secured.grant(login, KINDS[one["resource"]], one["name"], OPERATIONS[one["operation"]], prefixed=prefixed)


def begun(tmp_path: Path, number: int) -> Run:
    """A real run at its first step."""
    ledger = new_ledger(tmp_path / f"ledger-{number}.db")
    given = {"target": "4.3.1"}
    record = RunRecord("", "library_bump", "r", APPLICATION, "secured", "ada", False, "test", given, now_ms())
    return Run(ledger.start_run(record), "observe", 1, ledger, patient=True)


@pytest.mark.usefixtures("config")
def test_a_bump_plans_with_its_acls_alone_and_stops_without_any_of_them(
    secured: Secured, login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acls = printed(secured, login, monkeypatch)
    assert {(one["operation"], one["resource"], one["name"]) for one in acls} == {
        ("Read", "Topic", IN),
        ("Read", "Topic", TOPICS[2]),
        *(("DescribeConfigs", "Topic", name) for name in TOPICS[:3]),
        ("Describe", "Topic", OUT),
        ("Describe", "Topic", TOPICS[3]),
        ("Read", "Group", APPLICATION),
        ("Describe", "Cluster", "kafka-cluster"),
        ("DescribeConfigs", "Cluster", "kafka-cluster"),
    }
    allow(secured, login, acls)
    run = begun(tmp_path, 0)
    observe().act(run)
    check().act(run)
    planned(library_bump).act(run)
    assert run.ledger.plan(run.key) is not None
    for number, lost in enumerate(acls, 1):
        allow(secured, login, [one for one in acls if one is not lost])
        run = begun(tmp_path, number)
        with pytest.raises(Refused) as refused:
            observe().act(run)
        said = str(refused.value)
        words = f"login User:{login.name} lacks {lost['operation']} on {lost['resource']} {lost['name']}"
        assert words in said, (lost, said)
        assert lost["command"] in said
        assert run.ledger.run(run.key).wrote_at_ms is None
