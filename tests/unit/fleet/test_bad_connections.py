"""Commands of a fleet whose Airflow connection is bad: one sentence at once, and no wait for an answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput

ANYWHERE = {"bootstrap.servers": "127.0.0.1:1"}
Connect = Callable[[Any], None]


@pytest.fixture
def connect(config: Path, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Sets the extra field of the connection that the fleet's cluster names."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{config / 'ledger.db'}")

    def connect(extra: Any) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEMO", json.dumps({"conn_type": "kafka", "extra": extra}))

    return connect


@pytest.mark.parametrize("words", [("lag", "orders"), ("snapshot", "orders"), ("drain", "orders", "--watch")])
@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"bootstrap.servers": "localhost:abc"}, "bootstrap.servers: 'localhost:abc' is not a bootstrap server"),
        ({"bootstrap.servers": " "}, "bootstrap.servers: names no bootstrap server"),
        (ANYWHERE | {"security.protocol": "FOO"}, 'Invalid value "FOO" for configuration property'),
    ],
)
def test_a_connection_that_no_client_takes_is_bad_input(
    connect: Connect, words: tuple[str, ...], extra: Any, sentence: str
) -> None:
    """Also of a wait that goes on while a broker is away: this one would never end well."""
    connect(extra)
    result = CliRunner().invoke(cli, words)
    assert isinstance(result.exception, BadInput), result.exception
    assert sentence in str(result.exception)
    assert "no answer" not in result.stderr


@pytest.mark.parametrize("extra", ["[]", "null", "3"])
def test_an_extra_field_that_is_no_object_is_bad_input(connect: Connect, extra: str) -> None:
    """It is JSON all the same."""
    connect(extra)
    result = CliRunner().invoke(cli, ["drain", "orders"])
    assert isinstance(result.exception, BadInput), result.exception
    assert "Airflow connection kafka_demo: " in str(result.exception)
