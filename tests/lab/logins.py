"""Logins of a broker that denies by default, and their rights: made while it runs, they may do nothing until `grant`.

Apache Kafka documentation, "Security: Authentication using SASL", "Authorization and ACLs".
"""

import secrets
import time
from collections.abc import Iterable, Mapping
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
from kstreams_runbooks.properties import dump

from lab.certificates import Certificates
from lab.supervise import until

TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.BROKER,
    ResourceType.TRANSACTIONAL_ID,
)
CLUSTER_NAME = "kafka-cluster"
SCRAM = "SCRAM-SHA-512"
# In the words of `rights`.
KINDS = {"Topic": TOPIC, "Group": GROUP, "Cluster": CLUSTER, "TransactionalId": TRANSACTIONAL_ID}
OPERATIONS = {
    "Alter": AclOperation.ALTER,
    "Create": AclOperation.CREATE,
    "Delete": AclOperation.DELETE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
}
QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}

_CALL_S = 15
# A broker that has just started accepts no login while it is busy.
_ACCEPTS_S = 90


@dataclass(frozen=True)
class Login:
    """One user of the broker."""

    name: str
    password: str = field(repr=False)
    mechanism: str = SCRAM


def drawn(name: str) -> Login:
    """A login with a password that is drawn here; `Logins.enroll` makes it known."""
    return Login(name, secrets.token_urlsafe(12))


class Logins:
    """The logins of a broker whose listener with SASL_SSL is at `port`; `admin` has every right."""

    def __init__(self, directory: Path, certificates: Certificates, port: int) -> None:
        self.directory = directory
        self.certificates = certificates
        self.port = port
        self._admin: Any = None

    @property
    def bootstrap(self) -> str:
        """The address that logins connect to."""
        return f"127.0.0.1:{self.port}"

    def login(self, name: str) -> Login:
        """A new login without any right, usable when this returns; an existing one gets another password."""
        made = drawn(name)
        self.enroll(made)
        return made

    def enroll(self, made: Login) -> None:
        """The same with a password of its own."""
        name = made.name
        change = UserScramCredentialUpsertion(
            name, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), made.password.encode()
        )
        for future in self._admin.alter_user_scram_credentials([change], request_timeout=_CALL_S).values():
            future.result()
        until(lambda: self._accepts(made), _ACCEPTS_S, f"the broker accepts the login {name}")

    def settings(self, login: Login, port: int | None = None) -> dict[str, Any]:
        """Settings in librdkafka's names; observe.clients and counting.java_client translate them for the others."""
        return {
            "bootstrap.servers": f"127.0.0.1:{port or self.port}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": login.mechanism,
            "sasl.username": login.name,
            "sasl.password": login.password,
            "ssl.ca.location": str(self.certificates.ca),
        }

    def command_config(self, login: Login) -> Path:
        """A properties file for Kafka's own tools (--command-config)."""
        path = self.directory / f"{login.name}.properties"
        path.touch(mode=0o600)
        path.write_text(dump(self.of_java(login)), encoding="latin-1")
        return path

    def of_java(self, login: Login) -> dict[str, str]:
        """Settings of a Java client."""
        module = "plain.Plain" if login.mechanism == "PLAIN" else "scram.Scram"
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": login.mechanism,
            "sasl.jaas.config": f"org.apache.kafka.common.security.{module}LoginModule required "
            f'username="{login.name}" password="{login.password}";',
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.ca),
        }

    def admin(self) -> Any:
        """confluent-kafka's admin client with every right."""
        return self._admin

    def grant(
        self, login: Login, kind: ResourceType, name: str, *operations: AclOperation, prefixed: bool = False
    ) -> None:
        """Allow operations on a resource; `prefixed` takes `name` as the beginning of names."""
        pattern = "prefixed" if prefixed else "literal"
        bindings = [_binding(login, kind, name, one, pattern) for one in operations]
        self._add(login, bindings)

    def allow(self, login: Login, acls: Iterable[Mapping[str, str]]) -> None:
        """These ACLs, as `rights` prints them, and no others."""
        wanted = {
            _binding(login, KINDS[one["resource"]], one["name"], OPERATIONS[one["operation"]], one["pattern"])
            for one in acls
        }
        now = set(self.acls(login))
        # Before the others go: what both allow is never denied.
        if wanted - now:
            self._add(login, list(wanted - now))
        filters = [
            AclBindingFilter(
                one.restype,
                one.name,
                one.resource_pattern_type,
                one.principal,
                one.host,
                one.operation,
                one.permission_type,
            )
            for one in now - wanted
        ]
        if filters:
            for future in self._admin.delete_acls(filters, request_timeout=_CALL_S).values():
                future.result()
        until(lambda: set(self.acls(login)) == wanted, _CALL_S, f"{login.name} has these rights alone")

    def _add(self, login: Login, bindings: list[AclBinding]) -> None:
        for future in self._admin.create_acls(bindings, request_timeout=_CALL_S).values():
            future.result()
        wanted = set(bindings)
        until(lambda: wanted <= set(self.acls(login)), _CALL_S, f"the rights of {login.name} are there")

    def revoke(
        self, login: Login, kind: ResourceType = ResourceType.ANY, name: str | None = None, *operations: AclOperation
    ) -> None:
        """Take rights away: all, those on a kind of resource, on one resource, or these operations alone."""
        filters = [matching(login, kind, name, one) for one in operations or (AclOperation.ANY,)]
        taken: set[AclBinding] = set()
        for future in self._admin.delete_acls(filters, request_timeout=_CALL_S).values():
            taken |= set(future.result())
        until(lambda: not taken & set(self.acls(login)), _CALL_S, f"the rights of {login.name} are gone")

    def acls(self, login: Login) -> list[AclBinding]:
        """The rights of a login."""
        found: list[AclBinding] = self._admin.describe_acls(matching(login), request_timeout=_CALL_S).result()
        return found

    def _accepts(self, login: Login) -> bool:
        client = AdminClient(self.settings(login) | QUIET)
        try:
            return bool(client.list_topics(timeout=1).brokers)
        except KafkaException:
            time.sleep(0.1)
            return False


def matching(
    login: Login,
    kind: ResourceType = ResourceType.ANY,
    name: str | None = None,
    operation: AclOperation = AclOperation.ANY,
) -> AclBindingFilter:
    """The rights of a login: all, or those on a kind of resource, on one resource, or one operation alone."""
    # In confluent-kafka's stubs a filter does not accept None for any name, any principal and any host; the code does.
    any_name: Any = name
    any_host: Any = None
    user = f"User:{login.name}"
    return AclBindingFilter(kind, any_name, ResourcePatternType.ANY, user, any_host, operation, AclPermissionType.ANY)


def _binding(login: Login, kind: ResourceType, name: str, operation: AclOperation, pattern: str) -> AclBinding:
    return AclBinding(
        kind, name, ResourcePatternType[pattern.upper()], f"User:{login.name}", "*", operation, AclPermissionType.ALLOW
    )
