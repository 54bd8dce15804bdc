"""Reads the inputs of an application once more, right before their offsets are set to their targets."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.offset_targets import OffsetTarget
from kstreams_runbooks.model.readings.input_offsets import InputPartition
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.input_partitions import read_input_partitions
from kstreams_runbooks.watch.saved_targets import saved_by_topic


def read_inputs_now(
    entry: Application, kafka: Mapping[str, Any], targets: Mapping[str, OffsetTarget]
) -> tuple[InputPartition, ...]:
    """Every partition of the inputs that have a target; Refused if one does not exist any more.

    `kafka` is a librdkafka configuration. Unreachable if no broker answers.
    """
    with ClusterReader(kafka) as reader:
        topics = reader.topics(targets)
        if gone := sorted(targets.keys() - {one.name for one in topics}):
            raise Refused(f"input {gone[0]} does not exist (expected: as in the plan); look at who deleted it")
        return read_input_partitions(
            reader,
            entry.application_id,
            topics,
            times={topic: one.at_ms for topic, one in targets.items() if one.at_ms is not None},
            saved=saved_by_topic(entry.declared(), targets, topics),
            tiered=(),
            committed_only=entry.reads_committed,
        )
