"""A second listener of a stack's broker: SASL_SSL, and nothing allowed without an ACL.

Clients of the first one have no login and may do everything: so a stack's own programs go on as they are.
"""

from pathlib import Path

from confluent_kafka.admin import AdminClient

from lab.certificates import make_certificates
from lab.logins import QUIET, SCRAM, Logins
from lab.settings import Ports


class SecondListener(Logins):
    """The listener, its certificates, its logins."""

    def __init__(self, directory: Path, ports: Ports) -> None:
        super().__init__(directory, make_certificates(directory / "certificates"), ports.secured)
        self.ports = ports

    def broker(self) -> dict[str, str]:
        """Settings of the broker."""
        both = f"PLAINTEXT://127.0.0.1:{self.ports.broker},SECURED://127.0.0.1:{self.ports.secured}"
        prefix = "listener.name.secured"
        return {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": "User:ANONYMOUS",
            "listeners": f"{both},CONTROLLER://127.0.0.1:{self.ports.controller}",
            "advertised.listeners": both,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": SCRAM,
            f"{prefix}.scram-sha-512.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            f"{prefix}.ssl.keystore.type": "PEM",
            f"{prefix}.ssl.keystore.location": str(self.certificates.server),
            f"{prefix}.ssl.truststore.type": "PEM",
            f"{prefix}.ssl.truststore.location": str(self.certificates.ca),
        }

    def connect(self) -> None:
        """Reach the broker as the user without a login."""
        self._admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.ports.broker}", **QUIET})
