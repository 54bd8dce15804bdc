"""The ids that topics have to have after what runs did, and after what others did."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.status.expected_topics import accepted_topics, expected_ids, replaced
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.runs.own_changes import TopicChange

TOPIC = "orders-x-repartition"
STORE = "orders-x-changelog"


def lag(topic_id: str | None, kept: str | None = "s") -> ApplicationLag:
    """A reading of the topic with this id (None: it is absent), and of a changelog."""
    state = PartitionLag(TOPIC, 0, "repartition", "missing" if topic_id is None else "ok", topic_id=topic_id)
    return ApplicationLag("orders", "orders", "classic", "Stable", (state,), kept=((STORE, kept),))


def deleted(topic_id: str, name: str = TOPIC) -> TopicChange:
    return TopicChange(name, topic_id, 0)


def created(topic_id: str, name: str = TOPIC) -> TopicChange:
    return TopicChange(name, topic_id, 4, created=True)


@pytest.mark.parametrize(
    ("before", "now", "own", "expected"),
    [
        # Nothing is expected: what a run created, else what is there.
        (None, "a", (), "a"),
        (None, "b", (created("b"),), "b"),
        (None, "x", (created("b"),), "b"),
        (None, None, (created("b"),), None),
        # Deleted by a run, and perhaps created again by it, by another run, or by its undo.
        ("a", None, (deleted("a"),), None),
        ("a", "b", (deleted("a"), created("b")), "b"),
        ("a", "b", (created("b"), deleted("a")), "b"),
        ("a", "c", (deleted("a"), created("b"), deleted("b"), created("c")), "c"),
        # Deleted by a run for the application to create it again, under an id that no card has.
        ("a", "x", (TopicChange(TOPIC, "a", 0, again=True),), "x"),
        ("a", None, (TopicChange(TOPIC, "a", 0, again=True),), None),
        ("x", "y", (TopicChange(TOPIC, "a", 0, again=True),), "x"),
        # Announced, and not done.
        ("a", "a", (deleted("a"),), "a"),
        ("a", "a", (created(""),), "a"),
        # Created by a run, and gone since.
        ("a", None, (deleted("a"), created("b")), "b"),
        # Others: an id that is on no card.
        ("a", "x", (), "a"),
        ("a", "x", (deleted("a"),), "a"),
        ("a", "x", (deleted("a"), created("")), "a"),
        ("a", "x", (deleted("a"), created("b")), "b"),
        ("a", "b", (created("b"),), "a"),
        ("a", "x", (deleted("x"),), "a"),
        # Growth keeps the id.
        ("a", "a", (TopicChange(TOPIC, "a", 8),), "a"),
    ],
)
def test_only_cards_change_what_is_expected(
    before: str | None, now: str | None, own: tuple[TopicChange, ...], expected: str | None
) -> None:
    """The order of the cards does not matter: an id is used once."""
    kept = {STORE: "s"} | ({TOPIC: before} if before else {})
    assert expected_ids(kept, lag(now), own).get(TOPIC) == expected


def test_changes_of_other_topics_do_not_matter() -> None:
    """Also not of one with the same id."""
    own = (deleted("a", "another"), created("b", "another"))
    assert expected_ids({TOPIC: "a", STORE: "s"}, lag("b"), own) == {TOPIC: "a", STORE: "s"}


def test_a_changelog_that_a_run_deleted_is_no_incident() -> None:
    """The same one, deleted by another, is."""
    before, gone = lag("a", None), lag("a", None)
    for own, kept in (((deleted("s", STORE),), 0), ((), 1)):
        expected = expected_ids({TOPIC: "a", STORE: "s"}, gone, own)
        assert len(replaced(expected, gone, before).kept) == kept


def test_what_is_not_read_whole_stays_expected() -> None:
    """A topic that this reading does not show."""
    blind = replace(lag("a"), partitions=(), problems=("no answer",))
    assert expected_ids({TOPIC: "a"}, blind)[TOPIC] == "a"


def test_a_changelog_that_a_person_accepted_keeps_its_reason_until_a_run_resets_it() -> None:
    """Of the topics that were replaced, those that hold state; not of the first reading, and not without a reason."""
    before, now = {TOPIC: "a", STORE: "s"}, lag("b", "t")
    expected = expected_ids({}, now)
    last = KeptReading(1, lag("a", "s"), expected=before)
    accepted = accepted_topics(last, now, expected, "rebuilt")
    assert accepted == {STORE: "rebuilt"}
    assert accepted_topics(last, lag("a", "s"), before, "rebuilt") == {}
    assert accepted_topics(last, now, before, "") == {}
    assert accepted_topics(None, now, expected, "rebuilt") == {}
    later = KeptReading(2, now, expected=expected, accepted=accepted)
    assert accepted_topics(later, now, expected, "") == accepted
    own = (deleted("t", STORE), created("u", STORE))
    reset = lag("b", "u")
    assert accepted_topics(later, reset, expected_ids(expected, reset, own), "") == {}


def test_a_changelog_that_is_gone_can_be_accepted_too() -> None:
    """Its state is on local disks alone, also once the application creates it again."""
    gone = lag("a", None)
    accepted = accepted_topics(
        KeptReading(1, lag("a"), expected={TOPIC: "a", STORE: "s"}), gone, expected_ids({}, gone), "rebuilt"
    )
    assert accepted == {STORE: "rebuilt"}
    later = KeptReading(2, gone, expected=expected_ids({}, gone), accepted=accepted)
    assert accepted_topics(later, lag("a", "t"), {TOPIC: "a", STORE: "t"}, "") == accepted
