"""Settings that a release refuses together: each row with the answers of the releases, and near misses."""

import pytest
from kstreams_runbooks.decide.releases.refusals import names_of, past_limits, refused_together
from kstreams_runbooks.decide.releases.settings import refuses, setting_findings
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.settings import SettingFinding, SettingRefusal
from kstreams_runbooks.rules import release_settings, upgrade_path_rules
from lab.release_settings import given_to

CATALOGUE = release_settings()
RELEASES = upgrade_path_rules().releases
# Exactly once in the words of three generations.
GUARANTEES = {"4.3.1": "exactly_once_v2", "2.8.2": "exactly_once_beta", "2.5.1": "exactly_once"}


def refused(config: dict[str, str], release: str, *, whole: bool = True) -> list[SettingFinding]:
    """What the rows find."""
    return list(refused_together(config, Release(release), CATALOGUE, whole=whole))


@pytest.mark.parametrize("row", CATALOGUE.refusals, ids=lambda row: row.id)
def test_a_row_answers_as_the_releases_did(row: SettingRefusal) -> None:
    """`make settings` gave both examples to each release; the near one is taken by all that refuse the other."""
    assert row.releases
    assert row.words
    for release in RELEASES:
        alone = [row] if within(release, row.releases) else []
        settings = given_to(release.text, row.refused)
        found = [one for one in refused(settings, release.text) if row.because in one.message]
        assert len(found) == len(alone), (release, settings)
        near = refused(given_to(release.text, row.taken), release.text)
        assert not [one for one in near if alone and row.because in one.message], release


@pytest.mark.parametrize("row", CATALOGUE.refusals, ids=lambda row: row.id)
def test_a_row_says_what_to_correct(row: SettingRefusal) -> None:
    """The setting is one that the application gives, and the source is public."""
    release = next(one for one in reversed(RELEASES) if within(one, row.releases)).text
    [found, *_] = [one for one in refused(dict(row.refused), release) if row.because in one.message]
    assert found.name in row.refused
    assert f"{found.name}={row.refused[found.name]}" in found.message
    assert found.message.endswith(row.cure)
    assert (found.id, found.severity, found.refuse) == ("setting-refused", "danger", True)
    assert found.source == row.source


@pytest.mark.parametrize("release", [one.text for one in RELEASES])
@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once", "exactly_once_v2"])
def test_no_release_refuses_its_own_defaults(release: str, guarantee: str) -> None:
    """A row that did would refuse every application."""
    assert refused({"processing.guarantee": guarantee}, release) == []


@pytest.mark.parametrize(
    ("config", "release", "named"),
    [
        ({"producer.transaction.timeout.ms": "50"}, "4.3.1", "commit.interval.ms"),
        ({"commit.interval.ms": "10001"}, "3.0.0", "commit.interval.ms"),
        ({"producer.retries": "0"}, "4.3.1", "producer.retries"),
        ({"retries": "0"}, "3.9.2", "retries"),
        ({"producer.acks": "0"}, "3.4.1", "producer.acks"),
        ({"max.in.flight.requests.per.connection": "6"}, "2.8.2", "max.in.flight.requests.per.connection"),
    ],
)
def test_siblings_under_exactly_once(config: dict[str, str], release: str, named: str) -> None:
    """Each with a default on the other side, or without the prefix of the client; at least once takes all of them."""
    once = {**config, "processing.guarantee": GUARANTEES.get(release, "exactly_once_v2")}
    assert [one.name for one in refused(once, release)] == [named]
    assert refused({**config, "processing.guarantee": "at_least_once"}, release) == []


