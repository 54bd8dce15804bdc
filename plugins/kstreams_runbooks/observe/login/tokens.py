"""Tokens for OAUTHBEARER with client credentials, for kafka-python, which has none of its own.

The settings are librdkafka's (`sasl.oauthbearer.method=oidc`), which gets its tokens itself with them. Sources: RFC
6749, section 4.4 (client credentials); RFC 7628; librdkafka, CONFIGURATION.md; KIP-768.
"""

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput, LoginRefused, Unreachable
from kstreams_runbooks.model.web_address import WebAddress, web_address
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits
from kstreams_runbooks.wording import outside

MECHANISM: Final = "OAUTHBEARER"
SETTINGS: Final = frozenset(
    {
        "https.ca.location",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.extensions",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
    }
)
_NEEDED: Final = tuple(f"sasl.oauthbearer.{name}" for name in ("client.id", "client.secret", "token.endpoint.url"))
_LIMITS: Final = ExchangeLimits(body_bytes=MIB)
_OK: Final = 200
_REFUSED: Final = frozenset({400, 401, 403})
# Of a token's lifetime, as Kafka's clients (sasl.login.refresh.window.factor).
_FRESH: Final = 0.8
_LIFETIME_S: Final = 300.0
# RFC 6750, section 2.1: no character that ends a SASL message.
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,100000}=*")


@dataclass(frozen=True)
class ClientCredentials:
    """A client of a token endpoint; its secret is in no message."""

    at: WebAddress
    url: str
    client_id: str
    secret: str = field(repr=False)
    scope: str = ""
    extensions: tuple[tuple[str, str], ...] = ()
    ca_file: str = ""


def client_credentials(config: Mapping[str, Any]) -> ClientCredentials:
    """Those of a librdkafka configuration; BadInput if one is missing, or would send the secret in clear text."""
    method = str(config.get("sasl.oauthbearer.method") or "default").lower()
    if method != "oidc":
        raise BadInput(
            f"Kafka configuration: sasl.oauthbearer.method is {outside(method, 40)} (expected oidc): a token comes "
            f"from a token endpoint; set it to oidc, with {', '.join(_NEEDED)}"
        )
    if missing := [name for name in _NEEDED if not config.get(name)]:
        raise BadInput(f"Kafka configuration: no {missing[0]}, but sasl.mechanism is {MECHANISM}; set it")
    url = str(config["sasl.oauthbearer.token.endpoint.url"])
    try:
        at = web_address(url)
    except ValueError as error:
        raise BadInput(f"Kafka configuration: sasl.oauthbearer.token.endpoint.url {error}; correct it") from None
    if at.user is not None or at.connection:
        raise BadInput(
            "Kafka configuration: sasl.oauthbearer.token.endpoint.url has a login; give it as "
            "sasl.oauthbearer.client.id and sasl.oauthbearer.client.secret"
        )
    if replace(at, user="").sends_login_openly:
        raise BadInput(
            "Kafka configuration: sasl.oauthbearer.token.endpoint.url would send the client's secret in clear text; "
            f"give an https address ({url})"
        )
    return ClientCredentials(
        at,
        url,
        str(config["sasl.oauthbearer.client.id"]),
        str(config["sasl.oauthbearer.client.secret"]),
        str(config.get("sasl.oauthbearer.scope") or ""),
        extensions(str(config.get("sasl.oauthbearer.extensions") or "")),
        str(config.get("https.ca.location") or ""),
    )


def extensions(given: str) -> tuple[tuple[str, str], ...]:
    """The names and values of sasl.oauthbearer.extensions; BadInput if it is not key=value,key=value."""
    found = [tuple(one.strip().partition("=")) for one in given.split(",") if one.strip()]
    if any(not (key and equals and value) for key, equals, value in found):
        raise BadInput("Kafka configuration: sasl.oauthbearer.extensions is not key=value,key=value; correct it")
    return tuple((key, value) for key, _, value in found)


class Tokens:
    """The token of one client, requested again when most of its lifetime has passed."""

    def __init__(self, client: ClientCredentials) -> None:
        self._client = client
        self._one = threading.Lock()
        self._token = ""
        self._until = 0.0

    def token(self) -> str:
        """A valid token; Unreachable in one sentence if the endpoint gives none."""
        with self._one:
            if not self._token or time.monotonic() >= self._until:
                self._token, lifetime_s = request_token(self._client)
                self._until = time.monotonic() + lifetime_s * _FRESH
            return self._token


# One process opens several connections with one login.
_KNOWN: dict[ClientCredentials, Tokens] = {}
_ONE = threading.Lock()


def token_provider(config: Mapping[str, Any]) -> Any:
    """kafka-python's `sasl_oauth_token_provider` for a librdkafka configuration, with its first token.

    Requested here, a token that the endpoint refuses is one sentence; inside a client it would be a timeout.
    """
    from kafka.net.sasl.oauth import AbstractTokenProvider

    client = client_credentials(config)
    with _ONE:
        tokens = _KNOWN.setdefault(client, Tokens(client))
    tokens.token()

    class Provider(AbstractTokenProvider):  # type: ignore[misc] # kafka-python has no types
        def token(self) -> str:
            return tokens.token()

        def extensions(self) -> dict[str, str]:
            return dict(client.extensions)

    return Provider()


def request_token(client: ClientCredentials) -> tuple[str, float]:
    """A new token and its lifetime in seconds; Unreachable if the endpoint does not give one."""
    from kstreams_runbooks.wire.http import NoAnswer, post

    form = {"grant_type": "client_credentials", **({"scope": client.scope} if client.scope else {})}
    at = WebAddress(
        client.at.scheme, client.at.host, client.at.port, client.at.path, user=client.client_id, password=client.secret
    )
    body = urlencode(form).encode()
    try:
        answer = post(at, at.path or "/", body, "application/x-www-form-urlencoded", _LIMITS, ca_file=client.ca_file)
    except NoAnswer as error:
        raise Unreachable(
            f"token endpoint: {error}; start it, or correct sasl.oauthbearer.token.endpoint.url or its CA, "
            f"https.ca.location ({client.url})"
        ) from None
    try:
        found = json_document(answer.body.decode("utf-8", "replace"))
    except BadInput:
        found = None
    document = found if isinstance(found, dict) else {}
    if answer.status in _REFUSED:
        why = outside(document.get("error") or f"HTTP {answer.status}", 80)
        raise LoginRefused(
            f"token endpoint: does not accept client {outside(client.client_id, 80)} ({why}); correct "
            "sasl.oauthbearer.client.id, sasl.oauthbearer.client.secret or sasl.oauthbearer.scope "
            f"({client.url})"
        )
    token, lifetime_s = document.get("access_token"), document.get("expires_in", _LIFETIME_S)
    if answer.status != _OK or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise Unreachable(
            f"token endpoint: HTTP {answer.status} without an access_token (expected 200 with one); is it a token "
            f"endpoint? ({client.url})"
        )
    is_time = isinstance(lifetime_s, int | float) and not isinstance(lifetime_s, bool) and lifetime_s > 0
    return token, float(lifetime_s) if is_time else _LIFETIME_S
