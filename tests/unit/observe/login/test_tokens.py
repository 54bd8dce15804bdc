"""Tokens with client credentials, from a fake endpoint: requested once, again in time; each failure is one sentence."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.observe.kafka.clients import python_config
from kstreams_runbooks.observe.login.tokens import Tokens, client_credentials, request_token
from lab.fake_tokens import FakeTokenEndpoint, fake_token_endpoint

BROKER = {"bootstrap.servers": "b:9092", "security.protocol": "SASL_SSL"}
HTTPS = "https://login.example.org/token"


@pytest.fixture
def endpoint() -> Iterator[FakeTokenEndpoint]:
    with fake_token_endpoint("runbooks") as made:
        yield made


def test_kafka_python_gets_a_provider_with_its_first_token(endpoint: FakeTokenEndpoint) -> None:
    """One request for several connections of the process; the settings of the endpoint stay behind."""
    config = BROKER | endpoint.settings(sasl_oauthbearer_scope="kafka", sasl_oauthbearer_extensions="a=b, pool=c=d")
    first, second = python_config(config), python_config(config)
    assert {name for name in first if name.startswith("sasl")} == {"sasl_mechanism", "sasl_oauth_token_provider"}
    provider = second["sasl_oauth_token_provider"]
    assert [provider.token(), first["sasl_oauth_token_provider"].token()] == endpoint.tokens * 2
    assert provider.extensions() == {"a": "b", "pool": "c=d"}
    assert endpoint.requests == [{"grant_type": ["client_credentials"], "scope": ["kafka"]}]


def test_a_token_is_requested_again_before_it_ends(
    endpoint: FakeTokenEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 % of its lifetime, as Kafka's own clients do."""
    clock = [1_000.0]
    monkeypatch.setattr("kstreams_runbooks.observe.login.tokens.time.monotonic", lambda: clock[0])
    tokens = Tokens(client_credentials(endpoint.settings()))
    # The exchange itself has a deadline by the same clock, so it stands still.
    assert tokens.token() == endpoint.tokens[0]
    clock[0] += 0.8 * endpoint.lifetime_s - 1
    assert tokens.token() == endpoint.tokens[0]
    clock[0] += 2
    assert tokens.token() == endpoint.tokens[1]


def test_a_secret_that_is_wrong_is_named_and_not_shown(endpoint: FakeTokenEndpoint) -> None:
    wrong = endpoint.settings() | {"sasl.oauthbearer.client.secret": "not-this-one"}
    with pytest.raises(Unreachable) as refused:
        python_config(BROKER | wrong)
    assert str(refused.value) == (
        "token endpoint: does not accept client runbooks (invalid_client); correct sasl.oauthbearer.client.id, "
        f"sasl.oauthbearer.client.secret or sasl.oauthbearer.scope ({endpoint.url})"
    )
    assert "not-this-one" not in repr(client_credentials(wrong))


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"access_token": 7}'),
        (200, json.dumps({"access_token": "a\x01auth=Bearer b"}).encode()),
        (500, b'{"access_token": "a.b.c"}'),
        (302, b""),
    ],
)
def test_an_answer_without_a_token_is_one_sentence(endpoint: FakeTokenEndpoint, answer: tuple[int, bytes]) -> None:
    """Also a token with a character that would end the SASL message."""
    endpoint.answer = answer
    with pytest.raises(Unreachable, match=rf"HTTP {answer[0]} without an access_token \(expected 200 with one\)"):
        request_token(client_credentials(endpoint.settings()))


@pytest.mark.parametrize("lifetime", [None, 0, -5, True, "soon"])
def test_a_lifetime_that_is_no_time_counts_as_five_minutes(endpoint: FakeTokenEndpoint, lifetime: object) -> None:
    endpoint.answer = (200, json.dumps({"access_token": "a.b.c", "expires_in": lifetime}).encode())
    assert request_token(client_credentials(endpoint.settings())) == ("a.b.c", 300.0)


def test_an_endpoint_that_is_away_is_one_sentence() -> None:
    away = FakeTokenEndpoint("runbooks", url="http://127.0.0.1:9/token")
    with pytest.raises(
        Unreachable, match=r"token endpoint: connection refused; no process .* \(http://127.0.0.1:9/token\)$"
    ):
        python_config(BROKER | away.settings())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sasl.oauthbearer.method": ""}, r"sasl\.oauthbearer\.method is default \(expected oidc\)"),
        ({"sasl.oauthbearer.client.id": ""}, r"no sasl\.oauthbearer\.client\.id, but sasl\.mechanism is OAUTHBEARER"),
        ({"sasl.oauthbearer.client.secret": ""}, r"no sasl\.oauthbearer\.client\.secret"),
        ({"sasl.oauthbearer.token.endpoint.url": ""}, r"no sasl\.oauthbearer\.token\.endpoint\.url"),
        ({"sasl.oauthbearer.token.endpoint.url": "ftp://x/"}, r"must begin with http:// or https://"),
        ({"sasl.oauthbearer.token.endpoint.url": "https://u:p@x/"}, "has a login"),
        ({"sasl.oauthbearer.token.endpoint.url": "http://login.example.org/"}, "in clear text; give an https address"),
        ({"sasl.oauthbearer.extensions": "a"}, "is not key=value"),
        ({"sasl.oauthbearer.config": "x"}, r"sasl\.oauthbearer\.config is not supported"),
    ],
)
def test_settings_that_give_no_token_are_refused(changes: dict[str, Any], message: str) -> None:
    settings = FakeTokenEndpoint("runbooks", url=HTTPS).settings() | changes
    with pytest.raises(BadInput, match=message) as refused:
        python_config(BROKER | settings)
    assert (settings["sasl.oauthbearer.client.secret"] or "hush") not in str(refused.value)
