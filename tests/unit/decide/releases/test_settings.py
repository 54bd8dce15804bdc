"""What releases do with settings, by rows as the releases printed them; each case with one that is nearly it."""

import pytest
from kstreams_runbooks.decide.releases.settings import refuses, rows_about, setting_findings
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import ReleaseSetting, SettingFinding
from kstreams_runbooks.rules import release_settings

EXACTLY_ONCE = {"processing.guarantee": "exactly_once"}


def findings(
    after: dict[str, str], target: str, running: str | None = None, before: dict[str, str] | None = None
) -> tuple[SettingFinding, ...]:
    """Every finding; the release stays where no other is given, and what runs is unknown."""
    was = Release(running or target)
    return tuple(setting_findings(before, after, was, Release(target), release_settings()))


def ids(after: dict[str, str], target: str, running: str | None = None) -> list[tuple[str, str]]:
    """Findings about settings that are set."""
    return [(one.id, one.name) for one in findings(after, target, running) if one.id != "setting-default-changed"]


@pytest.mark.parametrize(
    ("name", "value", "target", "taken"),
    [
        ("processing.guarantee", "exactly_once", "4.0.0", "3.9.2"),
        ("processing.guarantee", "exactly_once_beta", "4.3.1", "3.9.2"),
        ("processing.guarantee", "exactly_once_v2", "2.8.2", "3.0.0"),
        ("upgrade.from", "2.3", "4.2.0", "4.1.2"),
        ("upgrade.from", "3.4", "3.4.1", "3.5.0"),
        ("built.in.metrics.version", "0.10.0-2.4", "3.0.0", "2.8.2"),
        ("client.dns.lookup", "default", "3.0.0", "2.8.2"),
        ("consumer.auto.offset.reset", "by_duration:PT1H", "3.9.2", "4.0.0"),
        ("topology.optimization", "merge.repartition.topics", "3.3.2", "3.4.0"),
        ("metrics.recording.level", "TRACE", "2.6.3", "2.7.0"),
    ],
)
def test_a_value_that_a_release_refuses(name: str, value: str, target: str, taken: str) -> None:
    """The neighbouring release takes it."""
    [refused] = [one for one in findings({name: value}, target) if one.refuse]
    assert (refused.id, refused.severity, refused.name) == ("setting-refused", "danger", name)
    assert f"{target} refuses {name}={value} (expected: " in refused.message
    assert not [one for one in findings({name: value}, taken) if one.refuse]


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("num.stream.threads", "two", "2"),
        ("num.stream.threads", "2147483648", "2147483647"),
        ("commit.interval.ms", "-1", "0"),
        ("commit.interval.ms", "1.5", " 100 "),
        ("enable.metrics.push", "on", "True"),
        ("max.warmup.replicas", "0", "1"),
        ("probing.rebalance.interval.ms", "59999", "60000"),
        ("group.protocol", "consumer", "STREAMS"),
        ("producer.compression.lz4.level", "18", "17"),
        ("main.consumer.max.poll.records", "0", "1"),
        ("restore.consumer.isolation.level", "committed", "read_committed"),
        ("admin.retries", "-1", "5"),
        ("sasl.login.refresh.window.factor", "1.1", "0.9"),
        ("sasl.login.refresh.window.factor", "a half", "0.5"),
    ],
)
def test_a_value_that_no_release_takes(name: str, value: str, taken: str) -> None:
    """Numbers, ranges, words, and settings of clients behind their prefixes."""
    assert ids({name: value}, "4.3.1") == [("setting-refused", name)]
    assert ids({name: taken}, "4.3.1") == []


def test_a_refused_value_is_refused_also_if_nothing_changes() -> None:
    """Whether it was there before is no reason to start on it."""
    before = dict(EXACTLY_ONCE)
    assert [one.id for one in findings(EXACTLY_ONCE, "4.0.0", before=before)] == ["setting-refused"]


def test_the_numbers_and_words_that_are_expected() -> None:
    """A person corrects the value by them."""
    [number] = findings({"sasl.login.refresh.buffer.seconds": "3601"}, "4.3.1")
    assert "(expected: a number of type short from 0 to 3600)" in number.message
    [word] = findings({"enable.metrics.push": "1"}, "4.3.1")
    assert "(expected: true or false)" in word.message
    [value] = findings({"processing.guarantee": "once"}, "4.3.1")
    assert "(expected: at_least_once, exactly_once_v2)" in value.message


