"""A verdict must be newer than the changes that could have undone it: by stage and by kind of card."""

from typing import Any

import pytest
from kstreams_runbooks.decide.runs.order import outdated_by
from world.samples import card


@pytest.mark.parametrize(
    ("decision", "changes", "stage", "outdated"),
    [
        ("group_is_empty", {"stage": 1}, 5, True),
        ("group_is_empty", {"stage": 1}, 1, True),
        ("group_is_empty", {"stage": 2, "kind": "topic_created"}, 5, False),
        ("group_is_empty", {"stage": 3, "kind": "offsets_set"}, 5, False),
        ("group_is_empty", {"stage": 4, "kind": "state_cleared"}, 5, False),
        ("every_member_runs", {"stage": 1}, 2, True),
        ("every_member_runs", {"stage": 2}, 2, False),
        ("every_member_runs", {"stage": 2, "misreads": True}, 3, False),
        ("every_member_runs", {"stage": 1}, None, True),
        ("certified", {"stage": 2, "kind": "topic_created"}, 3, True),
        ("certified", {"stage": 3, "kind": "offsets_set"}, 3, False),
    ],
)
def test_what_takes_a_verdict_away(
    decision: str, changes: dict[str, Any], stage: int | None, *, outdated: bool
) -> None:
    """Created topics and set offsets lie between stop and start, and an EMPTY group stays EMPTY."""
    later = card(entry=9, **changes)
    assert (outdated_by([card(entry=3), later], decision, 7, stage) == later) is outdated
    assert outdated_by([card(entry=3), later], decision, 10, stage) is None


def test_the_newest_change_is_named() -> None:
    """Whatever the order of its number."""
    first, second = card(seq=2, entry=8), card("orders-2", seq=1, entry=9)
    assert outdated_by([second, first], "every_member_runs", 7, 2) is not None
    found = outdated_by([second, first], "every_member_runs", 7, 2)
    assert found is not None
    assert found.object == "orders-2"
