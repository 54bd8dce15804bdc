"""Times and durations: Unix milliseconds, shown to people in UTC."""

from datetime import UTC, datetime
from typing import Final

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


def utc(at_ms: int) -> datetime:
    """The time in UTC; ValueError, OverflowError or OSError beyond the years 1 to 9999."""
    return datetime.fromtimestamp(at_ms / SECOND_MS, UTC)


def utc_minute(at_ms: int) -> str:
    """`2026-01-31 23:59 UTC`; the milliseconds if they are not a date."""
    return _shown(at_ms, "%Y-%m-%d %H:%M")


def utc_second(at_ms: int) -> str:
    """`2026-01-31 23:59:58 UTC`; the milliseconds if they are not a date."""
    return _shown(at_ms, "%Y-%m-%d %H:%M:%S")


def _shown(at_ms: int, layout: str) -> str:
    # A broken clock or a foreign producer may have written any number.
    try:
        return f"{utc(at_ms):{layout}} UTC"
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"
