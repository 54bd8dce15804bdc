"""Topics and groups that a login may not see: no reading command takes them for none, and each says what would show it.

An application reads by the pattern `zones-.*`. `zones-a` is read to its end, `zones-b` has six unread records and is
hidden. The group and the broker are real; who runs the application is a fake agent and a fake deployer.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.cli import cli
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import read_cluster
from lab.fake_streams import FakeStreams
from lab.logins import CLUSTER, CLUSTER_NAME, GROUP, TOPIC, Login
from lab.secured import Secured
from lab.supervise import until
from world.hidden_topics import (
    ASIDE,
    COMMANDS,
    DRAIN,
    GROUP_ID,
    HIDDEN,
    NAMED,
    OUT,
    RIGHT,
    SEEN,
    UNREAD,
    commit,
    declared_application,
    in_state,
    run,
)


@pytest.fixture(scope="module")
def application(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> FakeStreams:
    """Topics with records, a group that has read the visible one, and a fleet that declares the application."""
    return declared_application(secured, tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def login(secured: Secured, application: FakeStreams, monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    """What reads: it may see the group, the visible input and the output, and nothing else yet."""
    made = secured.login("looker")
    secured.revoke(made)
    for topic in (SEEN, OUT):
        secured.grant(made, TOPIC, topic, AclOperation.DESCRIBE, AclOperation.READ, AclOperation.DESCRIBE_CONFIGS)
    secured.grant(made, GROUP, GROUP_ID, AclOperation.DESCRIBE)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(application.directory))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{application.directory / 'ledger.db'}")
    connection = {"conn_type": "kafka", "extra": secured.settings(made)}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_SECURED", json.dumps(connection))
    yield made
    secured.revoke(made)


@pytest.mark.parametrize("state", ["stopped", "running"])
def test_a_hidden_topic_that_a_pattern_matches_is_never_nothing(
    secured: Secured, application: FakeStreams, login: Login, state: str
) -> None:
    """Running, its member has not found the new topic yet: an assignment proves nothing.

    With Describe on Cluster the topic is named, without it the right.
    """
    with in_state(state, secured, application, SEEN):
        for words in COMMANDS.values():
            code, document, printed = run(*words)
            assert code == 3, printed
            assert RIGHT in printed
            assert document.get("verdict", "inconclusive") == "inconclusive"
        secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
        for words in COMMANDS.values():
            code, document, printed = run(*words)
            assert code == 3, printed
            assert NAMED in printed
            assert "does not exist" not in printed
            assert document.get("verdict", "inconclusive") == "inconclusive"


@pytest.mark.usefixtures("login")
def test_what_a_member_is_assigned_is_named_without_describe_on_cluster(
    secured: Secured, application: FakeStreams
) -> None:
    """The member reads the hidden topic: that much is known."""
    with in_state("running", secured, application, SEEN, HIDDEN):
        code, _, printed = run(*DRAIN)
        assert (code, f"topic {HIDDEN} is not visible to this login" in printed) == (3, True), printed
        code, document, printed = run("lag", "--group", GROUP_ID, "--cluster", "secured")
        rows = {row["topic"]: row["state"] for row in document["applications"][0]["partitions"]}
        assert (code, rows) == (3, {SEEN: "ok", HIDDEN: "unknown"}), printed


@pytest.mark.parametrize("state", ["stopped", "running"])
def test_with_everything_visible_the_answer_is_as_before(
    secured: Secured, application: FakeStreams, login: Login, state: str
) -> None:
    """Six records are six; once they are read it is drained, and nothing is left."""
    secured.grant(login, TOPIC, "zones-", AclOperation.DESCRIBE, AclOperation.READ, prefixed=True)
    secured.grant(login, TOPIC, "zones-", AclOperation.DESCRIBE_CONFIGS, prefixed=True)
    # While nothing runs its group may have offsets on any topic that is hidden.
    secured.grant(login, TOPIC, "*", AclOperation.DESCRIBE)
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    admin = secured.admin()
    with in_state(state, secured, application, SEEN, HIDDEN):
        assert [run(*words)[0] for words in COMMANDS.values()] == [1, 1, 1]
    commit(secured, {SEEN: 3, HIDDEN: UNREAD})
    try:
        with in_state(state, secured, application, SEEN, HIDDEN):
            found = {name: run(*words) for name, words in COMMANDS.items()}
        assert {name: code for name, (code, *_) in found.items()} == dict.fromkeys(COMMANDS, 0), found
        assert found["drain"][1]["verdict"] == "drained"
    finally:
        # As it was: never committed.
        offsets = [ConsumerGroupTopicPartitions(GROUP_ID, [TopicPartition(HIDDEN, 0, 0)])]
        for future in admin.alter_consumer_group_offsets(offsets).values():
            future.result()


def test_a_group_without_members_is_known_only_where_no_topic_is_hidden(secured: Secured, login: Login) -> None:
    """A broker leaves out the offsets on hidden topics, and what is left looks read."""
    group = ("lag", "--group", GROUP_ID, "--cluster", "secured")
    code, document, printed = run(*group)
    assert (code, document["applications"][0]["status"] == "healthy") == (3, False), printed
    assert RIGHT in printed
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    code, _, printed = run(*group)
    assert code == 3
    assert re.search(r"topics are not visible to this login.*aside", printed), printed
    secured.grant(login, TOPIC, "*", AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    code, document, printed = run(*group)
    assert (code in {0, 1}, document["applications"][0]["problems"]) == (True, []), printed


def test_a_hidden_group_is_never_expired(secured: Secured, login: Login) -> None:
    """It may be there; with Describe on Cluster, which lists every group, a group that is not listed is none."""
    secured.revoke(login, GROUP)
    sentence = f"group {GROUP_ID} is not visible to this login; grant it Describe on Group {GROUP_ID}"
    for words in (COMMANDS["lag"], DRAIN, ("lag", "--group", GROUP_ID, "--cluster", "secured")):
        code, _, printed = run(*words)
        assert (code, sentence in printed, "expired" in printed) == (3, True, False), printed
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    code, _, printed = run("lag", "--group", "nobody", "--cluster", "secured")
    assert (code, "known to no broker" in printed) == (3, True)


def test_named_topics_that_are_hidden_and_that_do_not_exist(secured: Secured, login: Login) -> None:
    """A broker refuses both by name; only the log directories tell them apart."""
    with ClusterReader(secured.settings(login)) as reader:
        unknown = reader.names().unseen([HIDDEN, "zones-none", SEEN])
        assert set(unknown) == {HIDDEN, "zones-none"}
        assert all("whether it exists is not known" in why for why in unknown.values())
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    with ClusterReader(secured.settings(login)) as reader:
        names = reader.names()
        assert names.unseen([HIDDEN, "zones-none", SEEN]) == {HIDDEN: NAMED}
        assert {HIDDEN, ASIDE} <= set(names.hidden if isinstance(names.hidden, frozenset) else ())


@pytest.mark.parametrize(
    ("rights", "why"),
    [
        ((), "groups that are not visible to this login are not in the list; grant it Describe on Cluster"),
        (("group",), "groups that are not visible to this login are not in the list"),
        (("cluster",), f"group {GROUP_ID} is not visible to this login"),
        (("cluster", "group"), "topics are not visible to this login"),
    ],
)
def test_discover_says_what_it_could_not_see(
    secured: Secured, login: Login, tmp_path: Path, rights: tuple[str, ...], why: str
) -> None:
    """With no right there is no group to see, which is not the same as no application."""
    secured.revoke(login)
    if "group" in rights:
        secured.grant(login, GROUP, GROUP_ID, AclOperation.DESCRIBE)
    if "cluster" in rights:
        secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    config = str(secured.command_config(login))
    words = ("discover", "--bootstrap", secured.bootstrap, "--command-config", config, "--cluster", "secured")
    result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "applications")])
    assert (result.exit_code, why in result.output) == (3, True), result.output
    assert "others are unknown" in result.output
    assert not list(tmp_path.rglob("*.yaml"))


def test_discover_finds_nothing_where_all_is_seen_and_nothing_is_there(
    secured: Secured, login: Login, tmp_path: Path
) -> None:
    """Exit code 0, as before: the group is a plain consumer's."""
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    secured.grant(login, TOPIC, "*", AclOperation.DESCRIBE)
    secured.grant(login, GROUP, "*", AclOperation.DESCRIBE)
    config = str(secured.command_config(login))
    words = ("discover", "--bootstrap", secured.bootstrap, "--command-config", config, "--cluster", "secured")
    result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "applications")])
    assert result.exit_code == 0, result.output
    assert "no Kafka Streams application found on secured\n" in result.output
    assert list(tmp_path.iterdir()) == []


