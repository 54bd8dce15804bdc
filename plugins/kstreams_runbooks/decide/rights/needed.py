"""The ACLs that the logins of a runbook need for one application, from the rows of rules/rights.yaml.

The form decides too: a reset of offsets alone deletes no topic. Only the least of them: a broker that allows Read,
Write, Alter or Delete on a resource allows Describe of it as well (Apache Kafka documentation, "Authorization and
ACLs"), so Describe is left out next to one of those.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.plans.flush import FLUSH
from kstreams_runbooks.decide.plans.swap import empty_topic_name
from kstreams_runbooks.decide.runbooks import GREEN, RUNBOOKS
from kstreams_runbooks.model.readings.acls import Acl, NeededAcls, OwnResources, Pattern
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.rights import LoginRole, On, Operation, Right

EVERY_RUNBOOK = "every runbook"
CLUSTER = "kafka-cluster"
ANY = "*"
IMPLIED: Mapping[Operation, tuple[Operation, ...]] = {"Describe": ("Read", "Write", "Alter", "Delete")}
# Roles whose login is that of the cluster's connection.
OF_CONNECTION: tuple[LoginRole, ...] = ("observer", "operator", "spark")

_Named = Iterator[tuple[str, Pattern]]
_UNDO = "undo"
# Next to the fields of the undone run in the form of an undo: its runbook.
UNDOES = "undoes"
# What a run does whose form leaves the field empty.
_YES_NO = ("true", "false")
# Fields of forms on which rights depend, with what each may be: first what a run does whose form leaves it empty.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": ("reset", "offsets", "state", "retire"),
    "retire": ("orphans", "application"),
    "create_internal_topics": _YES_NO,
    "switch": ("swap", "copier", "manual"),
    "without_key_check": _YES_NO[::-1],
}
_Form = Mapping[str, Any]
_ANY_FORM: _Form = {}


def changes_something(runbook: str) -> bool:
    """Whether a runbook is a DAG that changes an application: `every runbook` of a row."""
    return any(row.name == runbook and row.is_dag and row.plan for row in RUNBOOKS)


def rows_of(rows: Iterable[Right], runbook: str) -> tuple[Right, ...]:
    """The rows with a right that this runbook needs."""
    names = {runbook, EVERY_RUNBOOK} if changes_something(runbook) else {runbook}
    return tuple(row for row in rows if row.resource and row.by != "test" and names & set(row.used_by))


def needed_acls(
    rows: Iterable[Right],
    runbook: str,
    application: str,
    own: OwnResources,
    principals: Mapping[LoginRole, str],
    form: _Form = _ANY_FORM,
) -> NeededAcls:
    """The least ACLs for a runbook with this form, sorted; a role that `principals` does not name is left out.

    The form of an undo is that of the undone run, with its runbook as `undoes`.
    """
    found: dict[Acl, tuple[set[LoginRole], dict[str, None]]] = {}
    for row in rows_of(rows, runbook):
        if row.by not in principals:
            continue
        for name, pattern in _resources(row, runbook, own, form):
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
    ordered = sorted(acls, key=_order)
    return NeededAcls(runbook, application, tuple(ordered), tuple(_notes(runbook, own, principals, ordered, form)))


def together(parts: Sequence[NeededAcls]) -> NeededAcls:
    """The ACLs of a run about several applications: each once, the first is its own."""
    found: dict[Acl, Acl] = {}
    for acl in (acl for part in parts for acl in part.acls):
        key = replace(acl, roles=(), rows=())
        known = found.get(key, key)
        roles, calls = {*known.roles, *acl.roles}, dict.fromkeys((*known.rows, *acl.rows))
        found[key] = replace(key, roles=tuple(sorted(roles)), rows=tuple(calls))
    kept = [acl for key, acl in found.items() if not any(_covers(other, key) for other in found)]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(parts[0], acls=tuple(sorted(kept, key=_order)), notes=tuple(notes))


def _order(acl: Acl) -> tuple[str, ...]:
    return acl.principal, acl.resource, acl.name, acl.operation


def _covers(more: Acl, less: Acl) -> bool:
    """Whether one ACL makes another one needless."""
    if more == less or (more.principal, more.resource) != (less.principal, less.resource):
        return False
    if more.operation != less.operation and more.operation not in IMPLIED.get(less.operation, ()):
        return False
    if (more.name, more.pattern) == (less.name, less.pattern):
        return True
    return more.name == ANY or (more.pattern == "prefixed" and less.name.startswith(more.name))


def _resources(row: Right, runbook: str, own: OwnResources, form: _Form) -> _Named:
    for word in words_of(row, runbook, form):
        yield from _named(word, own, form)


def words_of(row: Right, runbook: str, form: _Form) -> tuple[On, ...]:
    """The resources of a row in a run with this form; none if it does not make the call."""
    own = [(key.split()[1:], words) for key, words in row.names_of.items() if key.split()[0] == runbook]
    if not own:
        return row.names
    fitting = (words for conditions, words in own if all(_holds(one, form) for one in conditions))
    return tuple(dict.fromkeys(word for words in fitting for word in words))


def _holds(condition: str, form: _Form) -> bool:
    field, _, value = condition.partition("=")
    given = form.get(field)
    return (CHOICES.get(field, ("",))[0] if given is None else str(given).lower()) in value.split("|")


def _named(word: On, own: OwnResources, form: _Form) -> _Named:
    ids = (own.application_id,)
    given, targets = form.get("empty_topics") or {}, form.get("targets") or {}
    # What the application alone writes or reads globally is never swapped (decide/plans/swap.py).
    swapped = [one for one in own.inputs if one not in {*own.loops, *own.globals}]
    empties = {one: given.get(one) or empty_topic_name(one, own.application_id) for one in swapped}
    by_word: Mapping[On, Callable[[], _Named]] = {
        "inputs": lambda: _literal(own.inputs),
        "globals": lambda: _literal(own.globals),
        "outputs": lambda: _literal(own.outputs),
        "copies": lambda: _literal(own.copies),
        "sinks": lambda: _literal(own.sinks),
        "repartition": lambda: _internal(own.repartition, own.application_id),
        "changelogs": lambda: _internal(own.changelogs, own.application_id),
        "left": lambda: _internal(own.left, own.application_id),
        "running": lambda: _internal(own.running, own.application_id),
        "brought": lambda: _internal(own.running if own.brought is None else own.brought, own.application_id),
        "dropped": lambda: _internal(_dropped(own), own.application_id),
        "still_read": lambda: _internal(_still_read(own), own.application_id),
        "empty": lambda: _literal(empties.values()),
        "created_empty": lambda: _literal(empty for one, empty in empties.items() if one not in given),
        "cleaned": lambda: _literal(map(str, form.get("clean_outputs") or ())),
        "sought": lambda: _literal(one for one in own.inputs if not targets or one in targets or "*" in targets),
        "undone": lambda: _literal(own.undone),
        "copied": lambda: _literal(own.copied),
        "group": lambda: _literal(ids),
        "timed_group": lambda: _literal(ids if own.is_timed else ()),
        "every_group": lambda: _literal([ANY]),
        "cluster": lambda: _literal([CLUSTER]),
        "writers": lambda: _prefixes((*ids, *own.writers)),
        "own_transactions": lambda: _prefixes(ids),
        "exactly_once": lambda: _prefixes(() if own.exactly_once is False else ids),
    }
    return by_word[word]()


def _dropped(own: OwnResources) -> tuple[str, ...] | Missing:
    """None as long as the version that a run brings is not known."""
    if own.brought is None:
        return ()
    if isinstance(own.repartition, Missing):
        return own.repartition
    return tuple(name for name in own.repartition if name not in own.brought)


def _still_read(own: OwnResources) -> tuple[str, ...] | Missing:
    dropped = _dropped(own)
    if isinstance(own.repartition, Missing) or isinstance(dropped, Missing):
        return own.repartition
    return tuple(name for name in own.repartition if name not in dropped)


def _internal(names: tuple[str, ...] | Missing, application_id: str) -> _Named:
    return _prefixes([application_id]) if isinstance(names, Missing) else _literal(names)


def _literal(names: Iterable[str]) -> _Named:
    yield from ((name, "literal") for name in dict.fromkeys(names))


def _prefixes(ids: Iterable[str]) -> _Named:
    yield from ((f"{one}-", "prefixed") for one in dict.fromkeys(ids))


def _notes(
    runbook: str, own: OwnResources, principals: Mapping[LoginRole, str], acls: list[Acl], form: _Form
) -> Iterator[str]:
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
    if runbook == GREEN:
        yield (
            "the topics that the copier reads, and the outputs of the application next to which it starts, are those "
            "of others: grant Read and DescribeConfigs on the former, and DescribeConfigs on the latter"
        )
    if runbook == FLUSH and own.brought is None:
        yield (
            "repartition topics that the new version no longer reads are not named, but their records go: name "
            "the version (--release, --setting)"
        )
    if own.exactly_once is None and "application" in principals:
        yield "processing_guarantee is not declared: Write on TransactionalId is for exactly-once alone"
    if runbook == _UNDO and not form.get(UNDOES):
        yield (
            "undo of a run of control_topic_flush or reset_and_cleanup needs more: topics and offsets that the run "
            "changed; name the run (run=RUN)"
        )