@pytest.mark.parametrize(
    ("name", "target", "last"),
    [
        ("partition.grouper", "3.0.0", "2.8"),
        ("default.windowed.key.serde.inner", "3.0.0", "2.8"),
        ("auto.include.jmx.reporter", "4.0.0", "3.9"),
        ("zookeeper.connect", "2.0.0", "1.1"),
        ("producer.block.on.buffer.full", "0.11.0.0", "0.10.2"),
    ],
)
def test_a_setting_that_the_target_no_longer_has(name: str, target: str, last: str) -> None:
    """It is ignored there; the last release that has it says nothing, or that it is deprecated."""
    [gone] = [one for one in findings({name: "org.example.X"}, target, "0.10.0.0") if one.id == "setting-removed"]
    assert gone.severity == "warning"
    assert not gone.refuse
    assert f"{name} is set, and {target} no longer has it (the last with it is {last}): " in gone.message


@pytest.mark.parametrize(
    ("name", "value", "target", "known"),
    [
        ("task.assignor.class", "org.example.Mine", "3.7.2", "3.8.0"),
        ("statestore.cache.max.bytes", "0", "3.3.2", "3.4.0"),
        ("ensure.explicit.internal.resource.naming", "true", "4.0.2", "4.1.0"),
        ("group.protocol", "streams", "4.0.2", "4.1.0"),
        ("consumer.group.instance.id", "a", "2.2.2", "2.3.0"),
    ],
)
def test_a_setting_that_the_target_does_not_have_yet(name: str, value: str, target: str, known: str) -> None:
    """The first release that has it takes it."""
    [unknown] = [one for one in findings({name: value}, target, known) if one.name == name]
    assert (unknown.id, unknown.severity) == ("setting-not-yet-known", "warning")
    assert f"{target} does not have it yet (the first with it is {known.removesuffix('.0')}" in unknown.message
    assert ids({name: value}, known, target) == []


@pytest.mark.parametrize("name", ["my.own.setting", "consumer.my.own", "num.stream.thread"])
def test_a_name_that_no_release_has_is_named(name: str) -> None:
    """Serdes, extractors and assignors get it, or it is a typing error; one that was there before is no news."""
    assert ids({name: "any"}, "4.3.1", "2.4.1") == [("setting-unknown", name)]
    assert findings({name: "any"}, "4.3.1", before={name: "any"}) == ()


@pytest.mark.parametrize("name", ["topic.retention.ms", "client.tag.zone", "config.providers.file.class"])
def test_names_that_the_library_reads_by_their_beginning(name: str) -> None:
    """No list of settings has them."""
    assert ids({name: "any"}, "4.3.1", "2.4.1") == []


@pytest.mark.parametrize(("name", "value"), [("group.protocol", "classic"), ("max.task.idle.ms", "0")])
def test_a_default_that_a_release_does_not_have_yet_changes_nothing(name: str, value: str) -> None:
    """What runs there is the same."""
    assert ids({name: value}, "2.0.1", "4.3.1") == []


def test_a_setting_without_effect_is_no_news_where_nothing_changes() -> None:
    """Release and setting stay: that it is ignored was so before."""
    config = {"retries": "3", "partition.grouper": "org.example.Mine"}
    assert findings(config, "4.3.1", before=config) == ()
    assert [one.name for one in findings(config, "4.3.1", before={"retries": "3"})] == ["partition.grouper"]


def test_retries_go_to_the_clients_that_still_have_them() -> None:
    """Kafka Streams has none from 4.0 on, producers and admin clients have."""
    assert ids({"retries": "3"}, "4.3.1", "3.9.2") == []


def test_a_deprecated_setting_is_named() -> None:
    """It has its effect; later it will not."""
    name = "cache.max.bytes.buffering"
    [finding] = [one for one in findings({name: "0"}, "4.3.1", "3.3.2") if one.name == name]
    assert (finding.id, finding.severity) == ("setting-deprecated", "info")
    assert ids({name: "0"}, "3.3.2", "3.2.3") == []


def defaults(running: str, target: str, **config: str) -> dict[str, str]:
    """The settings with another default, and the sentence about each."""
    given = {name.replace("_", "."): value for name, value in config.items()}
    found = findings(given, target, running)
    return {one.name: one.message for one in found if one.id == "setting-default-changed"}


