"""Updates of a store with a record cache that an aggregation of a stream takes one by one."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.state.counted import cached_updates_are_counted, counting_behind
from world.pairs import compared

UPDATES = compared("updates-of-cached-count-counted").after
ROWS = compared("rows-of-cached-count-counted").after


def _without(side: Side, store: str, **fields: object) -> Side:
    known = side.declared.stores[store]
    stores = {**side.declared.stores, store: replace(known, **fields)}  # type: ignore[arg-type]
    return replace(side, declared=replace(side.declared, stores=stores))


def test_an_aggregation_of_a_stream_counts_the_updates_of_a_store_before_it() -> None:
    """Its own updates go to no other aggregation."""
    assert counting_behind(UPDATES, "parcels-counted") == ("updates-counted",)
    assert counting_behind(UPDATES, "updates-counted") == ()
    assert cached_updates_are_counted(UPDATES)


def test_an_aggregation_of_a_table_takes_the_old_row_out() -> None:
    """However many updates there are."""
    assert counting_behind(ROWS, "parcels-counted") == ()
    assert not cached_updates_are_counted(ROWS)


@pytest.mark.parametrize("fields", [{"caching": False}, {"caching": None}, {"filled_by": None}])
def test_only_a_cache_that_is_known_combines_updates(fields: dict[str, object]) -> None:
    """A version that was not read shows no cache."""
    assert not cached_updates_are_counted(_without(UPDATES, "parcels-counted", **fields))
