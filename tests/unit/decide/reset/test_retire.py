"""Internal topics that may be deleted for good: recorded as left behind, or made by an application out of use."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.reset.retire import (
    Retirement,
    may_retire,
    retired_topics,
    retirement_verified,
    stayed_gone,
)
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.orphans import FoundTopic, Orphan
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, Missing, Taken, TopicReading
from kstreams_runbooks.model.readings.reset import RunningUse, TopicUser
from kstreams_runbooks.model.readings.rest import TopicEnds
from kstreams_runbooks.model.readings.retire import RetireFacts
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared, down, instance, member

NOW = 100 * DAY_MS
LEFT, MADE, OTHER = "orders-old-changelog", "orders-counts-changelog", "orders-x-repartition"
OWN = declared()
NEXT = replace(OWN, name="next", application_id="orders-next", inputs=(LEFT,))
GRAPH = fleet_graph([OWN])
GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ())
ORPHANS = Retirement(OWN, "orphans", 7.0)
APPLICATION = Retirement(OWN, "application", 7.0)


def orphan(topic: str, days: float | None, topic_id: str = "id-1") -> Orphan:
    """A topic that a run left behind so many days ago, None: no run of the ledger did."""
    found = FoundTopic(topic, topic_id, "changelog", 10, 2, 0)
    since, run = (None, None) if days is None else (int(NOW - days * DAY_MS), "bump/1")
    return Orphan(topic, topic_id, "changelog", exists=True, found=found, since_ms=since, run=run)


FACTS = RetireFacts(
    at_ms=NOW,
    internal=(TopicReading(LEFT, "id-1", 4), TopicReading(MADE, "id-2", 4), TopicReading(OTHER, "id-3", 4)),
    sizes={LEFT: 1_200},
    orphans=(orphan(LEFT, 8), orphan(OTHER, None, "id-3")),
    made=frozenset({MADE}),
    users=(),
    others=(),
    group=GROUP,
    instances=(down("orders-1"), down("orders-2")),
    ends=TopicEnds(NOW, {}),
)


def judged(asked: Retirement = ORPHANS, **changes: Any) -> Verdict:
    return may_retire(asked, replace(FACTS, **changes), GRAPH)


def gone(asked: Retirement, graph: Any = GRAPH, **changes: Any) -> dict[str, str]:
    """The topics that go, with the reason."""
    rows = retired_topics(asked, replace(FACTS, **changes), graph)
    return {one.topic.name: one.why for one in rows if one.goes}


def test_what_a_run_left_behind_goes_after_its_quarantine() -> None:
    """With its id; what no run of the ledger left stays, and so does what a topology still makes."""
    assert gone(ORPHANS) == {LEFT: "left behind by run bump/1, not read since 1970-04-03 00:00:00 UTC"}
    verdict = judged()
    assert verdict.reasons == ("1 internal topic of orders may go",)
    [goes, stays] = verdict.findings
    assert (goes.id, goes.severity) == ("topics-retired", "danger")
    assert f"{LEFT} (id id-1, 1,200 bytes; left behind by run bump/1" in goes.message
    assert stays.message == f"stay: {OTHER} (which run left it behind is not in the ledger)"


@pytest.mark.parametrize(("days", "goes"), [(6.9, False), (7, True), (-1, False)])
def test_a_topic_in_quarantine_stays(days: float, *, goes: bool) -> None:
    """Also one of a clock that is ahead; with nothing left to do the retirement is refused, with the end of it."""
    verdict = judged(orphans=(orphan(LEFT, days),))
    assert verdict.outcome is (Outcome.PROCEED if goes else Outcome.REFUSE)
    if not goes:
        assert "in quarantine until" in verdict.reasons[0]
        assert "(orphan_quarantine_days 7)" in verdict.reasons[0]


def test_another_topic_of_the_name_was_left_by_no_run() -> None:
    assert gone(ORPHANS, internal=(TopicReading(LEFT, "id-9", 4),)) == {}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"others": (RunningUse(LEFT, "next", writes=False),)}, "next reads it"),
        ({"users": (TopicUser(LEFT, "tool", "classic", "Empty", commits=True, assigned=False),)}, "group tool has"),
    ],
)
def test_what_anything_else_uses_never_goes(changes: dict[str, Any], why: str) -> None:
    """An orphan stays; of an application out of use it refuses."""
    assert gone(ORPHANS, **changes) == {}
    assert why in judged(**changes).reasons[0]
    assert why in judged(APPLICATION, **changes).reasons[0]
    assert judged(APPLICATION, **changes).outcome is Outcome.REFUSE


def test_a_topic_that_another_entry_declares_stays() -> None:
    assert gone(ORPHANS, fleet_graph([OWN, NEXT])) == {}


def test_an_application_out_of_use_goes_with_its_group() -> None:
    """What its topology makes, and what the ledger has; nothing by its name alone, without a quarantine."""
    assert gone(APPLICATION, orphans=(orphan(LEFT, 1), orphan(OTHER, None, "id-3"))).keys() == {LEFT, MADE}
    verdict = judged(APPLICATION)
    assert verdict.outcome is Outcome.PROCEED
    assert {one.id for one in verdict.findings} == {"topics-retired", "topics-not-retired", "application-retired"}
    assert judged(APPLICATION, group=None).outcome is Outcome.PROCEED


def test_a_group_alone_may_be_left() -> None:
    assert judged(APPLICATION, internal=(), orphans=()).outcome is Outcome.PROCEED
    nothing = judged(APPLICATION, internal=(), orphans=(), group=None)
    assert "it has neither internal topics nor a group" in nothing.reasons[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"group": replace(GROUP, state="Stable", members=(member("orders-1"),))}, "Stable with 1 members"),
        ({"instances": (instance("orders-1"),)}, "orders-1: it runs (expected: every instance of orders down"),
    ],
)
def test_an_application_that_is_in_use_is_refused(changes: dict[str, Any], said: str) -> None:
    verdict = judged(APPLICATION, **changes)
    assert verdict.outcome is Outcome.REFUSE
    assert said in verdict.reasons[0]


def test_an_instance_that_is_started_again_is_refused() -> None:
    one = down("orders-1")
    assert isinstance(one.deployment, Deployment)
    verdict = judged(APPLICATION, instances=(replace(one, deployment=replace(one.deployment, autorestart=True)),))
    assert verdict.outcome is Outcome.REFUSE
    assert "its deployer starts it again" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("asked", "changes", "said"),
    [
        (ORPHANS, {"problems": ("topics are hidden",)}, "topics are hidden"),
        (APPLICATION, {"made": Missing("no release is set")}, "topology of orders: no release is set"),
        (APPLICATION, {"group": Missing("hidden")}, "group orders: hidden"),
        (
            APPLICATION,
            {"instances": (replace(down("orders-1"), deployment=Missing("no answer")),)},
            "orders-1: whether it runs is not known: no answer",
        ),
        (ORPHANS, {"orphans": (orphan(LEFT, 8), replace(orphan("gone", 8), exists=None))}, "topic gone: whether"),
    ],
)
def test_what_is_unknown_is_never_allowed(asked: Retirement, changes: dict[str, Any], said: str) -> None:
    verdict = judged(asked, **changes)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.reasons[0]


def test_an_instance_that_nothing_observed_is_not_taken_for_down() -> None:
    one = down("orders-1")
    assert isinstance(one.deployment, Deployment)
    stated = replace(one, deployment=replace(one.deployment, stated=True))
    assert judged(APPLICATION, instances=(stated,)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"internal": (TopicReading(LEFT, "id-9", 4),)}, "has id id-9 (in the plan id-1)"),
        ({"orphans": ()}, "a topology reads it again, so it is not deleted"),
        ({"others": (RunningUse(LEFT, "next", writes=True),)}, "next writes it, so it is not deleted"),
    ],
)
def test_the_topics_of_a_plan_are_decided_again_right_before(changes: dict[str, Any], said: str) -> None:
    """One that is gone is done."""
    asked = replace(ORPHANS, topics=((LEFT, "id-1"),))
    assert judged(asked).outcome is Outcome.PROCEED
    assert judged(asked, internal=(), orphans=()).outcome is Outcome.PROCEED
    verdict = judged(asked, **changes)
    assert verdict.outcome is Outcome.REFUSE
    assert said in verdict.reasons[0]


def test_a_deleted_topic_that_comes_back_is_named() -> None:
    assert stayed_gone({LEFT: "id-1"}, (), 300).outcome is Outcome.PROCEED
    verdict = stayed_gone({LEFT: "id-1"}, (TopicReading(LEFT, "id-7", 1),), 20)
    assert verdict.outcome is Outcome.REFUSE
    assert f"topic {LEFT}: created again (id id-7) after it was deleted (id id-1)" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("groups", "seen", "listed", "outcome"),
    [
        ((), (), ("orders",), Outcome.PROCEED),
        (("orders",), (), ("other",), Outcome.PROCEED),
        (("orders",), (), ("orders",), Outcome.REFUSE),
        (("orders",), (), Missing("hidden"), Outcome.INCONCLUSIVE),
        ((), (), Missing("hidden"), Outcome.PROCEED),
        ((), (TopicReading(LEFT, "id-7", 1),), (), Outcome.REFUSE),
    ],
)
def test_what_a_run_deleted_is_gone_at_its_end(
    groups: tuple[str, ...], seen: tuple[TopicReading, ...], listed: tuple[str, ...] | Missing, outcome: Outcome
) -> None:
    assert retirement_verified({LEFT: "id-1"}, groups, seen, listed).outcome is outcome


@pytest.mark.parametrize("asked", [ORPHANS, APPLICATION])
def test_the_decision_can_be_made_again_from_its_evidence(asked: Retirement) -> None:
    inputs = {"asked": asked, "facts": FACTS, "graph": GRAPH}
    result = may_retire(asked, FACTS, GRAPH)
    payload = encode_call(may_retire, inputs, result)
    assert call_again(DECISIONS["may_retire"], payload) == encode(result)
