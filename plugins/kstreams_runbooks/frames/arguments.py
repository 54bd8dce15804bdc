"""The arguments that every job takes: ranges of offsets, the brokers, a file for the answer, a Connect server."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kstreams_runbooks.documents.text import LARGEST_BYTES, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.ranges import LARGEST_RANGES, OffsetRange, parse_ranges
from kstreams_runbooks.properties import parse


def job_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """A parser with the common options; `doc` is the job's docstring."""
    parser = argparse.ArgumentParser(prog=name, description=(doc or "").partition("\n")[0])
    parser.add_argument("--ranges", required=True, help="[{topic, partition, start, end}] as JSON, or a file of it")
    parser.add_argument("--bootstrap", help="Kafka's bootstrap servers, where the command config has none")
    parser.add_argument("--command-config", metavar="FILE", help="properties of a Java client; secrets belong here")
    parser.add_argument("--result", metavar="URI", help="a path or file: that also gets the document")
    parser.add_argument("--remote", help="Spark Connect, sc://host:port; default: SPARK_REMOTE, else submitted")
    return parser


def given_ranges(given: argparse.Namespace) -> tuple[OffsetRange, ...]:
    """The ranges of `--ranges`; BadInput for an invalid one."""
    return ranges_of("--ranges", given.ranges)


def ranges_of(option: str, text: str) -> tuple[OffsetRange, ...]:
    """The ranges of an option, as JSON or in a file of it; BadInput for an invalid one."""
    inline = text.lstrip().startswith("[")
    return parse_ranges(text if inline else _text(option, text, LARGEST_RANGES))


def whole_topic(ranges: Sequence[OffsetRange], topic: str) -> list[OffsetRange]:
    """The ranges of a topic, by partition; BadInput if they are not those of all of its partitions."""
    own = sorted((one for one in ranges if one.topic == topic), key=lambda one: one.partition)
    numbers = [one.partition for one in own]
    if numbers != list(range(len(own))) or not own:
        raise BadInput(f"ranges: {topic} has partitions {numbers} (expected each from 0 on); give one range for each")
    return own


def given_kafka(given: argparse.Namespace) -> dict[str, str]:
    """Settings of a Java client with bootstrap.servers; BadInput without them."""
    kafka = {} if given.command_config is None else parse(_text("--command-config", given.command_config))
    if given.bootstrap:
        kafka["bootstrap.servers"] = given.bootstrap
    if not kafka.get("bootstrap.servers"):
        raise BadInput("no bootstrap.servers; give --bootstrap, or set it in the file of --command-config")
    return kafka


def _text(option: str, path: str, limit: int = LARGEST_BYTES) -> str:
    try:
        return read_text(Path(path), limit=limit)
    except BadInput as error:
        raise BadInput(f"{option} {path}: cannot be read: it {error}") from None