@pytest.mark.parametrize(
    ("config", "refuses"),
    [
        ({"consumer.group.instance.id": "a"}, True),
        ({"main.consumer.group.instance.id": "a"}, True),
        ({"restore.consumer.group.instance.id": "a"}, False),
        ({"global.consumer.group.instance.id": "a"}, False),
        ({"num.standby.replicas": "1"}, False),
        ({"max.warmup.replicas": "4"}, False),
        ({"session.timeout.ms": "20000"}, False),
    ],
)
def test_what_the_streams_protocol_refuses(config: dict[str, str], refuses: bool) -> None:
    """A static member of any name; standbys and timeouts are ignored. Tried on 4.1.0, 4.1.2, 4.2.1 and 4.3.1."""
    for release in ("4.1.0", "4.2.1", "4.3.1"):
        assert bool(refused({"group.protocol": "STREAMS", **config}, release)) is refuses
        assert refused({"group.protocol": "classic", **config}, release) == []


@pytest.mark.parametrize(
    ("config", "refuses"),
    [
        ({"consumer.heartbeat.interval.ms": "60000"}, True),
        ({"session.timeout.ms": "2000"}, True),
        ({"restore.consumer.heartbeat.interval.ms": "60000"}, False),
        ({"main.consumer.heartbeat.interval.ms": "3000", "heartbeat.interval.ms": "60000"}, False),
        ({"topic.segment.bytes": "1000"}, False),
        ({"topic.segment.bytes": "1000", "batch.size": "2000"}, True),
        ({"producer.linger.ms": "500000"}, False),
        ({"delivery.timeout.ms": "30000", "producer.linger.ms": "0"}, False),
        ({"delivery.timeout.ms": "29999", "producer.linger.ms": "0"}, True),
        ({"admin.request.timeout.ms": "70000"}, False),
        ({"request.timeout.ms": "70000", "default.api.timeout.ms": "60000"}, True),
        ({"consumer.default.api.timeout.ms": "1000"}, False),
        ({"bootstrap.servers": "kafka:x"}, True),
        ({"bootstrap.servers": "http://127.0.0.1:1, [::1]:9092"}, False),
        ({"application.server": "localhost:port"}, True),
        ({"application.server": ""}, False),
        ({"group.instance.id": "a b"}, True),
        ({"topology.optimization": "reuse.ktable.source.topics, merge.repartition.topics"}, False),
        ({"topology.optimization": "merge.repartition.topics,merge.repartition.topics"}, False),
        ({"topology.optimization": "merge.repartition.topics,"}, False),
        ({"topology.optimization": "all "}, False),
        ({"topology.optimization": "all,none"}, True),
        ({"topology.optimization": "all,all"}, True),
        ({"topology.optimization": "merge.repartition.topics,all"}, True),
        ({"topology.optimization": "none,merge.repartition.topics"}, True),
        ({"topology.optimization": "merge.repartition.topics reuse.ktable.source.topics"}, True),
        ({"topology.optimization": ""}, True),
        ({"enable.metrics.push": "false"}, False),
        ({"producer.enable.metrics.push": "false"}, False),
        ({"consumer.enable.metrics.push": "true"}, True),
    ],
)
def test_what_4_3_1_answered(config: dict[str, str], refuses: bool) -> None:
    """Each was given to the library of 4.3.1, which constructed an application or threw."""
    assert bool(refused(config, "4.3.1")) is refuses


