"""One attempt to log in at one address: name, port, TLS, protocol, login; the result is the first that fails.

Sources: Apache Kafka protocol guide, "SASL Authentication Sequence"; RFC 5802 (SCRAM).
"""

import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kstreams_runbooks.observe.login.exchange import Exchange, NotKafka
from kstreams_runbooks.observe.login.tls import SETTINGS, anyone_context, client_context, refused_certificate

# If several addresses refuse, the operator needs the reason with the lowest rank.
REFUSED, OTHER_PROGRAM, NOTHING_LISTENS, NO_ANSWER = range(4)

_METADATA: Final = 3
_UNSUPPORTED_MECHANISM: Final = 33
_NO_SASL_HERE: Final = 34


class Server(NamedTuple):
    """One bootstrap server."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> "Server":
        """HOST, HOST:PORT or [IPV6]:PORT, with or without a protocol in front; the default port is 9092."""
        address = text.rpartition("://")[2]
        host, colon, port = address.rpartition(":")
        if not colon or address.endswith("]"):
            host, port = address, "9092"
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Refusal(NamedTuple):
    """Why an address did not accept the login."""

    rank: int
    sentence: str


def attempt(server: Server, settings: Mapping[str, Any], until: float) -> Refusal | None:
    """None if the address accepts the login; `settings` are kafka-python's, `until` is a time of time.monotonic()."""
    began = time.monotonic()
    try:
        rank, why = _enter(server, settings, until) or (0, "")
    except ssl.SSLCertVerificationError as error:
        rank, why = REFUSED, _certificate(error, server, settings, until)
    except ssl.SSLError as error:
        rank, why = _not_this_tls(error, server, settings, until)
    except NotKafka as error:
        rank, why = _other_protocol(server, settings, until) or (
            OTHER_PROGRAM,
            f"another program listens there, it {error}; correct bootstrap.servers",
        )
    except TimeoutError:
        waited = f"{time.monotonic() - began:.0f} s"
        rank, why = NO_ANSWER, f"no answer within {waited}; is the broker up and reachable from here?"
    except OSError as error:
        rank, why = _of_network(error, server, settings, until)
    except ValueError as error:
        # A name that cannot be looked up at all, such as a..b.
        rank, why = NOTHING_LISTENS, f"{server.host!r} is not a host name ({error}); correct bootstrap.servers"
    return Refusal(rank, f"Kafka at {server}: {why}") if why else None


_Found = tuple[int, str]


def _of_network(error: OSError, server: Server, settings: Mapping[str, Any], until: float) -> _Found:
    reason = error.strerror or type(error).__name__
    if isinstance(error, socket.gaierror):
        return NOTHING_LISTENS, f"the host name cannot be resolved ({reason}); correct bootstrap.servers"
    if isinstance(error, ConnectionRefusedError):
        return (
            NOTHING_LISTENS,
            "nothing listens on this port (connection refused); start the broker, or correct bootstrap.servers",
        )
    if isinstance(error, ConnectionResetError):
        return _other_protocol(server, settings, until) or (
            OTHER_PROGRAM,
            "the connection is reset at once; is this the port of a Kafka broker?",
        )
    return NOTHING_LISTENS, f"cannot be reached from here ({reason}); correct bootstrap.servers, or the network"


def _enter(server: Server, settings: Mapping[str, Any], until: float) -> _Found | None:
    from kafka.protocol.metadata import ApiVersionsRequest

    protocol = _protocol(settings)
    tls = client_context(settings) if protocol.endswith("SSL") else None
    with Exchange.open(server.host, server.port, until, tls) as broker:
        known = broker.ask(ApiVersionsRequest(), 0)
        if _METADATA not in {one.api_key for one in known.api_keys or ()}:
            return OTHER_PROGRAM, "this is the port of a controller, which serves no clients; give that of a broker"
        if protocol.startswith("SASL_"):
            return _log_in(server, broker, settings, until)
        return None if _mechanisms(broker) is None else _other_protocol(server, settings, until)


