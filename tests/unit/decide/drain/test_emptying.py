"""Whether orphaned topics may be emptied up to their certified ends."""

import re
from typing import Any

import pytest
from kstreams_runbooks.decide.drain.emptying import may_be_emptied
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.emptying import CertifiedTopics, EmptyingSeen
from kstreams_runbooks.model.verdicts import Outcome, Verdict

TOPIC = "orders-by-customer-repartition"
CERTIFIED = CertifiedTopics({f"{TOPIC}-0": 10, f"{TOPIC}-1": 0}, {TOPIC: "id"})


def judged(**seen: Any) -> Verdict:
    """The verdict on what was seen; it is the same when it is made again."""
    inputs = {"certified": CERTIFIED, "seen": EmptyingSeen(**{"grown": {}, "unread": {}, "readers": ()} | seen)}
    verdict = may_be_emptied(**inputs, group="orders")  # type: ignore[arg-type]
    call = encode_call(may_be_emptied, {**inputs, "group": "orders"}, verdict)
    assert call_again(may_be_emptied, call) == encode(verdict)
    return verdict


def test_what_is_proven_read_may_go() -> None:
    """No reader, and nothing behind the certified ends."""
    assert judged().outcome is Outcome.PROCEED
    assert CERTIFIED.of(TOPIC) == {0: 10, 1: 0}


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ({"grown": {f"{TOPIC}-0": 12}}, r"readable record at offset 12, behind its certified end 10 \(expected none\)"),
        ({"unread": {f"{TOPIC}-0": 4}}, "committed offset of group orders is before the readable record at offset 4"),
        ({"readers": ("group other reads it",), "unknown": ("and more",)}, "group other reads it; and more"),
    ],
)
def test_a_record_that_could_be_lost_is_refused(seen: dict[str, Any], why: str) -> None:
    """In one sentence with what was seen and expected."""
    verdict = judged(**seen)
    assert verdict.outcome is Outcome.REFUSE
    assert re.search(why, verdict.sentence)


def test_what_is_unknown_is_inconclusive() -> None:
    """Never taken for no reader."""
    assert judged(unknown=("group other: hidden",)) == Verdict(Outcome.INCONCLUSIVE, ("group other: hidden",))
