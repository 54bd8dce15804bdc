"""What the cluster tells of a change, and that what it does not tell stays away."""

from types import SimpleNamespace
from typing import Any

from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.application.change_figures import read_change_figures
from kstreams_runbooks.observe.kafka.offsets import HeldPartition

_HELD = (HeldPartition("orders", 0, 5, 10, 900), HeldPartition("orders", 1, 0, 0, -1))


def reader(sizes: Any = None, held: Any = _HELD) -> SimpleNamespace:
    """A cluster with one internal topic, one input of two partitions, and what it is made to say."""
    return SimpleNamespace(
        topic_names=lambda: frozenset({"app-x-changelog", "orders", "out"}),
        topics=lambda names: tuple(TopicReading(name, "id", 2) for name in sorted(names)),
        bytes_of=lambda topics: dict.fromkeys(topics, 7) if sizes is None else sizes,
        patiently=lambda _read, _missing: held,
    )


def figures(**answers: Any) -> Any:
    return read_change_figures(
        reader(**answers),  # type: ignore[arg-type]
        restored={"app-x-changelog", "app-new-changelog"},
        inputs=["orders", "gone"],
        others={"out"},
    )


def test_every_figure_is_by_topic() -> None:
    """One that is not on the cluster has none; an empty partition is no reason to know less."""
    found = figures()
    assert found.bytes_on_disk == {"app-x-changelog": 7}
    assert found.records == {"orders": 5}
    assert found.oldest_ms == {"orders": 900}
    assert found.partitions == {"app-x-changelog": 2, "orders": 2, "out": 2}


def test_what_a_broker_does_not_tell_is_left_out() -> None:
    """Missing is never 0."""
    no = Missing("not authorized")
    assert figures(sizes=no, held=no).bytes_on_disk == figures(held=no).records == {}
    half = (HeldPartition("orders", 0, 5, 10, 900), HeldPartition("orders", 1, 0, no, no))
    assert figures(held=half).records == figures(held=half).oldest_ms == {}


def test_an_input_that_is_empty_reaches_back_to_nothing() -> None:
    """It holds no record; when its first one was written is not known."""
    found = figures(held=(HeldPartition("orders", 0, 3, 3, -1),))
    assert (found.records, found.oldest_ms) == ({"orders": 0}, {})
