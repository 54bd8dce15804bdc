"""The command of Kafka's own tool that grants one ACL."""

from collections.abc import Mapping

from kstreams_runbooks.model.readings.acls import Acl
from kstreams_runbooks.model.rights import Resource
from kstreams_runbooks.wording import pasted

UNKNOWN_PRINCIPAL = "User:PRINCIPAL"
UNKNOWN_BOOTSTRAP = "BOOTSTRAP"
_ADMIN = "ADMIN.properties"
_OPTIONS: Mapping[Resource, str] = {
    "Topic": "--topic",
    "Group": "--group",
    "TransactionalId": "--transactional-id",
}


def grant_command(acl: Acl, bootstrap: str = "") -> str:
    """The line of kafka-acls.sh that adds it; ADMIN.properties is a login that may alter ACLs."""
    words = ["kafka-acls.sh", "--bootstrap-server", bootstrap or UNKNOWN_BOOTSTRAP, "--command-config", _ADMIN, "--add"]
    words += ["--allow-principal", acl.principal or UNKNOWN_PRINCIPAL, "--operation", acl.operation]
    words += ["--cluster"] if acl.resource == "Cluster" else [_OPTIONS[acl.resource], acl.name]
    if acl.pattern == "prefixed":
        words += ["--resource-pattern-type", "prefixed"]
    return pasted(words, links=False)
