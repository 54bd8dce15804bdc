"""Reads what this login may do on a cluster, as the brokers report it, and the ACLs if an answer depends on them."""

from collections.abc import Collection
from typing import Any

from kstreams_runbooks.model.readings.acls import EVERYBODY, Acl, GrantedAcl, GrantedReading, Operations
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader

_UNKNOWN_TOPIC, _TOPIC_REFUSED = 3, 29
_NOT_REPORTED = "the broker does not report this login's operations (reported by Kafka 2.3 and later)"
_ACLS_REFUSED = "its ACLs are not visible to this login; grant it Describe on Cluster"


def read_granted(reader: ClusterReader, principal: str, acls: Collection[Acl]) -> GrantedReading:
    """What the cluster grants of these ACLs; nothing is created. Unreachable if no broker answers.

    A prefix is asked as the name that it is: only an ACL on it, or on a shorter prefix, allows that name. A topic or
    group that this login may not Describe has no operation, whether it exists or not.
    """
    taken = reader.taken()
    described = reader.ask("describe cluster", reader.admin.describe_cluster)
    own = [one for one in acls if one.principal == principal]
    other = any(one.principal != principal or one.resource == "TransactionalId" for one in acls)
    found = _acls(reader, {one.principal for one in acls if one.principal} | {principal}) if other else ()
    return GrantedReading(
        taken=taken,
        principal=principal,
        cluster=described if isinstance(described, Missing) else _operations(described),
        topics=_topics(reader, sorted({one.name for one in own if one.resource == "Topic"})),
        groups=tuple(
            (group, _group(reader, group)) for group in sorted({one.name for one in own if one.resource == "Group"})
        ),
        acls=() if found is None else found,
        unsecured=found is None,
    )


def _operations(described: Any) -> Operations:
    operations = described.get("authorized_operations")
    return Missing(_NOT_REPORTED) if operations is None else tuple(sorted(operations))


def _topics(reader: ClusterReader, names: list[str]) -> tuple[tuple[str, Operations], ...]:
    if not names:
        return ()
    found = reader.ask("describe topics", lambda: reader.admin.describe_topics(names))
    if isinstance(found, Missing):
        return tuple((name, found) for name in names)
    by_name = {str(topic["name"]): topic for topic in found}
    return tuple((name, _of_topic(name, by_name.get(name))) for name in names)


def _of_topic(name: str, topic: Any) -> Operations:
    if topic is None:
        return Missing(f"topic {name}: the broker left it out of its answer")
    if topic["error_code"] == _TOPIC_REFUSED:
        return ()
    if topic["error_code"] not in {0, _UNKNOWN_TOPIC}:
        return Missing(f"topic {name}: broker error {topic['error_code']}")
    return _operations(topic)


def _group(reader: ClusterReader, group_id: str) -> Operations:
    from kafka.errors import GroupAuthorizationFailedError

    def ask() -> Operations:
        try:
            described = reader.admin.describe_group_operations(group_id)
        except GroupAuthorizationFailedError:
            # Its coordinator is hidden too.
            return ()
        return () if described["hidden"] else _operations(described)

    return reader.ask(f"group {group_id}", ask)


def _acls(reader: ClusterReader, principals: Collection[str]) -> tuple[GrantedAcl, ...] | Missing | None:
    """The ACLs of these logins and of everybody; None if the brokers have no authorizer."""
    from kafka.admin import ACLFilter, ACLOperation, ACLPermissionType, ResourcePatternFilter, ResourceType
    from kafka.admin import ACLResourcePatternType as PatternType
    from kafka.errors import ClusterAuthorizationFailedError, SecurityDisabledError

    any_resource = ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY)

    def ask() -> tuple[GrantedAcl, ...] | Missing | None:
        found: list[GrantedAcl] = []
        for principal in sorted({*principals, EVERYBODY}):
            wanted = ACLFilter(principal, None, ACLOperation.ANY, ACLPermissionType.ANY, any_resource)
            try:
                rows, _ = reader.admin.describe_acls(wanted)
            except SecurityDisabledError:
                return None
            except ClusterAuthorizationFailedError:
                return Missing(_ACLS_REFUSED)
            found += [_acl(one) for one in rows]
        return tuple(found)

    return reader.ask("ACLs", ask)


def _acl(found: Any) -> GrantedAcl:
    pattern = found.resource_pattern
    return GrantedAcl(
        principal=found.principal,
        host=found.host,
        operation=found.operation.name,
        resource=pattern.resource_type.name,
        name=pattern.resource_name,
        pattern=pattern.pattern_type.name,
        permission=found.permission_type.name,
    )
