"""The seam between two sides: at rest together, and what a downstream group has read of it."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.drain.seam import read_to_seam, seeds, seeds_stand, sides_at_rest, still_at_seam
from kstreams_runbooks.model.readings.cutover import SeamReading, SideDrain
from kstreams_runbooks.model.readings.drain import DrainReading, OpenTransaction, Pause
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset

PAUSE = Pause("copier", "run r", "control is held")
ROW = PartitionLag("control", 0, "source", "ok", topic_id="a", committed=10, log_end_offset=10, last_stable_offset=10)


def drain(at_ms: int, sinks: dict[str, int], *, records: int = 0, end: int = 10) -> DrainReading:
    """A reading of a side with these ends of its outputs."""
    row = replace(ROW, records=records, committed=end - records, log_end_offset=end, last_stable_offset=end)
    ends = {"control-0": end}
    return DrainReading(Taken(at_ms, "kafka"), (row,), ends, ends, sinks, group_state="Stable")


def side(name: str, sinks: dict[str, int], at: tuple[int, int] = (1, 10), **changes: Any) -> SideDrain:
    """Both readings of a side."""
    return SideDrain(name, drain(at[0], sinks), drain(at[1], sinks, **changes))


OLD, NEW = side("orders", {"totals-0": 5, "totals-1": 7}, (1, 10)), side("orders-v2", {"totals-v2-0": 4}, (2, 11))


NOTED = NotedEnds(5, (NotedEnd("totals", 0, 0, 5), NotedEnd("totals", 1, 0, 7), NotedEnd("totals-v2", 0, 0, 4)))


def test_both_sides_at_rest_are_a_seam() -> None:
    """With the ends of every partition that either writes."""
    verdict = sides_at_rest((OLD, NEW), NOTED, PAUSE)
    assert verdict.outcome is Outcome.PROCEED
    assert "3 partitions of outputs end as noted" in verdict.text


def test_one_record_that_one_side_has_not_read_is_not_yet() -> None:
    """It is named with its side."""
    verdict = sides_at_rest((OLD, side("orders-v2", {"totals-v2-0": 4}, records=1)), NOTED, PAUSE)
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons[0].startswith("orders-v2: at most 1 records left to read on source topics")


def test_an_end_that_moves_between_the_readings_is_not_yet() -> None:
    """Of an output alone: what it had read was still to be written."""
    moves = replace(NEW, now=drain(11, {"totals-v2-0": 5}))
    verdict = sides_at_rest((OLD, moves), NOTED, PAUSE)
    assert verdict.outcome is Outcome.WAIT
    assert "moved since the reading before: totals-v2-0" in verdict.text


def test_an_end_that_is_noted_otherwise_than_it_is_read_is_not_yet() -> None:
    """It was written in between; one that was not noted is not known."""
    other = replace(NOTED, ends=(*NOTED.ends[:2], replace(NOTED.ends[2], end=3)))
    verdict = sides_at_rest((OLD, NEW), other, PAUSE)
    assert (verdict.outcome, "totals-v2-0 (3, then 4)" in verdict.text) == (Outcome.WAIT, True)
    assert sides_at_rest((OLD, NEW), replace(NOTED, ends=NOTED.ends[:2]), PAUSE).outcome is Outcome.INCONCLUSIVE


def test_an_unknown_part_is_inconclusive() -> None:
    """It is never taken for rest; nor is no side."""
    hidden = replace(NEW, now=replace(NEW.now, problems=("hidden",)))
    assert sides_at_rest((OLD, hidden), NOTED, PAUSE).outcome is Outcome.INCONCLUSIVE
    assert sides_at_rest((), NOTED, PAUSE).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("at", "noted_ms", "outcome"),
    [
        ((2, 11), 2, Outcome.PROCEED),
        ((2, 11), 10, Outcome.PROCEED),
        ((2, 11), 1, Outcome.INCONCLUSIVE),
        ((2, 11), 11, Outcome.INCONCLUSIVE),
        ((11, 20), 10, Outcome.INCONCLUSIVE),
    ],
)
def test_readings_without_a_common_moment_prove_nothing(at: tuple[int, int], noted_ms: int, outcome: Outcome) -> None:
    """Each side may have been at rest at another time; the note lies between the readings of all sides."""
    verdict = sides_at_rest((OLD, side("orders-v2", {"totals-v2-0": 4}, at)), replace(NOTED, at_ms=noted_ms), PAUSE)
    assert verdict.outcome is outcome


def test_an_output_of_both_sides_is_refused() -> None:
    """By its exact name: `totals-v2` is not `totals`."""
    verdict = sides_at_rest((OLD, side("orders-v2", {"totals-0": 5})), NOTED, PAUSE)
    assert verdict.outcome is Outcome.REFUSE
    assert "output totals: orders and orders-v2 write it" in verdict.text


def test_a_record_since_the_seam_is_refused() -> None:
    """A partition that was not read is not known."""
    assert still_at_seam(NOTED, NOTED).outcome is Outcome.PROCEED
    moved = replace(NOTED, ends=(replace(NOTED.ends[0], end=6), *NOTED.ends[1:]))
    assert "totals-0 ends at 6 (at the seam: 5)" in still_at_seam(NOTED, moved).text
    assert still_at_seam(NOTED, replace(NOTED, ends=NOTED.ends[1:])).outcome is Outcome.INCONCLUSIVE


OUTPUTS = NOTED.of("totals")
EMPTY = GroupReading(Taken(1, "x"), "billing", "classic", "Empty", ())


def row(number: int, committed: int | None, end: int, records: int | None = 0) -> PartitionLag:
    """A partition of an old output; `records` are counted."""
    of = PartitionLag("totals", number, "source", "ok", committed=committed, log_start_offset=0, log_end_offset=end)
    return replace(of, last_stable_offset=end, records=records, exact=True)


def reads(*rows: PartitionLag, **changes: Any) -> SeamReading:
    """The group once it is down."""
    return replace(SeamReading("billing", "billing", EMPTY, rows, ()), **changes)


READ = reads(row(0, 5, 5), row(1, 7, 7))


def test_a_group_that_has_committed_the_seam_may_move() -> None:
    """Also if only a marker is left behind its last record: that is judged by records."""
    assert read_to_seam(READ, OUTPUTS).outcome is Outcome.PROCEED
    marker = reads(row(0, 4, 5), row(1, 7, 7))
    assert read_to_seam(marker, OUTPUTS).outcome is Outcome.PROCEED


def test_a_group_that_has_a_record_left_has_not_read_to_the_seam() -> None:
    """It would lose what lies between."""
    verdict = read_to_seam(reads(row(0, 4, 5, 1), row(1, 7, 7)), OUTPUTS)
    assert verdict.outcome is Outcome.WAIT
    assert "totals-0 at 4 of 5" in verdict.text


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"group": replace(EMPTY, state="Stable")}, Outcome.WAIT),
        ({"group": replace(EMPTY, members=(MemberReading("m", "c", "/h", None),))}, Outcome.WAIT),
        ({"group": Missing("hidden")}, Outcome.INCONCLUSIVE),
        ({"open": (OpenTransaction("bills-0", "billing-1", 1, 1, 1),)}, Outcome.WAIT),
        ({"open": Missing("hidden")}, Outcome.INCONCLUSIVE),
        ({"rows": Missing("hidden")}, Outcome.INCONCLUSIVE),
        ({"rows": READ.rows[:1]}, Outcome.INCONCLUSIVE),  # type: ignore[index]
        ({"rows": (row(0, 5, 5), row(1, None, 7, 7))}, Outcome.INCONCLUSIVE),
    ],
)
def test_committed_offsets_are_the_last_word_only_of_a_group_that_is_down(
    changes: dict[str, Any], outcome: Outcome
) -> None:
    """A member, an open transaction, or a partition that it never committed: none of them counts as read."""
    assert read_to_seam(replace(READ, **changes), OUTPUTS).outcome is outcome


def test_a_group_past_the_seam_is_refused() -> None:
    """What it has read there comes again on the new output."""
    verdict = read_to_seam(reads(row(0, 6, 6), row(1, 7, 7)), OUTPUTS)
    assert verdict.outcome is Outcome.REFUSE
    assert "totals-0 at 6 (seam: 5)" in verdict.text


def test_a_group_of_which_no_output_was_noted_is_not_known() -> None:
    """Nothing to read is no proof."""
    assert read_to_seam(READ, ()).outcome is Outcome.INCONCLUSIVE


def test_seeds_are_the_noted_ends_of_every_partition() -> None:
    """Never the latest, and never only some."""
    wanted = (CommittedOffset("totals", 0, 5), CommittedOffset("totals", 1, 7))
    assert seeds(NOTED, ("totals",), {"totals": 2, "totals-v2": 1}) == wanted
    for found in (
        seeds(NOTED, ("totals",), {"totals": 3}),
        seeds(NOTED, ("totals",), {"totals": 1}),
        seeds(NOTED, ("totals",), {}),
        seeds(NOTED, ("totals-v3",), {"totals-v3": 1}),
    ):
        assert isinstance(found, Missing)


SEEDS = (CommittedOffset("totals-v2", 0, 4), CommittedOffset("totals-v2", 1, 0))


def seeded(first: int | None = 4, second: int | None = 0) -> tuple[PartitionLag, ...]:
    """The partitions of a new topic with what a group has committed there; None: nothing."""
    return tuple(
        PartitionLag(
            "totals-v2", number, "source", "never_committed" if at is None else "ok", topic_id="b", committed=at
        )
        for number, at in enumerate((first, second))
    )


def deleted_to(start: int, first: int | None = 4) -> tuple[PartitionLag, ...]:
    """The same, with a first partition whose log begins there."""
    one, *others = seeded(first)
    return (replace(one, log_start_offset=start), *others)


@pytest.mark.parametrize(
    ("rows", "outcome", "why"),
    [
        (seeded(), Outcome.PROCEED, "group billing has all 2 seeds committed"),
        (seeded(first=None), Outcome.WAIT, "1 of 2 seeds of group billing are gone (limit 0): totals-v2-0"),
        (seeded(None, None), Outcome.WAIT, "2 of 2 seeds"),
        (seeded(first=9), Outcome.REFUSE, "totals-v2-0 at 9 (seed: 4); find who has committed them"),
        (seeded(first=3, second=None), Outcome.REFUSE, "totals-v2-0 at 3 (seed: 4)"),
        (deleted_to(4), Outcome.PROCEED, "group billing has all 2 seeds committed"),
        (deleted_to(6), Outcome.REFUSE, "records behind its seeds were deleted: totals-v2-0 begins at 6 (seed: 4)"),
        (deleted_to(6, None), Outcome.REFUSE, "totals-v2-0 begins at 6 (seed: 4); undo this run"),
        (seeded()[:1], Outcome.INCONCLUSIVE, "totals-v2-1 of group billing: it was not read"),
        (
            (*seeded()[:1], PartitionLag("totals-v2", 1, "source", "unknown", why="hidden")),
            Outcome.INCONCLUSIVE,
            "totals-v2-1 of group billing: hidden",
        ),
        (Missing("hidden"), Outcome.INCONCLUSIVE, "offsets of group billing: hidden"),
    ],
)
def test_seeds_are_there_exactly_or_are_written_again(
    rows: tuple[PartitionLag, ...] | Missing, outcome: Outcome, why: str
) -> None:
    """Only what is gone is written again: another offset is somebody else's, and what is not read is not known."""
    verdict = seeds_stand(rows, SEEDS, "billing")
    assert (verdict.outcome, why in verdict.text) == (outcome, True), verdict.text
    assert seeds_stand(rows, (), "billing").outcome is Outcome.INCONCLUSIVE
