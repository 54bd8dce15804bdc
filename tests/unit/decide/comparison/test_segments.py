"""The length of a store's segments on the disk, as release 4.3.1 cuts them."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.segments import segments_changed
from kstreams_runbooks.model.topology.declaration import DeclaredStore, StoreKind, Window, WindowKind

MINUTE, HOUR = 60_000, 3_600_000


def _store(
    kind: StoreKind | None, window: tuple[WindowKind, int, int] | None = None, kept: int | None = None
) -> DeclaredStore:
    return DeclaredStore(kind=kind, window=None if window is None else Window(*window), retention_ms=kept)


HOURLY: tuple[WindowKind, int, int] = ("tumbling", HOUR, 5 * MINUTE)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        # the retention of the library is size and grace
        (_store("window", HOURLY), _store("window", ("tumbling", HOUR, 6 * MINUTE)), True),
        (_store("window", HOURLY), _store("window", ("tumbling", HOUR - MINUTE, 6 * MINUTE)), False),
        (_store("window", HOURLY), _store("window", HOURLY, 65 * MINUTE), False),
        (_store("window", HOURLY, 3 * HOUR), _store("window", ("tumbling", 2 * HOUR, 0), 3 * HOUR), False),
        (_store("window", HOURLY, 3 * HOUR), _store("window", HOURLY, 4 * HOUR), True),
        # two minutes and less are cut into minutes
        (_store("window", ("tumbling", 10_000, 0)), _store("window", ("tumbling", 2 * MINUTE, 0)), False),
        (_store("window", ("tumbling", 10_000, 0)), _store("window", ("tumbling", 2 * MINUTE + 2, 0)), True),
        # a join and a sliding window look back and ahead
        (_store("join", ("join", HOUR, MINUTE)), _store("join", ("join", HOUR - MINUTE, 2 * MINUTE)), True),
        (_store("join", ("join", HOUR, MINUTE)), _store("join", ("join", HOUR - MINUTE, 3 * MINUTE)), False),
        (_store("window", ("sliding", HOUR, MINUTE)), _store("window", ("tumbling", 2 * HOUR, MINUTE)), False),
        (_store("session", ("session", HOUR, 0)), _store("session", ("session", HOUR // 2, 0)), True),
        # without segments, or of another kind
        (_store("key_value"), _store("key_value"), False),
        (_store("window", HOURLY), _store("session", ("session", HOUR, 0)), False),
        # unknown
        (_store("window"), _store("window", HOURLY), None),
        (_store("window", HOURLY), _store(None), None),
        (_store("window", None, 3 * HOUR), _store("window", None, 4 * HOUR), True),
    ],
)
def test_segments_follow_the_retention(old: DeclaredStore, new: DeclaredStore, changed: bool | None) -> None:
    """The declared one, else that of the library."""
    assert segments_changed(old, new) is changed


@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_a_store_in_memory_has_no_segments(before: bool, after: bool) -> None:
    """What is not on the disk is restored at each start, and what goes to memory does not read the disk."""
    old = replace(_store("window", HOURLY), in_memory=before)
    assert segments_changed(old, replace(old, retention_ms=3 * HOUR, in_memory=after)) is False
    assert segments_changed(replace(old, in_memory=False), replace(old, retention_ms=3 * HOUR, in_memory=None)) is True


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (2 * HOUR, 3 * HOUR, True),
        (HOUR, HOUR - 1, True),  # a twelfth of an hour is five minutes, a twelfth of less is less
        (HOUR, 2 * HOUR, False),  # a twenty-fourth of two hours is five minutes too
        (5 * MINUTE, 10 * MINUTE, False),
        (MINUTE, MINUTE + 1, False),
        (6_000, 3_000, False),
        (6_003, 6_000, True),
        (None, HOUR, None),
    ],
)
def test_segments_of_a_versioned_store_follow_its_history(old: int | None, new: int, changed: bool | None) -> None:
    """In four steps."""
    before, after = (DeclaredStore(kind="versioned", history_retention_ms=kept) for kept in (old, new))
    assert segments_changed(before, after) is changed
