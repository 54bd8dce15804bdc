"""Processes from the members of a group, brought together with the metrics that answered."""

from kstreams_runbooks.decide.discovery.instances import found_instances, membership
from kstreams_runbooks.model.discovery.discovery import FoundInstance
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Start, StreamsReading, Taken

TAKEN = Taken(1, "test")


def group(*members: tuple[str, str, str | None]) -> GroupReading:
    """Members as (client id, host, group.instance.id)."""
    made = tuple(MemberReading(f"m{number}", *one) for number, one in enumerate(members))
    return GroupReading(TAKEN, "orders", "classic", "Stable", made, "stream")


def answer(client_id: str, version: str = "3.4.1") -> StreamsReading:
    return StreamsReading(TAKEN, Start(1), client_id, "orders", "RUNNING", version, 1, 0, 0, 0, Missing("none"))


def test_threads_of_one_process_are_one_instance() -> None:
    """With the metrics of its client id; a process without an answer is there all the same."""
    found = found_instances(
        group(
            ("orders-a-StreamThread-1-consumer", "h1", None),
            ("orders-a-StreamThread-2-consumer", "h1", None),
            ("orders-b-StreamThread-1-consumer", "h2", None),
        ),
        {("h1", "http://h1:1/jolokia"): answer("orders-a")},
    )
    assert found == (
        FoundInstance("h1", "orders-a", "", "http://h1:1/jolokia", "3.4.1"),
        FoundInstance("h2", "orders-b"),
    )


def test_a_static_member_that_shows_an_older_client_id_is_paired_where_there_is_no_doubt() -> None:
    """One of each on a host: they are the same; the id of the instance is without the thread's number."""
    [one] = found_instances(
        group(("orders-old-StreamThread-1-consumer", "h1", "orders-1-1")),
        {("h1", "http://h1:1/jolokia"): answer("orders-new")},
    )
    assert one == FoundInstance("h1", "orders-new", "orders-1", "http://h1:1/jolokia", "3.4.1")


def test_where_there_is_a_doubt_nothing_is_paired() -> None:
    """Two answers and two processes of other names on one host are four, for a person to sort out."""
    found = found_instances(
        group(("orders-a-StreamThread-1-consumer", "h", "o-1-1"), ("orders-b-StreamThread-1-consumer", "h", "o-2-1")),
        {("h", "http://h:1/jolokia"): answer("orders-c"), ("h", "http://h:2/jolokia"): answer("orders-d")},
    )
    assert [(one.client, one.group_instance_id, one.metrics) for one in found] == [
        ("orders-c", "", "http://h:1/jolokia"),
        ("orders-d", "", "http://h:2/jolokia"),
        ("orders-a", "o-1", ""),
        ("orders-b", "o-2", ""),
    ]


def test_membership_is_known_where_all_members_agree() -> None:
    """Some with and some without, or none at all, tell nothing."""
    static, dynamic = ("a", "h", "orders-1-1"), ("b", "h", None)
    assert membership(group(static, static)) is True
    assert membership(group(dynamic)) is False
    assert membership(group(static, dynamic)) is None
    assert membership(group()) is None
    assert membership(Missing("hidden")) is None
