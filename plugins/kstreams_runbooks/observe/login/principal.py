"""The principal that a broker sees behind a configuration."""

from collections.abc import Mapping
from typing import Any

_WITH_A_USER = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"})


def principal_of(config: Mapping[str, Any]) -> str:
    """`User:` with the name of the login, by librdkafka's settings; empty if only the broker knows it.

    With a certificate it is the subject as the broker's `ssl.principal.mapping.rules` map it, with a token the claim
    that the broker takes it from (`sasl.oauthbearer.sub.claim.name`). Without a login it is `User:ANONYMOUS`.
    """
    protocol = str(config.get("security.protocol") or "PLAINTEXT").upper()
    if protocol.startswith("SASL_"):
        mechanism = str(config.get("sasl.mechanism") or config.get("sasl.mechanisms") or "GSSAPI").upper()
        user = str(config.get("sasl.username") or "")
        return f"User:{user}" if mechanism in _WITH_A_USER and user else ""
    return "" if config.get("ssl.certificate.location") else "User:ANONYMOUS"
