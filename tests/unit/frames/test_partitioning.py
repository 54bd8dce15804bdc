"""What a key is shown as, and how many tasks compare keys."""

import pytest
from kstreams_runbooks.frames.partitioning import shown, tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (b"customer-1", "customer-1"),
        ("été".encode(), "été"),
        # A cut goes through its last character.
        ("a€".encode()[:-1], "a"),
        (b"\0\0\0\7a", "0x0000000761"),
        (b"\xff", "0xff"),
        (b"", "0x"),
    ],
)
def test_a_key_is_text_or_digits(key: bytes, text: str) -> None:
    assert shown(key) == text


@pytest.mark.parametrize(("offsets", "tasks"), [(0, 8), (4_000_000, 8), (10_000_000, 20), (10**12, 2_000)])
def test_more_offsets_are_compared_by_more_tasks(offsets: int, tasks: int) -> None:
    assert tasks_for([OffsetRange("a", 0, 0, offsets)]) == tasks