@pytest.mark.parametrize(
    ("config", "refuses"),
    [
        ({"auto.offset.reset": "newest"}, True),
        ({"consumer.auto.offset.reset": "Latest"}, True),
        ({"main.consumer.auto.offset.reset": ""}, True),
        ({"auto.offset.reset": "by_duration"}, True),
        ({"auto.offset.reset": "by_duration:"}, True),
        ({"auto.offset.reset": "by_duration:P"}, True),
        ({"auto.offset.reset": "by_duration:PT"}, True),
        ({"auto.offset.reset": "by_duration:P1Y"}, True),
        ({"auto.offset.reset": "by_duration:P1W"}, True),
        ({"auto.offset.reset": "by_duration:-PT1S"}, True),
        ({"auto.offset.reset": "by_duration:PT-1S"}, True),
        ({"auto.offset.reset": "BY_DURATION:PT1S"}, True),
        ({"auto.offset.reset": "latest "}, False),
        ({"auto.offset.reset": "by_duration:pt1h"}, False),
        ({"auto.offset.reset": "by_duration:PT1,5S"}, False),
        ({"auto.offset.reset": "by_duration:P1DT2H3M4.5S"}, False),
        ({"auto.offset.reset": "by_duration:P1DT-1H"}, False),
        ({"auto.offset.reset": "by_duration:+PT1S"}, False),
        ({"consumer.auto.offset.reset": "latest", "auto.offset.reset": "newest"}, False),
        ({"restore.consumer.auto.offset.reset": "newest"}, False),
        ({"global.consumer.auto.offset.reset": "newest"}, False),
        ({"compression.gzip.level": "10"}, True),
        ({"producer.compression.gzip.level": "-2"}, True),
        ({"compression.gzip.level": "-1"}, False),
        ({"compression.gzip.level": "+9"}, False),
        ({"compression.gzip.level": "09"}, False),
        ({"consumer.compression.gzip.level": "0"}, False),
        ({"producer.transactional.id": "", "processing.guarantee": "exactly_once_v2"}, False),
        ({"consumer.share.acquire.mode": "nonsense"}, True),
        ({"global.consumer.share.acquire.mode": "nonsense"}, False),
    ],
)
def test_checks_that_the_list_of_settings_shows_as_text(config: dict[str, str], refuses: bool) -> None:
    """Each was given to the library of 4.0.0, 4.3.1 and 4.4.0, which constructed an application or threw."""
    for release in ("4.3.1", "4.4.0"):
        assert bool(refused(config, release)) is refuses


@pytest.mark.parametrize("row", CATALOGUE.limits, ids=lambda row: row.id)
def test_a_limit_is_passed_by_its_example_alone(row: SettingRefusal) -> None:
    """In each release that has the settings; the near example is within it, and no release refuses either of them."""
    for release in ("3.4.1", "3.9.1", "4.4.0"):
        assert row in past_limits(row.refused, Release(release), CATALOGUE).values()
        assert row not in past_limits(row.taken, Release(release), CATALOGUE).values()
        assert refused(dict(row.refused), release) == []
    assert row in past_limits(row.refused, None, CATALOGUE).values()


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({}, set()),
        ({"processing.guarantee": "exactly_once_v2"}, set()),
        ({"transaction.timeout.ms": "3600000"}, set()),
        ({"session.timeout.ms": "3600000", "group.protocol": "streams"}, set()),
        ({"main.consumer.session.timeout.ms": "45000", "session.timeout.ms": "1"}, set()),
        ({"restore.consumer.session.timeout.ms": "1", "global.consumer.max.poll.interval.ms": "1"}, set()),
        ({"consumer.session.timeout.ms": "3600000"}, {"consumer.session.timeout.ms"}),
        ({"request.timeout.ms": "1"}, {"request.timeout.ms"}),
        ({"producer.batch.size": "33554433"}, {"producer.batch.size"}),
        ({"producer.max.request.size": "33554433"}, {"producer.max.request.size"}),
        ({"producer.max.request.size": "33554432", "batch.size": "33554432"}, set()),
        ({"consumer.buffer.memory": "10"}, set()),
    ],
)
def test_siblings_of_limits(config: dict[str, str], names: set[str]) -> None:
    """By the setting that a part reads; a limit that depends on a mode holds in that mode alone."""
    assert set(past_limits(config, Release("4.3.1"), CATALOGUE)) == names


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("cleanup.policy", "compact,delete", True),
        ("cleanup.policy", "compact, delete", True),
        ("cleanup.policy", "compacted", False),
        ("retention.ms", "-1", True),
        ("retention.ms", "-2", False),
        ("retention.ms", "a week", False),
        ("segment.ms", "0", False),
        ("min.cleanable.dirty.ratio", "0.5", True),
        ("min.cleanable.dirty.ratio", "1.5", False),
        ("preallocate", "yes", False),
        ("message.timestamp.type", "logappendtime", False),
    ],
)
def test_settings_of_topics_as_brokers_take_them(name: str, value: str, takes: bool) -> None:
    """Without the prefix; the ranges are those of LogConfig."""
    [row] = [one for one in CATALOGUE.topics if one.name == name]
    assert refuses(row, value) is not takes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num.stream.threads", "${file:/a:b}"),
        ("commit.interval.ms", "${env:INTERVAL}"),
        ("processing.guarantee", "${env:GUARANTEE}"),
        ("consumer.auto.offset.reset", "${env:RESET}"),
        ("bootstrap.servers", "${env:BROKERS}"),
    ],
)
def test_what_a_config_provider_gives_is_not_judged(name: str, value: str) -> None:
    """It is not known before the start; without a provider the text itself is the value."""
    release = Release("4.3.1")
    provided = {"config.providers": "file", name: value}
    found = list(setting_findings({}, provided, release, release, CATALOGUE))
    assert [one.id for one in found if one.name == name] == ["settings-not-tried"]
    assert not [one for one in found if one.refuse]
    assert list(setting_findings(provided, provided, release, release, CATALOGUE)) == []
    alone = setting_findings({}, {name: value}, release, release, CATALOGUE)
    assert [one.id for one in alone if one.refuse] == ["setting-refused"]


