"""How long inputs are held, in parts, and whether what waits lasts that long: half of a limit, and nothing unknown."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.hold import forecast_hold, may_hold, planned_hold
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.hold import HoldFacts, LeftToRead, PlannedHold, WaitingTopic
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared

HOUR_MS = 3_600_000
NO = Missing("no answer")
TOPIC = WaitingTopic("orders-in", True, 24 * HOUR_MS, -1)
FACTS = HoldFacts(
    Taken(1, "kafka x"),
    (TOPIC,),
    offsets_retention_ms=7 * 24 * HOUR_MS,
    left=(LeftToRead("source", 1_000, 100.0), LeftToRead("repartition", 0, Missing("two looks too near"))),
    internal=("a-repartition",),
    changelog_bytes=0,
)
# Without what Airflow and the certificate take: 20 s and 20 s at most.
PLANNED = PlannedHold(
    how="manual",
    instances=2,
    threads=2,
    stop_timeout_s=10,
    gate_good_readings=3,
    gate_interval_s=5,
    commit_interval_s=1,
    task_idle_ms=0,
    stops=1,
    starts=0,
    restores=0,
)

OF_LIMITS = replace(
    declared(), limits=(("gate_good_readings", 3.0), ("gate_interval_s", 5.0), ("commit_interval_s", 30.0))
)


def parts(facts: HoldFacts = FACTS, planned: PlannedHold = PLANNED) -> dict[str, tuple[float, float]]:
    """The parts of a forecast by their names."""
    return {one.what: (one.low, one.high) for one in forecast_hold(facts, planned).parts}


def test_without_earlier_runs_each_part_has_its_bound() -> None:
    """One stop; nothing is started while the inputs are held, and what is read has no unread record is no part."""
    assert parts() == {
        "stop": (1, 10),
        "group EMPTY": (1, 45),
        "reading source topics": (0, 10),
        "commits": (0, 2),
        "certificate": (10, 20),
        "Airflow": (6, 20),
    }
    assert forecast_hold(FACTS, PLANNED).seconds == (18, 107)
    assert parts(planned=replace(PLANNED, stop_timeout_s=None))["stop"] == (1, 120)


def test_a_measured_stop_counts_instead_of_its_bound() -> None:
    """As often as there are stops while inputs are held."""
    facts = replace(FACTS, stops_ms=(2_000, 4_000), empties_ms=(500,))
    found = parts(facts, replace(PLANNED, stops=2))
    assert (found["stop"], found["group EMPTY"]) == ((4, 8), (1, 1))


def test_a_swap_starts_and_restores_twice() -> None:
    """Each member may join by itself, and every task may move."""
    planned = planned_hold("swap", OF_LIMITS, threads=3, stop_timeout_s=10, task_idle_ms=500)
    found = parts(replace(FACTS, changelog_bytes=50_000_000), planned)
    members = 3 * len(OF_LIMITS.instances)
    assert found["start and rebalance"] == (6, 2 * (60 + members))
    assert found["restore of moved tasks"] == (0, 100)
    assert found["idle tasks"] == (0, 1)
    assert "restore of moved tasks" not in parts(FACTS, planned)


def test_a_person_takes_minutes_and_the_form_limits_them() -> None:
    """All requests count; the whole of what the form allows may be used."""
    manual = replace(PLANNED, requests=2)
    assert parts(planned=manual)["a person"] == (120, 1_800)
    assert may_hold(FACTS, replace(manual, longest_s=1_907)).outcome is Outcome.PROCEED
    verdict = may_hold(FACTS, replace(manual, longest_s=1_906))
    assert verdict.outcome is Outcome.REFUSE
    assert "(limit 1,906 s, all of the 1,906 s that the form allows)" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("facts", "planned", "said"),
    [
        (replace(FACTS, left=()), PLANNED, "no topic is known"),
        (replace(FACTS, left=(LeftToRead("source", NO, 1.0),)), PLANNED, "unread records on source topics: no answer"),
        (replace(FACTS, left=(LeftToRead("source", 1, NO),)), PLANNED, "pace on source topics: no answer"),
        (replace(FACTS, left=(LeftToRead("source", 1, 0.0),)), PLANNED, "did not move"),
        (replace(FACTS, changelog_bytes=NO), replace(PLANNED, restores=1), "size of the changelogs"),
        (FACTS, replace(PLANNED, task_idle_ms=NO), "max.task.idle.ms: no answer"),
    ],
)
def test_one_unknown_part_is_inconclusive(facts: HoldFacts, planned: PlannedHold, said: str) -> None:
    """It is named, and never taken for nothing."""
    verdict = may_hold(facts, planned)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.reasons[0]


def test_what_is_not_needed_may_be_unknown() -> None:
    """Nothing is restored without a start, and nothing is read where nothing is left."""
    left = (LeftToRead("source", 0, NO),)
    assert may_hold(replace(FACTS, left=left, changelog_bytes=NO), PLANNED).outcome is Outcome.PROCEED


def test_exactly_half_of_a_limit_is_enough() -> None:
    """One millisecond less of retention is refused, with the figures and what to do."""
    half = replace(FACTS, waits=(replace(TOPIC, retention_ms=2 * 107_000),))
    assert may_hold(half, PLANNED).outcome is Outcome.PROCEED
    verdict = may_hold(replace(FACTS, waits=(replace(TOPIC, retention_ms=2 * 107_000 - 1),)), PLANNED)
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0] == (
        "inputs would be held for up to 107 s (limit 107 s, half of the 214 s that retention.ms of orders-in leaves "
        "its waiting records): raise it, or flush while less is left to read"
    )


def test_a_limit_that_is_exceeded_refuses_although_another_is_unknown() -> None:
    """The unknown part only makes it longer."""
    facts = replace(FACTS, waits=(replace(TOPIC, retention_ms=1_000),), left=())
    assert may_hold(facts, PLANNED).outcome is Outcome.REFUSE


def test_the_approval_reads_seconds_parts_limit_and_what_stops() -> None:
    """In one sentence."""
    assert forecast_hold(FACTS, PLANNED).sentence == (
        "18–107 s (stop 1–10 s, group EMPTY 1–45 s, reading source topics 0–10 s, commits 0–2 s, certificate 10–20 s, "
        "Airflow 6–20 s); limit 12.0 h, half of the 24.0 h that retention.ms of orders-in leaves its waiting records; "
        "meanwhile no window closes and no suppress emits its results"
    )


def test_the_decision_can_be_made_again() -> None:
    """From what the ledger keeps of it."""
    inputs = {"facts": replace(FACTS, changelog_bytes=NO), "planned": PLANNED}
    kept = encode_call(may_hold, inputs, may_hold(**inputs))  # type: ignore[arg-type]
    assert call_again(may_hold, kept) == kept["result"]
