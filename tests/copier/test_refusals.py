"""The copier does not start where a copy would not be its source: one last line with topic, figures and remedy."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from lab.topic_copier import REFUSED, jar, started
from world.copied import KEPT, Begin, Copy, until_setting

_NOTHING = "REFUSED, nothing was copied: "
_DAY, _WEEK, _EVER = "86400000", "604800000", str(2**63 - 1)
_TABLE = {"cleanup.policy": "compact"}


def refused(copy: Copy, **settings: str) -> str:
    """Its last line, without the time; nothing was copied."""
    copier = copy.copier(**settings)
    assert copier.start().end() == REFUSED
    head, line = re.fullmatch(rf"\S+ (topic-copier[^:]*: {_NOTHING})(.*)", copier.last_line).groups()  # type: ignore[union-attr]
    assert head
    assert sum(_NOTHING in each for each in copier.lines) == 1
    copy.require_nothing_copied()
    return str(line)


def test_each_reason_is_named_in_one_line(begin: Begin) -> None:
    """No committed offset, other counts, append times, less retention, a policy of tables: figures and remedies."""
    copy = begin("a", "b", "c")
    for topic, partitions, config in (
        ("a", 6, {"retention.ms": _WEEK}),
        ("a-copy", 4, {"retention.ms": _DAY}),
        ("b", 4, {}),
        ("b-copy", 4, {"message.timestamp.type": "LogAppendTime"}),
        ("c", 4, _TABLE),
        ("c-copy", 4, {"retention.ms": _DAY, "retention.bytes": "-1"}),
    ):
        copy.topic(f"{copy.name}-{topic}", partitions, config)
    copy.seed(dict.fromkeys(range(6), 0))
    copy.seed(dict.fromkeys(range(4), 0), f"{copy.name}-c")
    a, b, c = copy.routes
    line = refused(copy)
    assert f"{a} has 6 partitions and {a}-copy has 4. Mode same-partition needs equal counts" in line
    assert f"kafka-topics --alter --topic {a}-copy --partitions 6" in line
    assert f"{a}-copy has retention.ms={_DAY}, below {_WEEK} for {a}: it would delete records that the source" in line
    assert f"Set message.timestamp.type=CreateTime on {b}-copy." in line
    assert f"{c} has cleanup.policy=compact: a table that reads the copy would lose rows. Set cleanup.policy" in line
    assert f"{b}, 4 of 4 partitions (0; 1; 2; …): no committed offset in group {copy.name}" in line


# Settings of source and target, and the sentence that refuses them.
CASES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str], str]] = {
    "time below": ({"retention.ms": _WEEK}, {"retention.ms": _DAY}, f"retention.ms={_DAY}, below {_WEEK} for"),
    "time, source for ever": (KEPT, {"retention.ms": _WEEK}, f"retention.ms={_WEEK}, below -1 for"),
    "size below": (
        {**KEPT, "retention.bytes": "2000000"},
        {**KEPT, "retention.bytes": "1000000"},
        "retention.bytes=1000000, below 2000000",
    ),
    "size, source for ever": (KEPT, {**KEPT, "retention.bytes": "1000000"}, "retention.bytes=1000000, below -1"),
    "smaller records": (
        {**KEPT, "max.message.bytes": "2000000"},
        {**KEPT, "max.message.bytes": "1000000"},
        "max.message.bytes=1000000, below 2000000",
    ),
    "append times": (KEPT, {**KEPT, "message.timestamp.type": "LogAppendTime"}, "copies would lose the times of their"),
    "older than the target takes": (
        KEPT,
        {**KEPT, "message.timestamp.before.max.ms": _WEEK},
        f"message.timestamp.before.max.ms={_WEEK}, below {_EVER}",
    ),
    "too old once it is copied late": (
        {"retention.ms": _WEEK, "message.timestamp.before.max.ms": _DAY},
        {"retention.ms": _WEEK, "message.timestamp.before.max.ms": _DAY},
        f"message.timestamp.before.max.ms={_DAY}, below {int(_DAY) + int(_WEEK)} for",
    ),
    "further ahead than the target takes": (
        {**KEPT, "message.timestamp.after.max.ms": _WEEK},
        {**KEPT, "message.timestamp.after.max.ms": _DAY},
        f"message.timestamp.after.max.ms={_DAY}, below {_WEEK}",
    ),
    "a stream in a compacted topic": (KEPT, _TABLE, "the target would lose earlier records of a key, and takes none"),
    "a table that is deleted by time": (_TABLE, {"retention.ms": _DAY}, "a table that reads the copy would lose rows"),
    "a table that is deleted by size": (
        _TABLE,
        {**_TABLE, "cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "1000000"},
        "and retention.bytes=1000000, and",
    ),
    "a table that forgets deletions earlier": (
        {**_TABLE, "delete.retention.ms": _WEEK},
        {**_TABLE, "delete.retention.ms": _DAY},
        f"delete.retention.ms={_DAY}, below {_WEEK}",
    ),
    "a table that is compacted earlier": (
        {**_TABLE, "min.compaction.lag.ms": _DAY},
        _TABLE,
        f"min.compaction.lag.ms=0, below {_DAY}",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_a_target_that_keeps_or_takes_less_is_refused(begin: Begin, case: str) -> None:
    """The setting, its value, the value needed, the topic to set it on."""
    config, target_config, sentence = CASES[case]
    copy = begin().create(config=config, target_config=target_config).seed()
    copy.send(10)
    line = refused(copy)
    assert line.startswith(f"{copy.target}")
    assert sentence in line
    assert f" on {copy.target}" in line


@pytest.mark.long
def test_targets_that_keep_as_much_or_more_are_taken(begin: Begin) -> None:
    """The near misses, all routes in one process."""
    copy = begin("equal", "more", "table", "kept", "mixed", "appended", "late")
    for name, config, target_config in (
        (
            "equal",
            {"retention.ms": _WEEK, "retention.bytes": "2000000"},
            {"retention.ms": _WEEK, "retention.bytes": "2000000"},
        ),
        ("more", {"retention.ms": _DAY, "max.message.bytes": "1000"}, KEPT),
        ("table", _TABLE, _TABLE),
        ("kept", _TABLE, {"retention.ms": "-1"}),
        ("mixed", {"cleanup.policy": "compact,delete", "retention.ms": _DAY}, _TABLE),
        ("appended", {"message.timestamp.type": "LogAppendTime"}, {}),
        (
            "late",
            {"retention.ms": _DAY, "message.timestamp.before.max.ms": _DAY},
            {"retention.ms": _DAY, "message.timestamp.before.max.ms": str(2 * int(_DAY))},
        ),
    ):
        copy.topic(f"{copy.name}-{name}", 2, config)
        copy.topic(f"{copy.name}-{name}-copy", 2, target_config)
    copy.seed()
    with started(copy.copier()):
        pass


@pytest.mark.long
def test_a_topic_that_does_not_exist_is_not_created(begin: Begin) -> None:
    """Neither side."""
    copy = begin()
    copy.topic(copy.source, 4)
    assert f"Topic {copy.target} does not exist; create it" in refused_alone(copy)
    copy.delete(copy.source)
    copy.topic(copy.target, 4)
    assert f"Topic {copy.source} does not exist; create it" in refused_alone(copy)


def refused_alone(copy: Copy) -> str:
    """The last line where there may be no target."""
    copier = copy.copier()
    assert copier.start().end() == REFUSED
    return copier.last_line


@pytest.mark.long
def test_a_source_that_was_truncated_is_refused(begin: Begin) -> None:
    """Also if it happened while the copier was stopped, and only in one partition."""
    copy = begin().create().seed()
    copy.send(100, partition=2)
    copy.delete_records(copy.source, {2: 60})
    line = refused(copy)
    assert f"{copy.source}, 1 of 4 partitions (2 committed 0, log start 60): records were deleted before" in line
    copy.seed({2: 60})
    with started(copy.copier("later")):
        copy.wait_copied()
    assert copy.require_equal() == 40


@pytest.mark.long
def test_a_source_that_was_created_again_is_refused(begin: Begin) -> None:
    """The broker deletes the offsets of a deleted topic; those that a person keeps are past its end."""
    copy = begin().create().seed()
    copy.send(50)
    with started(copy.copier()):
        copy.wait_copied()
    copy.delete(copy.source)
    copy.topic(copy.source, 4)
    copy.send(10)
    copier = copy.copier("again")
    assert copier.start().end() == REFUSED
    assert (
        f"{copy.source}, 4 of 4 partitions (0; 1; 2; …): no committed offset in group {copy.name}" in copier.last_line
    )
    copy.seed({0: 50, 1: 0, 2: 0, 3: 0})
    assert copier.start().end() == REFUSED
    assert (
        f"{copy.source}, 1 of 4 partitions (0 committed 50, end 10): the committed offset is past" in copier.last_line
    )
    assert len(copy.records(copy.target)[0]) == 50


@pytest.mark.long
def test_one_partition_without_an_offset_is_named(begin: Begin) -> None:
    """Nothing begins by auto.offset.reset."""
    copy = begin().create()
    copy.seed({0: 0, 1: 0, 3: 0})
    copy.send(10, partition=2)
    line = refused(copy)
    assert f"{copy.source}, 1 of 4 partitions (2): no committed offset in group {copy.name}." in line
    assert f"kstreams-runbooks copier seed COPIER --at {copy.source}:PARTITION:OFFSET --execute" in line


@pytest.mark.long
def test_until_is_refused_where_it_cannot_be_reached(begin: Begin) -> None:
    """Partitions that are left out or unknown, an offset past the end, one before what is copied."""
    copy = begin().create().seed({0: 0, 1: 0, 2: 0, 3: 5})
    copy.send(10, partition=3)
    until = {0: 0, 1: 0, 2: 0, 3: 10}
    assert "until has no offset for 1 partitions" in refused(copy, until=until_setting({0: 0, 1: 0, 2: 0}, copy.source))
    assert "until names 1 partitions" in refused(copy, until=until_setting({**until, 4: 0}, copy.source))
    line = refused(copy, until=until_setting({**until, 3: 11}, copy.source))
    assert "1 of 4 partitions (3 committed 5, until 11, end 10): until is past the end" in line
    line = refused(copy, until=until_setting({**until, 3: 4}, copy.source))
    assert "1 of 4 partitions (3 committed 5, until 4): until is before the committed offset" in line
    assert "until: 'x:1' is not TOPIC:PARTITION:OFFSET" in refused(copy, until="x:1")


_ERRORS = "org.apache.kafka.streams.errors"
SETTINGS: Mapping[str, tuple[dict[str, str], str]] = {
    "no arrow": ({"routes": "a b"}, "routes: 'a b' is not FROM -> TO"),
    "no route": ({"routes": ""}, "routes is not set"),
    "one target twice": ({"routes": "a -> c, b -> c"}, "routes: topic c is named twice"),
    "a circle": ({"routes": "a -> b, b -> a"}, "routes: topic b is named twice"),
    "itself": ({"routes": "a -> a"}, "routes: topic a is named twice"),
    "mode": ({"mode": "by_key"}, "mode: 'by_key' is not same-partition or by-key"),
    "a number without a target": ({"mode": "by-key", "partitions": "12"}, "partitions: '12' is not TARGET:NUMBER"),
    "a target of no route": ({"mode": "by-key", "partitions": "x:12"}, "partitions: no route has the target x"),
    "two numbers": ({"mode": "by-key", "routes": "a -> b", "partitions": "b:12,b:13"}, "partitions: b is named twice"),
    "partitions of the source": ({"routes": "a -> b", "partitions": "b:12"}, "only mode=by-key takes the partition"),
    "misspelt": (
        {"untill": "a:0:1"},
        "Setting 'untill' is neither the copier's (routes, mode, until, order, pace, partitions) nor Kafka's",
    ),
    "guarantee": (
        {"processing.guarantee": "at_least_once"},
        "processing.guarantee is at_least_once, and the copier needs",
    ),
    "reset": (
        {"consumer.auto.offset.reset": "latest"},
        "consumer.auto.offset.reset is latest, and the copier needs none",
    ),
    "uncommitted": (
        {"isolation.level": "read_uncommitted"},
        "isolation.level is read_uncommitted, and the copier needs",
    ),
    "duplicates": (
        {"producer.enable.idempotence": "false"},
        "producer.enable.idempotence is false, and the copier needs true",
    ),
    "fewer acknowledgements": ({"acks": "1"}, "acks is 1, and the copier needs all"),
    "another order": ({"producer.max.in.flight.requests.per.connection": "6"}, "max.in.flight.requests.per.connection"),
    "broken records": ({"consumer.check.crcs": "false"}, "consumer.check.crcs is false, and the copier needs true"),
    "a transaction without an end": (
        {"producer.transaction.two.phase.commit.enable": "true"},
        "producer.transaction.two.phase.commit.enable is true, and the copier needs false",
    ),
    **{
        f"skips by {name}": ({name: f"{_ERRORS}.{skips}"}, f"{name} is {_ERRORS}.{skips}, and the copier needs")
        for name, skips in (
            ("processing.exception.handler", "LogAndContinueProcessingExceptionHandler"),
            ("production.exception.handler", "DefaultProductionExceptionHandler"),
            ("default.production.exception.handler", "DefaultProductionExceptionHandler"),
            ("deserialization.exception.handler", "LogAndContinueExceptionHandler"),
            ("default.deserialization.exception.handler", "LogAndContinueExceptionHandler"),
        )
    },
    **{
        f"code between: {name}": ({name: "x.Filter"}, f"{name} is set, and nothing may change a record between")
        for name in (
            "consumer.interceptor.classes",
            "main.consumer.interceptor.classes",
            "producer.interceptor.classes",
            "processor.wrapper.class",
            "__internal.consumer.wrapper__",
        )
    },
    "until, blank": ({"until": ""}, "until is set and has no offset: the copier would never end."),
    "until, commas": ({"until": " , "}, "until is set and has no offset: the copier would never end."),
    "not a number": ({"producer.linger.ms": "soon"}, "linger.ms"),
    "no group": ({"application.id": ""}, "application.id is not set"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", SETTINGS)
def test_a_setting_that_is_wrong_is_refused(begin: Begin, case: str) -> None:
    """Before the broker is asked, or by the client that reads it."""
    changes, sentence = SETTINGS[case]
    copy = begin().create(1).seed()
    copier = copy.copier()
    copier.settings |= changes
    assert copier.start().end() == REFUSED
    assert _NOTHING in copier.last_line
    assert sentence in copier.last_line


@pytest.mark.long
def test_a_setting_that_is_there_twice_is_refused(begin: Begin) -> None:
    """The last line would count, and the first route never be copied."""
    copy = begin().create(1).seed()
    copier = copy.copier()
    file = copier.directory / "twice.properties"
    file.write_text("routes=a -> b\nroutes=c -> d\n", encoding="latin-1")
    ended = subprocess.run(
        ["java", "-jar", str(jar()), "--config", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == REFUSED
    assert f"{file}: routes is set twice. Correct that line." in ended.stdout.splitlines()[-1]


@pytest.mark.long
def test_a_broker_that_does_not_answer_ends_the_start(begin: Begin) -> None:
    """With what to do."""
    copy = begin()
    copier = copy.copier(default_api_timeout_ms="3000", request_timeout_ms="2000")
    copier.settings["bootstrap.servers"] = "127.0.0.1:1"
    assert copier.start().end() == REFUSED
    assert "Start the copier again once the brokers answer." in copier.last_line


@pytest.mark.long
def test_a_later_file_overrides_an_earlier_one_and_each_has_to_exist(tmp_path: Path) -> None:
    """Deployers write what a runbook sets to a file of its own."""
    one, two = tmp_path / "one.properties", tmp_path / "two.properties"
    one.write_text("routes=a -> b\nmode=nonsense\n", encoding="latin-1")
    two.write_text("mode=by-key\nrelease=0.1.0\n", encoding="latin-1")
    for files, sentence in (
        ((one,), "mode: 'nonsense' is not same-partition or by-key"),
        ((one, two), "application.id is not set"),
        ((one, tmp_path / "three.properties"), "three.properties cannot be read"),
        ((), "No file is given: java -jar topic-copier.jar --config FILE."),
    ):
        words = [word for file in files for word in ("--config", str(file))]
        ran = subprocess.run(["java", "-jar", str(jar()), *words], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (REFUSED, "")
        assert f"{_NOTHING}{sentence}" in ran.stdout.replace(f"{tmp_path}/", "")
