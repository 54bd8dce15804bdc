"""Whether a cluster grants the ACLs that a runbook needs.

Of topics, groups and the cluster a broker reports what this login may do. It reports nothing of that kind about
transactional ids, nor about another login: these are looked up in the ACLs, which a login may see that may Describe the
cluster (Apache Kafka documentation, "Operations and Protocols in Kafka").
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kstreams_runbooks.decide.rights.commands import grant_command
from kstreams_runbooks.decide.rights.needed import ANY, CLUSTER, IMPLIED
from kstreams_runbooks.model.readings.acls import (
    EVERYBODY,
    Acl,
    GrantedAcl,
    GrantedReading,
    NeededAcls,
    Operations,
    RightsAnswer,
    allow_create,
)
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict

_ALL = "ALL"
_WORDS = {"TransactionalId": "TRANSACTIONAL_ID"}
# Together on the cluster, without one ACL: a super user, whose rights are in no ACL.
_OF_SUPER_USERS = frozenset({"ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION"})


def compared_rights(needed: NeededAcls, reading: GrantedReading) -> RightsAnswer:
    """Which of the ACLs are not granted, and which are not known; none of either if all are."""
    missing, unknown = [], []
    for acl in needed.acls:
        granted = _is_granted(acl, reading)
        if isinstance(granted, Missing):
            unknown.append((acl, granted.missing))
        elif not granted:
            missing.append(acl)
    return RightsAnswer(needed.runbook, tuple(missing), tuple(unknown))


def has_rights(needed: NeededAcls, reading: GrantedReading, bootstrap: str = "") -> Verdict:
    """Refuse a run without one of its rights, before anything is changed; a right that is not known is inconclusive.

    What only ACLs show is a note if they are not visible: the step that needs it reads more, and stops by itself.
    """
    answer = compared_rights(needed, reading)
    unknown = [(acl, why) for acl, why in answer.unknown if acl.resource != "TransactionalId"]
    reasons = (*(lacks(acl, bootstrap) for acl in answer.missing), *(not_known(acl, why) for acl, why in unknown))
    if answer.missing:
        return Verdict(Outcome.REFUSE, reasons)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, reasons)
    notes = "".join(f"; {not_known(acl, why)}" for acl, why in answer.unknown)
    who = f"login {reading.principal}" if reading.principal else "this login"
    return Verdict(Outcome.PROCEED, (f"{who} has the {len(needed.acls)} rights that this run needs first{notes}",))


def lacks(acl: Acl, bootstrap: str) -> str:
    """A right that is missing: the resource, the login, the right, and the command that grants it."""
    who = f"login {acl.principal}" if acl.principal else "this login"
    return f"{acl.resource} {acl.name}: {who} lacks {acl.words}; grant it: {grant_command(acl, bootstrap)}"


def not_known(acl: Acl, why: str) -> str:
    """A right that is not known to be granted or missing."""
    who = f"login {acl.principal}" if acl.principal else "this login"
    return f"{acl.resource} {acl.name}: whether {who} has {acl.words} is not known ({why})"


def _is_granted(acl: Acl, reading: GrantedReading) -> bool | Missing:
    if reading.unsecured:
        return True
    if acl.principal != reading.principal:
        return _by_acls(acl, reading)
    if acl.resource == "TransactionalId":
        return True if _is_super_user(reading) else _by_acls(acl, reading)
    operations = _operations(acl, reading)
    if not _is_create_topic(acl):
        return operations if isinstance(operations, Missing) else bool(_kafka_words(acl) & set(operations))
    either = (operations, reading.cluster)
    return any(map(allow_create, either)) or next((one for one in either if isinstance(one, Missing)), False)


def _is_create_topic(acl: Acl) -> bool:
    return (acl.operation, acl.resource) == ("Create", "Topic")


def _operations(acl: Acl, reading: GrantedReading) -> Operations:
    if acl.resource == "Cluster":
        return reading.cluster
    found = dict(reading.topics if acl.resource == "Topic" else reading.groups)
    return found.get(acl.name, Missing(f"{acl.resource.lower()} {acl.name} was not read"))


def _is_super_user(reading: GrantedReading) -> bool:
    if isinstance(reading.cluster, Missing) or isinstance(reading.acls, Missing):
        return False
    # An ACL of everybody on a topic does not explain a right on the cluster.
    given = any(
        one.principal == reading.principal or (one.principal == EVERYBODY and one.resource == "CLUSTER")
        for one in reading.acls
    )
    return not given and set(reading.cluster) >= _OF_SUPER_USERS


def _by_acls(acl: Acl, reading: GrantedReading) -> bool | Missing:
    if isinstance(reading.acls, Missing):
        return reading.acls
    if not acl.principal:
        return Missing("its login is not known")
    # A broker asks for Create on the cluster first, and for that on the topic without it: one DENY leaves the other.
    ways = (acl, replace(acl, resource="Cluster", name=CLUSTER, pattern="literal")) if _is_create_topic(acl) else (acl,)
    if any(_allow(one, reading.acls) for one in ways):
        return True
    return Missing(_no_acl(acl.principal)) if _may_be_super_user(acl.principal, reading, reading.acls) else False


def _allow(acl: Acl, rows: Iterable[GrantedAcl]) -> bool:
    fitting = list(_fitting(acl, rows))
    if any(one.permission == "DENY" and one.operation in {_ALL, _kafka_word(acl.operation)} for one in fitting):
        return False
    return any(one.permission == "ALLOW" and one.operation in {_ALL, *_kafka_words(acl)} for one in fitting)


def _may_be_super_user(principal: str, reading: GrantedReading, rows: Iterable[GrantedAcl]) -> bool:
    """Whether a login may have every right although no ACL names it; what a broker reports of this login decides."""
    if any(one.principal == principal for one in rows):
        return False
    if principal != reading.principal or isinstance(reading.cluster, Missing):
        return True
    return set(reading.cluster) >= _OF_SUPER_USERS


def _no_acl(principal: str) -> str:
    return (
        f"no ACL names {principal}: it is a super user, or has no right of its own; look for it in super.users of the "
        "brokers, or grant it what `kstreams-runbooks rights` prints"
    )


def _fitting(acl: Acl, rows: Iterable[GrantedAcl]) -> Iterator[GrantedAcl]:
    """The ACLs of that login, from any host, whose resource has the one that is needed in it."""
    kind = _WORDS.get(acl.resource, acl.resource.upper())
    for row in rows:
        if row.principal not in {acl.principal, EVERYBODY} or row.host != ANY or row.resource != kind:
            continue
        literal = row.pattern == "LITERAL" and (row.name == ANY or (row.name, "literal") == (acl.name, acl.pattern))
        if literal or (row.pattern == "PREFIXED" and acl.name.startswith(row.name)):
            yield row


def _kafka_words(acl: Acl) -> set[str]:
    """Operations in Kafka's words that allow it: its own, and those that imply it."""
    return {_kafka_word(one) for one in (acl.operation, *IMPLIED.get(acl.operation, ()))}


def _kafka_word(operation: str) -> str:
    return "DESCRIBE_CONFIGS" if operation == "DescribeConfigs" else operation.upper()
