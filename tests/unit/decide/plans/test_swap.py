"""A swap of inputs for empty topics is refused wherever records would be lost, doubled or never read."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.swap import empty_topic_name, may_swap
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.swap import EmptyTopic, SwapReading
from kstreams_runbooks.model.verdicts import Outcome

_ORDERS = EmptyTopic("orders", "topic.orders", "empty-of-orders-for-app", 4, 1)
_CUSTOMERS = EmptyTopic("customers", "topic.customers", "empty-of-customers-for-app", 2, 1)
GOOD = SwapReading(
    group_id="app",
    sources=("customers", "orders"),
    kept=("app-x-repartition",),
    tables=(),
    global_sources=(),
    empties=(_ORDERS, _CUSTOMERS),
    swapped=("app-x-repartition", "empty-of-customers-for-app", "empty-of-orders-for-app"),
    uncommitted=(),
    reset="",
)


def test_inputs_with_settings_and_new_topics_may_be_swapped() -> None:
    """Every input has its setting, and the description with the swapped settings reads exactly the empty topics."""
    assert may_swap(GOOD).outcome is Outcome.PROCEED


def test_an_existing_topic_without_records_or_readers_is_taken() -> None:
    """A rerun, or a topic that the form gives."""
    there = replace(_ORDERS, partitions=4, given=True)
    assert may_swap(replace(GOOD, empties=(there, _CUSTOMERS))).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("empty", "said"),
    [
        (replace(_ORDERS, partitions=3), "3 partitions (expected 4, as orders has)"),
        (replace(_ORDERS, partitions=4, records=1), "1 offsets in its log (expected 0)"),
        (replace(_ORDERS, partitions=4, readers=("billing",)), "billing reads it or has offsets on it"),
        (replace(_ORDERS, given=True), "it does not exist"),
        (replace(_ORDERS, name="e" * 250), "250 characters (limit 249)"),
    ],
)
def test_a_topic_that_is_not_empty_is_refused(empty: EmptyTopic, said: str) -> None:
    """Each sentence has what was observed and the limit."""
    verdict = may_swap(replace(GOOD, empties=(empty, _CUSTOMERS)))
    assert verdict.outcome is Outcome.REFUSE
    assert said in verdict.reasons[0]


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (replace(GOOD, sources=("customers", "orders", "rates")), "input rates: no setting names it"),
        (replace(GOOD, sources=("orders",)), "input customers: the application does not read it"),
        (replace(GOOD, sources=(), empties=()), "no input to swap was found"),
        (replace(GOOD, tables=("customers",)), "input customers: it is the changelog of its own table"),
        (replace(GOOD, global_sources=("customers",)), "input customers: a global table reads it"),
        (replace(GOOD, swapped=("app-x-repartition", "empty-of-orders-for-app")), "does not read empty-of-customers"),
        (replace(GOOD, written=("empty-of-orders-for-app",)), "also writes empty-of-orders-for-app"),
        (replace(GOOD, swapped=(*GOOD.swapped, "rates")), "still reads rates"),  # type: ignore[misc]
        (replace(GOOD, swapped=("empty-of-customers-for-app", "empty-of-orders-for-app")), "app-x-repartition"),
    ],
)
def test_inputs_that_cannot_be_swapped_are_refused(reading: SwapReading, said: str) -> None:
    """State that would be gone, and settings that are not the right ones."""
    verdict = may_swap(reading)
    assert verdict.outcome is Outcome.REFUSE
    assert said in "; ".join(verdict.reasons)


@pytest.mark.parametrize(
    "reading",
    [
        replace(GOOD, swapped=Missing("its topology command takes no settings")),
        replace(GOOD, empties=(replace(_ORDERS, records=Missing("no leader")), _CUSTOMERS)),
        replace(GOOD, empties=(replace(_ORDERS, readers=Missing("not listed")), _CUSTOMERS)),
        replace(GOOD, uncommitted=("customers-1",)),
    ],
)
def test_what_is_not_known_is_inconclusive(reading: SwapReading) -> None:
    """Missing data is never a yes."""
    assert may_swap(reading).outcome is Outcome.INCONCLUSIVE


def test_a_known_reset_decides_where_a_partition_without_offset_begins() -> None:
    """The plan then sets it explicitly."""
    assert may_swap(replace(GOOD, uncommitted=("customers-1",), reset="latest")).outcome is Outcome.PROCEED


def test_the_name_of_an_empty_topic_does_not_begin_like_an_internal_one() -> None:
    """Prefix rules take app-…-repartition for an internal topic."""
    assert not empty_topic_name("app-in", "app").startswith("app-")
