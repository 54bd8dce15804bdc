"""Applications as live runs begin with them: on the old release, nobody has touched them."""

from collections.abc import Iterator

import pytest
from lab.afresh import afresh
from lab.application import Deployed
from lab.stack import Stack
from world.given import declared_as

# For cases that are about neither how long a gate stays good nor how many bounces there are.
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release that nobody has touched; for cases that change nothing."""
    afresh(stack, Deployed())
    return stack


@pytest.fixture
def short(stack: Stack) -> Iterator[Stack]:
    """The same, made anew, with gates that open soon."""
    afresh(stack, Deployed())
    with declared_as(stack, limits=_SHORT):
        yield stack


@pytest.fixture
def one_bounce(short: Stack) -> Iterator[Stack]:
    """The same, declared without the formats that need a second bounce."""
    with declared_as(short, table_aggregations="no", foreign_key_joins="no"):
        yield short