def test_each_check_that_is_text_has_a_row() -> None:
    """A value that only the release can check is judged by a row, or no text can break the check."""
    checked = {row.name for row in CATALOGUE.rows if row.check and row.check != "non-null string"}
    # Empty is taken (tried on 4.3.1); more tags than five are too many client tags.
    unbroken = {"group.instance.id", "rack.aware.assignment.tags"}
    by_row = {one.setting for row in CATALOGUE.refusals for one in row.when[:1]}
    assert checked - by_row - unbroken == set()
    assert unbroken <= checked


@pytest.mark.parametrize("name", ["restore.consumer.auto.offset.reset", "global.consumer.auto.offset.reset"])
def test_what_the_library_sets_itself_is_not_judged(name: str) -> None:
    """The values of these clients have no effect in any release, and without the prefix they are refused."""
    for release in ("3.4.1", "3.9.1", "4.3.1"):
        running = Release(release)
        assert list(setting_findings({}, {name: "newest"}, running, running, CATALOGUE)) == []
        own = setting_findings({}, {"auto.offset.reset": "newest"}, running, running, CATALOGUE)
        assert [one.id for one in own if one.refuse] == ["setting-refused"]


def test_a_part_of_the_settings_refuses_nothing_by_a_default() -> None:
    """The program may set what the default would be refused with."""
    given = {"commit.interval.ms": "30000", "processing.guarantee": "exactly_once_v2"}
    assert refused(given, "4.3.1")
    assert refused(given, "4.3.1", whole=False) == []
    assert refused({"rack.aware.assignment.tags": "zone"}, "4.3.1", whole=False) == []
    assert refused({**given, "producer.transaction.timeout.ms": "10000"}, "4.3.1", whole=False)


def test_text_that_a_program_may_give_as_another_object() -> None:
    """The library that was tried with it decides."""
    given = {"admin.enable.metrics.push": "false"}
    assert refused(given, "4.0.0")
    assert list(refused_together(given, Release("4.0.0"), CATALOGUE, tried=True)) == []


def test_the_settings_of_a_row() -> None:
    """Also those that a number is compared with."""
    [row] = [one for one in CATALOGUE.refusals if one.id == "delivery-timeout-below-request-timeout"]
    assert names_of(row) == {"delivery.timeout.ms", "linger.ms", "request.timeout.ms"}
