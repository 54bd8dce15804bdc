"""The internal topics of a version, as JSON, as text and as an exit code; and the commands that create them."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.internal_topics import (
    InternalAnswer,
    InternalRow,
    InternalTopics,
    MadeTopic,
)
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import pasted, sentence

SCHEMA_VERSION: Final = 1
_STATES: Final = ("present", "missing", "partitions", "settings", "orphaned", "unknown")

Create = tuple[TopicShape, ...] | Missing | None


def exit_code(answer: InternalAnswer, refused: Mapping[str, str] | None = None) -> int:
    """0 all are there as Kafka Streams makes them, 1 one is not, 3 a fact or a topic is not known."""
    if answer.unknown or any(row.state == "unknown" for row in answer.rows):
        return 3
    deviates = answer.sources or refused or any(row.state != "present" for row in answer.rows)
    return 1 if deviates else 0


def document(
    about: Mapping[str, str],
    wanted: InternalTopics,
    answer: InternalAnswer,
    create: Create = None,
    refused: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The whole answer; `create` is null unless it is asked for."""
    return {
        "schema_version": SCHEMA_VERSION,
        **about,
        "replication_factor": wanted.replication,
        "topics": [_row(row) for row in answer.rows],
        "missing_sources": [asdict(one) for one in answer.sources],
        "unknown": list(answer.unknown),
        "findings": [asdict(one) for one in answer.findings],
        "create": _plan(create, refused or {}),
    }


def _row(row: InternalRow) -> dict[str, Any]:
    wanted, there = row.wanted, row.there
    return {
        "topic": row.name,
        "kind": row.kind,
        "state": row.state,
        "of": None if wanted is None else wanted.of,
        "partitions": None if wanted is None else wanted.partitions,
        "settings": None if wanted is None or wanted.settings is None else dict(wanted.settings),
        "there": None
        if there is None
        else {
            "topic_id": there.topic_id,
            "partitions": there.partitions,
            "replication_factor": there.replication,
            "settings": dict(there.own),
        },
        "differences": [asdict(one) for one in row.differences],
        "why": row.why,
    }


def _plan(create: Create, refused: Mapping[str, str]) -> Any:
    if create is None:
        return None
    if isinstance(create, Missing):
        return {"missing": create.missing}
    return {
        "topics": [
            {
                "topic": one.name,
                "partitions": one.partitions,
                "replication_factor": one.replication,
                "settings": dict(one.settings),
                "command": command(one),
                "refused": refused.get(one.name),
            }
            for one in create
        ]
    }


def command(topic: TopicShape) -> str:
    """The command of Kafka's own tool that creates exactly this topic."""
    words = ["--create", "--topic", topic.name, "--partitions", str(topic.partitions)]
    if topic.replication > 0:
        words += ["--replication-factor", str(topic.replication)]
    for name, value in topic.settings:
        words += ["--config", f"{name}={value}"]
    line = pasted(words)
    return line if line.startswith("#") else f"kafka-topics.sh --bootstrap-server … {line}"


def as_text(
    about: Mapping[str, str],
    wanted: InternalTopics,
    answer: InternalAnswer,
    create: Create = None,
    refused: Mapping[str, str] | None = None,
) -> str:
    """The whole answer as text."""
    return "\n".join(map(sentence, _lines(about, wanted, answer, create, refused or {})))


def _lines(
    about: Mapping[str, str],
    wanted: InternalTopics,
    answer: InternalAnswer,
    create: Create,
    refused: Mapping[str, str],
) -> Iterator[str]:
    yield f"{about['application']} @ {about['cluster']}: {_counted(answer)}"
    for row in answer.rows:
        yield f"  {row.state:10} {row.name}: {_shape(row, wanted)}"
        for one in row.differences:
            there, made = one.there or "not set", one.wanted or "not set"
            yield f"             {one.what}: {there} there → {made} by Kafka Streams"
        if row.why:
            yield f"             {row.why}"
    for source in answer.sources:
        who = f"{source.owner}, entry {source.writer}" if source.writer else source.owner
        yield f"  source     {source.name}: does not exist, and is not created here ({who})"
    for problem in answer.unknown:
        yield f"  ! not known: {problem}"
    if create is not None:
        yield from _created(create, refused)


def _counted(answer: InternalAnswer) -> str:
    states = [row.state for row in answer.rows]
    counts = [f"{states.count(one)} {one}" for one in _STATES if one in states]
    return f"{_topics(len(states))}{': ' if counts else ''}{', '.join(counts)}"


def _topics(number: int) -> str:
    return f"{number} internal topic{'' if number == 1 else 's'}"


def _shape(row: InternalRow, wanted: InternalTopics) -> str:
    one: MadeTopic | None = row.wanted
    if one is None:
        return f"{row.kind}, of no part of this topology"
    number = "partitions not known" if one.partitions is None else f"{one.partitions} partitions"
    copies = "" if wanted.replication is None or wanted.replication < 0 else f", {wanted.replication} replicas"
    if one.settings is None:
        return f"{row.kind} of {one.of}, {number}{copies}, settings not known"
    return f"{row.kind} of {one.of}, {number}{copies}, {', '.join(f'{name}={value}' for name, value in one.settings)}"


def _created(create: tuple[TopicShape, ...] | Missing, refused: Mapping[str, str]) -> Iterator[str]:
    if isinstance(create, Missing):
        yield f"  nothing to create: {create.missing}"
        return
    yield f"  to create: {len(create)} topic{'' if len(create) == 1 else 's'} (a dry run: this command creates none)"
    for one in create:
        yield f"    {command(one)}"
        if one.name in refused:
            yield f"    ! {refused[one.name]}"
