"""The rights that a run needs, demanded before anything is planned: a run that stops half-way leaves work behind."""

from collections.abc import Callable, Iterable

from kstreams_runbooks.decide.instances.running import running_topology
from kstreams_runbooks.decide.rights.granted import has_rights
from kstreams_runbooks.decide.rights.needed import needed_acls, rows_of, words_of
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.rights import On, Right
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe.kafka.clients import bootstrap
from kstreams_runbooks.observe.kafka.granted import read_granted
from kstreams_runbooks.rules import rights
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.rights import connection_principals, own_resources, with_release

# Resources that a run changes in part, as its plan finds.
_OF_A_PLAN: frozenset[On] = frozenset({"brought", "dropped", "left", "undone"})


def require_rights(run: Run, reading: ApplicationReading) -> None:
    """Refused without a right of the connection's login that a run certainly needs, Inconclusive if it is not known.

    These are all that it reads with and, unless it is a dry run, what it writes with this form under every plan. What
    depends on the plan is demanded with the plan (steps/plan/before.py). A DAG that rules/rights.yaml does not name
    demands nothing.
    """

    def is_certain(row: Right) -> bool:
        written = words_of(row, run.record.dag_id, run.record.params)
        return row.by == "operator" and not run.dry_run and not _OF_A_PLAN.intersection(written)

    _require(run, reading, (), lambda row: row.by == "observer" or is_certain(row))


def require_rights_of_versions(run: Run, reading: ApplicationReading, brought: Iterable[Topology]) -> None:
    """The same for what a run reads of the versions that it brings: their internal topics may not be there yet."""
    new = tuple(one for one in brought if one != running_topology(reading))
    if new:
        _require(run, reading, new, lambda row: row.by == "observer")


def _require(
    run: Run, reading: ApplicationReading, brought: Iterable[Topology], wanted: Callable[[Right], bool]
) -> None:
    rows = [row for row in rows_of(rights(), run.record.dag_id) if wanted(row)]
    if not rows:
        return
    fleet = load_fleet()
    principals = connection_principals(run.kafka, fleet.cluster(run.application.cluster).principal)
    with run.reader() as reader:
        retires = run.record.params.get("mode") == "retire"
        own = own_resources(fleet, run.application, reading, reader, seen=True, retires=retires)
        for topology in brought:
            own = with_release(own, topology, reader)
        needed = needed_acls(rows, run.record.dag_id, run.record.application, own, principals, run.record.params)
        granted = read_granted(reader, principals["observer"], needed.acls)
    run.demand(run.decide(has_rights, needed=needed, reading=granted, bootstrap=bootstrap(run.kafka)))
