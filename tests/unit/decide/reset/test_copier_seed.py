"""The first offsets of a copier: what is committed, and what is refused before anything is."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.reset.copier_seed import SeedAt, seeded
from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.model.readings.copying import SeedPlace, SeedReading, TopicEnd
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome

BEGINNING, END = SeedAt("beginning", {}), SeedAt("end", {})
SILENT = Missing("its leader does not answer")
INTO = CopiedInto("0f1e2d3c-e338-4f58-9854-e19e69594ffd", "7180b310-e338-4f58-9854-e19e69594ffd", (7, 0))


def place(number: int, topic: str = "sent", **changes: object) -> SeedPlace:
    """A partition of a source with offsets 10 to 100, of which the group has committed none, or the copier's own."""
    committed = changes.get("committed")
    metadata = INTO.at(committed) if isinstance(committed, int) else ""
    made = SeedPlace(topic, number, 10, 100, 100, None, metadata, INTO)
    return replace(made, **changes)  # type: ignore[arg-type]


def reading(*places: SeedPlace, **changes: object) -> SeedReading:
    """A copier of one route with two partitions, into an empty target."""
    targets = (TopicEnd("orders", 0, 0), TopicEnd("orders", 1, 0))
    found = SeedReading("passing", "group", (("sent", "orders"),), places or (place(0), place(1)), targets)
    return replace(found, **changes)  # type: ignore[arg-type]


def answer(found: SeedReading, at: SeedAt) -> tuple[Outcome, str, dict[int, int]]:
    """The outcome, all reasons, and the offsets by partition."""
    verdict, offsets = seeded(found, at)
    return verdict.outcome, "; ".join(verdict.reasons), {one.partition: one.offset for one in offsets}


@pytest.mark.parametrize(
    ("at", "offsets"),
    [
        (BEGINNING, {0: 10, 1: 10}),
        (END, {0: 100, 1: 100}),
        (SeedAt("", {("sent", 0): 50, ("sent", 1): 60}), {0: 50, 1: 60}),
    ],
)
def test_every_partition_gets_an_offset(at: SeedAt, offsets: dict[int, int]) -> None:
    """The beginning is what the log still has, which need not be 0."""
    assert answer(reading(), at) == (
        Outcome.PROCEED,
        "group group: 2 offsets, one of each partition of its sources",
        offsets,
    )


def test_partitions_that_have_grown_get_theirs_and_the_others_keep_their_own() -> None:
    """Only with offsets: a whole source at its beginning would replace what is committed."""
    grown = reading(place(0, committed=77), place(1))
    assert answer(grown, SeedAt("", {("sent", 1): 10}))[::2] == (Outcome.PROCEED, {0: 77, 1: 10})
    outcome, why, offsets = answer(grown, BEGINNING)
    assert (outcome, offsets) == (Outcome.REFUSE, {})
    assert "sent-0 has 77 (asked for: 10)" in why
    assert "name its source with --replace TOPIC" in why


def test_a_chosen_offset_names_the_target_and_no_other_does() -> None:
    """What another program has committed stays as it is, for the copier to refuse."""
    kept = place(0, committed=77, metadata="its own", into=INTO)
    _, offsets = seeded(reading(kept, place(1, into=INTO)), SeedAt("", {("sent", 1): 10}))
    assert [one.metadata for one in offsets] == ["its own", INTO.at(10)]
    _, offsets = seeded(reading(kept), replace(END, replace=("sent",)))
    assert [one.metadata for one in offsets] == [INTO.at(100)]


def test_the_same_offset_again_is_no_difference() -> None:
    """It renews the time after which brokers forget it, and keeps where the last copies are, unless some may repeat."""
    same = reading(place(0, committed=10), place(1, committed=10), targets=(TopicEnd("orders", 0, 50),))
    assert answer(same, BEGINNING)[0] is Outcome.PROCEED
    later = replace(INTO, ends=(50, 0))
    now = replace(same, places=tuple(replace(one, into=later) for one in same.places))
    for at, into in ((BEGINNING, INTO), (replace(BEGINNING, may_repeat=("orders",)), later)):
        assert {one.metadata for one in seeded(now, at)[1]} == {into.at(10)}


def test_a_committed_offset_is_replaced_only_if_its_source_is_named() -> None:
    """Of two sources the other one stays refused."""
    two = reading(
        place(0, committed=70),
        place(0, "customers", committed=70),
        routes=(("sent", "orders"), ("customers", "people")),
    )
    for named, refused in (((), 2), (("sent",), 1)):
        outcome, why, _ = answer(two, replace(END, replace=named))
        assert outcome is Outcome.REFUSE
        assert f"({refused} differ)" in why
    assert answer(two, replace(END, replace=("sent", "customers")))[0] is Outcome.PROCEED
    assert "--may-repeat sent: no target of passing" in answer(two, replace(END, may_repeat=("sent",)))[1]
    assert "--replace orders: no source of passing" in answer(two, replace(END, replace=("orders",)))[1]


