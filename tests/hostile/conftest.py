"""What the hostile cases share: one broker with logins and rights, started by the first test that asks for it."""

import os
from collections.abc import Iterator

import pytest
from lab.secured import Secured, SecuredPorts

# Above every port of the stack, so that both may run.
_OFFSET = 100
_PORT_BASE = 27_000


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with SASL_SSL and StandardAuthorizer; no login may do anything until it is granted."""
    base = int(os.environ.get("TEST_PORT_BASE") or _PORT_BASE)
    broker = Secured(tmp_path_factory.mktemp("secured"), SecuredPorts(base + _OFFSET))
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()
