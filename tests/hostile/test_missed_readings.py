"""A supervisor that does not answer for a moment costs a write nothing; the write itself is sent once."""

import logging
import socket
import xmlrpc.client
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from lab.fakes import FakeSupervisor, Reply, answer

_STOPPED, _RUNNING = 0, 20
_PROCESS: dict[str, Any] = {
    "group": "orders-1",
    "name": "orders-1",
    "start": 1_795_234_658,
    "stop": 0,
    "now": 1_795_234_925,
    "pid": 0,
    "spawnerr": "",
    "description": "",
    "exitstatus": 0,
}


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "READ_AGAIN_S", 1.0)
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.02)


def process(state: int, name: str) -> Reply:
    """The one program in a state."""
    of = _PROCESS | {"state": state, "statename": name}
    return answer(xmlrpc.client.dumps(([of],), methodresponse=True).encode())


def hangs_up(_: socket.socket) -> None:
    """No answer."""


def in_turn(replies: Iterable[Reply]) -> Reply:
    """One reply after another; the last one for ever."""
    left = list(replies)

    def reply(connection: socket.socket) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection)

    return reply


@pytest.fixture
def deployer(tmp_path: Path) -> Callable[[str], SupervisordDeployer]:
    """A deployer for real of one instance behind a URL."""

    def made(url: str) -> SupervisordDeployer:
        entry = {
            "kind": "supervisord",
            "url": url,
            "instances": [
                {
                    "name": "orders-1",
                    "program": "orders-1",
                    "directory": str(tmp_path),
                    "metrics": "http://127.0.0.1:1/jolokia",
                }
            ],
            "releases": {"3.4.1": str(tmp_path)},
            "topology": ["true"],
        }
        return SupervisordDeployer(SupervisordSettings.model_validate(entry), application_id="orders", dry_run=False)

    return made


def test_a_supervisor_that_is_away_for_a_moment_ends_no_stop(
    deployer: Callable[[str], SupervisordDeployer], caplog: pytest.LogCaptureFixture
) -> None:
    """Before its request and after it; the log shows each missed reading, and the request is sent once."""
    done = answer(xmlrpc.client.dumps((True,), methodresponse=True).encode())
    replies = (hangs_up, hangs_up, process(_RUNNING, "RUNNING"), done, hangs_up, process(_STOPPED, "STOPPED"))
    with FakeSupervisor(in_turn(replies)) as fake, caplog.at_level(logging.WARNING):
        deployer(fake.url).stop("orders-1")
    assert [b"supervisor.stopProcess" in one for one in fake.requests].count(True) == 1
    said = [one.getMessage() for one in caplog.records]
    assert len(said) == 3
    assert all(one.startswith("reads again (0 of 1 s): supervisord: ") for one in said), said


def test_a_write_without_an_answer_is_not_sent_again(deployer: Callable[[str], SupervisordDeployer]) -> None:
    """What it did is not known."""
    with FakeSupervisor(in_turn((process(_RUNNING, "RUNNING"), hangs_up))) as fake, pytest.raises(Unreachable):
        deployer(fake.url).stop("orders-1")
    assert [b"supervisor.stopProcess" in one for one in fake.requests].count(True) == 1