@pytest.mark.parametrize(
    ("found", "at", "why"),
    [
        (reading(), SeedAt("", {("sent", 0): 50}), "sent-1: no offset is given, and none is committed (1 partitions)"),
        (reading(), SeedAt("", {("sent", 2): 50}), "sent:2: no partition of a source of passing"),
        (reading(), SeedAt("", {("orders", 0): 50}), "orders:0: no partition of a source of passing"),
        (reading(absent=("orders",)), BEGINNING, "topic orders of passing does not exist; create it"),
        (
            reading(place(0, committed=50), place(1, committed=50), targets=(TopicEnd("orders", 0, 9),)),
            SeedAt("", {("sent", 0): 49}, ("sent",)),
            "orders has had records (orders-0 ends at 9): those of sent-0 from the chosen offset on may be there twice",
        ),
        (
            # Another client's, such as one of a backup without metadata: nothing says how far the copy is.
            reading(
                place(0, committed=50, metadata="another client's"),
                place(1, committed=60),
                targets=(TopicEnd("orders", 0, 9),),
            ),
            SeedAt("", {("sent", 0): 50, ("sent", 1): 60}),
            "orders has had records (orders-0 ends at 9): those of sent-0 from the chosen offset on may be there twice",
        ),
        (reading(place(0, stable=90)), END, "sent-0 at 90: a transaction is open before the chosen offset"),
        (
            reading(place(0, stable=90), place(1, committed=100, stable=90)),
            SeedAt("", {("sent", 0): 91}),
            "sent-0 at 90: a transaction is open before the chosen offset: its records",
        ),
        (
            # By key, the records of partition 0 are in partition 1; of a group that is lost nothing is known.
            reading(targets=(TopicEnd("orders", 0, 0), TopicEnd("orders", 1, 3))),
            SeedAt("", {("sent", 0): 10, ("sent", 1): 100}),
            "orders has had records (orders-1 ends at 3): those of sent-0 from the chosen offset on may be there twice",
        ),
        (
            reading(place(0, committed=50), targets=(TopicEnd("orders", 0, 0), TopicEnd("orders", 1, 3))),
            SeedAt("", {("sent", 0): 10}, ("sent",)),
            "orders has had records (orders-1 ends at 3): those of sent-0 from the chosen offset on may be there twice",
        ),
        (
            reading(targets=(TopicEnd("orders", 0, 0), TopicEnd("orders", 1, 3))),
            BEGINNING,
            "orders has had records (orders-1 ends at 3): those of sent-0, sent-1 from the chosen offset on",
        ),
    ],
)
def test_what_is_refused(found: SeedReading, at: SeedAt, why: str) -> None:
    """Nothing of it is committed."""
    outcome, reasons, offsets = answer(found, at)
    assert (outcome, offsets) == (Outcome.REFUSE, {})
    assert why in reasons


@pytest.mark.parametrize(
    ("found", "at"),
    [
        # Its records were deleted since: what is at an offset of the target proves nothing about the source.
        (reading(targets=(TopicEnd("orders", 0, 500),)), SeedAt("", {("sent", 0): 100, ("sent", 1): 100})),
        (reading(targets=(TopicEnd("orders", 0, 500),)), END),
        (
            reading(targets=(TopicEnd("orders", 0, 500),)),
            SeedAt("", {("sent", 0): 10, ("sent", 1): 10}, may_repeat=("orders",)),
        ),
        (
            reading(place(0, committed=50), place(1, committed=10), targets=(TopicEnd("orders", 0, 500),)),
            SeedAt("", {("sent", 0): 60, ("sent", 1): 10}, ("sent",)),
        ),
        # The same offset renews it.
        (
            reading(place(0, committed=50), place(1, committed=50), targets=(TopicEnd("orders", 0, 500),)),
            SeedAt("", {("sent", 0): 50, ("sent", 1): 50}),
        ),
        # A partition that has grown on both sides.
        (
            reading(place(0, committed=50), place(1), targets=(TopicEnd("orders", 0, 9), TopicEnd("orders", 1, 0))),
            SeedAt("", {("sent", 1): 10}),
        ),
        (reading(place(0, stable=90)), BEGINNING),
        (reading(place(0, stable=90)), SeedAt("", {("sent", 0): 90})),
    ],
)
def test_what_must_not_refuse(found: SeedReading, at: SeedAt) -> None:
    """Each looks like a refusal of another place."""
    assert answer(found, at)[0] is Outcome.PROCEED


@pytest.mark.parametrize(
    ("found", "at"),
    [
        (reading(place(0, end=SILENT)), END),
        (reading(place(0, stable=SILENT)), END),
        (reading(place(0, start=SILENT)), BEGINNING),
        (reading(targets=(TopicEnd("orders", 0, SILENT),)), BEGINNING),
        (reading(hidden=("topic orders is not visible",)), BEGINNING),
    ],
)
def test_what_is_not_known_commits_nothing(found: SeedReading, at: SeedAt) -> None:
    """An end that cannot be read is neither 0 nor past."""
    outcome, _, offsets = answer(found, at)
    assert (outcome, offsets) == (Outcome.INCONCLUSIVE, {})


@pytest.mark.parametrize("offset", [9, 101])
def test_an_offset_outside_the_log_is_no_open_transaction(offset: int) -> None:
    """It is refused as what it is."""
    outcome, why, _ = answer(reading(place(0), place(1, committed=10)), SeedAt("", {("sent", 0): offset}))
    assert outcome is Outcome.REFUSE
    assert f"sent-0: offset {offset} is outside its log (expected 10 to 100)" in why
    assert "transaction" not in why
