"""The partitions of internal topics before they exist, and what is asked for without them."""

from dataclasses import replace

from kstreams_runbooks.decide.fitting.counts import External
from kstreams_runbooks.decide.internal_topics.numbers import Numbers, numbers
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic
from world.sides import AUDITED, COUNTS

REPARTITION, CHANGELOG = "by-customer-repartition", "counts-changelog"
# A second grouping behind the first.
CHAINED = (
    COUNTS.replace("    Sink: out (topic: counted)", "    Sink: out (topic: again-repartition)")
    + """
  Sub-topology: 2
    Source: again-source (topics: [again-repartition])
      --> totals
    Processor: totals (stores: [totals])
      --> none
      <-- again-source
"""
)
# Two processors behind two topics that share a store: a join, or not.
SHARED = COUNTS.replace(
    "    Source: by-customer-source (topics: [by-customer-repartition])\n      --> count\n",
    "    Source: by-customer-source (topics: [by-customer-repartition])\n      --> count\n"
    "    Source: zones-source (topics: [zones])\n      --> other\n"
    "    Processor: other (stores: [counts])\n      --> none\n      <-- zones-source\n",
)


def read(*names: str, **topics: DeclaredTopic) -> Declaration:
    """Facts that a reader of the program has: no repartition topic of `names` has a number."""
    given = {name: DeclaredTopic(joined_with=frozenset()) for name in names}
    return Declaration(topics={**given, **topics}, not_read={"stores.counts.key": "no code shows it"})


def of(text: str, declared: Declaration, **inputs: int) -> Numbers:
    """The numbers for inputs that have these partitions."""
    there: External = {name: ((name, number),) for name, number in inputs.items()}
    return numbers(parse_topology(text), declared, there)


def asked(found: Numbers) -> dict[str, str]:
    """Each fact that is asked for, with the reason."""
    return {str(one): one.reason for one in found.unknown}


def test_a_repartition_topic_has_the_partitions_of_its_input() -> None:
    """And so has the changelog behind it."""
    found = of(COUNTS, read(REPARTITION), orders=4)
    assert (found.known, found.unknown) == ({REPARTITION: 4, CHANGELOG: 4}, ())


def test_a_number_that_the_program_gives() -> None:
    """The changelog behind it follows."""
    found = of(COUNTS, read(**{REPARTITION: DeclaredTopic(partitions=6)}), orders=4)
    assert found.known == {REPARTITION: 6, CHANGELOG: 6}


def test_one_behind_another() -> None:
    """A chain takes the number of its first link."""
    found = of(CHAINED, read(REPARTITION, "again-repartition"), orders=3)
    assert set(found.known.values()) == {3}
    assert len(found.known) == 4


def test_an_input_that_does_not_exist() -> None:
    """It is asked for, and what follows from it is not known; an input of nothing internal is not asked for."""
    found = of(COUNTS, read(REPARTITION))
    assert found.known == {}
    assert asked(found) == {"topics.orders.partitions": "it does not exist"}
    pattern = of(COUNTS.replace("(topics: [orders])", "(topics: orders-.*)"), read(REPARTITION))
    assert asked(pattern) == {"topics.orders-.*.partitions": "no topic that it matches is known"}


def test_without_a_reader_the_program_may_give_a_number() -> None:
    """A number of the declaration decides; a foreign-key join's topics have none in any program."""
    found = of(COUNTS, Declaration(), orders=4)
    assert asked(found) == {"topics.by-customer-repartition.partitions": "the program may give it a number"}
    assert found.known == {}
    assert of(COUNTS, Declaration(topics={REPARTITION: DeclaredTopic(partitions=4)}), orders=4).known[CHANGELOG] == 4
    registration = "a-subscription-registration-topic"
    of_join = of(COUNTS.replace(REPARTITION, registration), Declaration(), orders=4)
    assert (of_join.known, of_join.unknown) == ({registration: 4, CHANGELOG: 4}, ())


def test_a_number_that_could_not_be_read() -> None:
    """The reason of the reader is shown, and nothing behind it is known."""
    declared = replace(read(REPARTITION), not_read={f"topics.{REPARTITION}.partitions": "class x is not known"})
    found = of(CHAINED, declared, orders=3)
    assert asked(found)["topics.by-customer-repartition.partitions"] == "class x is not known"
    assert found.known == {}


def test_topics_that_are_joined_get_one_number() -> None:
    """That of the external one."""
    joined = DeclaredTopic(joined_with=frozenset({"zones"}))
    found = of(SHARED, read(**{REPARTITION: joined}), orders=4, zones=2)
    assert found.known == {REPARTITION: 2, CHANGELOG: 2}


def test_operators_that_share_a_store_may_join_nothing() -> None:
    """The description shows a join and the facts show none; without facts it is open for uneven inputs alone."""
    found = of(SHARED, read(REPARTITION), orders=4, zones=2)
    [why] = asked(found).values()
    assert why == "it is joined with no topic, and the description shows zones"
    assert found.known == {}
    registration = SHARED.replace(REPARTITION, "a-subscription-registration-topic")
    [why] = asked(of(registration, Declaration(), orders=4, zones=2)).values()
    assert why == "whether it is joined, or operators share a store, is not known (joined_with)"
    assert of(registration, Declaration(), orders=4, zones=4).unknown == ()


def test_two_ways_with_other_numbers() -> None:
    """A topic that two subtopologies write has the larger number of both."""
    text = AUDITED.replace("(topic: audit-repartition)", "(topic: by-customer-repartition)")
    assert of(text, read(REPARTITION), orders=4).known[REPARTITION] == 4
