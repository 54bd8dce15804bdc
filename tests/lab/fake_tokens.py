"""A fake token endpoint: it gives unsecured tokens (alg none) to the clients that it knows, over http or https.

A real one signs its tokens, and a production broker checks the signature, the issuer and the audience.
"""

import base64
import json
import secrets
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs


@dataclass
class FakeTokenEndpoint:
    """What it knows and what it was asked; `lifetime_s` of its tokens may be negative, and `answer` replaces them."""

    client_id: str
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    lifetime_s: float = 300.0
    answer: tuple[int, bytes] | None = None
    requests: list[dict[str, list[str]]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    url: str = ""

    def settings(self, **changes: str) -> dict[str, Any]:
        """Of a connection, in librdkafka's names; `_` stands for `.`."""
        return {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": self.client_id,
            "sasl.oauthbearer.client.secret": self.secret,
            "sasl.oauthbearer.token.endpoint.url": self.url,
            **{name.replace("_", "."): value for name, value in changes.items()},
        }

    def made(self, authorization: str, form: dict[str, list[str]]) -> tuple[int, bytes]:
        """The answer to one request."""
        self.requests.append(form)
        if self.answer is not None:
            return self.answer
        known = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        if authorization != f"Basic {known}":
            return 401, b'{"error": "invalid_client"}'
        now = time.time()
        claims = {"sub": self.client_id, "iat": now - 1, "exp": now + self.lifetime_s, "jti": secrets.token_hex(4)}
        token = f"{_part({'alg': 'none'})}.{_part(claims)}."
        self.tokens.append(token)
        return 200, json.dumps({"access_token": token, "expires_in": self.lifetime_s, "token_type": "Bearer"}).encode()


def _part(values: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


@contextmanager
def fake_token_endpoint(client_id: str, keystore: Path | None = None) -> Iterator[FakeTokenEndpoint]:
    """One that listens; with a `keystore` (PEM, key and certificate) over https."""
    endpoint = FakeTokenEndpoint(client_id)

    class FakeHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, body = endpoint.made(self.headers.get("Authorization", ""), form)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), FakeHandler) as server:
        if keystore is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(keystore)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        endpoint.url = f"http{'s' if keystore else ''}://127.0.0.1:{server.server_address[1]}/token"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield endpoint
        finally:
            server.shutdown()
