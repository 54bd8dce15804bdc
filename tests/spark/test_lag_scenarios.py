"""Lag of each scenario by Kafka's own tool and by the project, and the truth: docs/lag_scenarios.md.

`make lag-scenarios` writes the page anew; every other run compares.
"""

import os
from dataclasses import dataclass

import pytest
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag
from kstreams_runbooks.watch.drain import counter
from kstreams_runbooks.watch.drain.counter import Counter
from lab.kafka_tools import described_lag
from lab.settings import CHECKOUT
from spark.lag_check_runs import unread
from world.eos import SCENARIOS, Log

PAGE = CHECKOUT / "docs" / "lag_scenarios.md"
HEAD = """\
# Lag scenarios

Written by `make lag-scenarios` (`tests/spark/test_lag_scenarios.py`) from one run against a real broker, and compared
in every run of the tests. `kafka-consumer-groups` is Kafka's own tool (`--describe`, column LAG, 4.3.1). *offsets* is
the lag that `kstreams-runbooks lag` shows, *records* what it shows with `--exact`, by a consumer and by Spark over
Connect. The *truth* is the number of records that a new read_committed consumer gets from the committed offset on.

| scenario | kafka-consumer-groups | offsets | records, consumer | records, Spark | transaction | truth |
|---|---|---|---|---|---|---|
"""
FOOT = """
The records behind an open transaction are unknown until it ends: `lag` names the transaction, and its exit code is 3
if everything else is read. A partition without a committed offset is absent from the tool's answer.
"""


@dataclass(frozen=True)
class Row:
    """One scenario."""

    scenario: str
    tool: str
    offsets: int | None
    consumer: int
    spark: int
    open_transaction: bool | None
    truth: int

    def __str__(self) -> str:
        told = "open" if self.open_transaction else ""
        cells = (self.scenario, self.tool, self.offsets, self.consumer, self.spark, told, self.truth)
        return f"| {' | '.join(str(cell) for cell in cells)} |"


@pytest.fixture(scope="module")
def table(made: list[Log], remote: str) -> list[Row]:
    """A row for each scenario, all of them read in one go by each."""
    here = made[: len(SCENARIOS)]
    config = here[0].config
    tool = described_lag(config["bootstrap.servers"], [log.group for log in here])
    rows = of_project(here)
    ranges = unread(here)
    with Counter(config, remote) as count, pytest.MonkeyPatch.context() as patch:
        few = count(ranges)
        patch.setattr(counter, "MOST_AT_ONCE", 0)
        many = count(ranges)
    assert (few.by, many.by) == ("consumer", "spark")
    return [
        Row(
            str(scenario.__doc__).rstrip("."),
            tool.get((log.group, *log.place), "absent"),
            row.offsets,
            few.readable[log.place].records,
            many.readable[log.place].records,
            row.open_transaction,
            log.readable(),
        )
        for scenario, log, row in zip(SCENARIOS, here, rows, strict=True)
    ]


def of_project(logs: list[Log]) -> list[PartitionLag]:
    """What `lag` reads of each."""
    with ClusterReader(logs[0].config) as reader:
        asked = [LagAsked(log.group, log.group, {log.topic: "source"}) for log in logs]
        found = read_lag(reader, "here", asked).applications
    return [
        row
        for log, application in zip(logs, found, strict=True)
        for row in application.partitions
        if row.topic == log.topic
    ]


def test_the_project_says_the_truth_in_every_scenario(table: list[Row]) -> None:
    """By a consumer and by Spark; and what an open transaction hides is told."""
    for row in table:
        assert row.consumer == row.spark == row.truth, row
    assert [row.truth for row in table] == list(SCENARIOS.values())
    hidden = {row.scenario.split(":")[0] for row in table if row.open_transaction}
    assert len(hidden) == 3, hidden


def test_the_page_is_what_was_measured(table: list[Row]) -> None:
    """The figures are measured."""
    page = HEAD + "".join(f"{row}\n" for row in table) + FOOT
    if os.environ.get("WRITE_PAGE"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
