"""What follows from facts of both sides, declared or read from code: changed, the same, or unknown."""

import pytest
from kstreams_runbooks.decide.comparison.facts import closes_later, closing_words, store_facts, topic_facts
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic, Serde, Unchanged, Window

HOUR, MINUTE = 3_600_000, 60_000
ONE, OTHER = Serde("com.acme.Order", is_class=True), Serde("com.acme.Bill", is_class=True)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (Serde("long"), Serde("long"), False),
        (Serde("long"), Serde("string"), True),
        (ONE, ONE, None),
        (ONE, OTHER, True),
        (Serde("json", 1), ONE, True),
        (None, ONE, None),
    ],
)
def test_an_equal_class_does_not_prove_an_equal_format(
    before: Serde | None, after: Serde | None, changes: bool | None
) -> None:
    """A format of Kafka does, and a declared one."""
    found, asked = store_facts("s", DeclaredStore(value_serde=before), DeclaredStore(value_serde=after))
    assert found["value_serde_changed"] is changes
    assert [one.field for one in asked["value_serde_changed"]] == ["value_serde"]
    lacking = "" if changes is not None else "old, new"
    assert [one.sides for one in asked["value_serde_changed"]] == [lacking]
    of_topic, _ = topic_facts("t", DeclaredTopic(key_serde=before), DeclaredTopic(key_serde=after))
    assert of_topic["key_serde_changed"] is changes


def test_a_class_does_not_read_what_another_one_wrote() -> None:
    """Also under an equal name: only a declaration has the versions."""
    same, _ = store_facts("s", DeclaredStore(value_serde=ONE), DeclaredStore(value_serde=ONE))
    declared, _ = store_facts("s", DeclaredStore(value_serde=Serde("json")), DeclaredStore(value_serde=Serde("json")))
    assert (same["reads_old"], declared["reads_old"]) == (False, True)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (["clicks"], ["clicks"], False),
        (["clicks"], ["views"], None),
        (["clicks"], ["clicks (windowed)"], True),
        (["clicks"], None, None),
        (None, None, None),
    ],
)
def test_a_key_of_the_same_topics_is_the_same(
    before: list[str] | None, after: list[str] | None, changes: bool | None
) -> None:
    """Without words; the keys of another topic may mean the same."""
    old, new = (None if one is None else frozenset(one) for one in (before, after))
    found, _ = store_facts("s", DeclaredStore(key_of=old), DeclaredStore(key_of=new))
    of_topic, _ = topic_facts("t", DeclaredTopic(key_of=old), DeclaredTopic(key_of=new))
    assert (found["key_changed"], of_topic["key_changed"]) == (changes, changes)


def test_declared_words_count_more_than_the_topics_of_a_key() -> None:
    """What the keys of a topic mean may change, and code does not show it."""
    clicks = frozenset({"clicks"})
    found, asked = store_facts("s", DeclaredStore(key="page", key_of=clicks), DeclaredStore(key="user", key_of=clicks))
    assert found["key_changed"] is True
    assert asked["key_changed"] == (Undeclared("stores.s", "key", ""),)


def test_a_change_may_declare_that_no_key_changes() -> None:
    """It answers what is not known, and not what is."""
    unknown, _ = store_facts("s", None, None, ["key"])
    known, _ = store_facts("s", DeclaredStore(key="page"), DeclaredStore(key="user"), ["key"])
    assert (unknown["key_changed"], known["key_changed"]) == (False, True)


@pytest.mark.parametrize(
    ("unchanged", "after", "changes"),
    [
        ([], "com.acme.Order", None),
        (["value_serde"], "com.acme.Order", False),
        (["key_serde"], "com.acme.Order", None),
        (["value_serde"], "com.acme.Invoice", True),
    ],
)
def test_a_change_may_declare_that_a_class_writes_what_it_wrote(
    unchanged: list[Unchanged], after: str, changes: bool | None
) -> None:
    """Code shows only that the name is equal. Another class is always another format."""
    old, new = (Serde(name, is_class=True) for name in ("com.acme.Order", after))
    found, _ = store_facts("s", DeclaredStore(value_serde=old), DeclaredStore(value_serde=new), unchanged)
    of_topic, _ = topic_facts("t", DeclaredTopic(value_serde=old), DeclaredTopic(value_serde=new), unchanged)
    assert (found["value_serde_changed"], of_topic["value_serde_changed"]) == (changes, changes)


