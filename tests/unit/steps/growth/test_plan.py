"""What the form of a growth asks for."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.growth.plan import growth_asked


def asked(**params: Any) -> Any:
    """What a form asks for."""
    return growth_asked(SimpleNamespace(record=SimpleNamespace(params=params)))  # type: ignore[arg-type]


def test_the_form_names_a_number_and_inputs() -> None:
    found = asked(partitions=12, topics=" orders, customers,orders ", uneven=True)
    assert (found.wanted, found.topics, found.uneven) == (12, ("orders", "customers"), True)
    assert asked(partitions=12, topics=None).topics == ()


@pytest.mark.parametrize("params", [{"partitions": 0}, {"partitions": True}, {"partitions": "12"}, {}])
def test_a_bad_number_is_bad_input(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="expected a number above 0"):
        asked(**params)


def test_commas_alone_are_no_inputs() -> None:
    with pytest.raises(BadInput, match="expected names with commas between them"):
        asked(partitions=12, topics=" , ")
