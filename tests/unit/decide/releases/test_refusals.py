"""Settings that a release refuses together: each row with the answers of the releases, and near misses."""

import pytest
from kstreams_runbooks.decide.releases.refusals import names_of, refused_together
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
        ({"enable.metrics.push": "false"}, False),
        ({"producer.enable.metrics.push": "false"}, False),
        ({"consumer.enable.metrics.push": "true"}, True),
    ],
)
def test_what_4_3_1_answered(config: dict[str, str], refuses: bool) -> None:
    """Each was given to the library of 4.3.1, which constructed an application or threw."""
    assert bool(refused(config, "4.3.1")) is refuses


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
