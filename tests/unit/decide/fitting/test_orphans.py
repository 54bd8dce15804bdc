"""Which internal topics nothing reads any more: the ledger's rows next to the cluster and what runs."""

from dataclasses import replace

from kstreams_runbooks.decide.fitting.orphans import changelogs_left, kept_alone, orphans_of
from kstreams_runbooks.model.readings.orphans import FoundTopic, KeptOrphan
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, TopicReading
from world.samples import down, instance, reading
from world.sides import COUNTS

CHANGELOG = FoundTopic("orders-counts-changelog", "id-1", "changelog", bytes=10, records=2, uncommitted=2)
REPARTITION = FoundTopic("orders-by-customer-repartition", "id-2", "repartition", bytes=5, records=3, uncommitted=1)
RENAMED = COUNTS.replace("counts]", "totals]")


def kept(run: str, since_ms: int, topic_id: str = "id-1") -> KeptOrphan:
    """The changelog, left behind by a run."""
    return KeptOrphan(run, CHANGELOG.topic, topic_id, "demo", "orders", since_ms)


def test_a_changelog_has_the_run_that_left_it_behind_last() -> None:
    """Read again in between, and left behind again."""
    [first, second] = orphans_of([REPARTITION, CHANGELOG], [kept("bump/1", 100), kept("undo/1", 300)])
    assert (first.topic, first.run, first.since_ms, first.exists) == (CHANGELOG.topic, "undo/1", 300, True)
    assert (second.topic, second.run, second.found) == (REPARTITION.topic, None, REPARTITION)


def test_what_is_read_again_gone_or_another_topic_is_off_the_list() -> None:
    """The ledger's row stays; another topic of the name was left behind by no run."""
    assert orphans_of([], [kept("bump/1", 100)]) == ()
    [other] = orphans_of([CHANGELOG], [kept("bump/1", 100, "id-0")])
    assert (other.topic_id, other.run, other.since_ms) == ("id-1", None, None)


def test_while_the_cluster_cannot_be_read_the_ledger_is_what_there_is() -> None:
    """Whether each still exists is unknown."""
    [one] = kept_alone([kept("bump/1", 100), kept("bump/2", 200)])
    assert (one.exists, one.found, one.run) == (None, None, "bump/2")


def runs(text: str | Missing) -> ApplicationReading:
    """The application with this topology; its changelog and one of its store's next name exist."""
    topics = (TopicReading("orders", "id-0", 4), TopicReading(CHANGELOG.topic, "id-1", 4))
    return replace(reading(instance("orders-1", topology=text)), topics=topics)


def test_the_changelogs_that_a_change_leaves_behind() -> None:
    """Of stores that the release after it does not have, as far as their topics exist."""
    assert RENAMED != COUNTS
    assert changelogs_left(runs(COUNTS), runs(RENAMED), "orders") == (TopicReading(CHANGELOG.topic, "id-1", 4),)
    assert changelogs_left(runs(COUNTS), runs(COUNTS), "orders") == ()
    assert changelogs_left(runs(RENAMED), runs(COUNTS), "orders") == ()


def test_an_unknown_topology_is_not_taken_for_one_without_stores() -> None:
    """Neither before nor after the change."""
    for pair in ((reading(down("orders-1")), runs(COUNTS)), (runs(COUNTS), runs(Missing("no answer")))):
        assert changelogs_left(*pair, "orders") == Missing("no instance of orders reported its topology")
    hidden = replace(runs(COUNTS), topics=Missing("hidden"))
    assert changelogs_left(hidden, runs(RENAMED), "orders") == Missing("topics of orders: hidden")
