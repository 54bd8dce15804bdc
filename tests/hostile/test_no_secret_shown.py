"""Drawn passwords of a broker, a client's key, a token endpoint and an agent: no output, argument or evidence has one.

The commands are processes of their own, as on a worker's machine; the steps write a real ledger. Broker and logins are
real, the agent and the token endpoint are fakes.
"""

import json
import logging
import os
import secrets
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.plan.looking import observe
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab.certificates import KEY_PASSWORD
from lab.fake_streams import FakeStreams
from lab.fake_tokens import FakeTokenEndpoint, fake_token_endpoint
from lab.logins import Login
from lab.secured import Secured
from world.new_ledger import new_ledger
from world.secrets_shown import arguments, with_forms

pytestmark = pytest.mark.long

APPLICATION, IN = "secret-app", "secret-in"
TOPOLOGY = (
    f"Topologies:\n  Sub-topology: 0\n    Source: a (topics: [{IN}])\n      --> k\n"
    "    Sink: k (topic: secret-out)\n      <-- a\n"
)
AGENT_PASSWORD = secrets.token_urlsafe(18)
WRONG = secrets.token_urlsafe(18)
COMMANDS = (
    ("readiness", APPLICATION, "--format", "json"),
    ("lag", APPLICATION, "--exact"),
    ("snapshot", APPLICATION),
    ("rights", "library_bump", "--application", APPLICATION),
)


@pytest.fixture(scope="module")
def login(secured: Secured) -> Login:
    for future in secured.admin().create_topics([NewTopic(name, 1) for name in (IN, "secret-out")]).values():
        future.result()
    return secured.login("secretive")


@pytest.fixture
def endpoint(secured: Secured) -> Iterator[FakeTokenEndpoint]:
    with fake_token_endpoint("secret-client", secured.certificates.server) as made:
        yield made


@pytest.fixture
def connections(secured: Secured, login: Login, endpoint: FakeTokenEndpoint) -> dict[str, dict[str, Any]]:
    """One for each way to log in, and one for each with another secret."""
    made, by_login = secured.certificates, secured.settings(login)
    by_key = {
        "bootstrap.servers": f"127.0.0.1:{secured.ports.mutual}",
        "security.protocol": "SSL",
        "ssl.ca.location": str(made.ca),
        "ssl.certificate.location": str(made.client),
        "ssl.key.location": str(made.client_key),
        "ssl.key.password": KEY_PASSWORD,
    }
    by_token = {
        "bootstrap.servers": f"127.0.0.1:{secured.ports.tokens}",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(made.ca),
        "https.ca.location": str(made.ca),
        **endpoint.settings(),
    }
    return {
        "login": by_login,
        "key": by_key,
        "token": by_token,
        "wrong login": by_login | {"sasl.password": WRONG},
        "wrong key": by_key | {"ssl.key.password": WRONG},
        "wrong token": by_token | {"sasl.oauthbearer.client.secret": WRONG},
        "a setting that no client has": by_login | {"sasl.password.callback": WRONG},
    }


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    made = FakeStreams(tmp_path, APPLICATION, TOPOLOGY, inputs=(IN,), outputs=("secret-out",))
    # Nothing listens: the login of the agent is found, and is in the request that is not sent.
    made.declare("https://connection=watched@127.0.0.1:9/jolokia")
    watched = {"conn_type": "http", "login": "watch", "password": AGENT_PASSWORD}
    return {
        "KSTREAMS_RUNBOOKS_CONFIG": str(tmp_path),
        "KSTREAMS_RUNBOOKS_LEDGER": f"sqlite:///{tmp_path / 'ledger.db'}",
        "AIRFLOW_CONN_WATCHED": json.dumps(watched),
    }


def test_no_command_shows_a_secret(
    connections: dict[str, dict[str, Any]],
    environment: dict[str, str],
    login: Login,
    endpoint: FakeTokenEndpoint,
) -> None:
    """Output, errors and the arguments of every process while it runs; the answers themselves are of real systems."""
    seen: dict[str, str] = {}
    for name, settings in connections.items():
        variables = {**os.environ, **environment}
        variables["AIRFLOW_CONN_KAFKA_SECURED"] = json.dumps({"conn_type": "kafka", "extra": settings})
        for words in COMMANDS[:1] if name not in {"login", "key", "token"} else COMMANDS:
            process = subprocess.Popen(
                [sys.executable, "-m", "kstreams_runbooks.cli", *words],
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            during = [arguments()]
            while process.poll() is None and len(during) < 50:
                time.sleep(0.1)
                during.append(arguments())
            output, _ = process.communicate(timeout=120)
            assert output
            seen[f"{name}: {' '.join(words)}"] = "\n".join([output, *during])
    shown = with_forms({login.password, KEY_PASSWORD, endpoint.secret, AGENT_PASSWORD, WRONG, *endpoint.tokens})
    assert endpoint.tokens
    assert not [(where, secret) for where, text in seen.items() for secret in shown if secret in text]


def test_neither_logs_nor_evidence_nor_tracebacks_have_a_secret(
    connections: dict[str, dict[str, Any]],
    environment: dict[str, str],
    login: Login,
    endpoint: FakeTokenEndpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first step of a run for each way to log in: none of these logins has every right, so each ends refused."""
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    texts: list[str] = []
    with caplog.at_level(logging.DEBUG):
        for number, settings in enumerate(connections.values()):
            extra = {"conn_type": "kafka", "extra": settings}
            monkeypatch.setenv("AIRFLOW_CONN_KAFKA_SECURED", json.dumps(extra))
            ledger = new_ledger(tmp_path / f"run-{number}.db")
            record = RunRecord("", "rolling_bounce", "r", APPLICATION, "secured", "ada", False, "", {}, now_ms())
            run = Run(ledger.start_run(record), "observe", 1, ledger)
            try:
                observe().act(run)
            except RunbookError as error:
                texts += ["".join(traceback.format_exception(error)), repr(error)]
            else:
                pytest.fail("a login without rights was let through")
            texts += [json.dumps(piece.payload) for piece in ledger.evidence(run.key)]
            texts.append(repr(ledger.run(run.key)))
    texts.append(caplog.text)
    shown = with_forms({login.password, KEY_PASSWORD, endpoint.secret, AGENT_PASSWORD, WRONG, *endpoint.tokens})
    assert not [secret for secret in shown if any(secret in text for text in texts)]