def test_what_the_runbooks_read_is_never_taken_for_whole(
    secured: Secured, application: FakeStreams, login: Login
) -> None:
    """Observe, gates, verify, `readiness` and `snapshot` stand on this reading: offsets and topics, or why not."""
    entry = load_fleet(application.directory).application(GROUP_ID)
    config = secured.settings(login)

    def reading() -> ApplicationReading:
        with ClusterReader(config) as reader:
            return read_application(entry, reader, make_deployer(entry, dry_run=True))

    found = reading()
    assert isinstance(found.partitions, Missing)
    assert RIGHT in found.partitions.missing
    code, document, printed = run("readiness", GROUP_ID)
    standings = {one["standing"] for one in document["applications"][0]["runbooks"]}
    assert (code, "ready" in standings) == (3, False), printed
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    assert reading().partitions == Missing(NAMED)
    with ClusterReader(config) as reader:
        assert read_dropped(reader, GROUP_ID, [HIDDEN]) == Missing(NAMED)
        assert read_dropped(reader, GROUP_ID, ["zones-none"]) == ()
    secured.revoke(login, TOPIC, OUT)
    found = reading()
    assert found.topics == Missing(f"topic {OUT} is not visible to this login; grant it Describe on Topic {OUT}")
    code, _, printed = run(*DRAIN)
    assert (code, f"output {OUT}: topic {OUT} is not visible to this login" in printed) == (3, True), printed


