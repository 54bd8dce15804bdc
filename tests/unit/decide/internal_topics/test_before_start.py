"""What a run creates before it starts a version: all of its internal topics, or none of them with every reason."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.internal_topics.before_start import created_before_start
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredTopic, Described
from world.samples import declared
from world.sides import COUNTS

FACTS = Declaration(
    stores={"counts": DeclaredStore(kind="key_value", logging=True, logging_config={})},
    topics={"by-customer-repartition": DeclaredTopic(partitions=6)},
    config={"replication.factor": "3"},
    library=Release("4.3.1"),
)
WANTED = Described("4.3.1", "4.3.1", "the test", COUNTS, FACTS)
# A reader of the program shows that it gives the repartition topic no number.
READ = replace(FACTS, topics={"by-customer-repartition": DeclaredTopic()}, not_read={"stores.counts.key": "no code"})
SEEN = TopicsSeen({"orders": 4}, {}, {})


def test_every_internal_topic_of_the_version() -> None:
    """A reset deletes them first, and names those that it keeps."""
    made = created_before_start(WANTED, SEEN, declared())
    assert not isinstance(made, Missing)
    assert [(one.name, one.partitions, one.replication) for one in made] == [
        ("orders-by-customer-repartition", 6, 3),
        ("orders-counts-changelog", 6, 3),
    ]
    assert created_before_start(WANTED, SEEN, declared(), ["orders-counts-changelog"]) == made[:1]


@pytest.mark.parametrize(
    ("wanted", "seen", "why"),
    [
        (Missing("no description"), SEEN, "no description"),
        (replace(WANTED, text="not one"), SEEN, "the test: "),
        (replace(WANTED, declared=None), SEEN, "config; "),
        (replace(WANTED, declared=READ), TopicsSeen({}, {}, {}), "topics.orders.partitions (it does not exist)"),
        (WANTED, TopicsSeen({}, {"orders": "orders is not visible"}, {}), "orders is not visible"),
        (replace(WANTED, declared=replace(FACTS, config={"replication.factor": "x"})), SEEN, "is not a whole number"),
    ],
)
def test_none_of_them_while_something_is_not_known(wanted: Described | Missing, seen: TopicsSeen, why: str) -> None:
    """Never a part of them, and never a guess."""
    made = created_before_start(wanted, seen, declared())
    assert isinstance(made, Missing)
    assert why in made.missing
