"""A downstream group that a run has moved: on its planned settings, stable, and nowhere below its seeds."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.moved import group_has_moved, seeds_lasted
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset
from world.samples import OLD, down, instance, partition, reading

TARGET = Target(OLD, (("in", "totals-v2"),))
SEEDS = (CommittedOffset("totals-v2", 0, 70), CommittedOffset("totals-v2", 1, 0))
UNREAD = Missing("no broker answers")
BACK = "kstreams-runbooks trigger blue_green_cutover --application orders-v2"
MOVED = reading(instance("billing-1", settings=TARGET.settings))


def rows(first: int | None = 75, second: int | None = 0) -> tuple[PartitionLag, ...]:
    """Both partitions with their committed offsets."""
    return tuple(partition(topic="totals-v2", number=number, committed=at) for number, at in enumerate((first, second)))


def judged(**changes: Any) -> tuple[Outcome, str]:
    """Outcome and text; by default all is as it should be."""
    of: dict[str, Any] = {"reading": MOVED, "rows": rows(), "seeds": SEEDS, "target": TARGET, "back": BACK, **changes}
    verdict = group_has_moved(**of)
    return verdict.outcome, verdict.text


def test_a_group_that_reads_on_has_moved() -> None:
    """Some partitions may have got no record since."""
    assert judged() == (Outcome.PROCEED, "orders reads on at the seam of its new topics: 2 partitions")


@pytest.mark.parametrize(
    ("changes", "outcome", "why"),
    [
        ({"rows": rows(first=69)}, Outcome.REFUSE, "totals-v2-0 is committed at 69 (seed: 70)"),
        ({"rows": rows(second=None)}, Outcome.REFUSE, "totals-v2-1 has no committed offset (seed: 0)"),
        ({"rows": rows()[:1]}, Outcome.REFUSE, "totals-v2-1 has no committed offset (seed: 0)"),
        ({"target": Target(OLD)}, Outcome.REFUSE, f"billing-1 is not set to release={OLD}"),
        ({"rows": UNREAD}, Outcome.INCONCLUSIVE, UNREAD.missing),
        ({"seeds": ()}, Outcome.INCONCLUSIVE, "no seed is known"),
        ({"reading": replace(MOVED, group=UNREAD)}, Outcome.INCONCLUSIVE, UNREAD.missing),
        ({"reading": replace(MOVED, instances=())}, Outcome.INCONCLUSIVE, "no instance was read"),
        (
            {"reading": replace(MOVED, instances=(replace(MOVED.instances[0], deployment=UNREAD),))},
            Outcome.INCONCLUSIVE,
            UNREAD.missing,
        ),
        ({"reading": reading(down("billing-1", settings=TARGET.settings))}, Outcome.WAIT, "billing-1 is stopped"),
        (
            {"reading": replace(MOVED, group=GroupReading(Taken(1, "test"), "billing", "classic", "Empty", ()))},
            Outcome.WAIT,
            "group billing is Empty with 0 members",
        ),
    ],
)
def test_what_is_not_moved(changes: dict[str, Any], outcome: Outcome, why: str) -> None:
    """Below a seed records come twice, without an offset auto.offset.reset decides: both are certain."""
    found, text = judged(**changes)
    assert (found, why in text) == (outcome, True), text


def test_a_refusal_leads_to_what_helps() -> None:
    """An undo leaves a group that has moved: settings are set again, and offsets need the way back."""
    _, below = judged(rows=rows(first=69))
    assert below.endswith(f"to move it back, with a seam of its own: {BACK}")
    _, settings = judged(target=Target(OLD))
    assert settings.endswith("set it so, then clear this task")
    assert "undo" not in below + settings


@pytest.mark.parametrize(
    ("empty_ms", "kept_ms", "outcome", "why"),
    [
        (59_999, 60_000, Outcome.PROCEED, "had no member for up to 60 s (limit 60 s: offsets.retention.minutes)"),
        (60_000, 60_000, Outcome.INCONCLUSIVE, "whether it began at its seeds is not known"),
        (UNREAD, 60_000, Outcome.INCONCLUSIVE, "how long it had no member is not known: no broker answers"),
        (1, UNREAD, Outcome.INCONCLUSIVE, "offsets.retention.minutes is not known: no broker answers"),
    ],
)
def test_seeds_last_as_long_as_brokers_keep_them(
    empty_ms: int | Missing, kept_ms: int | Missing, outcome: Outcome, why: str
) -> None:
    """A group that began by auto.offset.reset is past its seeds at the next look: only the time shows it."""
    verdict = seeds_lasted("billing", empty_ms, kept_ms, BACK)
    assert (verdict.outcome, why in verdict.text) == (outcome, True), verdict.text
    assert verdict.text.endswith(BACK) == (empty_ms == kept_ms)
