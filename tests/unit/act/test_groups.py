"""Exactly one instance's members are chosen."""

from collections.abc import Sequence

import pytest
from kstreams_runbooks.act.groups import GroupWriter, _chosen
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Taken


def member(client: str, thread: int, member_id: str | None = None) -> MemberReading:
    """One thread's member."""
    client_id = f"{client}-StreamThread-{thread}-consumer"
    return MemberReading(member_id or f"{client_id}-id", client_id, "127.0.0.1")


ONE = (member("orders-aaa", 1), member("orders-aaa", 2))
GROUP = GroupReading(
    Taken(0, "x"), "orders", "classic", "Stable", (*ONE, member("orders-bbb", 1), member("orders-aaab", 1))
)


def test_members_of_one_client() -> None:
    """By prefix or by name, the same two."""
    assert _chosen(GROUP, (), "orders-aaa-") == ONE
    assert _chosen(GROUP, ONE, None) == ONE


def test_members_that_have_gone_are_left_out() -> None:
    """Gone is what was wanted."""
    assert _chosen(GROUP, (*ONE, member("orders-ccc", 1)), None) == ONE
    assert _chosen(GROUP, (member("orders-ccc", 1),), None) == ()
    assert _chosen(GROUP, (), None) == ()


@pytest.mark.parametrize("prefix", ["", "orders-aaa", "orders-", "o"])
def test_prefix_that_fits_others_is_refused(prefix: str) -> None:
    """`orders-1` would take `orders-10`, and the application.id would take everybody."""
    with pytest.raises(WriteRefused):
        _chosen(GROUP, (), prefix)


def test_id_that_belongs_to_another_client_is_refused() -> None:
    """An id that means somebody else now."""
    other = member("orders-zzz", 1, member_id=ONE[0].member_id)
    with pytest.raises(WriteRefused, match="expected orders-zzz"):
        _chosen(GROUP, (other,), None)


class Admin:
    """An admin client that would remove anybody."""

    removed: list[str] = []  # noqa: RUF012 # one list for all that are opened

    def __init__(self, **settings: object) -> None:
        assert settings["bootstrap_servers"] == ["one:9092"]

    def remove_group_members(self, group_id: str, members: Sequence[object]) -> dict[str, type[Exception]]:
        """Gone."""
        del members
        self.removed.append(group_id)
        return {}

    def __getattr__(self, name: str) -> object:
        return lambda: name


def test_write_that_goes_around_the_dry_run_is_refused_by_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent directly, past the writer's own look at its flag; for real the same call goes through."""
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.admin_client.AdminClient", Admin)
    # No broker is there to let a login in.
    monkeypatch.setattr("kstreams_runbooks.act.kafka_writer.let_in", dict)
    config = {"bootstrap.servers": "one:9092"}
    with pytest.raises(WriteRefused, match="remove_group_members is not among the reading methods"):
        GroupWriter(config)._send("orders", ())
    assert Admin.removed == []
    GroupWriter(config, dry_run=False)._send("orders", ())
    assert Admin.removed == ["orders"]
