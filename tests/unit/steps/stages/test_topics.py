"""A dry run shows the topics that the plan deletes and creates again, and asks no broker about them."""

from dataclasses import replace

import pytest
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.topics import create_topics

TOPIC = "orders-counts-changelog"


def test_a_topic_that_is_deleted_first_is_shown(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """It is still there: nothing could be checked."""
    create = CreateTopics(4, (TopicShape(TOPIC, 2),))
    made = replace(run.plan(), stages=(*run.plan().stages, DeleteTopics(3, (TOPIC,), at_rest=True), create))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    with caplog.at_level("INFO"):
        create_topics(replace(run, record=replace(run.record, dry_run=True)), create)
    assert f"would create topic {TOPIC} with 2 partitions, once it is deleted" in caplog.text
    assert run.ledger.cards(run.key) == []
