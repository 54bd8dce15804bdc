"""The ACLs of a runbook as commands, text, JSON and YAML."""

from collections.abc import Iterator
from typing import Any, Final

from kstreams_runbooks.decide.rights.commands import UNKNOWN_PRINCIPAL, grant_command
from kstreams_runbooks.model.readings.acls import Acl, NeededAcls

SCHEMA_VERSION: Final = 1


def document(needed: NeededAcls, cluster: str, bootstrap: str) -> dict[str, Any]:
    """Every ACL with who needs it, for which calls, and the command that grants it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "runbook": needed.runbook,
        "application": needed.application,
        "cluster": cluster,
        "notes": list(needed.notes),
        "acls": [acl_document(one, bootstrap) for one in needed.acls],
    }


def acl_document(acl: Acl, bootstrap: str) -> dict[str, Any]:
    """One ACL; `principal` is null if it is not known."""
    return {
        "principal": acl.principal or None,
        "operation": acl.operation,
        "resource": acl.resource,
        "name": acl.name,
        "pattern": acl.pattern,
        "roles": list(acl.roles),
        "calls": list(acl.rows),
        "command": grant_command(acl, bootstrap),
    }


def as_commands(needed: NeededAcls, cluster: str, bootstrap: str) -> Iterator[str]:
    """One line of kafka-acls.sh for each ACL; what is not exact is a comment before them."""
    yield f"# {needed.runbook} of {needed.application} @ {cluster}: {len(needed.acls)} ACLs"
    yield from (f"# {note}" for note in needed.notes)
    yield from (grant_command(one, bootstrap) for one in needed.acls)


def as_text(needed: NeededAcls, cluster: str) -> Iterator[str]:
    """One line for each ACL, by login."""
    yield f"{needed.runbook} of {needed.application} @ {cluster}"
    for principal in dict.fromkeys(one.principal for one in needed.acls):
        own = [one for one in needed.acls if one.principal == principal]
        roles = ", ".join(sorted({role for one in own for role in one.roles}))
        yield f"{principal or UNKNOWN_PRINCIPAL} ({roles})"
        for one in own:
            yield f"  {one.words}  ({', '.join(one.roles)}: {', '.join(one.rows)})"
    yield from (f"note: {note}" for note in needed.notes)