def test_the_scheduled_check_calls_it_unknown(
    secured: Secured, application: FakeStreams, login: Login, tmp_path: Path
) -> None:
    """Running, with its topology told by the instance: never healthy."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    sentences = []
    with in_state("running", secured, application, SEEN):
        entry = load_fleet(application.directory).application(GROUP_ID)
        for rights in ((), (AclOperation.DESCRIBE,)):
            if rights:
                secured.grant(login, CLUSTER, CLUSTER_NAME, *rights)
            read = read_cluster(ledger, "secured", [entry], secured.settings(login), CheckSettings())
            judged = judge_fleet(
                ledger,
                [entry],
                CheckSettings(),
                read_at_ms={"secured": read.at_ms},
                problems={},
                now_ms=read.at_ms,
            )
            [one] = judged.statuses
            assert one.word == "unknown", one.sentence
            sentences.append(one.sentence)
    assert RIGHT in sentences[0]
    assert NAMED in sentences[1]


def test_a_topic_that_comes_after_the_instances_were_asked_is_not_overlooked(
    secured: Secured, application: FakeStreams, login: Login, tmp_path: Path
) -> None:
    """What they told holds for an hour, but which topics their pattern matches does not."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    late = "zones-late"
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    secured.grant(login, TOPIC, HIDDEN, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    admin = secured.admin()

    def check(entry: Application) -> ApplicationLag:
        read_cluster(ledger, "secured", [entry], secured.settings(login), CheckSettings())
        return ledger.lag_readings("secured", [GROUP_ID], 1)[GROUP_ID][-1].lag

    with in_state("running", secured, application, SEEN, HIDDEN):
        entry = load_fleet(application.directory).application(GROUP_ID)
        assert check(entry).problems == ()
    # Nobody is there to ask: what was told before is gone by.
    entry = load_fleet(application.directory).application(GROUP_ID)
    admin.create_topics([NewTopic(late, 1)])[late].result()
    try:
        until(lambda: late in admin.list_topics().topics, 10, f"{late} is there")
        found = {row.topic: row.why for row in check(entry).partitions if row.state == "unknown"}
        assert found == {late: f"topic {late} is not visible to this login; grant it Describe on Topic {late}"}
        secured.revoke(login, CLUSTER)
        assert RIGHT in "".join(check(entry).problems)
    finally:
        admin.delete_topics([late])[late].result()
        until(lambda: late not in admin.list_topics().topics, 10, f"{late} is gone")


def test_a_plain_group_may_have_left_what_is_hidden(
    secured: Secured, application: FakeStreams, login: Login, tmp_path: Path
) -> None:
    """With its old changelog hidden it is perhaps an application, as it is with the changelog visible."""
    assert application.directory
    left, group = "plain-old-changelog", "plain"
    admin = secured.admin()
    admin.create_topics([NewTopic(left, 1)])[left].result()
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    secured.grant(login, GROUP, "*", AclOperation.DESCRIBE)
    config = str(secured.command_config(login))
    words = ("discover", "--bootstrap", secured.bootstrap, "--command-config", config, "--cluster", "secured")
    consumer = Consumer({**secured.settings(secured.admin_login), "group.id": group})
    consumer.subscribe([SEEN])
    try:
        until(lambda: bool(consumer.poll(0.1) or consumer.assignment()), 30, "it has its partition", poll_s=0)
        result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "applications")])
    finally:
        consumer.close()
        admin.delete_topics([left])[left].result()
    said = (
        f"group {group}: perhaps an application, not declared: its members share its partitions by the assignor range"
    )
    assert said in result.output, result.output
    assert "but it has 1 internal topic\n" in result.output


