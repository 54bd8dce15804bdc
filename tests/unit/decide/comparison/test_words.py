"""Old and new values of a change as its sentences show them."""

from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.decide.change.rules import fired
from kstreams_runbooks.decide.comparison.boundary import sources
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.words import disagreement, store_words, topic_words
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic, Serde, Window
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import PAIRS, compared

HOUR = 3_600_000


def window(size_ms: int, grace_ms: int = 0) -> DeclaredStore:
    return DeclaredStore("window", Window("tumbling", size_ms, grace_ms), HOUR, "user")


def messages(case: str) -> dict[str, str]:
    both = compared(case)
    read = read_change(both.before, both.after, topology_change_rules(), upgrade_path_rules())
    return {one.id: one.message for one in read.findings}


def test_a_store_shows_each_value_that_changed_and_no_other() -> None:
    """In units that a person reads."""
    words = store_words(window(HOUR), window(2 * HOUR, HOUR))
    assert (words["windows"], words["graces"]) == (" (tumbling 1 h → tumbling 2 h)", " (0 ms → 1 h)")
    assert (words["keys"], words["kinds"], words["retentions"], words["serdes"]) == ("", "", "", "")
    plain = DeclaredStore("key_value", key="page")
    assert store_words(plain, window(HOUR))["kinds"] == " (key-value → window)"
    assert store_words(plain, window(HOUR))["windows"] == " (no window → tumbling 1 h)"
    assert store_words(plain, window(HOUR))["keys"] == " (page → user)"


def test_segments_name_the_time_that_they_follow() -> None:
    """Not their own length: the retention of the library or the program, or the history of a versioned store."""
    day = 24 * HOUR
    kept = [DeclaredStore("window", retention_ms=one) for one in (day, 2 * day)]
    assert store_words(*kept)["segments"] == ", because the retention changes (1 d → 2 d)"
    joined = [DeclaredStore("join", Window("join", one, 0)) for one in (HOUR, 2 * HOUR)]
    assert store_words(*joined)["segments"] == ", because the retention changes (2 h → 4 h)"
    versioned = [DeclaredStore("versioned", history_retention_ms=one) for one in (day, 2 * day)]
    assert store_words(*versioned)["segments"] == ", because the history changes (1 d → 2 d)"
    assert store_words(kept[0], kept[0])["segments"] == ""


def test_a_value_that_one_side_lacks_is_left_out() -> None:
    """Half a change is not shown: the other half is unknown."""
    assert set(store_words(None, window(HOUR)).values()) == {""}
    assert topic_words(DeclaredTopic(partitions=4), DeclaredTopic())["partitions"] == ""


def test_a_topic_shows_its_partitions_and_its_serdes() -> None:
    """A schema version is part of a serde's name."""
    old = DeclaredTopic(4, value_serde=Serde("json"))
    new = DeclaredTopic(8, value_serde=Serde("json", 2))
    words = topic_words(old, new)
    assert (words["partitions"], words["serdes"]) == (" (4 → 8)", " (values json → json v2)")


def test_the_sentences_of_a_change_have_both_values() -> None:
    """On topologies of the real library."""
    assert "(no window → tumbling 1 h)" in messages("count-to-windowed-count")["window-size-changed"]
    assert "(key-value → window)" in messages("count-to-windowed-count")["store-type-changed"]


def test_a_roll_that_would_mix_two_topologies_names_where_they_differ() -> None:
    """The subtopologies with their topics, as far as they differ."""
    assert disagreement(compared("daily-orders-grouped-by-cleaned-key")) == (
        "subtopology 1 is new and reads GroupOrders-repartition"
    )
    assert disagreement(compared("filter-before-named-count")) == ""


def test_a_pattern_is_not_a_topic_to_create() -> None:
    """One in place of another is shown with both: topics that both match stay, and only what goes is named."""
    widened = messages("source-pattern-widened")
    assert widened["source-topic-added"].startswith(
        "pattern payments-(eu|us) → payments-.*: each topic that it matches"
    )
    assert "source-topic-removed" not in widened
    narrowed = messages("source-pattern-narrowed")
    assert "source-topic-added" not in narrowed
    assert narrowed["source-topic-removed"].startswith(
        "each topic that pattern payments-.* matches and payments-(eu|us) does not is no longer read"
    )
    of_topics = messages("source-topics-to-pattern")
    assert of_topics["source-topic-added"].startswith("pattern payments-(eu|us) is new: each topic that it matches")
    assert "source-topic-removed" not in of_topics
    assert not any("create it" in one for one in (*widened.values(), *of_topics.values()))


def test_a_topic_that_the_new_pattern_does_not_match_is_removed() -> None:
    """Only that one; back again, a topic that the pattern read is not new, and one beyond it is."""
    by_name, by_pattern = compared("source-topics-to-pattern").before, compared("source-topics-to-pattern").after
    text = (PAIRS / "source-topics-to-pattern" / "before.txt").read_text("utf-8")
    topology = parse_topology(text.replace("payments-us, payments-eu", "payments-us, payments-eu, payments-asia"))
    more = Side(topology, by_name.declared)

    def ids(one: Compared) -> set[tuple[str, str]]:
        return {(found.id, found.object) for found in fired(sources(one), topology_change_rules()).findings}

    assert ids(Compared(more, by_pattern)) & {("source-topic-removed", "payments-asia")}
    assert not ids(Compared(more, by_pattern)) & {("source-topic-removed", "payments-eu")}
    assert ("source-topic-added", "payments-asia") in ids(Compared(by_pattern, more))
    assert ("source-topic-added", "payments-eu") not in ids(Compared(by_pattern, more))


def test_a_join_with_two_differences_shows_both() -> None:
    """Also one that looks only back or only ahead."""
    minute = HOUR // 60

    def words(back: int, ahead: int) -> str:
        now = DeclaredStore("join", Window("join", back * minute, minute, after_ms=ahead * minute))
        return store_words(DeclaredStore("join", Window("join", 10 * minute, minute)), now)["windows"]

    assert words(5, 15) == " (join 10 min → join 5 min back and 15 min ahead)"
    assert words(-5, 15) == " (join 10 min → join 5 min to 15 min ahead)"
    assert words(15, -5) == " (join 10 min → join 5 min to 15 min back)"
    assert not words(10, 10)
