"""What the hostile cases share: one broker with logins and rights, started by the first test that asks for it."""

from collections.abc import Iterator

import pytest
from lab.secured import Secured, SecuredPorts
from world.ports import SECURED, port


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with SASL_SSL and StandardAuthorizer; no login may do anything until it is granted."""
    broker = Secured(tmp_path_factory.mktemp("secured"), SecuredPorts(port(SECURED)))
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()