VAULT = "vault"
VAULT_TOPOLOGY = (
    f"Topologies:\n  Sub-topology: 0\n    Source: s (topics: [{SEEN}])\n      --> k\n"
    "    Sink: k (topic: by-zone-repartition)\n      <-- s\n"
    "  Sub-topology: 1\n    Source: t (topics: [by-zone-repartition])\n      --> p\n"
    f"    Processor: p (stores: [totals])\n      --> o\n      <-- t\n    Sink: o (topic: {OUT})\n      <-- p\n"
)
REPARTITION, CHANGELOG, LEFT = f"{VAULT}-by-zone-repartition", f"{VAULT}-totals-changelog", f"{VAULT}-old-repartition"


@pytest.fixture(scope="module")
def vault(secured: Secured, application: FakeStreams, tmp_path_factory: pytest.TempPathFactory) -> FakeStreams:
    """A stopped application that has read all that it names; another release left a record in an internal topic."""
    assert application.topology
    for future in secured.admin().create_topics([NewTopic(one, 1) for one in (REPARTITION, CHANGELOG, LEFT)]).values():
        future.result()
    producer = Producer(secured.settings(secured.admin_login))
    producer.produce(LEFT, "half done")
    producer.flush(10)
    commit(secured, {SEEN: 3, REPARTITION: 0}, VAULT)
    made = FakeStreams(tmp_path_factory.mktemp("vault"), VAULT, VAULT_TOPOLOGY, inputs=(SEEN,), outputs=(OUT,))
    made.declare()
    return made


@pytest.mark.parametrize(
    ("hidden", "lag_code"), [(REPARTITION, 3), (CHANGELOG, 0), (LEFT, 0)], ids=["repartition", "changelog", "left over"]
)
def test_a_hidden_internal_topic_is_named(
    secured: Secured,
    vault: FakeStreams,
    login: Login,
    monkeypatch: pytest.MonkeyPatch,
    hidden: str,
    lag_code: int,
) -> None:
    """Read, it is unread; a changelog may be gone; what another release left counts while nothing runs."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(vault.directory))
    secured.grant(login, GROUP, VAULT, AclOperation.DESCRIBE)
    for topic in {REPARTITION, CHANGELOG, LEFT} - {hidden}:
        secured.grant(login, TOPIC, topic, AclOperation.DESCRIBE, AclOperation.READ, AclOperation.DESCRIBE_CONFIGS)
    # While nothing runs its group may have offsets on any other hidden topic.
    secured.grant(login, TOPIC, HIDDEN, AclOperation.DESCRIBE)
    secured.grant(login, TOPIC, ASIDE, AclOperation.DESCRIBE)
    drain = ("drain", VAULT, *DRAIN[2:])
    assert (run("lag", VAULT)[0], run(*drain)[0]) == (lag_code, 3)
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE)
    sentence = f"topic {hidden} is not visible to this login; grant it Describe on Topic {hidden}"
    code, document, printed = run("lag", VAULT)
    [application] = document["applications"]
    assert (code, application["status"] == "healthy", "does not exist" in printed) == (lag_code, False, False), printed
    # Only what runs names its changelogs to `lag`.
    assert (sentence in printed) is (hidden == REPARTITION)
    code, document, printed = run(*drain)
    assert (code, document["verdict"], sentence in printed) == (3, "inconclusive", True), printed


def test_a_hidden_topic_of_another_release_is_not_nothing_while_the_application_is_down(
    secured: Secured, vault: FakeStreams, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visible it is a finding: the group has an offset on `aside`, and a record behind it that no release set reads."""
    producer = Producer(secured.settings(secured.admin_login))
    producer.produce(ASIDE, "unread")
    producer.flush(10)
    commit(secured, {ASIDE: 0}, VAULT)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(vault.directory))
    secured.grant(login, GROUP, VAULT, AclOperation.DESCRIBE)
    secured.grant(login, CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    for topic in (REPARTITION, CHANGELOG, HIDDEN):
        secured.grant(login, TOPIC, topic, AclOperation.DESCRIBE, AclOperation.READ)
    drain = ("drain", VAULT, *DRAIN[2:])
    code, document, printed = run(*drain)
    assert (code, document["verdict"]) == (3, "inconclusive"), printed
    assert re.search(rf"group {VAULT} may have offsets there on records that it has not read: .*{ASIDE}", printed)
