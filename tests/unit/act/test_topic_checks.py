"""What has to hold before topics and offsets are written: act/topic_checks, act/offset_checks, one sentence each."""

import pytest
from kstreams_runbooks.act.offset_checks import lacks_on_group, moved, not_writable, outside_the_log
from kstreams_runbooks.act.topic_checks import (
    another_topic,
    before_the_start,
    certain,
    known,
    lacks,
    misshapen,
    not_growable,
    not_its_own,
)
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.model.readings.touched import HiddenTopic, TopicState
from kstreams_runbooks.model.writes import CommittedOffset, Growth, TopicShape
from kstreams_runbooks.observe.kafka.offsets import Ends

THERE = TopicState("in", "id-1", 4, 1, ("DESCRIBE", "READ"))
GONE = TopicState("in", "", 0, 0, ())


def test_a_hidden_topic_is_inconclusive() -> None:
    assert known({"in": THERE}) == {"in": THERE}
    with pytest.raises(Inconclusive, match="grant it Describe"):
        known({"in": HiddenTopic("topic in is not visible to this login; grant it Describe", name="in")})


@pytest.mark.parametrize("ends", [Ends(Missing("no leader"), 1, 1), Ends(0, 1, Missing("no leader"))])
def test_an_end_that_is_not_read_is_inconclusive(ends: Ends) -> None:
    assert certain({("in", 0): Ends(0, 3, 5)}) == {("in", 0): (0, 5)}
    with pytest.raises(Inconclusive, match=r"in-0.*no leader"):
        certain({("in", 0): ends})


def test_a_topic_is_known_by_its_id() -> None:
    assert another_topic(THERE, "id-1") == ""
    assert "does not exist (expected id id-1)" in another_topic(GONE, "id-1")
    assert "its id is id-1 (expected id-2)" in another_topic(THERE, "id-2")


def test_a_right_that_is_not_reported_is_left_to_the_broker() -> None:
    assert lacks(THERE, "READ", "Read") == ""
    assert "grant it Delete on Topic in" in lacks(THERE, "DELETE", "Delete")
    unknown = TopicState("in", "id-1", 4, 1, Missing("an old broker"))
    assert lacks(unknown, "DELETE", "Delete") == lacks_on_group("app", Missing("old"), "READ", "Read") == ""
    assert "grant it Read on Group app" in lacks_on_group("app", ("DESCRIBE",), "READ", "Read")


def test_which_topic_a_run_takes_for_its_own() -> None:
    wanted, empty, used = TopicShape("in", 4), {("in", 0): (0, 0)}, {("in", 0): (9, 9)}
    assert not_its_own(wanted, THERE, {"in": "id-1"}, (), used) == ""
    assert not_its_own(wanted, THERE, {}, ("in",), empty) == ""
    assert "exists already (id id-1, 4 partitions)" in not_its_own(wanted, THERE, {}, (), empty)
    # Deleted since: it has had records.
    assert "has had records" in not_its_own(wanted, THERE, {}, ("in",), used)
    # A card knows the id, and the topic has another one: it is not its own, however empty it is.
    assert "created again" in not_its_own(wanted, THERE, {"in": "id-2"}, ("in",), empty)


def test_the_shape_is_partitions_replicas_and_own_settings() -> None:
    assert misshapen(TopicShape("in", 4), THERE, {"retention.ms": "5"}) == ""
    assert misshapen(TopicShape("in", 4, 1, (("retention.ms", "5"),)), THERE, {"retention.ms": "5"}) == ""
    wrong = misshapen(TopicShape("in", 5, 3, (("retention.ms", "5"),)), THERE, {})
    for part in ("4 partitions (wanted 5)", "factor 1 (wanted 3)", "retention.ms=(the default) (wanted 5)"):
        assert part in wrong


def test_a_topic_grows_from_what_was_planned() -> None:
    assert not_growable(Growth("in", "id-1", 4, 8), THERE) == not_growable(Growth("in", "id-1", 2, 4), THERE) == ""
    assert "only grow" in not_growable(Growth("in", "id-1", 4, 4), THERE)
    assert "has 4 partitions (expected 3, wanted 8)" in not_growable(Growth("in", "id-1", 3, 8), THERE)


def test_an_offset_is_inside_its_log() -> None:
    def check(partition: int, offset: int) -> str:
        return outside_the_log(CommittedOffset("in", partition, offset), THERE, {("in", 0): (5, 9)})

    assert check(0, 5) == check(0, 9) == before_the_start(("in", 0), 5, 5) == ""
    assert "offset 4 is before its start (5)" in check(0, 4)
    assert "offset 10 is past its end (9)" in check(0, 10)
    assert "in-4 does not exist: topic in has 4 partitions" in check(4, 5)


def test_only_a_group_without_members_is_written() -> None:
    taken, one = Taken(0, "x"), MemberReading("id", "app-1-consumer", "10.0.0.1")

    def group(kind: str, state: str, *members: MemberReading) -> GroupReading:
        return GroupReading(taken, "app", kind, state, members)

    assert {not_writable(group(kind, "Empty")) for kind in ("classic", "consumer", "streams")} == {""}
    assert "is Stable with 1 members (needed: Empty, none): app-1-consumer on 10.0.0.1" in not_writable(
        group("streams", "Stable", one)
    )
    assert "PreparingRebalance with 0 members" in not_writable(group("classic", "PreparingRebalance"))
    assert "is a share group" in not_writable(group("share", "Empty"))


def test_an_offset_that_another_client_moved_is_not_replaced() -> None:
    saved, wanted = CommittedOffset("in", 0, 5, "stamp", 2), CommittedOffset("in", 0, 3, "stamp", 2)
    assert [moved("app", saved.place, now, saved, wanted) for now in (saved, wanted)] == ["", ""]
    # It expired, or the group was deleted: nothing is replaced.
    assert moved("app", saved.place, None, None, wanted) == moved("app", saved.place, None, saved, wanted) == ""
    assert "7 is committed (saved 5, wanted 3)" in moved("app", saved.place, CommittedOffset("in", 0, 7), saved, wanted)
    assert "7 is committed (saved none, wanted none)" in moved(
        "app", saved.place, CommittedOffset("in", 0, 7), None, None
    )
    # The same offset without its metadata: the stream time would be lost.
    bare = moved("app", saved.place, CommittedOffset("in", 0, 5), saved, wanted)
    assert "5 with metadata '' of epoch -1 is committed (saved 5 with metadata 'stamp' of epoch 2" in bare
