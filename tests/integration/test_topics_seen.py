"""The topics that a release needs, read from a real broker, and what follows from them."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, ResourceType  # type: ignore[attr-defined]
from confluent_kafka.admin import AlterConfigOpType as Operation  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.change.described import Known
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, topics_needed
from kstreams_runbooks.decide.fitting.topics import topics_fit
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Described, Window
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.topics_seen import read_topics_seen
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.plan.releases import with_kept_logs
from lab.application import FROM_RELEASE
from lab.supervise import until
from world.given import Kafka, Orders
from world.samples import NEW, OLD, declared, reading
from world.sides import COUNTS, declaration, described

Topics = Callable[..., str]


@pytest.fixture
def made(kafka: Kafka) -> Iterator[Topics]:
    """Makes topics of a test's own, named after the description's, and answers their prefix."""
    admin, prefix = AdminClient({"bootstrap.servers": kafka.bootstrap}), f"fit{time.time_ns()}-"
    names: list[str] = []

    def make(**counts: int) -> str:
        new = [NewTopic(prefix + name.replace("_", "-"), count, 1) for name, count in counts.items()]
        for done in admin.create_topics(new).values():
            done.result()
        names.extend(one.topic for one in new)
        with ClusterReader({"bootstrap.servers": kafka.bootstrap}) as reader:
            # The controller has answered; the broker's own metadata comes a moment later.
            until(lambda: set(names) <= reader.topic_names(), 30, "the topics are visible")
        return prefix

    yield make
    for done in admin.delete_topics(names).values():
        done.result()


def judged(kafka: Kafka, prefix: str, text: str = COUNTS) -> Verdict:
    """The verdict on a release that reads and writes topics of this prefix; its application.id is the prefix's too."""
    own = text.replace("[orders]", f"[{prefix}orders]").replace("topic: counted", f"topic: {prefix}counted")
    wanted = (Described(NEW, NEW, "test", own),)
    entry = declared(application_id=prefix.rstrip("-"))
    with ClusterReader({"bootstrap.servers": kafka.bootstrap}) as reader:
        seen = read_topics_seen(reader, topics_needed(parsed_or_missing(wanted), entry))
    return topics_fit(wanted, seen, reading(), entry)


def test_topics_that_exist_fit(kafka: Kafka, made: Topics) -> None:
    """Before the first start, and with the library's own topics as they should be."""
    assert judged(kafka, made(orders=4, counted=1)).outcome is Outcome.PROCEED
    assert judged(kafka, made(by_customer_repartition=4, counts_changelog=4)).outcome is Outcome.PROCEED


def test_a_topic_that_is_not_there_is_named(kafka: Kafka, made: Topics) -> None:
    """And is not made by asking for it."""
    prefix = made(orders=4)
    for _ in range(2):
        found = judged(kafka, prefix)
        assert found.outcome is Outcome.REFUSE
        assert f"topic {prefix}counted does not exist (release {NEW} writes to it)" in found.sentence


def test_internal_topics_of_another_count_are_named(kafka: Kafka, made: Topics) -> None:
    """As the library finds them when it starts: too late."""
    prefix = made(orders=4, counted=1, counts_changelog=2)
    found = judged(kafka, prefix)
    assert found.outcome is Outcome.REFUSE
    assert f"topic {prefix}counts-changelog has 2 partitions and release {NEW} needs 4" in found.sentence


def test_a_pattern_is_resolved_by_the_cluster(kafka: Kafka, made: Topics) -> None:
    """One that matches nothing ends an application in ERROR where a repartition topic follows."""
    prefix = made(counted=1)
    text = COUNTS.replace("(topics: [orders])", f"(topics: {prefix}in-.*)")
    assert judged(kafka, prefix, text).outcome is Outcome.REFUSE
    made(in_eu=2)
    assert judged(kafka, prefix, text).outcome is Outcome.PROCEED


def test_a_plan_from_a_terminal_says_it_too(orders: Orders, tmp_path: Path) -> None:
    """Beside the plan, with an exit code of its own; without the option no cluster is asked."""
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(make_deployer(orders.application, dry_run=True).topology(Target(FROM_RELEASE)), encoding="utf-8")
    more = "\n  Sub-topology: 9\n    Source: zones-source (topics: [nowhere])\n      --> none\n"
    new.write_text(old.read_text(encoding="utf-8").rstrip() + more, encoding="utf-8")
    environment = orders.stack.environment()

    def plan(to: Path, *words: str) -> Result:
        given = ["plan", "--from-topology", str(old), "--to-topology", str(to), "--format", "json", *words]
        return CliRunner().invoke(cli, given, env=environment)

    same = plan(old, "--application", "orders")
    # Nothing is declared, so the plan itself is inconclusive.
    assert (same.exit_code, json.loads(same.stdout)["topics"]["outcome"]) == (3, "proceed")
    assert "topics of orders: proceed: the topics of the cluster fit" in same.stderr
    missing = plan(new, "--application", "orders")
    assert missing.exit_code == 1
    assert "topics of orders: refuse: topic nowhere does not exist" in missing.stderr
    assert "topics" not in json.loads(plan(new).stdout)