@pytest.mark.parametrize(
    ("name", "before", "after", "changes"),
    [
        ("com.acme.OrderSer", True, False, None),
        ("com.acme.OrderSer", False, None, None),
        ("com.acme.OrderSer", True, True, True),
        ("com.acme.OrderSer", False, False, True),
        ("com.acme.Order", True, False, None),
    ],
)
def test_a_serializer_is_not_compared_with_a_serde(
    name: str, before: bool | None, after: bool | None, changes: bool | None
) -> None:
    """Each has a class of its own, and a release shows one of them."""
    old = Serde(name, is_class=True, by_serializer=before)
    new = Serde("com.acme.Order", is_class=True, by_serializer=after)
    found, asked = store_facts("s", DeclaredStore(value_serde=old), DeclaredStore(value_serde=new))
    assert found["value_serde_changed"] is changes
    assert asked["value_serde_changed"] == (Undeclared("stores.s", "value_serde", "" if changes else "old, new"),)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (Serde("double"), Serde("com.acme.JsonSerde (lambda)", is_class=True), True),
        (Serde("com.acme.JsonSerde (lambda)", is_class=True), Serde("long"), True),
        (Serde("com.acme.JsonSerde (lambda)", is_class=True), Serde("com.acme.Avro", is_class=True), True),
        (
            Serde("com.acme.JsonSerde (lambda)", is_class=True),
            Serde("com.acme.JsonSerde (lambda)", is_class=True),
            None,
        ),
        (Serde("com.acme.JsonSerde (lambda)", is_class=True), Serde("com.acme.Json", is_class=True), None),
        (Serde("com.acme.Json (lambda)", is_class=True), Serde("com.acme.Json", is_class=True), None),
        (None, Serde("com.acme.JsonSerde (lambda)", is_class=True), None),
    ],
)
@pytest.mark.parametrize("unchanged", [False, True])
def test_a_lambda_of_another_class_is_another_format(
    before: Serde | None, after: Serde, changes: bool | None, *, unchanged: bool
) -> None:
    """Of keys and values, stores and topics; `unchanged` answers what is not known, and not what is."""
    fields: list[Unchanged] = ["key_serde", "value_serde"] if unchanged else []
    expected = False if unchanged and changes is None else changes
    old, new = (DeclaredStore(key_serde=one, value_serde=one) for one in (before, after))
    of_store, _ = store_facts("s", old, new, fields)
    was, now = (DeclaredTopic(key_serde=one, value_serde=one) for one in (before, after))
    of_topic, _ = topic_facts("t", was, now, fields)
    for field in ("key_serde_changed", "value_serde_changed"):
        assert (of_store[field], of_topic[field]) == (expected, expected)


@pytest.mark.parametrize(
    ("shows_serializer", "of_class", "changes"),
    [(True, False, None), (None, False, None), (False, None, True), (False, True, True), (True, True, True)],
)
def test_a_format_of_kafka_may_be_inside_the_class_of_a_newer_release(
    shows_serializer: bool | None, of_class: bool | None, changes: bool | None
) -> None:
    """Before 3.9 a store shows the serializer, and a serde of the program may take that of Kafka."""
    old = DeclaredStore(value_serde=Serde("string", by_serializer=shows_serializer))
    new = DeclaredStore(value_serde=Serde("com.acme.Text", is_class=True, by_serializer=of_class))
    for pair in ((old, new), (new, old)):
        found, _ = store_facts("s", *pair)
        assert found["value_serde_changed"] is changes


