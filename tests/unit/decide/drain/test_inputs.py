"""Whether inputs stand still over readings in a row, and whether they have stayed so since."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.inputs import inputs_stand_still, still_held
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.model.readings.inputs import InputsReading
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome, Verdict

ENDS = {"orders-0": 10, "orders-1": 0}
OPEN = OpenTransaction("orders-0", "tx", 7, 1_000, 60_000, 8)


def look(
    at_s: int,
    ends: Mapping[str, int] | None = None,
    stable: Mapping[str, int] | None = None,
    ids: dict[str, str] | None = None,
    problems: tuple[str, ...] = (),
) -> InputsReading:
    """A reading of the topic `orders`, with nothing open unless said otherwise."""
    ends = ENDS if ends is None else ends
    return InputsReading(
        Taken(at_s * 1_000, "kafka x"), ids or {"orders": "a"}, ends, ends if stable is None else stable, (), problems
    )


def outcome(*readings: InputsReading) -> tuple[Outcome, str]:
    """The verdict of three readings in a row, and its first sentence."""
    verdict = inputs_stand_still(readings, 3)
    return verdict.outcome, verdict.reasons[0]


def test_the_same_ends_in_as_many_readings_prove_it() -> None:
    """One less does not; what came before does not count."""
    assert outcome() == (Outcome.WAIT, "no reading of the inputs yet")
    moved = look(0, {"orders-0": 9, "orders-1": 0})
    assert outcome(moved, look(5), look(10))[0] is Outcome.WAIT
    assert outcome(moved, look(5), look(10), look(15)) == (
        Outcome.PROCEED,
        "2 partitions of orders rest: the same ends in 3 readings over 10 s",
    )


def test_what_comes_meanwhile_begins_the_count_again() -> None:
    """The partition, how many and when."""
    verdict = inputs_stand_still((look(0), look(5), look(10, {"orders-0": 12, "orders-1": 0})), 3)
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == (
        "reading 1 of 3 in a row with every end of the inputs where it was",
        "orders-0: 2 offsets came between 1970-01-01 00:00:05 UTC and 1970-01-01 00:00:10 UTC (limit 0)",
    )


@pytest.mark.parametrize(
    "last",
    [
        look(10, problems=("orders-1: no leader",)),
        look(10, {}),
        look(10, stable={"orders-0": 10}),
    ],
)
def test_a_missing_value_is_inconclusive(last: InputsReading) -> None:
    """In the last reading; one before it only begins the count again."""
    assert outcome(look(0), look(5), last)[0] is Outcome.INCONCLUSIVE
    assert outcome(look(0), last, look(15))[0] is Outcome.WAIT
    assert still_held(look(0), last).outcome is Outcome.INCONCLUSIVE


def test_an_open_transaction_may_still_end_in_records() -> None:
    """Described by its coordinator, or only seen below the end."""
    described = replace(look(10, stable={"orders-0": 8, "orders-1": 0}), open_transactions=(OPEN,))
    assert outcome(look(0), look(5), described)[1].startswith("orders-0: a transaction of tx (producer id 7)")
    hidden = look(10, stable={"orders-0": 8, "orders-1": 0})
    assert outcome(look(0), look(5), hidden) == (
        Outcome.WAIT,
        "orders-0: a transaction is open before its end 10 (last stable offset 8)",
    )
    assert outcome(hidden, look(15), look(20))[0] is Outcome.WAIT


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (look(9, {"orders-0": 10, "orders-1": 1}), "orders-1: 1 offsets came between"),
        (look(9, {"orders-0": 9, "orders-1": 0}), "orders-0: its end fell from 10 to 9"),
        (look(9, {"orders-0": 10}), "orders-1: only one of two readings has it"),
        (look(9, {**ENDS, "orders-2": 0}), "orders-2: only one of two readings has it"),
        (look(9, ids={"orders": "b"}), "topic orders is another one than before"),
        (look(9, stable={"orders-0": 9, "orders-1": 0}), "orders-0: a transaction is open"),
    ],
)
def test_whatever_came_since_is_refused(now: InputsReading, said: str) -> None:
    """With what to do about it."""
    verdict = still_held(look(0), now)
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0].startswith(f"inputs are not held any more: {said}")
    assert verdict.reasons[0].endswith("clear pause_inputs and what follows it")


def test_nothing_that_came_is_held() -> None:
    """Since the reading that proved it."""
    assert still_held(look(0), look(60)) == Verdict(
        Outcome.PROCEED, ("nothing has come on 2 partitions of the inputs since 1970-01-01 00:00:00 UTC",)
    )


def test_both_decisions_can_be_made_again() -> None:
    """From what the ledger keeps."""
    readings = (look(0), replace(look(5), open_transactions=(OPEN,)))
    for function, inputs in (
        (inputs_stand_still, {"readings": readings, "needed": 2}),
        (still_held, {"then": readings[0], "now": readings[1]}),
    ):
        kept = encode_call(function, inputs, function(**inputs))
        assert call_again(function, kept) == kept["result"]
