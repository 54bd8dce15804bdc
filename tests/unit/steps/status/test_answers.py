"""How the scheduled check ends: never green where it was asked for something that it does not do."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Fleet, load_fleet
from kstreams_runbooks.steps.status.answers import ACKNOWLEDGE, REASON, acknowledged, demand_whole


@pytest.fixture
def fleet() -> Fleet:
    """One without applications."""
    return load_fleet()


def context(**conf: Any) -> dict[str, Any]:
    """Of the last task of a check in which every task answered."""
    ti = SimpleNamespace(xcom_pull=lambda task_ids, key: [] if isinstance(task_ids, list) else {key: task_ids})
    return {"ti": ti, "dag_run": SimpleNamespace(conf=conf), "params": {ACKNOWLEDGE: [], REASON: None, **conf}}


def test_a_field_that_the_form_does_not_have_is_named(fleet: Fleet) -> None:
    """A mistyped one would leave `recreated` as it is without a word; its name makes no line of its own."""
    demand_whole(context(**{ACKNOWLEDGE: None}), fleet)
    demand_whole(context(**{ACKNOWLEDGE: []}), fleet)
    with pytest.raises(
        Inconclusive, match=r"field 'acknowledged\\\\x07x' is unknown \(expected acknowledge and reason\)"
    ):
        demand_whole(context(**{"acknowledged\x07x": ["orders"]}), fleet)


@pytest.mark.parametrize("reason", [None, "", "1"])
def test_nothing_is_acknowledged_without_a_reason(fleet: Fleet, reason: str | None) -> None:
    """Later plans go by it: the check says so, and leaves the expected topics as they are."""
    form = {ACKNOWLEDGE: ["orders"], REASON: reason}
    assert acknowledged(form) == {}
    with pytest.raises(Inconclusive, match=r"reason: .*; nothing was acknowledged, trigger it again with acknowledge"):
        demand_whole(context(**form), fleet)
    assert acknowledged({**form, REASON: " rebuilt "}) == {"orders": "rebuilt"}
