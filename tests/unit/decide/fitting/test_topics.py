"""Whether the topics of a cluster let a release start.

Covers decide/fitting/counts, decide/fitting/needed, decide/fitting/proven
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, topics_needed
from kstreams_runbooks.decide.fitting.topics import topics_fit
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    GroupReading,
    MemberReading,
    Missing,
    TopicReading,
)
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredSuppression, DeclaredTopic, Described
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import NEW, declared, down, instance, reading
from world.sides import COUNTS, described

TOPICS = {"orders": 4, "counted": 4, "orders-by-customer-repartition": 4, "orders-counts-changelog": 4}
JOINED = """Topologies:
   Sub-topology: 0
    Source: a (topics: [orders])
      --> KSTREAM-JOINTHIS-0000000004
    Source: b (topics: [zones])
      --> KSTREAM-JOINOTHER-0000000005
    Processor: KSTREAM-JOINTHIS-0000000004 (stores: [left])
      --> none
      <-- a
    Processor: KSTREAM-JOINOTHER-0000000005 (stores: [left])
      --> none
      <-- b
"""
PATTERN = COUNTS.replace("(topics: [orders])", "(topics: orders-.*)")
GLOBAL = (
    COUNTS
    + """
  Sub-topology: 2 for global store (will not generate tasks)
    Source: zones-source (topics: [zones])
      --> zones-table
    Processor: zones-table (stores: [zones-store])
      --> none
      <-- zones-source
"""
)


# A stream joined with a table behind a suppression: the library leaves out what is in front of it.
HELD_BACK = """Topologies:
   Sub-topology: 0
    Source: a (topics: [orders])
      --> KSTREAM-LEFTJOIN-0000000004
    Source: b (topics: [zones])
      --> table
    Processor: table (stores: [rows])
      --> held
      <-- b
    Processor: KSTREAM-LEFTJOIN-0000000004 (stores: [held-store, rows])
      --> none
      <-- a
    Processor: held (stores: [held-store])
      --> none
      <-- table
