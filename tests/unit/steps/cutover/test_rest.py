"""A hold that is given up stays so, and nothing is read from a point that was not noted."""

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.steps.cutover.rest import given_up_otherwise, point_of, require_not_given_up
from kstreams_runbooks.steps.run.run import Run
from world.two_holds import two_holds


def test_a_point_is_there_once_it_is_noted(run: Run) -> None:
    """A rerun gets the ends of the first time."""
    with pytest.raises(Refused, match="has not noted a point: clear note_point"):
        point_of(run)
    noted = NotedEnds(7, (NotedEnd("totals", 0, 0, 5),))
    run.ledger.remember(run.key, "ends at the point", encode(noted))
    assert point_of(run) == noted


def test_a_hold_that_was_given_up_is_not_begun_again(run: Run) -> None:
    """Of another hold nothing follows from that."""
    first, second = two_holds().input_holds
    require_not_given_up(run, first)
    run.ledger.remember(run.key, "hold given up 1", "no moment at rest")
    with pytest.raises(Refused, match=r"given up its hold 1 \(no moment at rest\); trigger a new run"):
        require_not_given_up(run, first)
    require_not_given_up(run, second)


def test_nothing_is_given_up_before_the_copier_is_touched(run: Run) -> None:
    """The error stays as it is: an approval that is missing stops no copier."""
    first, _ = two_holds().input_holds

    def fail() -> None:
        with given_up_otherwise(run, first):
            raise Refused("no approval")

    with pytest.raises(Refused, match=r"^no approval$"):
        fail()
    require_not_given_up(run, first)
