"""Static members of a streams group, by the releases of client and brokers."""

import pytest
from kstreams_runbooks.decide.releases.membership import static_streams_members
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingFinding

MEMBER = {"group.protocol": "streams", "group.instance.id": "a"}


def found(
    config: dict[str, str], library: str, broker: str | None, *, has_stores: bool | None = None
) -> list[SettingFinding]:
    """The findings."""
    lowest = None if broker is None else Release(broker)
    return list(static_streams_members(config, Release(library), lowest, has_stores=has_stores))


@pytest.mark.parametrize("name", ["group.instance.id", "consumer.group.instance.id", "main.consumer.group.instance.id"])
def test_brokers_before_4_4_refuse_each_member(name: str) -> None:
    """A client from 4.4 on takes the setting; unknown brokers may be old."""
    config = {"group.protocol": "STREAMS", name: "a"}
    [old] = found(config, "4.4.0", "4.3")
    assert (old.id, old.severity, old.name, old.refuse) == ("static-members-of-streams-group", "danger", name, True)
    [unknown] = found(config, "4.4.0", None)
    assert (unknown.severity, unknown.refuse) == ("warning", False)
    assert found(config, "4.4.0", "4.4") == []


@pytest.mark.parametrize(
    ("config", "library"),
    [
        (MEMBER | {"group.protocol": "classic"}, "4.4.0"),
        ({"group.instance.id": "a"}, "4.4.0"),
        ({"group.protocol": "streams"}, "4.4.0"),
        ({"group.protocol": "streams", "group.instance.id": ""}, "4.4.0"),
        ({"group.protocol": "streams", "restore.consumer.group.instance.id": "a"}, "4.4.0"),
        (MEMBER, "4.3.1"),
    ],
)
def test_others_are_not_judged_here(config: dict[str, str], library: str) -> None:
    """Classic groups, dynamic members, and clients that refuse the setting themselves."""
    assert found(config, library, "4.3") == []


def test_a_member_without_a_store_on_disk_saves_nothing() -> None:
    """Its process id is another one after each start; what is not known is not reported."""
    [warned] = found(MEMBER, "4.4.0", "4.4", has_stores=False)
    assert (warned.id, warned.severity, warned.refuse) == ("static-member-without-store", "warning", False)
    assert found(MEMBER, "4.4.0", "4.4", has_stores=True) == []
    assert found(MEMBER, "4.4.0", "4.4") == []
