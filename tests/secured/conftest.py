"""One stack on a secured cluster for all of them."""

import os
from collections.abc import Iterator

import pytest
from lab.application import TO_RELEASE
from lab.stack import Parts
from world.secured_stack import SecuredStack, secured_stack

_RATE = 50
_WHOLE = "test_whole_runs.py"


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredStack]:
    """Broker with an authorizer, two instances, and Airflow if a whole run is among the tests; a login for each."""
    parts = Parts(
        airflow=any(item.path.name == _WHOLE for item in request.session.items),
        traffic_rate=_RATE,
        built=bool(os.environ.get("TEST_BUILT")),
    )
    with secured_stack(tmp_path_factory, parts, TO_RELEASE) as made:
        yield made
