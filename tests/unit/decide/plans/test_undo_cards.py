"""Undo goes by kind of card, last to first, over all sides; for each card whether it applies, why not, and its cost.

Covers decide/plans/undo_order, decide/plans/undo_begins
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.undo import undo_plan
from kstreams_runbooks.decide.plans.undo_cards import OtherCard, OwnThings, taken_back
from kstreams_runbooks.decide.plans.way_back import Move, Undone, UndoneSide
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, TopicReading
from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    InputsPaused,
    InputsResumed,
    OffsetsDeleted,
    OffsetsSet,
    OtherFacts,
    PersonAsked,
    RecordsDeleted,
    StateCleared,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
)
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import NEW, OLD, declared, instance, partition, reading

_SHAPE = TopicShape("control", 4, 1)
_WAS = SavedOffsets("orders", 1_000, (CommittedOffset("orders", 0, 17, "AgAA", 3),))
_SET = OffsetsSet(_WAS, (CommittedOffset("orders", 0, 90),))


def other(seq: int, facts: OtherFacts | None, **changes: Any) -> OtherCard:
    """A card of a run about something else than an instance."""
    kind = facts.kind if facts is not None else "schema_registered"
    return replace(OtherCard(seq, kind, f"change {seq}", f"go back from {seq}", facts), **changes)


def seen(*topics: TopicReading, **changes: Any) -> ApplicationReading:
    """The application as the run left it, with these topics beside its own."""
    now = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW), **changes)
    assert not isinstance(now.topics, Missing)
    return replace(now, topics=(*now.topics, *topics))


CONTROL = TopicReading("control", "id-7", 4)


@pytest.mark.parametrize(
    ("facts", "now", "why"),
    [
        (TopicCreated(_SHAPE, "id-7"), seen(), "topic control does not exist"),
        (
            TopicCreated(_SHAPE, "id-6"),
            seen(CONTROL),
            "topic control is another one (id id-7, the run created id-6)",
        ),
        (TopicCreated(_SHAPE), seen(CONTROL), "the run ended before it learned the id of topic control, which exists"),
        (TopicDeleted(_SHAPE, "id-1"), seen(CONTROL), "topic control is there again (id id-7)"),
        (TopicGrown("orders", "id-1", 4, 8), seen(), "the 8 partitions of topic orders cannot become 4 again"),
        (GroupDeleted(SavedOffsets("old", 1, ())), seen(), "group old had no committed offset"),
        (RecordsDeleted("orders", "id-1", ()), seen(), "deleted records of topic orders do not come back"),
        (
            StateCleared("orders-1", lost=("seen",)),
            seen(),
            "the next start of orders-1 restores its stores from their topics; lost for good: seen",
        ),
    ],
)
def test_a_card_that_does_not_apply_has_its_reason(facts: OtherFacts, now: ApplicationReading, why: str) -> None:
    """Gone, another one, or without a way back."""
    judged = taken_back(other(3, facts), now)
    assert judged.stage is None
    assert judged.sentence.startswith(f"card 3 (change 3) does not apply: {why}")


@pytest.mark.parametrize(
    ("facts", "now", "kind", "sentence", "cost"),
    [
        (
            TopicCreated(_SHAPE, "id-7"),
            seen(CONTROL),
            "delete_topics",
            "delete control",
            "its records are lost (their number is not known)",
        ),
        (
            TopicCreated(_SHAPE, "id-7"),
            seen(CONTROL, partitions=(partition(5, 9, topic="control", log_start=2),)),
            "delete_topics",
            "delete control",
            "its records are lost (up to 7)",
        ),
        (
            TopicDeleted(_SHAPE, "id-1"),
            seen(),
            "create_topics",
            "create control (4 partitions)",
            "it is empty: its records do not come back",
        ),
        (
            _SET,
            seen(partitions=(partition(96),)),
            "set_offsets",
            "set the offsets of group orders on orders back to where they were",
            "records between the two are read again, or never; 6 have been read since",
        ),
        (
            OffsetsDeleted(_WAS, ("orders",)),
            seen(),
            "set_offsets",
            "set the offsets of group orders on orders back to where they were",
            "records between the two are read again, or never",
        ),
        (
            GroupDeleted(_WAS),
            seen(),
            "set_offsets",
            "set the offsets of group orders on orders back to where they were",
            "records between the two are read again, or never",
        ),
        (InputsPaused(("orders",), "declared"), seen(), "resume_inputs", "resume orders", "nothing"),
        (
            InputsResumed(("orders",), "declared"),
            seen(),
            "pause_inputs",
            "pause orders",
            "no new input until they are resumed",
        ),
        (
            PersonAsked("stop the job", "start the job"),
            seen(),
            "ask_person",
            "ask a person: start the job",
            "a person's time",
        ),
    ],
)
def test_a_card_that_applies_has_a_stage_and_its_cost(
    facts: OtherFacts, now: ApplicationReading, kind: str, sentence: str, cost: str
) -> None:
    """Each stage knows the card that it takes back, and its side."""
    judged = taken_back(other(3, facts, side="green"), now)
    assert judged.stage is not None
    assert (judged.stage.kind, judged.stage.side, judged.stage.undoes) == (kind, "green", (3,))
    assert judged.sentence == f"card 3 (change 3): {sentence}; {cost}"


def test_topics_that_cannot_be_read_are_no_reason_to_leave_a_card() -> None:
    """Missing data is never OK."""
    with pytest.raises(Inconclusive, match="whether topic control is there is not known: timed out"):
        taken_back(other(1, TopicCreated(_SHAPE, "id-7")), replace(reading(), topics=Missing("timed out")))


def moves(*names: str) -> tuple[Move, ...]:
    """Instances that a run took to the new release."""
    return tuple(
        Move(name, 1, DeployedInstance(name, OLD, (), OLD), DeployedInstance(name, NEW, (), NEW), clears_state=True)
        for name in names
    )


def undo(
    *cards: OtherCard,
    now: ApplicationReading,
    own: tuple[Move, ...] = (),
    at_once: bool = True,
    sides: tuple[UndoneSide, ...] = (),
    leave_unknown: bool = False,
) -> Plan:
    """The plan of an undo of a run with these cards; those of its instances have the numbers from 1."""
    undone = Undone(
        "cutover/r",
        "stop_and_restart",
        at_once,
        own,
        unguarded=False,
        topics=("orders",),
        others=cards,
        cards=tuple(range(1, len(own) + 1)),
    )
    return undo_plan(
        now, declared(), undone, upgrade_path_rules(), 0, (), "c0de", sides=sides, leave_unknown=leave_unknown
    )


def test_everything_between_stop_and_start_goes_back_while_all_are_down() -> None:
    """Last to first: offsets before the topic that was created before them."""
    cards = (other(3, TopicCreated(_SHAPE, "id-7")), other(4, _SET), other(5, StateCleared("orders-1")))
    made = undo(*cards, now=seen(CONTROL), own=moves("orders-1", "orders-2"))
    assert [(one.number, one.kind) for one in made.stages] == [
        (1, "stop_all"),
        (2, "set_offsets"),
        (3, "delete_topics"),
        (4, "start_all"),
    ]
    assert [(bounce.number, bounce.release, bounce.clear_state) for bounce in made.bounces] == [(4, OLD, True)]
    assert [one.id for one in made.findings if one.id.startswith("undo-") and "card" in one.id] == [
        "undo-leaves-a-card",
        "undo-of-a-card",
        "undo-of-a-card",
    ]
    assert made.digest != undo(*cards[1:], now=seen(CONTROL), own=moves("orders-1", "orders-2")).digest


def test_a_run_that_rolled_goes_back_in_the_order_of_its_cards() -> None:
    """What came after the last instance first, what came before the first one last."""
    own = moves("orders-1", "orders-2")
    late, early = other(9, InputsResumed(("orders",), "declared")), other(0, TopicCreated(_SHAPE, "id-7"))
    made = undo(early, late, now=seen(CONTROL), own=own, at_once=False)
    assert [one.kind for one in made.stages][:1] == ["pause_inputs"]
    assert [one.kind for one in made.stages][-1:] == ["delete_topics"]
    assert {one.kind for one in made.stages[1:-1]} == {"bounce"}
    assert [one.number for one in made.stages] == list(range(1, len(made.stages) + 1))


def test_every_side_is_stopped_before_anything_goes_back() -> None:
    """Each side has its instances, facts and costs; its stages carry its role."""
    green = declared(name="green", application_id="green", instances=("green-1",))
    there = replace(reading(instance("green-1", release=NEW)), application="green")
    side = UndoneSide("green", there, green, moves("green-1"), (4,), 0)
    made = undo(
        other(3, _SET),
        other(5, TopicCreated(_SHAPE, "id-7"), side="green"),
        now=seen(),
        own=moves("orders-1", "orders-2"),
        sides=(replace(side, reading=replace(there, topics=(CONTROL,))),),
    )
    assert [(one.kind, one.side) for one in made.stages] == [
        ("stop_all", ""),
        ("stop_all", "green"),
        ("delete_topics", "green"),
        ("start_all", "green"),
        ("set_offsets", ""),
        ("start_all", ""),
    ]
    part = made.of_application("green")
    assert ([one.release for one in part.bounces], part.digest, part.facts.instances) == (
        [OLD],
        made.digest,
        ("green-1",),
    )
    assert [one.kind for one in made.of_application("orders").stages] == [
        "stop_all",
        "delete_topics",
        "set_offsets",
        "start_all",
    ]
    with pytest.raises(KeyError):
        made.of_application("payments")


def test_a_side_whose_instances_stay_up_costs_nothing() -> None:
    """The approver reads of the applications that are stopped, and of no other one."""
    green = declared(name="green", application_id="green", instances=("green-1",))
    there = replace(reading(instance("green-1", release=NEW)), application="green")
    side = UndoneSide("green", there, green, moves("green-1"), (4,), 0)
    made = undo(other(5, TopicCreated(_SHAPE, "id-7")), now=seen(CONTROL), own=(), sides=(side,))
    assert [(one.kind, one.side) for one in made.stages][-1] == ("start_all", "green")
    assert made.costs == ()
    assert [cost.instance for cost in made.sides[0].costs] == ["green-1"]
    assert "nothing of green is processed" in made.worst_case
    assert "orders" not in made.worst_case
    alone = undo(other(5, TopicCreated(_SHAPE, "id-7")), now=seen(CONTROL), own=())
    assert (alone.costs, alone.worst_case) == ((), "no instance is touched: the applications keep processing")


def test_a_card_of_an_unknown_kind_refuses_unless_the_others_are_chosen() -> None:
    """One sentence, with the way back by hand."""
    cards = (other(3, None), other(4, _SET))
    unknown = r"card 3 \(change 3\) is of kind schema_registered, which .* go back from 3"
    with pytest.raises(Refused, match=f"{unknown}.* trigger a new run with --param leave_unknown=true"):
        undo(*cards, now=seen())
    made = undo(*cards, now=seen(), leave_unknown=True)
    assert [one.kind for one in made.stages] == ["set_offsets"]
    assert "does not apply: its kind schema_registered is unknown; manually: go back from 3" in "".join(
        one.message for one in made.findings
    )


def test_nothing_left_is_refused_with_every_reason() -> None:
    """Done, or without a way back."""
    cards = (other(3, TopicGrown("orders", "id-1", 4, 8)), other(4, _SET, done=True))
    with pytest.raises(Refused, match=r"nothing to undo; card 4 .* taken back already; card 3 .* cannot become 4"):
        undo(*cards, now=seen())


@pytest.mark.parametrize(
    ("committed", "kind", "why"),
    [
        (90, "set_offsets", ""),
        (17, "", "the offsets of group orders are as they were before it"),
        (50, "", "whether the run changed the offsets of group orders is not known"),
    ],
)
def test_offsets_without_a_kept_result_are_set_back_only_if_they_are_as_wanted(
    committed: int, kind: str, why: str
) -> None:
    """A run that ended before its write leaves offsets from which the group has gone on: an undo would set it back."""
    other = OtherCard(1, _SET.kind, "offsets set", "set them back", _SET, kept=False)
    found = taken_back(other, seen(partitions=(partition(committed),)))
    assert ("" if found.stage is None else found.stage.kind) == kind
    assert found.why.startswith(why)


_HELD = OffsetsSet(_WAS, (*_WAS.offsets, CommittedOffset("orders", 1, 0)), holds=True)


@pytest.mark.parametrize(
    ("rows", "applies"),
    [
        ((), True),
        ((partition(None, 9, topic="orders"), partition(0, 0, topic="orders", number=1)), True),
        ((partition(17, 40, topic="orders"), partition(0, 0, topic="orders", number=1)), False),
        ((partition(30, 40, topic="orders"), partition(None, 0, topic="orders", number=1)), False),
    ],
)
def test_held_offsets_are_committed_again_until_the_inputs_are_read_again(rows: tuple[Any, ...], applies: bool) -> None:
    """No row: the inputs are swapped. A place that brokers forgot is set back, unless the group has read on."""
    judged = taken_back(other(3, _HELD), seen(partitions=rows))
    assert (judged.stage is not None) is applies
    if not applies:
        assert "reads these inputs again" in judged.why


def test_what_a_run_did_to_its_own_topics_goes_with_them() -> None:
    """Offsets on a created topic, and its deletion by the same run."""
    own, saved = OwnThings(frozenset({"control"})), SavedOffsets("orders", 1, (CommittedOffset("control", 0, 0),))
    for facts in (
        OffsetsSet(SavedOffsets("orders", 1, ()), (CommittedOffset("control", 0, 0),)),
        OffsetsDeleted(saved, ("control",)),
        TopicDeleted(_SHAPE, "id-7"),
    ):
        assert taken_back(other(4, facts), seen(), own).stage is None
    both = OffsetsDeleted(saved, ("control", "orders"))
    assert taken_back(other(4, both), seen(partitions=()), own).stage is not None


def test_inputs_that_a_run_paused_and_resumed_are_resumed_once() -> None:
    """Nobody is asked to pause them again while the application is down."""
    own = OwnThings(paused=frozenset({"orders"}))
    assert taken_back(other(4, InputsResumed(("orders",), "by a person")), seen(), own).stage is None
    assert taken_back(other(1, InputsPaused(("orders",), "by a person")), seen(), own).stage is not None


_STORE, _QUEUE = TopicShape("orders-counts-changelog", 2, 1), TopicShape("orders-counts-repartition", 2, 1)
_INPUT = OffsetsSet(_WAS, (CommittedOffset("orders", 0, 0),), ids=(("orders", "id-1"),))


def reset(*, again: bool = False, created: bool = True) -> tuple[OtherCard, ...]:
    """The cards of a reset, in their order; `again` leaves the topics to the application."""
    cards: list[OtherFacts] = [StateCleared("orders-1"), StateCleared("orders-2")]
    cards += [TopicDeleted(_STORE, "old-1", again=again), TopicDeleted(_QUEUE, "old-2", again=again)]
    if created:
        cards += [TopicCreated(_STORE, "new-1"), TopicCreated(_QUEUE, "new-2")]
        start = (CommittedOffset(_QUEUE.name, 0, 0), CommittedOffset(_QUEUE.name, 1, 0))
        cards.append(OffsetsSet(SavedOffsets("orders", 1, ()), start, ids=((_QUEUE.name, "new-2"),)))
    return tuple(other(seq, facts) for seq, facts in enumerate((*cards, _INPUT), 3))


def test_an_undo_of_a_reset_brings_offsets_back_and_leaves_the_new_topics() -> None:
    """There is no way back to the old ones: what each card took is named, and the whole is a danger."""
    new = (TopicReading(_STORE.name, "new-1", 2), TopicReading(_QUEUE.name, "new-2", 2))
    rows = tuple(partition(3, 9, number, topic=_QUEUE.name) for number in range(2))
    made = undo(*reset(), now=seen(*new, partitions=rows), own=moves("orders-1", "orders-2"))
    assert [one.kind for one in made.stages] == ["stop_all", "set_offsets", "start_all"]
    [back] = [one for one in made.stages if one.kind == "set_offsets"]
    assert back.sentence == "set the offsets of group orders on orders back to where they were"
    said = [one.message for one in made.findings if one.id == "undo-leaves-a-card"]
    assert sum("what the old one had is gone for good" in one for one in said) == 4
    assert sum("the run deleted the changelogs of orders-" in one for one in said) == 2
    assert sum("offsets of the old ones mean nothing on them" in one for one in said) == 1
    [danger] = [one for one in made.findings if one.id == "undo-without-the-state"]
    assert danger.severity == "danger"
    assert f"cutover/r deleted 2 internal topics ({_STORE.name}, {_QUEUE.name})" in danger.message


def test_an_undo_between_deletion_and_creation_creates_the_topics_as_they_were() -> None:
    """Empty, with the settings that they had; the state is gone all the same.

    The group begins the repartition topic at its first record, whatever its reset policy.
    """
    made = undo(*reset(created=False), now=seen(), own=moves("orders-1"))
    assert [one.kind for one in made.stages] == [
        "stop_all",
        "set_offsets",
        "create_topics",
        "set_offsets",
        "create_topics",
        "start_all",
    ]
    assert made.stages[3].sentence == (
        f"set the offsets of group orders on {_QUEUE.name} to the start of the log where none is committed"
    )
    assert any(one.id == "undo-without-the-state" for one in made.findings)


@pytest.mark.parametrize(
    ("committed", "begins"), [((), True), ((None, None), True), ((0, None), True), ((0, 7), False)]
)
def test_a_repartition_topic_that_the_run_created_begins_at_its_first_record(
    committed: tuple[int | None, ...], begins: bool
) -> None:
    """The run ended before it set its offsets. A place that is committed stays: the application may have read on."""
    new = (TopicReading(_STORE.name, "new-1", 2), TopicReading(_QUEUE.name, "new-2", 2))
    rows = tuple(partition(offset, 9, number, topic=_QUEUE.name) for number, offset in enumerate(committed))
    made = undo(*reset()[:6], now=seen(*new, partitions=rows), own=moves("orders-1"))
    kinds = ["stop_all", "set_offsets", "start_all"] if begins else ["bounce"]
    assert [one.kind for one in made.stages] == kinds


def test_a_topic_of_another_name_or_of_a_run_that_rolled_needs_no_first_offset() -> None:
    """Only internal topics are read from their first record; members of a group that runs commit themselves."""
    gone = other(3, TopicDeleted(_SHAPE, "id-1"))
    assert [one.kind for one in undo(gone, now=seen(), own=moves("orders-1")).stages] == [
        "stop_all",
        "create_topics",
        "start_all",
    ]
    queue = other(3, TopicDeleted(_QUEUE, "old-2"))
    rolled = undo(queue, now=seen(), own=moves("orders-1", "orders-2"), at_once=False)
    assert "set_offsets" not in [one.kind for one in rolled.stages]


def test_topics_that_the_application_created_again_stay_too() -> None:
    """Under ids that no card has."""
    there = (TopicReading(_STORE.name, "x", 2), TopicReading(_QUEUE.name, "y", 2))
    rows = (partition(5, 9, topic=_QUEUE.name),)
    made = undo(*reset(again=True, created=False), now=seen(*there, partitions=rows), own=moves("orders-1"))
    assert [one.kind for one in made.stages] == ["stop_all", "set_offsets", "start_all"]
    said = " / ".join(one.message for one in made.findings)
    assert "is there again (id x): what the old one had is gone for good" in said


def test_a_deletion_that_was_only_announced_has_destroyed_nothing() -> None:
    """The run ended between the card and the write: the topics have the ids that they had."""
    there = (TopicReading(_STORE.name, "old-1", 2), TopicReading(_QUEUE.name, "old-2", 2))
    made = undo(*reset()[:4], now=seen(*there), own=moves("orders-1"))
    said = " / ".join(one.message for one in made.findings)
    assert said.count("was not deleted: it has the id that it had") == 2
    assert said.count("restores its stores from their topics") == 2
    assert not any(one.id == "undo-without-the-state" for one in made.findings)


def test_before_the_first_deletion_state_comes_back_from_the_changelogs() -> None:
    """Nothing is gone."""
    made = undo(*reset()[:2], now=seen(), own=moves("orders-1"))
    assert not any(one.id == "undo-without-the-state" for one in made.findings)
    assert any("restores its stores from their topics" in one.message for one in made.findings)


def test_offsets_are_never_set_back_onto_a_topic_that_was_created_again() -> None:
    """Its id is another one than when they were set; the others go back."""
    anew = replace(_INPUT, ids=(("orders", "id-0"),))
    assert "topic orders was created again since" in taken_back(other(3, anew), seen()).why
    was = SavedOffsets("orders", 1, (*_WAS.offsets, CommittedOffset("control", 0, 5)))
    after = (CommittedOffset("orders", 0, 0), CommittedOffset("control", 0, 0))
    both = OffsetsSet(was, after, ids=(("control", "id-7"), ("orders", "id-0")))
    judged = taken_back(other(3, both), seen(CONTROL))
    assert judged.stage is not None
    assert "on control back" in judged.stage.sentence
