"""A broker that denies by default: SASL_SSL, StandardAuthorizer, no access without an ACL, loopback only.

Its logins are made while it runs (SCRAM) and can do nothing until `grant`; `admin` may do everything. Other listeners
of the same broker present what a client must not accept: an expired certificate, one for another host, no TLS at all.
Apache Kafka documentation, "Security: Authentication using SASL", "Authorization and ACLs".
"""

import os
import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.errors import Unreachable

from lab.certificates import make_certificates
from lab.logins import QUIET, SCRAM, Login, Logins, matching
from lab.settings import CHECKOUT
from lab.supervise import inherited, log_tail, until

_READY_S = 240


@dataclass(frozen=True)
class SecuredPorts:
    """One port per listener, from the first."""

    first: int

    @property
    def secured(self) -> int:
        """SASL_SSL with a certificate for 127.0.0.1 and localhost."""
        return self.first

    @property
    def plain(self) -> int:
        """PLAINTEXT: no login, and no rights."""
        return self.first + 1

    @property
    def expired(self) -> int:
        """SASL_SSL with an expired certificate."""
        return self.first + 2

    @property
    def elsewhere(self) -> int:
        """SASL_SSL with a certificate for another host."""
        return self.first + 3

    @property
    def controller(self) -> int:
        """The controller's listener: SASL_PLAINTEXT."""
        return self.first + 4

    @property
    def tokens(self) -> int:
        """SASL_SSL with OAUTHBEARER: unsecured tokens, which no production broker accepts."""
        return self.first + 6

    @property
    def mutual(self) -> int:
        """SSL with a certificate of the client in place of a login."""
        return self.first + 5


class Secured(Logins):
    """The broker, its certificates, its logins and their rights."""

    def __init__(self, directory: Path, ports: SecuredPorts) -> None:
        super().__init__(directory, make_certificates(directory / "certificates"), ports.secured)
        self.ports = ports
        self.admin_login = Login("admin", secrets.token_urlsafe(12), "PLAIN")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """The broker's output."""
        return self.directory / "broker.log"

    def start(self) -> None:
        """Start it and return when it answers; Unreachable with its last lines if it ends or takes too long."""
        extra = self.directory / "secured.properties"
        extra.touch(mode=0o600)
        extra.write_text(self._properties(), encoding="utf-8")
        launcher = CHECKOUT / "tests" / "apps" / "broker" / "bin" / "run-broker"
        arguments = (self.directory / "data", self.ports.secured, self.ports.controller, extra)
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [str(launcher), *(str(one) for one in arguments)],
                env=inherited(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self._admin = AdminClient(self.settings(self.admin_login) | QUIET)
        until(self._answers, _READY_S, f"the secured broker answers; read {self.log}")

    def stop(self) -> None:
        """End it; its data goes with the test's directory."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise Unreachable("the secured broker ended:", *log_tail(self.log).splitlines())
        try:
            # The loaded ACLs, not just an open port.
            self._admin.describe_acls(matching(self.admin_login), request_timeout=1).result()
        except KafkaException:
            return False
        return True

    def _properties(self) -> str:
        made, ports = self.certificates, self.ports
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        name, password = self.admin_login.name, self.admin_login.password
        admin = f'{plain} username="{name}" password="{password}" user_{name}="{password}";'
        lines = [
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found=false",
            f"super.users=User:{name}",
            f"listeners=SECURED://127.0.0.1:{ports.secured},OPEN://127.0.0.1:{ports.plain},"
            f"EXPIRED://127.0.0.1:{ports.expired},ELSEWHERE://127.0.0.1:{ports.elsewhere},"
            f"MUTUAL://127.0.0.1:{ports.mutual},TOKENS://127.0.0.1:{ports.tokens},"
            f"CONTROLLER://127.0.0.1:{ports.controller}",
            f"advertised.listeners=SECURED://127.0.0.1:{ports.secured},OPEN://127.0.0.1:{ports.plain},"
            f"EXPIRED://127.0.0.1:{ports.expired},ELSEWHERE://127.0.0.1:{ports.elsewhere},"
            f"MUTUAL://127.0.0.1:{ports.mutual},TOKENS://127.0.0.1:{ports.tokens}",
            "listener.security.protocol.map=SECURED:SASL_SSL,OPEN:PLAINTEXT,EXPIRED:SASL_SSL,ELSEWHERE:SASL_SSL,"
            "MUTUAL:SSL,TOKENS:SASL_SSL,CONTROLLER:SASL_PLAINTEXT",
            "listener.name.tokens.sasl.enabled.mechanisms=OAUTHBEARER",
            "listener.name.tokens.oauthbearer.sasl.jaas.config="
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="broker";',
            "listener.name.mutual.ssl.client.auth=required",
            "inter.broker.listener.name=SECURED",
            f"sasl.enabled.mechanisms=PLAIN,{SCRAM}",
            "sasl.mechanism.inter.broker.protocol=PLAIN",
            "sasl.mechanism.controller.protocol=PLAIN",
            f"listener.name.controller.plain.sasl.jaas.config={admin}",
            "listener.name.controller.sasl.enabled.mechanisms=PLAIN",
        ]
        for listener, keystore in (
            ("secured", made.server),
            ("expired", made.expired),
            ("elsewhere", made.elsewhere),
            ("mutual", made.server),
            ("tokens", made.server),
        ):
            prefix = f"listener.name.{listener}"
            lines += [
                f"{prefix}.plain.sasl.jaas.config={admin}",
                f"{prefix}.scram-sha-512.sasl.jaas.config="
                "org.apache.kafka.common.security.scram.ScramLoginModule required;",
                f"{prefix}.ssl.keystore.type=PEM",
                f"{prefix}.ssl.keystore.location={keystore}",
                f"{prefix}.ssl.truststore.type=PEM",
                f"{prefix}.ssl.truststore.location={made.ca}",
            ]
        return "\n".join(lines) + "\n"
