"""A topic that the brokers do not delete ends a reset with one sentence; once they do, a rerun goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.act.kafka_writer import PartlyWritten
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.observe import ClusterReader
from lab.kafka import restart_broker, topic_of_ten
from lab.settings import Lab, Ports
from lab.stack import Parts, Stack, stack
from world.ports import UNDELETABLE, port

pytestmark = pytest.mark.long

TOPICS = ("kept-store-changelog", "kept-repartition")


@pytest.fixture
def undeletable(tmp_path: Path) -> Iterator[Stack]:
    """A broker with delete.topic.enable=false."""
    parts = Parts(deployed=None, airflow=False, broker={"delete.topic.enable": "false"}, built=True)
    with stack(Lab(tmp_path / "run", Ports(port(UNDELETABLE))), parts) as made:
        yield made


def test_nothing_is_deleted_and_a_rerun_goes_on(undeletable: Stack) -> None:
    """Each topic is named with the broker's answer; nothing is gone, and the ids are those of before."""
    config: dict[str, Any] = {"bootstrap.servers": undeletable.lab.bootstrap}
    for name in TOPICS:
        topic_of_ten(config, name)

    def ids() -> dict[str, str]:
        with ClusterReader(config) as reader:
            return {one.name: one.topic_id for one in reader.topics(TOPICS)}

    before = ids()
    with pytest.raises(PartlyWritten, match=r"delete topics: 0 of 2 done, 2 not: .*TopicDeletionDisabled") as raised:
        TopicWriter(config, dry_run=False).delete(before)
    assert "\n" not in str(raised.value)
    assert "then clear this step: it goes on with what is left" in str(raised.value)
    assert ids() == before
    restart_broker(undeletable.lab, undeletable.supervisor, {})
    assert [one.result for one in TopicWriter(config, dry_run=False).delete(before)] == ["done", "done"]
    assert not set(TOPICS) & set(AdminClient(config).list_topics(timeout=10).topics)
