"""What answers in the place of Airflow costs a terminal command a stated time and size, and one sentence."""

import tracemalloc

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.terminal.airflow import client as module
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.login import Login
from lab.fakes import FakeAgent, Reply, answer, drips, floods, zeros
from tenacity import wait_none

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
ENDLESS: dict[str, tuple[Reply, str]] = {
    "a body that drips": (drips(HEAD + b"\r\n" + b" " * 10_000, 0.02), "did not end within 0.5 s"),
    "a body without end": (floods(HEAD + b"\r\n", b"[" * 65_536), "larger than 16 MiB"),
    "2 GB in 2 MB of gzip": (answer(zeros(2_048), headers=["Content-Encoding: gzip"]), "compressed"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_an_answer_is_read_within_limits(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback, no memory, no waiting."""
    reply, why = ENDLESS[case]
    monkeypatch.setattr(module, "_CALL_S", 0.5)
    monkeypatch.setattr(module, "_ATTEMPTS", 1)
    monkeypatch.setattr(module, "wait_exponential", lambda **_: wait_none())
    with FakeAgent(reply) as fake:
        api = AirflowApi(f"http://127.0.0.1:{fake.port}", Login(token="t"))  # noqa: S106 - no secret
        tracemalloc.start()
        try:
            with pytest.raises(Unreachable, match=why):
                api.run("library_bump", "run")
            assert tracemalloc.get_traced_memory()[1] < 80 * 2**20
        finally:
            tracemalloc.stop()