def test_a_format_of_kafka_is_not_a_class_by_its_serializer() -> None:
    """Its name is the same for a serde and for a serializer."""
    own = Serde("com.acme.OrderSer", is_class=True, by_serializer=True)
    found, _ = store_facts("s", DeclaredStore(value_serde=own), DeclaredStore(value_serde=Serde("string")))
    assert found["value_serde_changed"] is True


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (HOUR + MINUTE, 2 * HOUR + MINUTE, False),
        (None, 2 * HOUR + MINUTE, False),
        (5 * HOUR, 2 * HOUR + MINUTE, True),
        (5 * HOUR, 5 * HOUR, False),
    ],
)
def test_a_retention_that_follows_the_window_is_not_a_change_of_its_own(
    before: int | None, after: int, changes: bool
) -> None:
    """Code has the retention that the library computes: that of the window, which has rules of its own."""
    old = DeclaredStore("window", Window("tumbling", HOUR, MINUTE), before)
    new = DeclaredStore("window", Window("tumbling", 2 * HOUR, MINUTE), after)
    found, _ = store_facts("s", old, new)
    assert (found["window_changed"], found["retention_changed"]) == (True, changes)


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (None, None, False),
        ("default", None, False),
        (None, "default", False),
        ("com.acme.EventTime", None, None),
        ("default", "com.acme.EventTime", True),
        ("com.acme.EventTime", "com.acme.EventTime", False),
    ],
)
def test_a_choice_of_one_version_is_asked_for_in_the_other(
    old: str | None, new: str | None, changes: bool | None
) -> None:
    """The default is what most programs have, and next to an unknown choice it is no change."""
    found, asked = topic_facts("t", DeclaredTopic(timestamp_extractor=old), DeclaredTopic(timestamp_extractor=new))
    assert found["extractor_changed"] is changes
    if changes is None:
        assert asked["extractor_changed"] == (Undeclared("topics.t", "timestamp_extractor", "new"),)


def test_a_join_with_two_differences_has_a_window_of_its_own() -> None:
    """The grace and the retention that follows the window stay; a window that was not read is unknown, never none."""

    def joined(window: Window | None) -> DeclaredStore:
        return DeclaredStore("join", window, retention_ms=21 * MINUTE)

    both, shifted = Window("join", 10 * MINUTE, MINUTE), Window("join", 5 * MINUTE, MINUTE, after_ms=15 * MINUTE)
    facts = ("window_changed", "grace_changed", "retention_changed", "segments_changed")
    for was, now, changed in (
        (both, shifted, (True, False, False, False)),
        (shifted, Window("join", 3 * MINUTE, MINUTE, after_ms=15 * MINUTE), (True, False, False, False)),
        (both, Window("join", 10 * MINUTE, MINUTE, after_ms=10 * MINUTE), (False, False, False, False)),
        (both, None, (None, None, False, False)),
    ):
        found, _ = store_facts("s", joined(was), joined(now))
        assert tuple(found[fact] for fact in facts) == changed


@pytest.mark.parametrize(
    ("now", "later"),
    [
        (Window("tumbling", HOUR, 6 * MINUTE), True),
        (Window("tumbling", 2 * HOUR, 5 * MINUTE), True),
        (Window("tumbling", HOUR + MINUTE, 4 * MINUTE), False),
        (Window("tumbling", HOUR, MINUTE), False),
        (None, False),
    ],
)
def test_a_window_closes_later_by_its_length_and_its_grace(now: Window | None, later: bool) -> None:
    """Only their sum decides when a window takes no record any more."""
    assert closes_later(Window("tumbling", HOUR, 5 * MINUTE), now) is later
    assert closes_later(None, now) is False


def test_a_sentence_has_both_waits_and_their_difference() -> None:
    """A wait that is not known has no words."""
    short, long = Window("tumbling", HOUR, 0), Window("tumbling", HOUR, 10 * MINUTE)
    assert closing_words(short, long) == {"closing": "1 h → 1 h 10 min", "later": "10 min"}
    assert closing_words(long, short)["later"] == "0 ms"
    assert closing_words(None, long) == {"closing": "", "later": ""}
