"""The topics whose keys are forecast, and the arguments and the answer of the job."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from kstreams_runbooks.decide.growth.closure import closure
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.forecast import ForecastQuestion
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.watch.growth import forecast_of, forecast_topics, job_options
from world.growing import APART, JOINED, forecast, growing

QUESTION = ForecastQuestion("window", 12, (OffsetRange("a", 0, 3, 10), OffsetRange("a", 1, 5, 5)))


def test_inputs_and_changelogs_with_readable_keys_are_forecast() -> None:
    """Repartition topics are not, nor are stores whose keys have a form of their own."""
    assert forecast_topics(closure(growing())) == {"orders": "input", "orders-counts-changelog": "key_value"}
    assert forecast_topics(closure(growing(JOINED))) == {"orders": "input", "payments": "input"}
    assert "orders-sums-changelog" not in forecast_topics(closure(growing(APART, topics=("orders",))))


def test_the_job_gets_each_topic_and_the_limit_that_was_kept() -> None:
    options = job_options((QUESTION,))
    assert json.loads(options["--topics"]) == [{"topic": "a", "kind": "window", "after": 12}]
    assert options["--max-scan-records"] == "7"


def test_the_answer_of_the_job_is_the_forecast() -> None:
    """As JSON has it; anything else is no answer."""
    found = forecast(growing()).topics
    assert not isinstance(found, Missing)
    document = json.loads(json.dumps({"topics": [asdict(one) for one in found]}))
    assert forecast_of(document) == found
    without: tuple[dict[str, Any], ...] = ({}, {"topics": [{}]}, {"topics": None})
    for broken in without:
        with pytest.raises(Inconclusive, match="has no forecast"):
            forecast_of(broken)