def _log_in(server: Server, broker: Exchange, settings: Mapping[str, Any], until: float) -> _Found | None:
    from kafka.errors import KafkaError
    from kafka.net.sasl import get_sasl_mechanism
    from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

    name = str(settings.get("sasl_mechanism") or "GSSAPI")
    answer = broker.ask(SaslHandshakeRequest(mechanism=name), 1)
    if answer.error_code == _NO_SASL_HERE:
        return _other_protocol(server, settings, until)
    offered = sorted(answer.mechanisms or ())
    if answer.error_code == _UNSUPPORTED_MECHANISM or name not in offered:
        return (
            REFUSED,
            f"the mechanism {name} is not enabled on this port; set sasl.mechanism to one that is "
            f"({', '.join(offered)}) {SETTINGS}",
        )
    try:
        login = get_sasl_mechanism(name)(host=server.host, **settings)
        steps = 0
        while not login.is_done():
            answer = broker.ask(SaslAuthenticateRequest(login.auth_bytes()), 1)
            if answer.error_code:
                return REFUSED, _login(name, steps, settings, answer.error_message)
            login.receive(answer.auth_bytes)
            steps += 1
    except (KafkaError, AssertionError, ImportError, KeyError, TypeError, ValueError):
        # The client lacks something for this mechanism, or rejects the broker: it reports that when it connects.
        return None
    return None


def _login(mechanism: str, steps: int, settings: Mapping[str, Any], reason: str | None) -> str:
    """A SCRAM broker refuses an unknown user at once, and a wrong password only at the proof (RFC 5802, section 3)."""
    user = settings.get("sasl_plain_username", "")
    if mechanism.startswith("SCRAM-"):
        if steps:
            return f"the password of login {user} is wrong ({mechanism}); correct sasl.password {SETTINGS}"
        return (
            f"the broker has no login {user} for {mechanism}; correct sasl.username or sasl.mechanism {SETTINGS}, or "
            "have the login created"
        )
    if mechanism == "PLAIN":
        return (
            f"the broker does not accept login {user}: the user or the password is wrong (it does not report which); "
            f"correct sasl.username and sasl.password {SETTINGS}"
        )
    if mechanism == "OAUTHBEARER":
        return (
            "the broker does not accept the token of sasl.oauthbearer.client.id; correct it, its scope or the token "
            f"endpoint {SETTINGS}, what the broker expects of a token (issuer, audience), or the clock of the endpoint "
            "or of the broker, by which the token may have expired"
        )
    return f"the broker does not accept the login by {mechanism} ({reason or 'no reason given'}); correct it {SETTINGS}"


def _mechanisms(broker: Exchange) -> tuple[str, ...] | None:
    """The mechanisms that a port offers, None for a port without login. It does not log in: none has this name."""
    from kafka.protocol.sasl import SaslHandshakeRequest

    answer = broker.ask(SaslHandshakeRequest(mechanism="?"), 1)
    return None if answer.error_code == _NO_SASL_HERE else tuple(sorted(answer.mechanisms or ()))


def _other_protocol(server: Server, settings: Mapping[str, Any], until: float) -> _Found | None:
    """The port's security.protocol if it differs from the given one; None if it is the same or not Kafka."""
    given = _protocol(settings)
    for layer, context in (("SSL", anyone_context()), ("PLAINTEXT", None)):
        try:
            with Exchange.open(server.host, server.port, until, context) as broker:
                mechanisms = _mechanisms(broker)
        except (NotKafka, OSError):
            continue
        speaks = layer if mechanisms is None else f"SASL_{layer}"
        if speaks == given:
            return None
        offered = f" and sasl.mechanism to one of {', '.join(mechanisms)}" if mechanisms else ""
        return (
            REFUSED,
            f"the port speaks {speaks}, but security.protocol is {given}; set it to {speaks}{offered} {SETTINGS}, or "
            "give another port",
        )
    return None


def _not_this_tls(error: ssl.SSLError, server: Server, settings: Mapping[str, Any], until: float) -> _Found:
    reason = (error.reason or type(error).__name__).replace("_", " ").lower()
    if "certificate" in reason:
        return (
            REFUSED,
            f"the broker does not accept the client's certificate, or asks for one ({reason}); set "
            f"ssl.certificate.location and ssl.key.location {SETTINGS}",
        )
    return _other_protocol(server, settings, until) or (
        OTHER_PROGRAM,
        f"no TLS connection ({reason}); is this the port of a Kafka broker with TLS?",
    )


def _certificate(error: ssl.SSLCertVerificationError, server: Server, settings: Mapping[str, Any], until: float) -> str:
    def names() -> str:
        # This verifies its CA again, not its host.
        context = client_context(settings)
        context.check_hostname = False
        try:
            with Exchange.open(server.host, server.port, until, context) as broker:
                return ", ".join(broker.names()) or "no host at all"
        except (OSError, NotKafka):
            return "another host"

    return refused_certificate(error, server.host, settings.get("ssl_cafile"), names)


def _protocol(settings: Mapping[str, Any]) -> str:
    return str(settings.get("security_protocol") or "PLAINTEXT")
