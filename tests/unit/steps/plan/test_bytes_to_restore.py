"""What a restore has to read, as far as it is known."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.basis import restore_cost
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.steps.plan.cards import bytes_to_restore, keep_restoring
from kstreams_runbooks.steps.run.run import Run
from world.samples import reading


def test_changelogs_that_are_not_known_are_not_none(run: Run) -> None:
    """Without a topology the topics are those of its prefix that this login sees: hidden ones are not among them."""
    why = Missing("the topology description cannot be read: no sub-topology in it")
    found = bytes_to_restore(run, replace(reading(), partitions=why))
    assert found == why
    assert f"whose size is not known: {why.missing}" in restore_cost(found)


def test_a_topic_that_is_only_named_like_a_changelog_is_not_read(run: Run) -> None:
    """The facts of what ran decide, as the plan of the run had them: it has no store with a topic."""
    seen = reading()
    assert not isinstance(seen.topics, Missing)
    orphan = replace(seen.topics[0], name="orders-counts-changelog")
    keep_restoring(run, ())
    assert bytes_to_restore(run, replace(seen, topics=(orphan,))) == 0
    assert bytes_to_restore(run, replace(seen, topics=(orphan,)), run.key) == 0
