"""An application that a run has moved to control topics is named until its fleet entry declares them."""

import pytest
from kstreams_runbooks.decide.status.inputs import with_inputs
from kstreams_runbooks.decide.status.status import Status, Word
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, PartitionLag

_HEALTHY = Status("healthy", "0 records to read (limit 10,000)")


def lag(**topics: LagRole) -> ApplicationLag:
    """What its group reads, by role."""
    rows = tuple(PartitionLag(topic.replace("_", "-"), 0, role, "ok") for topic, role in topics.items())
    return ApplicationLag("orders", "orders-id", "classic", "Stable", rows)


def judged(read: ApplicationLag, found: Status = _HEALTHY, declared: tuple[str, ...] = ("orders", "joined")) -> Status:
    """The status of an application with one setting that names an input, and an output."""
    return with_inputs(found, read, ("orders",), declared)


def test_a_control_topic_in_place_of_the_declared_input_is_named() -> None:
    """With both topics, and what has to be corrected."""
    found = judged(lag(orders_control="source"))
    assert found.word == "misdeclared"
    assert "reads orders-control, and not orders as its fleet entry declares" in found.sentence


@pytest.mark.parametrize(
    "read",
    [
        lag(orders="source"),
        # A topic more than declared is no exchange.
        lag(orders="source", rates="source"),
        # Nothing is read: a global store reads through no group.
        lag(),
        # Its own output and internal topics.
        lag(joined="source"),
        lag(orders_id_x_repartition="repartition"),
        lag(old="orphaned"),
    ],
)
def test_what_is_no_exchange_is_not_named(read: ApplicationLag) -> None:
    """Near misses: they stay healthy."""
    assert judged(read) == _HEALTHY


@pytest.mark.parametrize("word", ["failed", "stopped", "unknown", "recreated"])
def test_a_fault_comes_first(word: Word) -> None:
    """The declaration can wait."""
    assert judged(lag(orders_control="source"), Status(word, "a fault")).word == word
