"""How a run ends."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.runs.conclusion import RunFacts, RunOutcome, conclusion
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import BOUNCE_1, NEW, applied, down, instance, reading

GOOD = Verdict(Outcome.PROCEED, ("all well",))
HALF = RunFacts(
    False, ("orders-1: bounce 1",), None, GOOD, (), reached="bounce_1_first", touched=("orders-1", "orders-2")
)


def test_a_run_is_completed_only_with_proof() -> None:
    """The colour of tasks counts for nothing."""
    assert conclusion(RunFacts(False, ("a",), GOOD, GOOD, ())).outcome is RunOutcome.COMPLETED
    assert conclusion(RunFacts(True, (), GOOD, GOOD, ())).outcome is RunOutcome.DRY_RUN
    assert conclusion(RunFacts(False, ("a",), None, GOOD, ())).outcome is RunOutcome.STOPPED
    assert conclusion(RunFacts(False, (), None, None, ("rejected by x",))).outcome is RunOutcome.NOTHING_CHANGED
    unsure = Verdict(Outcome.INCONCLUSIVE, ("no metrics",))
    ended = conclusion(RunFacts(False, ("orders-1: bounce 1",), None, unsure, ()))
    assert ended.outcome is RunOutcome.INCONCLUSIVE
    assert "orders-1: bounce 1" in ended.sentence
    assert [outcome.succeeded for outcome in RunOutcome] == [True, True, False, False, False]


def test_the_outcome_names_the_stores_that_begin_empty() -> None:
    """Whether the run was completed or stopped after it had changed something; not if nothing was changed."""
    done = RunFacts(False, ("a",), GOOD, GOOD, (), emptied=("counts",))
    assert conclusion(done).sentence == "all well; begins empty, as accepted: counts"
    assert conclusion(replace(HALF, emptied=("counts",))).sentence.endswith("begins empty, as accepted: counts")
    in_part = replace(HALF, emptied=("counts",), in_part=("rates",))
    assert conclusion(in_part).sentence.endswith(
        "begins empty, as accepted: counts; begins without what its files alone have, as accepted: rates"
    )
    assert "counts" not in conclusion(replace(done, wrote=(), verified=None)).sentence


def test_a_step_that_was_killed_is_the_reason_not_the_last_verdict() -> None:
    """A kill leaves no sentence; "proceed" of the guard before it would read as if all were well."""
    ended = conclusion(HALF)
    assert ended.outcome is RunOutcome.STOPPED
    assert ended.sentence == (
        "bounce_1_first began and gave no answer (killed, marked by hand, or an error that its log shows); "
        "changed so far: orders-1: bounce 1"
    )
    assert conclusion(replace(HALF, failures=("rejected by x",))).sentence.startswith("rejected by x; changed")
    seen = conclusion(replace(HALF, saw="orders-1: wait: topic zones does not exist"))
    assert "); the last that it saw: orders-1: wait: topic zones does not exist; changed" in seen.sentence


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (reading(down("orders-1"), instance("orders-2")), "; orders-1 is DOWN (its process is stopped); changed"),
        (reading(instance("orders-1", state="ERROR"), instance("orders-2")), "; orders-1 is in ERROR (expected RUNN"),
        (
            reading(replace(instance("orders-1"), streams=Missing("no answer")), instance("orders-2")),
            "; orders-1: no answer; changed",
        ),
        (reading(instance("orders-1")), "; orders-2 was not read; changed"),
        (Missing("broker does not answer"), "; how orders-1, orders-2 is now cannot be read: broker does not answer;"),
    ],
    ids=["down", "in error", "without metrics", "not declared any more", "nothing could be read"],
)
def test_a_stopped_run_says_how_the_touched_instances_are(now: ApplicationReading | Missing, sentence: str) -> None:
    """An instance that was stopped and never started again is not left to be found by its users."""
    assert sentence in conclusion(replace(HALF, reading=now)).sentence


def test_one_cause_is_named_once() -> None:
    """The last look fails of what ended the run, or sees what its gate saw."""
    away = "Kafka at broker:9092: nothing listens on this port"
    unread = conclusion(replace(HALF, failures=(f"group of orders: {away}",), reading=Missing(away))).sentence
    assert unread.count(away) == 1
    assert "how orders-1, orders-2 is now cannot be read: for the same cause; changed" in unread
    dead = "orders-1 is DOWN (its process is stopped)"
    now = reading(down("orders-1"), instance("orders-2"))
    assert conclusion(replace(HALF, failures=(f"{dead}: expected running",), reading=now)).sentence.count(dead) == 1


def test_many_instances_with_one_cause_have_one_sentence() -> None:
    """24 sentences of one cause would leave no room in a message for the way on."""
    names = tuple(f"orders-{number}" for number in range(1, 25))
    silent = [
        replace(instance(name), streams=Missing(f"Jolokia: no answer within 2 s (http://{name}:8778/jolokia)"))
        for name in names[:20]
    ]
    at = "http://orders-1:8778/jolokia, http://orders-2:8778/jolokia, http://orders-3:8778/jolokia and 17"
    rest = [down("orders-21"), down("orders-22"), instance("orders-23", state="ERROR")]
    found = replace(HALF, touched=names, failures=("gate of orders-1: lag 7",), reading=reading(*silent, *rest))
    sentence = conclusion(found).sentence
    assert sentence == (
        f"gate of orders-1: lag 7; {', '.join(names[:20])}: Jolokia: no answer within 2 s ({at} more); "
        "orders-21, orders-22: each is DOWN (its process is stopped); orders-23 is in ERROR (expected RUNNING); "
        "orders-24 was not read; changed so far: orders-1: bounce 1"
    )
    grouped = "orders-1, orders-2: no answer"
    now = reading(*(replace(instance(name), streams=Missing("no answer")) for name in names[:2]))
    assert conclusion(replace(HALF, failures=(grouped,), reading=now)).sentence.count("no answer") == 1


def test_instances_that_run_well_or_were_not_touched_are_not_mentioned() -> None:
    """Only what somebody has to look after."""
    now = reading(applied(instance("orders-1", release=NEW, settings=BOUNCE_1.settings), value=True), down("orders-2"))
    alone = replace(HALF, touched=("orders-1",))
    assert conclusion(replace(alone, reading=now)) == conclusion(alone)


def test_a_conclusion_with_its_reading_is_decided_again_from_the_evidence() -> None:
    """The last look is evidence as any other."""
    for look in (reading(down("orders-1")), Missing("no broker"), None):
        facts = replace(HALF, reading=look)
        kept = encode_call(conclusion, {"facts": facts}, conclusion(facts))
        assert call_again(conclusion, kept) == kept["result"]