"""


def fit(
    *wanted: Described | Missing,
    topics: dict[str, int] | None = None,
    hidden: dict[str, str] | None = None,
    matching: dict[str, tuple[str, ...]] | None = None,
    now: ApplicationReading | None = None,
    **entry: object,
) -> Verdict:
    """The verdict for a release, of a cluster that has these topics; it is the same when it is made again."""
    seen = TopicsSeen(TOPICS if topics is None else topics, hidden or {}, matching or {})
    inputs = {
        "wanted": wanted,
        "seen": seen,
        "reading": now or reading(),
        "application": declared(**entry),
    }
    verdict = topics_fit(**inputs)  # type: ignore[arg-type]
    assert call_again(topics_fit, encode_call(topics_fit, inputs, verdict)) == encode(verdict)
    return verdict


def without(*names: str) -> dict[str, int]:
    return {name: count for name, count in TOPICS.items() if name not in names}


def runs(text: str, topics: dict[str, int], *, held: dict[str, int] | None = None) -> ApplicationReading:
    """The application running `text` on these topics; its members hold `held` partitions, by default all."""
    holding = held if held is not None else {name: topics[name] for name in topics if not name.endswith("-changelog")}
    partitions = tuple(f"{name}-{number}" for name, count in holding.items() for number in range(count))
    members = (MemberReading("m", "orders-1-client-StreamThread-1-consumer", "/h", "orders-1-1", partitions),)
    now = reading(instance("orders-1", topology=text), instance("orders-2", topology=text))
    assert isinstance(now.group, GroupReading)
    return replace(
        now,
        group=replace(now.group, members=members),
        topics=tuple(TopicReading(name, f"id-{name}", count) for name, count in topics.items()),
    )


def fixed(count: int) -> Declaration:
    return Declaration(topics={"by-customer-repartition": DeclaredTopic(partitions=count)})


def test_topics_that_are_as_they_should_be_fit() -> None:
    """Also where the library has yet to create its own."""
    assert fit(described()).sentence == "proceed: the topics of the cluster fit release 3.4.1"
    assert fit(described(), topics={"orders": 4, "counted": 1}).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("text", "absent", "why"),
    [
        (COUNTS, "orders", "release 3.4.1 reads it"),
        (COUNTS, "counted", "release 3.4.1 writes to it"),
        (GLOBAL, "zones", "release 3.4.1 reads it for a global store"),
    ],
)
def test_a_topic_that_does_not_exist_refuses(text: str, absent: str, why: str) -> None:
    """The library creates no topic of others, and what needs it is named."""
    found = fit(described(text), topics=without(absent))
    assert found.outcome is Outcome.REFUSE
    assert found.reasons == (f"topic {absent} does not exist ({why}): create it, then trigger this again",)


@pytest.mark.parametrize(
    ("fields", "what"),
    [({"control": ("switches",)}, "control topic"), ({"rule_topics": ("switches",)}, "rule topic")],
)
def test_a_declared_topic_has_to_exist_whatever_is_described(fields: dict[str, Any], what: str) -> None:
    """Its copier, or a program without its topology, may read it."""
    found = fit(Missing("no topology command"), **fields)
    said = f"topic switches does not exist ({what} in the fleet entry of orders)"
    assert (found.outcome, said in found.sentence) == (Outcome.REFUSE, True)


def test_declared_outputs_stand_for_a_sink_that_chooses_its_topic() -> None:
    """Any other output that is declared and not written is no obstacle."""
    chosen = COUNTS.replace("(topic: counted)", "(extractor class: app.Route)")
    assert fit(described(chosen), outputs=("alerts",)).outcome is Outcome.REFUSE
    assert fit(described(), outputs=("alerts",)).outcome is Outcome.PROCEED


def test_a_hidden_topic_is_not_a_missing_one() -> None:
    """What is not visible is unknown; what is certainly wrong beside it is said first."""
    hidden = {"counted": "topic counted is not visible to this login; grant it Describe on Topic counted"}
    found = fit(described(), topics=without("counted"), hidden=hidden)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reasons == (f"{hidden['counted']} (release 3.4.1 writes to it)",)
    both = fit(described(), topics=without("counted", "orders"), hidden=hidden)
    assert (both.outcome, len(both.reasons)) == (Outcome.REFUSE, 2)


def test_what_cannot_be_described_is_said_not_to_be_compared() -> None:
    """Never as fine: a warning that stands in the approval; also for a text that is no description."""
    for wanted, why in (
        (Missing("release 4.3.1: no topology command is declared"), "no topology command"),
        (described("nonsense"), "3.4.1: "),
    ):
        found = fit(wanted)
        assert (found.outcome, [one.id for one in found.findings]) == (Outcome.PROCEED, ["topics-not-compared"])
        assert "were NOT compared" in found.findings[0].message
        assert why in found.findings[0].message
        assert "no topology could be compared" in found.sentence


def test_a_pattern_without_a_topic_refuses_in_front_of_a_repartition_topic() -> None:
    """Otherwise the application waits for one, which harms nobody."""
    none: dict[str, tuple[str, ...]] = {"orders-.*": ()}
    found = fit(described(PATTERN), topics=without("orders"), matching=none)
    assert (found.outcome, "source pattern orders-.* of release 3.4.1 matches no topic:" in found.sentence) == (
        Outcome.REFUSE,
        True,
    )
    hidden = {"orders-.*": "grant Describe on Cluster"}
    unsure = fit(described(PATTERN), topics=without("orders"), hidden=hidden, matching=none)
    assert (unsure.outcome, "grant Describe on Cluster" in unsure.sentence) == (Outcome.INCONCLUSIVE, True)
    matching: dict[str, tuple[str, ...]] = {"orders-.*": ("orders-eu",)}
    assert fit(described(PATTERN), topics={**TOPICS, "orders-eu": 4}, matching=matching).outcome is Outcome.PROCEED
    alone = "Topologies:\n   Sub-topology: 0\n    Source: a (topics: orders-.*)\n      --> none\n"
    assert fit(described(alone), matching=none).outcome is Outcome.PROCEED


def test_a_pattern_without_a_topic_is_no_obstacle_to_what_does_not_hang_on_it() -> None:
    """A repartition topic behind another source gets its number from there, one that is declared from nowhere."""
    none: dict[str, tuple[str, ...]] = {"zones-.*": (), "orders-.*": ()}
    apart = f"{COUNTS}\n  Sub-topology: 2\n    Source: z (topics: zones-.*)\n      --> none\n"
    assert fit(described(apart), matching=none).outcome is Outcome.PROCEED
    assert fit(described(PATTERN, declares=fixed(4)), matching=none).outcome is Outcome.PROCEED


def test_a_hidden_topic_of_a_pattern_counts_where_partitions_do() -> None:
    """Its number decides that of the repartition topic, whatever else the pattern matches."""
    matching: dict[str, tuple[str, ...]] = {"orders-.*": ("orders-eu",)}
    topics = {**TOPICS, "orders-eu": 4}
    found = fit(described(PATTERN), topics=topics, matching=matching, hidden={"orders-.*": "topic orders-us is hidden"})
    assert (found.outcome, "topic orders-us is hidden" in found.sentence) == (Outcome.INCONCLUSIVE, True)
    alone = "Topologies:\n   Sub-topology: 0\n    Source: a (topics: orders-.*)\n      --> none\n"
    assert fit(described(alone), topics=topics, matching=matching, hidden={"orders-.*": "x"}).sentence.startswith(
        "proceed"
    )


def test_a_pattern_that_takes_too_long_is_not_one_that_matches_nothing() -> None:
    """It has no entry among what was matched."""
    found = fit(described(PATTERN), topics=without("orders"))
    assert (found.outcome, "orders-.* of release 3.4.1 takes too long" in found.sentence) == (
        Outcome.INCONCLUSIVE,
        True,
    )


def test_a_pattern_that_cannot_be_read_here_is_inconclusive() -> None:
    """Which topics it matches is unknown."""
    assert fit(described(PATTERN.replace("orders-.*", r"\p{Lower}+"))).outcome is Outcome.INCONCLUSIVE


def test_a_missing_topic_of_a_join_is_created_with_the_other_ones_count() -> None:
    """Any other number would be refused next."""
    found = fit(described(JOINED), topics={"orders": 6})
    assert found.reasons == (
        "topic zones does not exist (release 3.4.1 reads it): create it with 6 partitions, as orders has, which it is "
        "joined with, then trigger this again",
    )


def test_joined_topics_with_other_counts_refuse() -> None:
    """The assignor checks them; a topic that is declared to be joined with none is not."""
    topics = {"orders": 4, "zones": 2}
    found = fit(described(JOINED), topics=topics)
    assert found.outcome is Outcome.REFUSE
    assert "joins topics with different numbers of partitions: orders (4), zones (2)" in found.sentence
    assert fit(described(JOINED), topics={"orders": 4, "zones": 4}).outcome is Outcome.PROCEED
    apart = Declaration(topics={name: DeclaredTopic(joined_with=frozenset()) for name in topics})
    assert fit(described(JOINED, declares=apart), topics=topics).outcome is Outcome.PROCEED


def test_a_join_behind_a_declared_suppression_leaves_out_what_is_in_front_of_it() -> None:
    """A chosen name hides the suppression; with other counts the application starts, as long as it is one."""
    topics = {"orders": 4, "zones": 2, "orders-rows-changelog": 4, "orders-held-store-changelog": 4}
    hidden = fit(described(HELD_BACK), topics=topics)
    assert hidden.outcome is Outcome.REFUSE
    assert "joins topics with different numbers of partitions: orders (4), zones (2)" in hidden.sentence
    held = Declaration(suppressions={"held": DeclaredSuppression("until_time_limit", 60_000)})
    assert fit(described(HELD_BACK, declares=held), topics=topics).outcome is Outcome.PROCEED


def test_a_store_that_operators_share_may_be_a_join() -> None:
    """The description does not say, so that a person has to: a finding, and refused once it is declared."""
    shared = JOINED.replace("KSTREAM-JOINTHIS-0000000004", "mine").replace("KSTREAM-JOINOTHER-0000000005", "other")
    topics = {"orders": 4, "zones": 2}
    found = fit(described(shared), topics=topics)
    assert (found.outcome, [one.id for one in found.findings]) == (Outcome.PROCEED, ["joined-counts-differ"])
    joined = Declaration(topics={"orders": DeclaredTopic(joined_with=frozenset({"zones"}))})
    assert fit(described(shared, declares=joined), topics=topics).outcome is Outcome.REFUSE
    works = runs(shared, topics)
    assert fit(described(shared, NEW), topics=topics, now=works).findings == ()


def test_a_changelog_with_another_count_refuses() -> None:
    """The library checks its own topics: `invalid partitions`."""
    found = fit(described(), topics={**TOPICS, "orders-counts-changelog": 2})
    assert found.outcome is Outcome.REFUSE
    assert "topic orders-counts-changelog has 2 partitions and release 3.4.1 needs 4" in found.sentence


def test_a_repartition_topic_with_another_count_is_unknown_until_it_is_declared() -> None:
    """The program may give it a number; what lies behind it follows from that number."""
    topics = {**TOPICS, "orders-by-customer-repartition": 6, "orders-counts-changelog": 6}
    found = fit(described(), topics=topics)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "declare topics.by-customer-repartition.partitions of release 3.4.1" in found.sentence
    assert fit(described(declares=fixed(6)), topics=topics).outcome is Outcome.PROCEED
    wrong = fit(described(declares=fixed(8)), topics=topics)
    assert wrong.outcome is Outcome.REFUSE
    assert "orders-by-customer-repartition has 6 partitions and release 3.4.1 needs 8" in wrong.sentence
    assert "orders-counts-changelog has 6 partitions and release 3.4.1 needs 8" in wrong.sentence


def test_what_works_now_is_no_obstacle() -> None:
    """The same counts under a running topology are a number that the program gives."""
    topics = {**TOPICS, "orders-by-customer-repartition": 6, "orders-counts-changelog": 6}
    running = runs(COUNTS, topics, held={"orders": 4, "orders-by-customer-repartition": 6})
    assert fit(described(release=NEW), topics=topics, now=running).outcome is Outcome.PROCEED
    odd = {**TOPICS, "orders-counts-changelog": 2}
    working = runs(COUNTS, odd, held={"orders": 4, "orders-by-customer-repartition": 4})
    assert fit(described(release=NEW), topics=odd, now=working).outcome is Outcome.PROCEED


def test_what_runs_behind_a_pattern_that_cannot_be_matched_proves_no_number() -> None:
    """No number follows from its text, so that none is known which the program would have set aside."""
    topics = {**TOPICS, "orders": 8}
    running = runs(PATTERN.replace("orders-.*", r"\p{Lower}+"), topics, held={"orders-by-customer-repartition": 4})
    found = fit(described(release=NEW), topics=topics, now=running)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert f"orders-by-customer-repartition has 4 partitions and release {NEW} needs 8" in found.sentence


def test_an_input_that_has_grown_since_proves_nothing() -> None:
    """Nobody holds its new partitions: with the next assignment the application ends in ERROR."""
    grown = {**TOPICS, "orders": 8}
    running = runs(COUNTS, grown, held={"orders": 4, "orders-by-customer-repartition": 4})
    found = fit(described(), topics=grown, now=running)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "orders-by-customer-repartition has 4 partitions and release 3.4.1 needs 8" in found.sentence
    assert fit(described(), topics=grown, now=reading(down("orders-1"))).outcome is Outcome.INCONCLUSIVE


def test_each_description_is_parsed_once_for_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the topics that are needed and for the counts that fit."""
    texts: list[str] = []

    def counted(text: str) -> Topology:
        texts.append(text)
        return parse_topology(text)

    for module in ("topology.described", "fitting.proven"):
        monkeypatch.setattr(f"kstreams_runbooks.decide.{module}.parse_topology", counted)
    one = described()
    topics_fit((one,), TopicsSeen(TOPICS, {}, {}), runs(PATTERN, TOPICS), declared())
    assert texts == [one.text, PATTERN], "what is wanted, and what both instances run"


def test_every_release_that_is_brought_is_compared() -> None:
    """An undo may bring one release after another; what is looked for is what all of them need."""
    one, other = described(), described(GLOBAL, NEW)
    sides = parsed_or_missing((one, other, Missing("x")))
    needed = topics_needed(sides, declared(control=("copied",), rule_topics=("switches",)))
    assert set(needed.external) == {"orders", "counted", "zones", "copied", "switches"}
    assert needed.internal == {"orders-by-customer-repartition", "orders-counts-changelog"}
    assert fit(one, other).outcome is Outcome.REFUSE
