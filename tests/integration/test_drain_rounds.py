"""Drains of the running application at random moments: one of each kind here, twenty in test-long.

`make soak` has two hundred, and measures how soon a certificate is found: a busy machine makes no certificate false.
"""

import secrets
import time

import pytest
from lab.judge import judged
from soak.rounds import planned, soaked
from world.given import Orders


@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.long)])
def test_no_certificate_is_given_while_an_output_may_still_come(
    orders: Orders, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    """None is false, each is found, and one forged a commit too early is detected."""
    seed = secrets.randbelow(1_000_000)
    with capsys.disabled():
        print(f"\nseed of the drain rounds: {seed}")
    began = time.monotonic()
    rounds = soaked(orders.stack, planned(seed, count, ["transaction", "restart"]), print)
    assert [(one.drawn, one.faults) for one in rounds if one.faults] == []
    forged = [one.forged for one in rounds if one.forged is not None]
    assert any(forged), "no forged certificate was detected: the judge judges nothing"
    print(f"{count} rounds in {time.monotonic() - began:.0f} s, {sum(forged)} of {len(forged)} forged ones detected")
    assert judged(orders.stack).faults() == {}
