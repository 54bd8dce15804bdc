"""Every reading command with each right of rules/rights.yaml taken away in turn: none takes hidden for none.

A stopped application of one source by pattern, a changelog and an output. Three moments: all is read, six records are
unread, and a transaction is open at the end. What a row says uses the right is not OK without it; what it does not name
answers as with all rights. The broker, the group and its offsets are real, the deployer is a fake.
"""

import base64
import json
import re
import struct
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, NewTopic  # type: ignore[attr-defined]
from kafka import TopicPartition as KafkaPartition
from kafka.errors import CoordinatorNotAvailableError
from kafka.structs import OffsetAndMetadata
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.rights.needed import rows_of
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.clients import connect_python
from kstreams_runbooks.rules import rights
from kstreams_runbooks.watch.drain.drain import drain_reader
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import read_cluster
from lab.fake_streams import FakeStreams
from lab.logins import CLUSTER, CLUSTER_NAME, GROUP, TOPIC, TRANSACTIONAL_ID, Login
from lab.secured import Secured
from lab.supervise import until

APPLICATION, IN, OUT = "matrix-app", "matrix-in", "matrix-out"
TOPICS = (IN, OUT, f"{APPLICATION}-s-changelog")
UNREAD = 6
RELEASE = "4.3.1"
TOPOLOGY = (
    "Topologies:\n  Sub-topology: 0\n"
    "    Source: a (topics: matrix-in.*)\n      --> p\n"
    "    Processor: p (stores: [s])\n      --> k\n      <-- a\n"
    f"    Sink: k (topic: {OUT})\n      <-- p\n"
)
# Partition time 1, as Kafka Streams commits it: version 2, nine bytes.
STAMP = base64.b64encode(struct.pack(">bq", 2, 1)).decode()
PLACES = {
    # Of a group without members every topic of the cluster counts.
    "Topic": (TOPIC, "*", False),
    "Group": (GROUP, APPLICATION, False),
    "Cluster": (CLUSTER, CLUSTER_NAME, False),
    "TransactionalId": (TRANSACTIONAL_ID, "matrix-", True),
}
OPERATIONS = {
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
}
# Who may Read may Describe (Kafka's AclOperation): to take Describe away is to take Read away.
IMPLIES = {"Describe": ("Describe", "Read")}
DRAIN = ("drain", APPLICATION, "--inputs-paused", "the test writes nothing", "--readings", "2", "--interval", "0.1")
READING = sorted({(row.operation, row.resource) for row in rights() if row.operation in OPERATIONS})


class Answer(NamedTuple):
    """What a command ended with."""

    code: int
    printed: str


Ask = Callable[[], Answer]
Use = tuple[str, tuple[str, str]]


