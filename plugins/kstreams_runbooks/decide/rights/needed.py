"""The ACLs that the logins of a runbook need for one application, from the rows of rules/rights.yaml.

Only the least of them: a broker that allows Read, Write, Alter or Delete on a resource allows Describe of it as well
(Apache Kafka documentation, "Authorization and ACLs"), so Describe is left out next to one of those.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from kstreams_runbooks.decide.plans.swap import empty_topic_name
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.model.readings.acls import Acl, NeededAcls, OwnResources, Pattern
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.rights import LoginRole, On, Operation, Right

EVERY_RUNBOOK = "every runbook"
CLUSTER = "kafka-cluster"
# The group ids of Spark's Kafka source begin with it (frames/source.py, groupIdPrefix).
SPARK_GROUPS = "kstreams-runbooks"
ANY = "*"
IMPLIED: Mapping[Operation, tuple[Operation, ...]] = {"Describe": ("Read", "Write", "Alter", "Delete")}
# Roles whose login is that of the cluster's connection.
OF_CONNECTION: tuple[LoginRole, ...] = ("observer", "operator", "spark")

_Named = Iterator[tuple[str, Pattern]]
_UNDO = "undo"


def changes_something(runbook: str) -> bool:
    """Whether a runbook is a DAG that changes an application: `every runbook` of a row."""
    return any(row.name == runbook and row.is_dag and row.plan for row in RUNBOOKS)


def rows_of(rows: Iterable[Right], runbook: str) -> tuple[Right, ...]:
    """The rows with a right that this runbook needs."""
    names = {runbook, EVERY_RUNBOOK} if changes_something(runbook) else {runbook}
    return tuple(row for row in rows if row.resource and row.by != "test" and names & set(row.used_by))


def needed_acls(
    rows: Iterable[Right], runbook: str, application: str, own: OwnResources, principals: Mapping[LoginRole, str]
) -> NeededAcls:
    """The least ACLs for a runbook, sorted; a role that `principals` does not name is left out."""
    found: dict[Acl, tuple[set[LoginRole], dict[str, None]]] = {}
    for row in rows_of(rows, runbook):
        if row.by not in principals:
            continue
        for name, pattern in _resources(row, runbook, own):
            acl = Acl(principals[row.by], row.operation, row.resource, name, pattern)
            roles, calls = found.setdefault(acl, (set(), {}))
            roles.add(row.by)
            calls[row.id] = None
    for less in [one for one in found if any(_covers(other, one) for other in found)]:
        for more in (one for one in found if _covers(one, less)):
            found[more][0].update(found[less][0])
            found[more][1].update(found[less][1])
        del found[less]
    acls = (
        Acl(one.principal, one.operation, one.resource, one.name, one.pattern, tuple(sorted(roles)), tuple(calls))
        for one, (roles, calls) in found.items()
    )
    ordered = sorted(acls, key=lambda one: (one.principal, one.resource, one.name, one.operation))
    return NeededAcls(runbook, application, tuple(ordered), tuple(_notes(runbook, own, principals, ordered)))


def _covers(more: Acl, less: Acl) -> bool:
    """Whether one ACL makes another one needless."""
    if more == less or (more.principal, more.resource) != (less.principal, less.resource):
        return False
    if more.operation != less.operation and more.operation not in IMPLIED.get(less.operation, ()):
        return False
    if (more.name, more.pattern) == (less.name, less.pattern):
        return True
    return more.name == ANY or (more.pattern == "prefixed" and less.name.startswith(more.name))


def _resources(row: Right, runbook: str, own: OwnResources) -> _Named:
    for word in row.names_of.get(runbook, row.names):
        yield from _named(word, own)


def _named(word: On, own: OwnResources) -> _Named:
    ids = (own.application_id,)
    by_word: Mapping[On, Callable[[], _Named]] = {
        "inputs": lambda: _literal(own.inputs),
        "globals": lambda: _literal(own.globals),
        "outputs": lambda: _literal(own.outputs),
        "sinks": lambda: _literal(own.sinks),
        "repartition": lambda: _internal(own.repartition, own.application_id),
        "changelogs": lambda: _internal(own.changelogs, own.application_id),
        "empty": lambda: _literal(empty_topic_name(one, own.application_id) for one in own.inputs),
        "group": lambda: _literal(ids),
        "every_group": lambda: _literal([ANY]),
        "spark_groups": lambda: iter([(SPARK_GROUPS, "prefixed")]),
        "cluster": lambda: _literal([CLUSTER]),
        "writers": lambda: _prefixes((*ids, *own.writers)),
        "own_transactions": lambda: _prefixes(ids),
        "exactly_once": lambda: _prefixes(() if own.exactly_once is False else ids),
    }
    return by_word[word]()


def _internal(names: tuple[str, ...] | Missing, application_id: str) -> _Named:
    return _prefixes([application_id]) if isinstance(names, Missing) else _literal(names)


def _literal(names: Iterable[str]) -> _Named:
    yield from ((name, "literal") for name in dict.fromkeys(names))


def _prefixes(ids: Iterable[str]) -> _Named:
    yield from ((f"{one}-", "prefixed") for one in dict.fromkeys(ids))


def _notes(runbook: str, own: OwnResources, principals: Mapping[LoginRole, str], acls: list[Acl]) -> Iterator[str]:
    for names in dict.fromkeys(one for one in (own.repartition, own.changelogs) if isinstance(one, Missing)):
        yield (
            f"internal topics by the prefix {own.application_id}-, which also begins topics of an application with a "
            f"longer id: their names are not known ({names.missing})"
        )
    if any("transactions" in one.rows for one in acls) and runbook != "reset_and_cleanup":
        yield (
            "transactional ids are those of the application and of the writers in the fleet; other producers that "
            "write its inputs in transactions are not known here: grant Describe on their ids"
        )
    if own.exactly_once is None and "application" in principals:
        yield "processing_guarantee is not declared: Write on TransactionalId is for exactly-once alone"
    if runbook == _UNDO:
        yield "undo of a run of control_topic_flush or reset_and_cleanup needs the ACLs of that runbook as well"
