"""GO ON of refused adoptions, followed: what a person is asked to do is done, and the same command completes then."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from lab import kafka
from lab.adopted import COPIER, ROUTES
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed, described
from lab.stack import Stack
from world.adopting import DAG, copier_deployed
from world.endings import INCONCLUSIVE, NOTHING_CHANGED, begun_other
from world.going_on import followed
from world.runs import evidence, finished, log_of

pytestmark = pytest.mark.long
_REASON = "no Spark in these tests"
_FORM = {"copier": COPIER, "without_copy_proof": _REASON}
_CALL_S = 30


@pytest.fixture(scope="module")
def deployed(stack: Stack) -> Iterator[Stack]:
    """Two instances without traffic, and a copier that has never run."""
    afresh(stack, Deployed(release=TO_RELEASE))
    facts = _facts(stack).read_text(encoding="utf-8")
    with copier_deployed(stack):
        yield stack
    _facts(stack).write_text(facts, encoding="utf-8")


def _facts(stack: Stack) -> Any:
    """The file that declares what no description of the release shows."""
    return stack.lab.config / "applications" / "orders" / f"{TO_RELEASE}.yaml"


def _set(stack: Stack, topic: str, **settings: str) -> None:
    """Settings of a topic, `_` for `.`."""
    entries = [
        ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(_CALL_S)


@contextmanager
def control_topic(stack: Stack) -> Iterator[None]:
    """A topic of the copier's routes exists; a person deletes it."""
    admin, name = AdminClient({"bootstrap.servers": stack.lab.bootstrap}), ROUTES["orders"]
    kafka.create_topics(stack.lab.bootstrap, [name], 4)
    yield
    admin.delete_topics([name])[name].result(_CALL_S)


@contextmanager
def offsets(stack: Stack) -> Iterator[None]:
    """The copier's group has an offset; a person deletes the group."""
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    asked = [ConsumerGroupTopicPartitions(COPIER, [TopicPartition("orders", 0, 0)])]
    admin.alter_consumer_group_offsets(asked)[COPIER].result(_CALL_S)
    yield
    admin.delete_consumer_groups([COPIER])[COPIER].result(_CALL_S)


@contextmanager
def forgets_at_once(stack: Stack) -> Iterator[None]:
    """A compacted input keeps no deletion; a person raises the time."""
    _set(stack, "customers", cleanup_policy="compact", delete_retention_ms="0")
    yield
    _set(stack, "customers", delete_retention_ms="86400000")


@contextmanager
def begins_somewhere(stack: Stack) -> Iterator[None]:
    """A partition has offsets and none is committed; a person declares where each source begins."""
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap, "transactional.id": "goes-on"})
    producer.init_transactions(_CALL_S)
    producer.begin_transaction()
    producer.produce("orders", "aborted", partition=3)
    producer.flush(_CALL_S)
    producer.abort_transaction(_CALL_S)
    yield
    sources = re.findall(r"Source: (\S+) \(topics: \[(?:orders|customers)\]\)", described(stack.lab, TO_RELEASE))
    assert len(sources) == len(ROUTES)
    declared = yaml.safe_load(_facts(stack).read_text(encoding="utf-8"))
    declared["operators"] = {source: {"offset_reset": "default"} for source in sources}
    _facts(stack).write_text(yaml.safe_dump(declared), encoding="utf-8")


@contextmanager
def nothing(_: Stack) -> Iterator[None]:
    """The form alone is wrong."""
    yield


@pytest.mark.parametrize(
    ("meanwhile", "form", "reason", "outcome", "completes"),
    [
        (control_topic, _FORM, "control topic orders-control: it exists", NOTHING_CHANGED, True),
        (offsets, _FORM, "has offsets on orders", NOTHING_CHANGED, True),
        (forgets_at_once, _FORM, "input customers: its delete.retention.ms is 0", NOTHING_CHANGED, True),
        (begins_somewhere, _FORM, "where the group begins there is not known", INCONCLUSIVE, True),
        (nothing, {"copier": COPIER}, "whether the copy is complete would not be known", INCONCLUSIVE, True),
        (nothing, {**_FORM, "copier": "orders"}, "copier: orders (expected another", NOTHING_CHANGED, False),
    ],
    ids=["topic", "offsets", "deletions", "beginning", "proof", "copier"],
)
def test_the_command_of_go_on_helps(
    deployed: Stack,
    meanwhile: Callable[[Stack], Any],
    form: dict[str, Any],
    reason: str,
    outcome: str,
    completes: bool,
) -> None:
    """The dry run ends before any change; once its cause is gone, the last command of GO ON completes."""
    with meanwhile(deployed):
        trial = begun_other(deployed, DAG, dry_run=True, **form)
        assert finished(deployed, trial.run_id) == "failed"
        run = evidence(deployed, trial.run_id)["run"]
        assert run["outcome"] == outcome
        assert reason in run["outcome_sentence"]
    code, said = followed(deployed, trial.run_id, which=-1)
    assert run["outcome_sentence"] not in said
    assert (code == 0) or not completes, said


def warned(stack: Stack) -> str:
    """The log of the plan of a dry run, which completes whatever it warns of."""
    trial = begun_other(stack, DAG, dry_run=True, **_FORM)
    assert finished(stack, trial.run_id) == "success"
    return log_of(stack, trial.run_id, "plan")


def test_what_a_plan_warns_of_is_gone_once_its_remedy_is_applied(deployed: Stack) -> None:
    """A limit by size is; that code may ask for the name of its topic is said to every approver."""
    _set(deployed, "orders", retention_bytes="100000000")
    before = warned(deployed)
    assert "warning adopt-retention-bytes on orders-control: it gets retention.bytes of orders (100,000,000)" in before
    _set(deployed, "orders", retention_bytes="-1", retention_ms="604800000")
    after = warned(deployed)
    assert "adopt-retention-bytes" not in after
    for log in (before, after):
        assert "info adopt-topic-names on orders: code that asks for the topic of its record" in log