@pytest.fixture(scope="module")
def application(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> FakeStreams:
    for future in secured.admin().create_topics([NewTopic(name, 1) for name in TOPICS]).values():
        future.result()
    produce(secured)
    commit(secured, UNREAD)
    made = FakeStreams(tmp_path_factory.mktemp("fleet"), APPLICATION, TOPOLOGY, inputs=(IN,), outputs=(OUT,))
    made.declare()
    return made


def produce(secured: Secured) -> None:
    producer = Producer(secured.settings(secured.admin_login))
    for number in range(UNREAD):
        producer.produce(IN, str(number))
    assert producer.flush(10) == 0


def commit(secured: Secured, offset: int) -> None:
    """As the application would have, stamped with a partition time."""
    admin = connect_python(secured.settings(secured.admin_login), writable=True)
    place = KafkaPartition(IN, 0)

    def done() -> bool:
        try:
            answer = admin.alter_group_offsets(APPLICATION, {place: OffsetAndMetadata(offset, STAMP, -1)})
        except CoordinatorNotAvailableError:
            # The first group of a new broker: it makes its topic of offsets.
            return False
        return bool(answer[place].__name__ == "NoError")

    try:
        until(done, 20, f"{APPLICATION} has its offset")
    finally:
        admin.close()


@pytest.fixture(scope="module")
def login(secured: Secured) -> Login:
    return secured.login("matrix")


@pytest.fixture
def ask(
    secured: Secured, application: FakeStreams, login: Login, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[str, Ask]:
    """The reading commands, as that login."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(application.directory))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{application.directory / 'ledger.db'}")
    connection = {"conn_type": "kafka", "extra": secured.settings(login)}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_SECURED", json.dumps(connection))
    discover = ("discover", "--bootstrap", secured.bootstrap, "--command-config", str(secured.command_config(login)))
    numbers = count()
    settings = secured.settings(login)
    return {
        "lag": lambda: run("lag", APPLICATION),
        "lag --exact": lambda: run("lag", APPLICATION, "--exact"),
        "lag --group": lambda: run("lag", "--group", APPLICATION, "--cluster", "secured"),
        "drain": lambda: run(*DRAIN),
        "internal-topics": lambda: run("internal-topics", APPLICATION, "--release", RELEASE),
        "blast-radius": lambda: run("blast-radius", APPLICATION),
        "readiness": lambda: run("readiness", APPLICATION),
        "snapshot": lambda: run("snapshot", APPLICATION),
        "discover": lambda: run(
            *discover, "--cluster", "secured", "--out", str(tmp_path / str(next(numbers)) / "applications")
        ),
        "fleet_check": lambda: checked(settings, tmp_path / f"{next(numbers)}.db"),
        "certify_drain": lambda: certificate(settings),
    }


def checked(settings: dict[str, str], ledger_file: Path) -> Answer:
    """What the tasks of fleet_check read and judge; 3 where it is not known, 1 for every other word."""
    entry, ledger = load_fleet().application(APPLICATION), Ledger.open(f"sqlite:///{ledger_file}")
    try:
        # What has not moved since the reading before is looked at by a consumer.
        for _ in range(2):
            read = read_cluster(ledger, "secured", [entry], settings, CheckSettings())
        at_ms = read.at_ms
        [one] = judge_fleet(
            ledger, [entry], CheckSettings(), read_at_ms={"secured": at_ms}, problems={}, now_ms=at_ms
        ).statuses
    except RunbookError as error:
        return Answer(error.exit_code, str(error))
    return Answer({"healthy": 0, "unknown": 3}.get(one.word, 1), f"{one.word}: {one.sentence}")


def certificate(settings: dict[str, str]) -> Answer:
    """What certify_drain reads in a row, and its certificate."""
    entry = load_fleet().application(APPLICATION)
    question = DrainQuestion(2, Pause("declared", "ada", "the test writes nothing"))
    drain = drain_reader(entry, make_deployer(entry, dry_run=True), settings)
    readings = []
    try:
        for _ in range(4):
            with ClusterReader(settings) as reader:
                readings.append(drain.read(reader))
    except RunbookError as error:
        return Answer(error.exit_code, str(error))
    verdict = certified(tuple(readings[1:3]), question, readings[3])
    codes = {Outcome.PROCEED: 0, Outcome.INCONCLUSIVE: 3}
    return Answer(codes.get(verdict.outcome, 1), "\n".join(verdict.reasons))


def run(*words: str) -> Answer:
    result = CliRunner().invoke(cli, [*words])
    if isinstance(result.exception, RunbookError):
        return Answer(result.exception.exit_code, f"{result.output}{result.exception}")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.output)


def allow(secured: Secured, login: Login, without: tuple[str, str] | None = None) -> None:
    """Every right but this one, and those that imply it."""
    secured.revoke(login)
    taken = [] if without is None else [(one, without[1]) for one in IMPLIES.get(without[0], (without[0],))]
    for operation, resource in READING:
        if (operation, resource) not in taken:
            kind, name, prefixed = PLACES[resource]
            secured.grant(login, kind, name, OPERATIONS[operation], prefixed=prefixed)


def told(printed: str) -> frozenset[str]:
    """The lines of an answer, apart from times and ids that each reading has anew."""
    timeless = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\d+(\.\d+)? (s|ms|min)\b|/\S*pytest\S*", "", printed)
    return frozenset(line.strip() for line in timeless.splitlines())


# What a row says that is not to be seen here, and why.
ONLY_TOGETHER: dict[Use, str] = {
    ("readiness", ("DescribeConfigs", "Group")): "of a group whose brokers keep its session timeout, which this is not",
    ("drain", ("DescribeConfigs", "Cluster")): "asked only for a transaction whose id is not visible either",
    ("certify_drain", ("DescribeConfigs", "Cluster")): "as drain",
    ("drain", ("DescribeConfigs", "Topic")): "asked only while a replica is out of sync",
    ("certify_drain", ("DescribeConfigs", "Topic")): "as drain",
    ("fleet_check", ("DescribeConfigs", "Cluster")): "asked only of an application whose run waits",
    ("fleet_check", ("DescribeConfigs", "Topic")): "the application is stopped here, which is reported first",
    ("fleet_check", ("Read", "Topic")): "the application is stopped here, which is reported first",
    (
        "discover",
        ("Describe", "TransactionalId"),
    ): "what it does not see it calls unknown, and says so with every right",
}

# How an answer names what is missing: the right, or the broker's own word.
NAMED = re.compile(r"needs|grant|not visible|allow|may not describe|Authorization")


def uses(command: str, right: tuple[str, str]) -> bool:
    """Whether a row says that the command makes a call with this right; `readiness` compares those of every runbook."""
    rows = [row for row in rights() if (row.operation, row.resource) == right]
    if command == "readiness":
        return any(row in rows_of(rows, one.name) and row.by != "application" for row in rows for one in RUNBOOKS)
    return any(command in row.used_by for row in rows)


def everything_read(secured: Secured) -> None:
    consumer = Consumer({**secured.settings(secured.admin_login), "group.id": "matrix-looks"})
    _, end = consumer.get_watermark_offsets(TopicPartition(IN, 0), timeout=10)
    consumer.close()
    commit(secured, end)


def swept(secured: Secured, login: Login, ask: dict[str, Ask], *, used: bool = False) -> tuple[list[str], set[Use]]:
    """Every command without every right in turn: what is wrong, and what differs from the answer with all rights.

    `used`: without those alone that a row says it uses.
    """
    wrong: list[str] = []
    differs: set[Use] = set()
    allow(secured, login)
    whole = {name: answer() for name, answer in ask.items()}
    for right in READING:
        allow(secured, login, right)
        for name, answer in ((one, of) for one, of in ask.items() if not used or uses(one, right)):
            found, before = answer(), whole[name]
            new = " ".join(told(found.printed) - told(before.printed))
            if (found.code, told(found.printed)) == (before.code, told(before.printed)):
                continue
            differs.add((name, right))
            if not uses(name, right):
                wrong.append(f"{name} without {right}: no row says that it needs the right: {new}")
            if found.code == 0 or found.code not in {3, before.code} or not NAMED.search(new):
                wrong.append(f"{name} without {right}: exit code {found.code}: {new}")
    return wrong, differs


@pytest.mark.usefixtures("application")
def test_nothing_hidden_is_taken_for_read(secured: Secured, login: Login, ask: dict[str, Ask]) -> None:
    """Where all is read, every OK has to rest on what was seen."""
    everything_read(secured)
    allow(secured, login)
    assert [ask[name]().code for name in ("lag", "lag --exact", "lag --group", "drain")] == [0] * 4
    wrong, differs = swept(secured, login, ask, used=True)
    assert not wrong, "\n".join(wrong)
    assert differs


@pytest.mark.long
@pytest.mark.usefixtures("application")
def test_every_right_of_a_row_is_needed_and_no_other(secured: Secured, login: Login, ask: dict[str, Ask]) -> None:
    """The same with unread records, and with an open transaction behind which nothing can be read."""
    everything_read(secured)
    wrong, differs = swept(secured, login, ask)
    produce(secured)
    more, others = swept(secured, login, ask)
    everything_read(secured)
    writer = Producer(
        {
            **secured.settings(secured.admin_login),
            "transactional.id": "matrix-writer",
            "transaction.timeout.ms": 600_000,
        }
    )
    writer.init_transactions(10)
    writer.begin_transaction()
    writer.produce(IN, "not committed")
    writer.flush(5)
    try:
        rest, last = swept(secured, login, ask)
    finally:
        writer.abort_transaction(10)
    assert not [*wrong, *more, *rest], "\n".join([*wrong, *more, *rest])
    claimed: set[Use] = {(name, right) for name in ask for right in READING if uses(name, right)}
    assert claimed - (differs | others | last) == set(ONLY_TOGETHER), "a row claims a need, and nothing differs"


def test_readiness_compares_the_rights_of_the_applications_own_login(
    secured: Secured, application: FakeStreams, login: Login, ask: dict[str, Ask]
) -> None:
    """By the ACLs, if its file names that login: with what is printed none lacks, one that is absent is named."""
    own = secured.login("matrix-own")
    file = application.directory / "applications" / f"{APPLICATION}.yaml"
    before = file.read_text(encoding="utf-8")
    file.write_text(json.dumps(json.loads(before) | {"principal": f"User:{own.name}"}), encoding="utf-8")
    allow(secured, login)
    try:
        printed = json.loads(run("rights", "stop_and_restart", "--format", "json").printed)["acls"]
        mine = [one for one in printed if one["principal"] == f"User:{own.name}"]
        assert {(one["operation"], one["name"]) for one in mine} >= {
            ("Read", IN),
            ("Write", OUT),
            ("Read", APPLICATION),
        }
        # A super user has no ACL either.
        assert f"no ACL names User:{own.name}" in ask["readiness"]().printed
        secured.allow(own, [one for one in mine if (one["operation"], one["name"]) != ("Read", APPLICATION)])
        lacking = ask["readiness"]().printed
        assert f"Group {APPLICATION}: login User:{own.name} lacks Read on Group {APPLICATION}; grant it: " in lacking
        secured.allow(own, mine)
        left = [line for line in ask["readiness"]().printed.splitlines() if f"login User:{own.name} lacks" in line]
        # A flush has the application read other topics for a while.
        assert all("empty-of-" in line for line in left), left
    finally:
        file.write_text(before, encoding="utf-8")
        secured.revoke(own)


def test_the_session_timeout_that_brokers_keep_needs_its_right(secured: Secured, login: Login) -> None:
    """Of a streams group; without the right it is not known, and the sentence has the right."""
    name = "streams.session.timeout.ms"
    allow(secured, login)
    with ClusterReader(secured.settings(login)) as reader:
        assert reader.group_setting(APPLICATION, name) == "45000"
    allow(secured, login, ("DescribeConfigs", "Group"))
    with ClusterReader(secured.settings(login)) as reader:
        hidden = reader.group_setting(APPLICATION, name)
    assert hidden == Missing(f"{name}: not reported; grant this login DescribeConfigs on Group {APPLICATION}")
