"""Which side goes in mode `retire`, and what shows that the other one serves."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.green.plan import _other, last_cutover, mode_of
from kstreams_runbooks.steps.run.run import Run


def entry(name: str, green_of: str | None = None, cluster: str = "demo") -> Any:
    """An application of the fleet."""
    return SimpleNamespace(name=name, green_of=green_of, cluster=cluster)


def fleet(*entries: Any) -> Any:
    """These applications."""
    by_name = {one.name: one for one in entries}
    return SimpleNamespace(applications=by_name, application=by_name.__getitem__)


def about(run: Run, own: Any, mode: str) -> Run:
    """A run about that application, in this mode."""
    changed = replace(run, record=replace(run.record, application=own.name, params={"mode": mode}))
    fields: Any = vars(changed)
    fields["application"] = own
    return changed


def test_a_first_side_has_one_second_side(run: Run) -> None:
    """The one that names it, in its own cluster; a second side has the one that it names."""
    blue, green = entry("orders"), entry("orders-v2", "orders")
    elsewhere = entry("orders-v3", "orders", "other")
    both = fleet(blue, green, elsewhere)
    assert _other(about(run, blue, "retire"), both) is green
    assert _other(about(run, green, "retire"), both) is blue
    assert _other(about(run, green, "cancel"), both) is blue
    with pytest.raises(BadInput, match="orders: has no green_of"):
        _other(about(run, blue, "cancel"), both)
    with pytest.raises(BadInput, match="application orders: none has it in green_of"):
        _other(about(run, blue, "retire"), fleet(blue, elsewhere))
    with pytest.raises(BadInput, match="orders-v2, orders-v4 has it in green_of"):
        _other(about(run, blue, "retire"), fleet(blue, green, entry("orders-v4", "orders")))


def test_a_mode_is_one_of_three(run: Run) -> None:
    """Nothing else."""
    assert [mode_of(about(run, entry("orders"), word)) for word in ("start", "cancel", "retire")]
    with pytest.raises(BadInput, match="expected start or cancel or retire"):
        mode_of(about(run, entry("orders"), "remove"))


def test_the_newest_cutover_between_both_counts(run: Run) -> None:
    """One that ended otherwise has moved no group for good, and one with another side is about that one."""
    pair = {"orders", "orders-v2"}

    def cut_over(number: int, old: str, new: str, outcome: str = "completed") -> None:
        asked = replace(
            run.record,
            dag_id="blue_green_cutover",
            run_id=f"c{number}",
            application=old,
            params={"green": new},
            started_at_ms=number,
        )
        record = run.ledger.start_run(asked)
        run.ledger.conclude(record.run_key, outcome, "it ended", number)

    assert last_cutover(run, pair) is None
    cut_over(1, "orders", "orders-v3")
    assert last_cutover(run, pair) is None
    cut_over(2, "orders", "orders-v2")
    cut_over(3, "orders-v2", "orders", "stopped, changed")
    assert last_cutover(run, pair) == ("orders", "orders-v2")
    cut_over(4, "orders-v2", "orders")
    assert last_cutover(run, pair) == ("orders-v2", "orders")
