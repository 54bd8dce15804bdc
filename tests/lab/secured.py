"""A broker that denies by default: SASL_SSL, StandardAuthorizer, no access without an ACL, loopback only.

Its logins are made while it runs (SCRAM) and can do nothing until `grant`; `admin` may do everything. Other listeners
of the same broker present what a client must not accept: an expired certificate, one for another host, no TLS at all.
Apache Kafka documentation, "Security: Authentication using SASL", "Authorization and ACLs".
"""

import os
import secrets
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kstreams_runbooks.errors import Unreachable

from lab.certificates import Certificates, make_certificates
from lab.settings import CHECKOUT
from lab.supervise import inherited, log_tail, until

TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.BROKER,
    ResourceType.TRANSACTIONAL_ID,
)
CLUSTER_NAME = "kafka-cluster"
SCRAM = "SCRAM-SHA-512"

_CALL_S = 15
_READY_S = 60
_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}


@dataclass(frozen=True)
class Login:
    """One user of the broker."""

    name: str
    password: str = field(repr=False)
    mechanism: str = SCRAM


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


class Secured:
    """The broker, its certificates, its logins and their rights."""

    def __init__(self, directory: Path, ports: SecuredPorts) -> None:
        self.directory = directory
        self.ports = ports
        self.certificates: Certificates = make_certificates(directory / "certificates")
        self.admin_login = Login("admin", secrets.token_urlsafe(12), "PLAIN")
        self._process: subprocess.Popen[bytes] | None = None
        self._admin: Any = None

    @property
    def bootstrap(self) -> str:
        """The address that logins connect to."""
        return f"127.0.0.1:{self.ports.secured}"

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
        self._admin = AdminClient(self.settings(self.admin_login) | _QUIET)
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

    def login(self, name: str) -> Login:
        """A new login without any right, usable when this returns; an existing one gets another password."""
        made = Login(name, secrets.token_urlsafe(12))
        change = UserScramCredentialUpsertion(
            name, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), made.password.encode()
        )
        for future in self._admin.alter_user_scram_credentials([change], request_timeout=_CALL_S).values():
            future.result()
        until(lambda: self._accepts(made), _CALL_S, f"the broker accepts the login {name}")
        return made

    def settings(self, login: Login, port: int | None = None) -> dict[str, Any]:
        """Settings in librdkafka's names; observe.clients and counting.java_client translate them for the others."""
        return {
            "bootstrap.servers": f"127.0.0.1:{port or self.ports.secured}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": login.mechanism,
            "sasl.username": login.name,
            "sasl.password": login.password,
            "ssl.ca.location": str(self.certificates.ca),
        }

    def command_config(self, login: Login) -> Path:
        """A properties file for Kafka's own tools (--command-config)."""
        module = "plain.Plain" if login.mechanism == "PLAIN" else "scram.Scram"
        path = self.directory / f"{login.name}.properties"
        path.touch(mode=0o600)
        path.write_text(
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={login.mechanism}\n"
            f"sasl.jaas.config=org.apache.kafka.common.security.{module}LoginModule required "
            f'username="{login.name}" password="{login.password}";\n'
            f"ssl.truststore.type=PEM\nssl.truststore.location={self.certificates.ca}\n",
            encoding="utf-8",
        )
        return path

    def admin(self) -> Any:
        """confluent-kafka's admin client with every right."""
        return self._admin

    def grant(
        self, login: Login, kind: ResourceType, name: str, *operations: AclOperation, prefixed: bool = False
    ) -> None:
        """Allow operations on a resource; `prefixed` takes `name` as the beginning of names."""
        bindings = [_binding(login, kind, name, one, prefixed=prefixed) for one in operations]
        for future in self._admin.create_acls(bindings, request_timeout=_CALL_S).values():
            future.result()
        wanted = set(bindings)
        until(lambda: wanted <= set(self.acls(login)), _CALL_S, f"the rights of {login.name} are there")

    def revoke(
        self, login: Login, kind: ResourceType = ResourceType.ANY, name: str | None = None, *operations: AclOperation
    ) -> None:
        """Take rights away: all, those on a kind of resource, on one resource, or these operations alone."""
        filters = [_matching(login, kind, name, one) for one in operations or (AclOperation.ANY,)]
        taken: set[AclBinding] = set()
        for future in self._admin.delete_acls(filters, request_timeout=_CALL_S).values():
            taken |= set(future.result())
        until(lambda: not taken & set(self.acls(login)), _CALL_S, f"the rights of {login.name} are gone")

    def acls(self, login: Login) -> list[AclBinding]:
        """The rights of a login."""
        found: list[AclBinding] = self._admin.describe_acls(_matching(login), request_timeout=_CALL_S).result()
        return found

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise Unreachable("the secured broker ended:", *log_tail(self.log).splitlines())
        try:
            # The loaded ACLs, not just an open port.
            self._admin.describe_acls(_matching(self.admin_login), request_timeout=1).result()
        except KafkaException:
            return False
        return True

    def _accepts(self, login: Login) -> bool:
        client = AdminClient(self.settings(login) | _QUIET)
        try:
            return bool(client.list_topics(timeout=1).brokers)
        except KafkaException:
            time.sleep(0.1)
            return False

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


def _matching(
    login: Login,
    kind: ResourceType = ResourceType.ANY,
    name: str | None = None,
    operation: AclOperation = AclOperation.ANY,
) -> AclBindingFilter:
    # In confluent-kafka's stubs a filter does not accept None for any name, any principal and any host; the code does.
    any_name: Any = name
    any_host: Any = None
    user = f"User:{login.name}"
    return AclBindingFilter(kind, any_name, ResourcePatternType.ANY, user, any_host, operation, AclPermissionType.ANY)


def _binding(login: Login, kind: ResourceType, name: str, operation: AclOperation, *, prefixed: bool) -> AclBinding:
    pattern = ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL
    return AclBinding(kind, name, pattern, f"User:{login.name}", "*", operation, AclPermissionType.ALLOW)