def test_a_changelog_that_was_altered_already_is_long_enough(orders: Orders, tmp_path: Path) -> None:
    """Its retention is that of the cluster, and without the option that of its creation by the library."""
    text = tmp_path / "orders.txt"
    text.write_text(make_deployer(orders.application, dry_run=True).topology(Target(FROM_RELEASE)), encoding="utf-8")
    files = []
    for name, days in (("old", 1), ("new", 100)):
        files.append(tmp_path / f"{name}.yaml")
        window = f"{{kind: tumbling, size_ms: 60000, grace_ms: {days * DAY_MS}}}"
        store = f"{{kind: window, window: {window}, logging: true, in_memory: true}}"
        files[-1].write_text(f"stores:\n  orders-windowed-store: {store}\n", encoding="utf-8")
    given = ["plan", "--from-topology", str(text), "--to-topology", str(text), "--format", "json"]
    given += ["--from-declaration", str(files[0]), "--to-declaration", str(files[1])]

    def found(*words: str) -> list[str]:
        ran = CliRunner().invoke(cli, [*given, *words], env=orders.stack.environment())
        return [one["message"] for one in json.loads(ran.stdout)["findings"] if one["id"] == "changelog-keeps-less"]

    admin = AdminClient({"bootstrap.servers": orders.stack.lab.bootstrap})
    changelog = f"{orders.application.application_id}-orders-windowed-store-changelog"
    [of_topic] = admin.describe_configs([ConfigResource(ResourceType.TOPIC, changelog)]).values()
    was = of_topic.result()["retention.ms"].value

    def alter(retention_ms: str) -> None:
        entry = ConfigEntry("retention.ms", retention_ms, incremental_operation=Operation.SET)
        resource = ConfigResource(ResourceType.TOPIC, changelog, incremental_configs=[entry])
        for done in admin.incremental_alter_configs([resource]).values():
            done.result()

    assert f"(retention.ms={2 * DAY_MS + 60_000})" in found()[0]
    assert f"(retention.ms={was})" in found("--application", "orders")[0]
    alter(str(101 * DAY_MS))
    try:
        until(lambda: found("--application", "orders") == [], 30, "the topic keeps enough")
        assert len(found()) == 1
    finally:
        alter(was)


@pytest.mark.parametrize(("retention_ms", "short"), [(3_600_000, True), (30 * DAY_MS, False)])
def test_a_run_reads_what_the_changelogs_of_windows_keep(kafka: Kafka, retention_ms: int, *, short: bool) -> None:
    """Somebody altered the topic since it was made: a grace that a day covers is too long for an hour."""
    application_id = f"kept{time.time_ns()}"
    changelog, admin = f"{application_id}-counts-changelog", AdminClient({"bootstrap.servers": kafka.bootstrap})
    settings = {"cleanup.policy": "compact,delete", "retention.ms": str(retention_ms)}
    for done in admin.create_topics([NewTopic(changelog, 1, 1, config=settings)]).values():
        done.result()
    entry = declared(application_id=application_id)
    run: Any = SimpleNamespace(declared=entry, reader=lambda: ClusterReader({"bootstrap.servers": kafka.bootstrap}))
    sides = []
    for release, grace_ms in ((OLD, 0), (NEW, DAY_MS // 2)):
        windows = DeclaredStore("window", Window("tumbling", 60_000, grace_ms), logging=True, in_memory=True)
        counts = replace(windows, key="customer", aggregate="count")
        sides.append(described(release=release, declares=replace(declaration(), stores={"counts": counts})))
    known = Known(entry, {}, "4.3")
    with run.reader() as reader:
        until(lambda: changelog in reader.topic_names(), 30, "it is visible")
    before = with_kept_logs(run, sides[:1], known)
    assert before[0].declaration.stores["counts"].changelog_keeps_ms == retention_ms
    verdict = may_be_rolled(before, sides[1], known, topology_change_rules(), upgrade_path_rules(), at_once=False)
    assert ("changelog-keeps-less" in {one.id for one in verdict.findings}) is short
    for done in admin.delete_topics([changelog]).values():
        done.result()