def test_defaults_that_change_between_two_releases() -> None:
    """Old and new, with what the setting sets."""
    found = defaults("2.8.2", "3.0.0")
    assert set(found) == {
        "acks",
        "default.key.serde",
        "default.value.serde",
        "enable.idempotence",
        "replication.factor",
        "session.timeout.ms",
    }
    assert found["replication.factor"] == (
        "replication.factor is not set: its default was 1 in 2.8.2 and is -1 in 3.0.0; it controls how many replicas "
        "an internal topic gets when it is created"
    )
    assert "acks of the producer clients is not set: its default was 1" in found["acks"]
    assert "default.key.serde is not set: its default was " in found["default.key.serde"]
    assert " and is nothing in 3.0.0" in found["default.key.serde"]
    assert defaults("3.0.0", "3.2.3") == {}


def test_going_back_changes_them_too() -> None:
    """A downgrade has the defaults of the older release."""
    assert "its default was -1 in 3.0.0 and is 1 in 2.8.2" in defaults("3.0.0", "2.8.2")["replication.factor"]


def test_what_is_set_keeps_its_value() -> None:
    """Also behind the prefix of the client that has it."""
    assert "replication.factor" not in defaults("2.8.2", "3.0.0", replication_factor="3")
    assert "acks" not in defaults("2.8.2", "3.0.0", producer_acks="1")
    assert "acks" in defaults("2.8.2", "3.0.0", consumer_acks="1")


def test_exactly_once_sets_what_idempotence_needs() -> None:
    """In both releases, whatever the default is."""
    found = defaults("2.8.2", "3.0.0", processing_guarantee="exactly_once_beta")
    assert not {"acks", "enable.idempotence"} & set(found)
    assert {"acks", "enable.idempotence"} <= set(defaults("2.8.2", "3.0.0", processing_guarantee="at_least_once"))


def test_without_the_running_release_nothing_is_known_of_its_defaults() -> None:
    """What is set is judged all the same."""
    found = tuple(setting_findings(None, EXACTLY_ONCE, None, Release("4.3.1"), release_settings()))
    assert [one.id for one in found] == ["setting-refused"]


@pytest.mark.parametrize(("running", "target"), [("2.8.2", "3.0.0"), ("3.9.2", "4.3.1"), ("4.3.1", "2.4.1")])
def test_a_part_of_the_rows_gives_the_same_answer(running: str, target: str) -> None:
    """Evidence keeps only the rows that the question needs."""
    after = {**EXACTLY_ONCE, "consumer.max.poll.records": "0", "partition.grouper": "x", "my.own": "y"}
    part = rows_about(after, [Release(running)], Release(target), release_settings())
    nothing: dict[str, str] = {}
    asked = nothing, after, Release(running), Release(target)
    assert tuple(setting_findings(*asked, part)) == tuple(setting_findings(*asked, release_settings()))
    assert len(part.rows) < 80
    assert {row.name for row in rows_about(after, [], None, release_settings()).rows} == {
        *("processing.guarantee", "max.poll.records", "partition.grouper")
    }


def test_a_check_that_only_the_release_can_make_is_left_to_it() -> None:
    """Classes, lists, and texts about checks of its own."""
    row = ReleaseSetting("a", ("streams",), "string", "low", check="[1,...,9] or -1")
    assert not refuses(row, "12")
    assert not refuses(ReleaseSetting("a", ("streams",), "class", "low"), "12")


def test_a_class_of_kafka_that_a_release_may_lack_is_named_and_a_login_is_not() -> None:
    """Only what is a class as a whole: a login begins like one, and has a password behind it."""
    moved = {"sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.secured.Handler"}
    login = {"sasl.jaas.config": 'org.apache.kafka.common.security.plain.PlainLoginModule required password="hunter2";'}
    assert ("setting-class-not-tried", "sasl.login.callback.handler.class") in ids(moved, "4.3.1", "3.9.1")
    found = findings({**moved, **login}, "4.3.1", "3.9.1", {**moved, **login})
    assert "hunter2" not in str(found)
    assert [one.name for one in found if one.id == "setting-class-not-tried"] == list(moved)
    known = {"default.key.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde"}
    since = {"processing.exception.handler": "org.apache.kafka.streams.errors.LogAndFailProcessingExceptionHandler"}
    for config in (known, since, {"default.key.serde": "com.acme.OrderSerde"}):
        assert "setting-class-not-tried" not in {one for one, _ in ids(config, "4.3.1", "3.9.1")}
