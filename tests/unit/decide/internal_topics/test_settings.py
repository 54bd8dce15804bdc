"""The settings of internal topics: the library's, over them those of the application, over them those of the store.

Covers decide/releases/topic_settings
"""

import pytest
from kstreams_runbooks.decide.internal_topics.settings import (
    ChangelogKind,
    additional_ms,
    of_changelog,
    of_repartition,
    replication,
)
from kstreams_runbooks.errors import BadInput

DAY = 86_400_000
TIMES = {"message.timestamp.type": "CreateTime"}


def test_a_repartition_topic_keeps_all_records_until_they_are_purged() -> None:
    """A foreign-key join's two topics are the same."""
    wanted = {**TIMES, "cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": "52428800"}
    assert dict(of_repartition({})) == wanted


@pytest.mark.parametrize(
    ("kind", "kept_ms", "wanted"),
    [
        ("latest", None, {"cleanup.policy": "compact"}),
        ("windows", 130_000, {"cleanup.policy": "compact,delete", "retention.ms": str(130_000 + DAY)}),
        ("records", 130_000, {"cleanup.policy": "delete", "retention.ms": str(130_000 + DAY)}),
        ("versions", 60_000, {"cleanup.policy": "compact", "min.compaction.lag.ms": str(60_000 + DAY)}),
    ],
)
def test_a_changelog_by_its_kind(kind: ChangelogKind, kept_ms: int | None, wanted: dict[str, str]) -> None:
    """What a store keeps, and a day."""
    assert dict(of_changelog(kind, {}, {}, kept_ms)) == {**TIMES, **wanted}


def test_the_application_gives_settings_to_all_its_topics() -> None:
    """They are over the library's own; the retention of windows follows from the store in any case."""
    config = {"topic.retention.ms": "5", "topic.min.insync.replicas": "2", "topic.cleanup.policy": "compact"}
    assert dict(of_repartition(config)) == {
        **TIMES,
        "cleanup.policy": "compact",
        "min.insync.replicas": "2",
        "retention.ms": "5",
        "segment.bytes": "52428800",
    }
    windows = dict(of_changelog("windows", config, {}, 10))
    assert (windows["retention.ms"], windows["cleanup.policy"]) == (str(10 + DAY), "compact")


def test_a_store_is_over_the_application() -> None:
    """Also over the retention that follows from its windows, and over the lag of its versions."""
    own = {"retention.ms": "7", "min.compaction.lag.ms": "8", "max.message.bytes": "9"}
    config = {"topic.max.message.bytes": "1"}
    windows = dict(of_changelog("windows", config, own, 10))
    assert (windows["retention.ms"], windows["max.message.bytes"]) == ("7", "9")
    assert dict(of_changelog("versions", config, own, 10))["min.compaction.lag.ms"] == "8"


def test_a_setting_that_no_topic_has_is_the_applications_own() -> None:
    """The demo's application names its inputs by `topic.orders`."""
    assert of_repartition({"topic.orders": "orders"}) == of_repartition({})


def test_windows_stay_longer_by_a_setting() -> None:
    """windowstore.changelog.additional.retention.ms; a sum beyond Java's longest time is that time."""
    config = {"windowstore.changelog.additional.retention.ms": "3600000"}
    assert additional_ms({}) == DAY
    assert dict(of_changelog("records", config, {}, 1))["retention.ms"] == "3600001"
    assert dict(of_changelog("windows", config, {}, 2**63 - 1))["retention.ms"] == str(2**63 - 1)


def test_replicas() -> None:
    """The brokers' default, unless the application sets a number; another text is not a number."""
    assert (replication({}), replication({"replication.factor": " 3 "})) == (-1, 3)
    with pytest.raises(BadInput, match=r"config replication\.factor: 'three' is not a whole number; correct it"):
        replication({"replication.factor": "three"})
