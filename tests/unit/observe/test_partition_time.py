"""Stream time from the metadata of committed offsets."""

import base64

import pytest
from kstreams_runbooks.observe.partition_time import partition_time


def metadata(version: int, time: int, behind: bytes = b"") -> str:
    return base64.b64encode(bytes([version]) + time.to_bytes(8, "big", signed=True) + behind).decode()


@pytest.mark.parametrize(
    ("text", "time"),
    [
        (metadata(1, 1_700_000_000_000), 1_700_000_000_000),
        (metadata(2, 1_700_000_000_000), 1_700_000_000_000),
        (metadata(2, 5, b"\x00\x01"), 5),
        (metadata(1, 5, b"\x00"), None),
        (metadata(3, 5), None),
        (metadata(2, -1), None),
        (base64.b64encode(b"\x02\x00").decode(), None),
        ("not base64!", None),
        ("", None),
        (None, None),
    ],
)
def test_a_length_or_a_version_that_does_not_fit_is_no_time(text: str | None, time: int | None) -> None:
    """Never taken for the beginning of time."""
    assert partition_time(text) == time
