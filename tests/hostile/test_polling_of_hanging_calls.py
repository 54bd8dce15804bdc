"""Calls that hang or fail cost the others neither their turn nor a thread.

Covers observe/application/polling
"""

import threading
import time

import pytest
from kstreams_runbooks.observe.application.polling import poll_all


def test_an_application_that_used_up_its_time_is_not_asked_on() -> None:
    """What is left of it is said to be not asked; the others go on."""

    def slowly() -> str:
        time.sleep(0.2)
        return "answered"

    calls = {"slow": [slowly] * 6, "quick": [lambda: "answered"] * 6}
    found = poll_all(calls, lambda why: why, of_one=1, seconds=0.3)
    assert found["quick"] == ["answered"] * 6
    assert found["slow"][:2] == ["answered"] * 2
    assert found["slow"][-1] == "not asked: the other instances of the application took 0.3 s in all"


def test_of_one_application_a_few_are_asked_at_once() -> None:
    """Counted where they are asked, over all of its threads."""
    running, most, lock = [0], [0], threading.Lock()

    def slowly() -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return "answered"

    assert poll_all({"one": [slowly] * 50, "two": [str] * 50}, str)["one"] == ["answered"] * 50
    assert 1 < most[0] <= 8


def test_an_error_in_a_call_is_raised_and_holds_up_no_thread() -> None:
    """A fault of this program is not swallowed, nor waited for."""

    def broken() -> str:
        raise LookupError("ours")

    with pytest.raises(LookupError, match="ours"):
        poll_all({"one": [broken] * 3, "two": [lambda: "answered"] * 3}, str)
