"""How much work a function does, counted: a busy machine changes a time, but no number of calls."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Calls:
    """The number of calls in this thread, of Python's functions and of C's; complete when the block has ended."""

    number = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count the calls of the block."""
    calls = Calls()

    def profile(_: object, event: str, __: object) -> None:
        calls.number += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before)
