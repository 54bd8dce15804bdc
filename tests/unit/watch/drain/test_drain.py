"""The loop of every wait for a drain: what it keeps, what it is bound to, and when it looks again."""

from collections.abc import Iterable
from typing import cast

from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading, Pause
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe.application.drain import DrainReader
from kstreams_runbooks.watch.drain.drain import DrainWatch

QUESTION = DrainQuestion(2, Pause("declared", "a test", "nobody writes"))
# What was read before needs neither a broker nor a reader.
NOBODY = cast("DrainReader", None)


def reading(topic_id: str = "a", records: int = 0) -> DrainReading:
    row = PartitionLag("orders", 0, "source", "ok", topic_id=topic_id, committed=3, records=records)
    return DrainReading(Taken(0, "a test"), (row,), {"orders-0": 3}, {"orders-0": 3}, {}, group_state="Empty")


class Prepared(DrainWatch):
    """Readings that were taken before."""

    def __init__(self, readings: Iterable[DrainReading]) -> None:
        super().__init__(NOBODY, {}, QUESTION, 0)
        self._prepared = iter(readings)

    def read(self) -> DrainReading:
        """The next of them."""
        return next(self._prepared)


def test_a_topic_is_compared_with_the_first_reading_however_long_ago() -> None:
    """The readings in between are not kept, and each of them alone looks well."""
    watch = Prepared([reading("a", 1)] + [reading("b", 1)] * 200)
    outcomes = [watch.look().outcome for _ in range(201)]
    assert outcomes == [Outcome.WAIT] + [Outcome.INCONCLUSIVE] * 200
    assert (watch.taken, len(watch.readings)) == (201, 60)
    assert {one.topic_ids["orders"] for one in watch.readings} == {"b"}
    assert [one.id for one in watch.verdict.findings] == ["topic-recreated"]


def test_a_topic_that_comes_later_is_bound_when_it_is_first_seen() -> None:
    """A reading that lacked everything binds nothing."""
    nothing = DrainReading(Taken(0, "a test"), (), {}, {}, {}, problems=("no answer",))
    watch = Prepared([nothing, reading("a", 1), reading("b", 1)])
    bound = [(watch.look(), dict(watch.question.topic_ids))[1] for _ in range(3)]
    assert bound == [{}, {"orders": "a"}, {"orders": "a"}]
