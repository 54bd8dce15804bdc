"""Stream time from the metadata of committed offsets."""

import base64

import pytest
from kstreams_runbooks.observe.kafka.partition_time import left_by_streams, partition_time


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


@pytest.mark.parametrize(
    ("text", "streams"),
    [(metadata(2, 5), True), (metadata(1, -1), True), (metadata(2, -2), False), ("", False), ("checkpoint", False)],
)
def test_a_time_that_is_not_known_yet_was_still_left_by_streams(text: str, streams: bool) -> None:
    """Another client's text is not."""
    assert left_by_streams(text) is streams
